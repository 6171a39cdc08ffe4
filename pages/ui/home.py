"""The start page's pieces: the short answer and the ways on."""

import streamlit as st

from affinity.analysis.views import Overview
from pages.ui import affinity_panels, messages, pair_table, state
from pages.ui.menu import find

_WAYS = (
    ("affinity", "See the whole picture", "Every pair of tasks, over all steps, with how sure it is."),
    ("groups", "Get a grouping", "The best way to split these tasks over a few networks, with its proof."),
    ("train", "Train my own tasks", "Digits, tables or synthetic tasks; the first run takes a minute."),
)


def short_answer(view: Overview) -> None:
    """One or two sentences a pair: who helps, who hurts, how sure."""
    if not view.sentences:
        return
    messages.answer(*view.sentences)
    if view.next_step:
        st.markdown(f":material/arrow_forward: **Next:** {messages.md(view.next_step)}")


def ways_on(run_id: str) -> None:
    """Three ways to go on from here."""
    for place, (key, title, about) in zip(st.columns(len(_WAYS)), _WAYS, strict=True):
        page = find(key)
        with place.container(border=True, height="stretch"):
            st.page_link(page.path, label=f"**{title}**", icon=page.icon, query_params={state.RUN: run_id})
            st.caption(about)


def picture(view: Overview) -> None:
    """The heatmap behind the answer, where there is one."""
    if view.view is not None:
        affinity_panels.heatmap_only(view.view, key="home_heatmap")
        pair_table.surest(view.view, key="home")


def first_visit() -> None:
    """What this is, for somebody who sees it for the first time."""
    st.markdown(
        "When one network learns several tasks, some help each other and some get in each other's way. "
        "This page shows who does what to whom in one training, and which tasks are better off together."
    )
