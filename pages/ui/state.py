"""Every key of the session and of the URL, in one table.

A widget whose key is in `URL_KEYS` is drawn with `**state.bound(key)`: Streamlit then keeps its value in the
URL and across pages. The keys of `OWN_KEYS` have no such widget; this module keeps them in both places.
"""

from typing import Any, Final, Literal, TypedDict

import streamlit as st

RUN: Final = "run"
GROUPING: Final = "grouping"
RERUN: Final = "rerun"
RULES: Final = "rules"

# Ours to write, because a link has to name them even where they are the default.
OWN_KEYS: Final[dict[str, str]] = {
    RUN: "the run that all pages show",
    GROUPING: "the edited grouping as text; empty = the suggested one",
    RERUN: "the rerun that is compared",
    RULES: "tasks that a grouping keeps together or apart, as text",
}

# key of a widget = name in the URL -> what it holds
URL_KEYS: Final[dict[str, str]] = {
    "signal": "the affinity that is shown",
    "split": "the part of the data it was measured on",
    "reduce": "how steps are reduced, or one step",
    "step": "the step, when one is shown",
    "certain": "hide what cannot be told from zero",
    "search": "words that task names must contain",
    "source": "the pair's source",
    "affected": "the pair's affected task",
    "threshold": "how many arrows the graph shows, the strongest first",
    "networks": "how many networks are allowed",
    "algorithm": "the grouping algorithm",
    "overlap": "a task may help in several groups",
    "seconds": "how long may be searched for a grouping",
    "objective": "what a grouping maximises",
    "smallest": "fewest tasks in a network",
    "largest": "most tasks in a network",
    "price": "price of a network",
    "task_price": "price of a task in a network",
    "min_gain": "least gain of a task that shares a network",
    "pair_threshold": "what a pair must exceed, for correlation clustering",
    "compared": "the groupings that are compared",
    "sense": "whether lower or higher scores of an uploaded table are better",
    "part": "the part of an uploaded table",
    "prediction": "the prediction that is validated",
    "against": "what the retrained grouping is compared with",
    "others": "runs that are compared",
    "shelf": "the part of the methods page",
    "method": "the method under which hurt tasks are shown",
    "toy": "the problem that methods are tried on",
    "tried": "the methods that are tried",
    "toy_steps": "how many steps they take; 0 = as the problem's source",
    "toy_lr": "their learning rate; 0 = as the problem's source",
    "toy_optimizer": "what steps along their directions; empty = as the problem's source",
    "toy_starts": "how many random starts; 0 = those of the source",
}

# session only: lost on reload without loss of work
SESSION_KEYS: Final[dict[str, str]] = {
    "edits": "earlier groupings of this edit, for undo",
    "rule_tasks": "tasks that are about to be kept together or apart",
    "notice": "a message to show once, on the next run of the script",
    "problem": "the error of a callback, to show once",
    "opened": "a pair was opened by a click in the graph",
    "table": "the table that was uploaded to train on",
    "uploads": "how many uploads were taken, so that the uploader starts empty again",
    "toy_shown": "up to which kept step the ways are drawn",
    "started": "the last training that was started, against double clicks",
}


class Bound(TypedDict):
    """Arguments of a widget whose value lives in the URL."""

    key: str
    bind: Literal["query-params"]


def bound(key: str) -> Bound:
    """Arguments that tie a widget to a URL key of the table."""
    assert key in URL_KEYS, key
    return {"key": key, "bind": "query-params"}


def get(key: str, default: Any = None) -> Any:  # noqa: ANN401 - whatever the key holds
    """The value of a key of either table."""
    assert key in URL_KEYS or key in SESSION_KEYS, key
    return st.session_state.get(key, default)


def put(key: str, value: object) -> None:
    """Set a key of either table; for URL keys only from a callback, before its widget is drawn."""
    assert key in URL_KEYS or key in SESSION_KEYS, key
    st.session_state[key] = value


def keep_valid(key: str, options: list[Any] | tuple[Any, ...]) -> None:
    """Forget a remembered value that is not among the options any more, for example after another run."""
    if key in st.session_state and st.session_state[key] not in options:
        del st.session_state[key]


def keep_all_valid(key: str, options: list[Any]) -> None:
    """Forget those of several remembered values that are not among the options any more."""
    if key in st.session_state:
        st.session_state[key] = [value for value in st.session_state[key] if value in options]


def keep_within(key: str, low: float, high: float) -> None:
    """Forget a remembered number outside the widget's range."""
    value = st.session_state.get(key)
    if value is not None and not low <= value <= high:
        del st.session_state[key]


def own(key: str) -> str:
    """The value of one of our own keys: what the URL says, else what the session remembers, else empty."""
    return str(st.query_params.get(key) or st.session_state.get(f"own_{key}") or "")


def set_own(key: str, value: str) -> None:
    """Set one of our own keys in the session and in the URL; empty takes it out of both."""
    assert key in OWN_KEYS, key
    st.session_state[f"own_{key}"] = value
    if value and st.query_params.get(key) != value:
        st.query_params[key] = value
    elif not value and key in st.query_params:
        del st.query_params[key]


def chosen_run() -> str:
    """The run that the URL names, else the one of this session, else empty."""
    return own(RUN)


def choose_run(run_id: str) -> None:
    """Show this run from now on; what was edited for another run is left behind."""
    if st.session_state.get(f"own_{RUN}", run_id) != run_id:
        set_own(GROUPING, "")
        set_own(RULES, "")
        put("edits", [])
    set_own(RUN, run_id)


def notify(text: str) -> None:
    """Show a message once, on the next run of the script; markdown."""
    put("notice", text)


def take(key: str) -> object:
    """The value of a session key, which is forgotten by that; None when there is none."""
    assert key in SESSION_KEYS, key
    return st.session_state.pop(key, None)
