"""The pages of the app in the order of the menu; a test demands that every page file is here."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A line of the menu.

    Attributes:
        key: short name, equal to the file name; `home` is the start page.
        path: the script, relative to the app.
        label: a word or two for the menu.
        question: the page's title.
        about: one sentence about what the page is for.
        icon: Material symbol.
        section: heading in the menu.
    """

    key: str
    path: str
    label: str
    question: str
    about: str
    icon: str
    section: str = ""


PAGES: tuple[Page, ...] = (
    Page(
        key="home",
        path="app.py",
        label="Start",
        question="Which tasks should learn together?",
        about="The short answer for one run, and what to do next.",
        icon=":material/home:",
    ),
    Page(
        key="runs",
        path="pages/runs.py",
        label="Runs",
        question="What runs do I have?",
        about="Open, rename, share and delete runs; samples to try everything on.",
        icon=":material/folder_open:",
    ),
    Page(
        key="train",
        path="pages/train.py",
        label="Train",
        question="What happens if these tasks learn together?",
        about="Train several tasks on one shared network and record how they affect each other.",
        icon=":material/play_circle:",
        section="Record",
    ),
    Page(
        key="affinity",
        path="pages/affinity.py",
        label="Affinity",
        question="Who helps whom?",
        about="The effect of learning one task on every other task, with how sure it is.",
        icon=":material/grid_on:",
        section="Understand",
    ),
    Page(
        key="conflicts",
        path="pages/conflicts.py",
        label="Conflicts",
        question="Where do gradients fight?",
        about="How often two tasks pull the shared network in opposite directions.",
        icon=":material/call_split:",
        section="Understand",
    ),
    Page(
        key="groups",
        path="pages/groups.py",
        label="Groups",
        question="Which tasks should train together?",
        about="The best grouping for a number of networks; edit, save, export and retrain it.",
        icon=":material/workspaces:",
        section="Decide",
    ),
    Page(
        key="compare",
        path="pages/compare.py",
        label="Compare",
        question="Did the grouping help?",
        about="The real gain of every task after retraining, and runs side by side.",
        icon=":material/balance:",
        section="Decide",
    ),
    Page(
        key="validate",
        path="pages/validate.py",
        label="Validate",
        question="Does pairwise affinity pick the right groups?",
        about="Judge a prediction from pairs by a table of networks that somebody really trained.",
        icon=":material/fact_check:",
        section="Decide",
    ),
    Page(
        key="try_method",
        path="pages/try_method.py",
        label="Try a method",
        question="What would each method do?",
        about="Training methods on small problems whose right answer is known, step by step.",
        icon=":material/route:",
        section="Reference",
    ),
    Page(
        key="methods",
        path="pages/methods.py",
        label="Methods",
        question="How is it computed?",
        about="Every measure, training method, algorithm and dataset: formula, source, limits.",
        icon=":material/menu_book:",
        section="Reference",
    ),
)


def find(key: str) -> Page:
    """The page with this key."""
    return next(page for page in PAGES if page.key == key)
