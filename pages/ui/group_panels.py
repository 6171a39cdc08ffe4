"""What the Groups page asks for, and how the suggestion stands beside the alternatives."""

import streamlit as st

from affinity.analysis.grouping_limits import OBJECTIVE_WORDS, PAIR_OBJECTIVES
from affinity.analysis.page_groups import GroupsPage, Wish, proof
from affinity.analysis.wording import interval, number
from affinity.grouping import GROUPERS
from affinity.runs.reader import Run
from pages.ui import choices, glossary, group_limits, messages, state

DEFAULT_NETWORKS = 3


def wish(run: Run, choice: choices.Choice) -> Wish:
    """How many networks, found by which algorithm, within which limits."""
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
            disabled=not GROUPERS[algorithm].overlaps or state.get("objective") in PAIR_OBJECTIVES,
            **state.bound("overlap"),
        )
    limits = group_limits.limits(run)
    return Wish(
        signal=choice.signal.key,
        split=choice.split,
        reduce=choice.reduce,
        networks=int(networks),
        algorithm=algorithm,
        overlap=overlap and GROUPERS[algorithm].overlaps and limits.objective not in PAIR_OBJECTIVES,
        limits=limits,
    )


def standing(page: GroupsPage, wanted: Wish) -> None:
    """The score beside the alternatives, and the proof or the distance to the suggestion."""
    view = page.view
    bounds = interval(view.low, view.high)
    with st.container(horizontal=True):
        st.metric(
            "Mean predicted gain",
            number(view.score),
            delta=f"95 %: {bounds}" if bounds else None,
            delta_color="off",
            delta_arrow="off",
            border=True,
            width=250,
            help=glossary.explain("gain", "interval"),
        )
        for name, score in view.alternatives:
            st.metric(name.capitalize(), number(score), border=True, width=200)
        if page.edited:
            st.metric("The suggestion", number(page.suggested_score), border=True, width=200)
        if wanted.limits.objective != "mean_affinity" or wanted.limits.charges:
            title, text = OBJECTIVE_WORDS[wanted.limits.objective]
            less = ", minus prices" if wanted.limits.charges else ""
            st.metric(f"{title}{less}", number(page.value), border=True, width=320, help=messages.md(text))
    if page.broken:
        st.warning(messages.md(f"A limit is not kept: {page.broken}"), icon=":material/warning:")
    if page.edited:
        st.caption("Edited by hand; there is no proof for it.")
    else:
        st.caption(messages.md(proof(view.grouping, wanted)))
