"""What is being trained right now: the only fragment that polls, and it stops when all is done."""

from collections.abc import Callable

import streamlit as st

from affinity.jobs.launch import cancel
from affinity.runs.library import Listed
from affinity.runs.reader import Run
from pages.ui import data, messages, state, words

EVERY = "1.5s"


def live_runs(kind: str = "") -> tuple[Listed, ...]:
    """Runs that wait or run, the oldest first.

    Args:
        kind: only runs of this kind; all when empty.
    """
    found = (item for item in data.listed() if item.status.live and item.info is not None)
    return tuple(reversed([item for item in found if not kind or (item.info and item.info.kind == kind)]))


def watch(kind: str, picture: Callable[[Run], None] | None = None) -> None:
    """Show the live runs of a kind, with time left and a cancel button, until they end.

    Args:
        kind: kind of the runs.
        picture: draws what the first of them has measured so far.
    """
    if not live_runs(kind):
        return
    st.subheader("Training now", anchor=False)

    @st.fragment(run_every=EVERY, key="progress")
    @messages.boundary()
    def follow() -> None:
        runs = live_runs(kind)
        if not runs:
            st.rerun()
        for position, item in enumerate(runs):
            _draw(item, picture if position == 0 else None)

    follow()


def _draw(item: Listed, picture: Callable[[Run], None] | None) -> None:
    assert item.info is not None
    unit = "network" if item.info.kind == "rerun" else "step"
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            words.state_badge(item.status.state)
            st.markdown(f"**{messages.md(item.info.label)}**", width="content")
            st.caption(messages.md(words.made_of(item.info)), width="content")
        st.progress(item.status.fraction, text=messages.md(words.progress(item.status, unit=unit)))
        st.button(
            "Cancel",
            key=f"cancel_{item.id}",
            on_click=_cancel,
            args=(item.id,),
            icon=":material/stop_circle:",
            help="Stops after the current step. What was recorded so far is kept.",
        )
        if picture is not None and item.status.state == "running":
            picture(data.open_run(item.id))
    if item.status.note and item.status.state == "running":
        st.caption(messages.md(item.status.note))


@messages.safely
def _cancel(run_id: str) -> None:
    cancel(data.library(), run_id)
    state.notify("The training stops after its current step; what it recorded is kept.")
