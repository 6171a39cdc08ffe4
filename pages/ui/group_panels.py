"""What the Groups page asks for and how the suggestion stands: proof, budget, stability."""

import pandas as pd
import streamlit as st

from affinity.analysis.page_groups import GroupsPage, Wish, budget_page, proof, stability_page
from affinity.analysis.wording import number
from affinity.figures.groups import budget_line, budget_line_alt
from affinity.figures.shares import share_heatmap, share_heatmap_alt
from affinity.grouping import GROUPERS
from affinity.runs.reader import Run
from pages.ui import choices, data, messages, show, state

DEFAULT_NETWORKS = 3


def wish(run: Run, choice: choices.Choice) -> Wish:
    """How many networks, found by which algorithm."""
    size = len(run.tasks)
    state.keep_within("networks", 1, size)
    algorithms = [key for key, entry in GROUPERS.items() if entry.limit is None or size <= entry.limit]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        networks = st.number_input(
            "Networks at most",
            1,
            size,
            min(DEFAULT_NETWORKS, size),
            help="How many networks you can afford to train and serve. Fewer are used when more do not help.",
            width=170,
            **state.bound("networks"),
        )
        state.keep_valid("algorithm", algorithms)
        algorithm = st.selectbox(
            "Algorithm",
            algorithms,
            algorithms.index("exact") if "exact" in algorithms else 0,
            format_func=lambda key: GROUPERS[key].title,
            help="\n".join(
                f"- **{messages.md(GROUPERS[key].title)}**: {messages.md(GROUPERS[key].summary)}"
                for key in algorithms
            ),
            width=240,
            **state.bound("algorithm"),
        )
        overlap = st.toggle(
            "A task may help in several networks",
            help="A task can be trained in a network that does not serve it, only to help the others there.",
            disabled=not GROUPERS[algorithm].overlaps,
            **state.bound("overlap"),
        )
    return Wish(
        signal=choice.signal.key,
        split=choice.split,
        reduce=choice.reduce,
        networks=int(networks),
        algorithm=algorithm,
        overlap=overlap and GROUPERS[algorithm].overlaps,
    )


def standing(page: GroupsPage) -> None:
    """The score beside the alternatives, and the proof or the distance to the suggestion."""
    view = page.view
    with st.container(horizontal=True):
        st.metric("Mean predicted gain", number(view.score), border=True, width=220)
        for name, score in view.alternatives:
            st.metric(name.capitalize(), number(score), border=True, width=220)
        if page.edited:
            st.metric("The suggestion", number(page.suggested_score), border=True, width=220)
    if page.edited:
        st.caption("Edited by hand; there is no proof for it.")
    else:
        st.caption(messages.md(proof(view.grouping)))


def budget(run: Run, wanted: Wish) -> None:
    """What another network buys, asked only when somebody wants to know."""
    box = st.expander(
        "Is another network worth it?", icon=":material/savings:", key="budget_open", on_change="rerun"
    )
    if not box.open:
        return
    with box:
        points = data.ask(budget_page, run, wanted)
        names = ["Networks allowed", "Networks used", "Mean predicted gain", "Proof"]
        rows = [
            (point.groups, point.used, point.score, "proven best" if point.optimal else "best found")
            for point in points
        ]
        show.panel(
            budget_line(points, chosen=wanted.networks),
            pd.DataFrame(rows, columns=names),
            alt=budget_line_alt(points),
            key="budget",
        )


def stable(run: Run, wanted: Wish) -> None:
    """How often two tasks stay together when the steps are redrawn."""
    box = st.expander(
        "How stable is the suggestion?", icon=":material/anchor:", key="stable_open", on_change="rerun"
    )
    if not box.open:
        return
    with box:
        shares = data.ask(stability_page, run, wanted)
        title = "share of redrawn trainings that keep two tasks together"
        alt = share_heatmap_alt(run.tasks, shares, title=title)
        percent = st.column_config.NumberColumn(format="percent")
        table = pd.DataFrame(shares, columns=list(run.tasks))
        # No task can have this name: names lose their blanks at both ends.
        table.insert(0, "Task ", list(run.tasks))
        show.panel(
            share_heatmap(run.tasks, shares, title="kept together"),
            table,
            alt=alt,
            key="stability",
            columns=dict.fromkeys(run.tasks, percent),
        )
