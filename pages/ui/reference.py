"""The methods page, generated from the shelves: whatever a shelf holds appears here by itself."""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from affinity.core.entry import Entry, Grouper, Measure, Probe
from affinity.core.method import GramWeighting, LossWeighting, Method, StepRule
from affinity.core.settings import describe
from affinity.datasets import DATASETS
from affinity.grouping import GROUPERS
from affinity.measures import MEASURES
from affinity.methods import METHODS
from affinity.models import MODELS
from affinity.probes import PROBES
from affinity.problems import PROBLEMS
from pages.ui import messages, state

SHELVES: dict[str, tuple[str, str, Mapping[str, Entry]]] = {
    "measures": (
        "Affinity measures",
        "How much one task helps another, computed from what a run recorded.",
        MEASURES,
    ),
    "probes": ("Recorded quantities", "What a training writes down while it runs.", PROBES),
    "problems": (
        "Problems with known answers",
        "Losses written as formulas, to see what a method does where the right answer is known.",
        PROBLEMS,
    ),
    "methods": ("Training methods", "How the tasks' losses or gradients become one update.", METHODS),
    "grouping": ("Grouping algorithms", "How the tasks that share a network are found.", GROUPERS),
    "datasets": ("Datasets", "What can be trained on without a download.", DATASETS),
    "models": ("Shared networks", "The layers that all tasks of a network use.", MODELS),
}


def pick_shelf() -> str:
    """Which part of the reference to read."""
    return st.segmented_control(
        "Part",
        list(SHELVES),
        default="measures",
        required=True,
        wrap=True,
        format_func=lambda key: SHELVES[key][0],
        label_visibility="collapsed",
        **state.bound("shelf"),
    )


def draw(key: str) -> None:
    """One shelf: a sentence, and a section for each entry."""
    _, about, shelf = SHELVES[key]
    messages.answer(f"{about} {len(shelf)} of them are on this shelf.")
    for entry in shelf.values():
        label = f"**{messages.md(entry.title)}** · {messages.md(entry.summary)}"
        with st.expander(label, key=f"entry_{key}_{entry.key}"):
            _entry(entry)


def _entry(entry: Entry) -> None:
    st.caption(f"Called {messages.md(entry.key)} in files and on the command line.")
    formula = getattr(entry, "formula", "")
    if formula:
        st.code(formula, language=None, wrap_lines=True)
    for kind, describe_kind in _FACTS:
        if isinstance(entry, kind):
            for name, text in describe_kind(entry).items():
                if text:
                    st.markdown(f"**{name}:** {messages.md(text)}")
    _settings(entry)
    st.caption(f"Source: {_with_link(entry.reference)}" if entry.reference else "Source: a plain definition.")


def _settings(entry: Entry) -> None:
    fields = describe(entry.settings) if hasattr(entry, "settings") else ()
    for field in fields:
        allowed = f"one of {', '.join(field.choices)}" if field.choices else _range(field.low, field.high)
        text = f"{field.help} Default {field.default}{f'; {allowed}' if allowed else ''}."
        st.markdown(f"- *{messages.md(field.title)}*: {messages.md(text)}")


def _range(low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return ""
    return f"from {'any' if low is None else f'{low:g}'} to {'any' if high is None else f'{high:g}'}"


def _measure(entry: Measure) -> dict[str, str]:
    low, high = entry.bounds
    return {
        "Needs": ", ".join(PROBES[need].title if need in PROBES else need for need in entry.needs),
        "Values": f"from {low:g} to {high:g}{f' {entry.unit}' if entry.unit else ''}".replace(
            "inf", "infinity"
        ),
        "Direction": "the same both ways" if entry.symmetric else "source to affected, both ways may differ",
        "Diagonal": {"self-effect": "a task's effect on itself", "one": "always 1", "missing": "not defined"}[
            entry.diagonal
        ],
        "Undefined when": entry.undefined_when,
        "Caveat": entry.caveat,
    }


def _probe(entry: Probe) -> dict[str, str]:
    return {
        "Shape": " x ".join(entry.axes),
        "Cost": entry.cost,
        "Recorded unless switched off": "yes" if entry.default else "no",
    }


def _grouper(entry: Grouper) -> dict[str, str]:
    return {
        "Proof": "its answer is proven best unless it is stopped"
        if entry.exact
        else "none; a good answer fast",
        "Tasks": f"at most {entry.limit}" if entry.limit else "no fixed limit",
        "A task may help in several groups": "yes" if entry.overlaps else "no",
    }


def _method(entry: Method) -> dict[str, str]:
    if isinstance(entry, LossWeighting):
        again = " and one more forward pass" if entry.after_step else ""
        return {"Needs": "the tasks' losses", "Cost": f"one backward pass{again} a step"}
    if isinstance(entry, StepRule):
        return {"Needs": entry.needs, "Cost": entry.cost}
    return {
        "Needs": "the inner products of all tasks' gradients",
        "Cost": "one backward pass a task and step",
        "Undefined when": "never: a task without gradient takes no part in the step",
    }


_FACTS: tuple[tuple[Any, Callable[[Any], dict[str, str]]], ...] = (
    (Measure, _measure),
    (Probe, _probe),
    (Grouper, _grouper),
    ((LossWeighting, GramWeighting, StepRule), _method),
)


def _with_link(reference: str) -> str:
    """The reference with its address as a link; references come from the program, not from users."""
    words = [
        f"[{messages.md(word.rstrip('.,;'))}]({word.rstrip('.,;')})"
        if word.startswith("https://")
        else messages.md(word)
        for word in reference.split()
    ]
    return " ".join(words)
