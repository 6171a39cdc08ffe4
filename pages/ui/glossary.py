"""Words of the trade in plain language, as hover help and as a list for readers without a mouse."""

import streamlit as st

from pages.ui import messages

WORDS: dict[str, str] = {
    "affinity": "How much a step on one task lowers another task's loss. Positive helps, negative hurts.",
    "source": "The task whose training step was taken: the one that gives.",
    "affected": "The task whose loss moved because of that step: the one that receives.",
    "lookahead": "Take a step for the source task on a copy of the shared network, look at every task's "
    "loss, throw the copy away.",
    "proximal": "Like the lookahead, but the source task's own output layer takes its step too.",
    "gradient": "The direction in which the shared network has to change to raise a task's loss; training "
    "goes the other way.",
    "gradient conflict": "Two tasks want to change the shared network in opposing directions: their cosine "
    "is negative.",
    "cosine": "Agreement of two directions: 1 the same, 0 unrelated, -1 opposite.",
    "Gram matrix": "All inner products of the tasks' gradients: their lengths and how well they agree.",
    "magnitude similarity": "Whether two gradients have the same length: 1 equal, near 0 very different. A "
    "much longer one decides alone where the network goes.",
    "noise floor": "How well a task's gradient agrees with itself on two halves of a batch. Agreement "
    "between tasks cannot be told from chance beyond it.",
    "joint": "All tasks in one shared network.",
    "single-task": "Every task in a network of its own.",
    "shared network": "The layers that all tasks of a network use; each task adds an output layer.",
    "network": "One model that is trained; the tasks of a group share it.",
    "group": "The tasks that are trained in one network.",
    "gain": "How much lower the loss is than the reference's: 0.1 means 10 % lower, negative means higher.",
    "interval": "The range that holds the true value in 95 of 100 cases. With zero in it, the sign is open.",
    "confidence": "How sure the sign is: 50 % is a coin toss, 100 % is certain.",
    "validation": "Data that the training never sees; it shows what was learned rather than memorised.",
    "step": "One update of the network's parameters.",
    "seed": "The number that fixes all random choices. Several seeds show how much of a result is luck.",
    "method": "How the losses or gradients of the tasks are combined into one update.",
    "Pareto set": "The best compromises: nowhere else can one loss fall without another rising.",
    "front": "The losses of the best compromises. A method that ends off it leaves something for nothing.",
    "probe": "A quantity that is written down while training; it never changes the training.",
    "bound": "No grouping can score more than this. Where the score equals it, the score is proven best.",
    "adjusted Rand index": "Whether two groupings put the same tasks together: 1 the same, 0 as by chance.",
    "price": "What a network costs, in units of gain: another one is used only if it brings more than that.",
    "helper": "A task that is trained in a network only to help the others there; another network serves it.",
    "regret": "How much worse the choice turned out than the best one that was possible: 0 is perfect.",
    "rank correlation": "Whether two lists have the same order: 1 the same, 0 unrelated, -1 reversed. "
    "Spearman compares the ranks, Kendall counts the pairs that stand in the same order.",
    "stability": "How often two tasks end up together when the steps are redrawn at random.",
}


def explain(*words: str) -> str:
    """Hover help for one or more words."""
    return "  \n".join(f"**{word.capitalize()}:** {messages.md(WORDS[word])}" for word in words)


def plain(word: str) -> str:
    """The explanation alone, where no markdown is read."""
    return WORDS[word]


def words_here(*words: str) -> None:
    """A closed list of the words that a page uses, for its end."""
    with st.expander("Words on this page", icon=":material/help:"):
        st.markdown("\n".join(f"- **{word.capitalize()}**: {messages.md(WORDS[word])}" for word in words))
