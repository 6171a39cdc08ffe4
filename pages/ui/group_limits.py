"""Limits and prices of a grouping: one closed box, all of it in the URL."""

import streamlit as st

from affinity.analysis.grouping_limits import (
    OBJECTIVE_WORDS,
    PAIR_OBJECTIVES,
    Limits,
    rules_from_text,
    rules_text,
)
from affinity.core.grouping import Objective
from affinity.runs.reader import Run
from pages.ui import messages, state


def limits(run: Run) -> Limits:
    """What the user wants kept; the box is closed until somebody opens it."""
    size = len(run.tasks)
    with st.expander("Limits and prices", icon=":material/tune:"):
        objective = _objective()
        with st.container(horizontal=True, vertical_alignment="bottom"):
            smallest = _size("smallest", "Smallest network", 1, size, "Fewest tasks that share a network.")
            largest = _size("largest", "Largest network", size, size, "Most tasks that fit into a network.")
        with st.container(horizontal=True, vertical_alignment="bottom"):
            price = _amount(
                "price",
                "Price per network",
                "What a network costs, in units of gain: another one is used only if it brings more.",
            )
            task_price = _amount(
                "task_price",
                "Price per task in a network",
                "What it costs to train a task once. It matters where tasks help in several networks.",
            )
            minimum = _minimum_gain(objective)
            threshold = _threshold(objective)
        together, apart = _rules(run)
    return Limits(
        objective=objective,
        smallest=smallest,
        largest=None if largest >= size else largest,
        together=together,
        apart=apart,
        price=price,
        task_price=task_price,
        minimum_gain=minimum,
        threshold=threshold,
    )


def _objective() -> Objective:
    keys = list(OBJECTIVE_WORDS)
    state.keep_valid("objective", keys)
    help_text = "\n".join(
        f"- **{messages.md(title)}**: {messages.md(text)}" for title, text in OBJECTIVE_WORDS.values()
    )
    return st.selectbox(
        "What is best?",
        keys,
        format_func=lambda key: OBJECTIVE_WORDS[key][0],
        help=help_text,
        width=420,
        **state.bound("objective"),
    )


def _size(key: str, label: str, default: int, size: int, help_text: str) -> int:
    state.keep_within(key, 1, size)
    return int(st.number_input(label, 1, size, default, help=help_text, width=200, **state.bound(key)))


def _minimum_gain(objective: Objective) -> float | None:
    if objective in PAIR_OBJECTIVES:
        return None
    value = st.number_input(
        "Minimum gain",
        value=None,
        step=0.001,
        format="%.4f",
        placeholder="no minimum",
        help="A task shares a network only if it gains at least this there; else it stays alone.",
        width=200,
        **state.bound("min_gain"),
    )
    return None if value is None else float(value)


def _threshold(objective: Objective) -> float:
    if objective != "correlation":
        return 0.0
    return _amount(
        "pair_threshold",
        "Pairs count above",
        "What both directions of a pair together must exceed to be worth sharing a network.",
    )


def _amount(key: str, label: str, help_text: str) -> float:
    """A number of at least 0, in units of gain."""
    return float(
        st.number_input(label, 0.0, None, 0.0, 0.001, "%.4f", help=help_text, width=200, **state.bound(key))
    )


def _rules(run: Run) -> tuple[tuple[tuple[str, ...], ...], tuple[tuple[str, ...], ...]]:
    together, apart = rules_from_text(state.own(state.RULES), run.tasks)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        names = st.multiselect(
            "Tasks that belong together or have to stay apart", run.tasks, key="rule_tasks", width=420
        )
        for label, icon, added in (
            ("Keep together", ":material/link:", Limits(together=(*together, tuple(names)), apart=apart)),
            ("Keep apart", ":material/link_off:", Limits(together=together, apart=(*apart, tuple(names)))),
        ):
            st.button(
                label,
                icon=icon,
                key=f"rule_{label}",
                disabled=len(names) < 2,
                on_click=_set,
                args=(added, run.tasks),
            )
    for at, group in enumerate(together):
        left = Limits(together=(*together[:at], *together[at + 1 :]), apart=apart)
        _rule(f"Together: {', '.join(group)}", f"together_{at}", left, run)
    for at, group in enumerate(apart):
        left = Limits(together=together, apart=(*apart[:at], *apart[at + 1 :]))
        _rule(f"Apart: {', '.join(group)}", f"apart_{at}", left, run)
    return together, apart


def _rule(text: str, key: str, left: Limits, run: Run) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(messages.md(text), width="content")
        st.button(
            "Remove", icon=":material/close:", key=key, type="tertiary", on_click=_set, args=(left, run.tasks)
        )


def _set(rules: Limits, tasks: tuple[str, ...]) -> None:
    state.set_own(state.RULES, rules_text(rules, tasks))
    state.put("rule_tasks", [])
