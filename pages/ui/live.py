"""What a training shows while it runs, and the way to its result when it has ended."""

import streamlit as st

from affinity.analysis.affinity import signal_choices
from affinity.core.errors import NotEnoughData, NotRecorded
from affinity.runs.reader import Run
from pages.ui import affinity_panels, data, messages, state, words


def picture(run: Run) -> None:
    """Who helps whom so far."""
    try:
        choices = signal_choices(run)
        view = data.affinity(run, choices[0]) if choices else None
    except (NotRecorded, NotEnoughData):
        view = None
    if view is None:
        st.caption("The first picture comes with the first recorded step.")
        return
    st.markdown(messages.md(view.sentence))
    affinity_panels.heatmap_only(view, key="live_heatmap")


def last_result() -> None:
    """The newest training that has ended, with a link to what it found."""
    ended = [
        item
        for item in data.listed()
        if not item.sample and item.info is not None and item.info.kind == "training" and not item.status.live
    ]
    if not ended:
        return
    item = ended[0]
    assert item.info is not None
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        words.state_badge(item.status.state)
        st.markdown(f"Last training: **{messages.md(item.info.label)}**", width="content")
        if item.status.error:
            st.caption(messages.md(item.status.error))
        if item.info.tasks:
            st.page_link(
                "pages/affinity.py",
                label="See who helps whom",
                icon=":material/arrow_forward:",
                query_params={state.RUN: item.id},
            )
