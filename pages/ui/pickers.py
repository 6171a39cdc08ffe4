"""Pickers: draw a widget, return a plain value. What is picked lives in the URL."""

import streamlit as st

from affinity.core.errors import AffinityError
from affinity.runs.library import Listed
from affinity.runs.reader import Run
from pages.ui import data, messages, state, words


def run() -> Run:
    """The run the page is about, picked at its top; stops the page with advice where there is none."""
    runs = data.listed()
    if not runs:
        messages.empty(
            "There is no run yet.",
            "Train a few tasks together; it takes a minute and everything here fills itself.",
            page="train",
            link="Train my first run",
        )
        st.stop()
    listed = listed_run(runs)
    if listed.info is None:
        _explain_broken(listed)
        st.stop()
    opened = data.open_run(listed.id)
    _banner(opened, listed)
    return opened


def listed_run(runs: tuple[Listed, ...]) -> Listed:
    """One line of the library, also one that cannot be read."""
    chosen = _pick_run(runs)
    return next(item for item in runs if item.id == chosen)


def _pick_run(runs: tuple[Listed, ...]) -> str:
    ids = [item.id for item in runs]
    names = words.labels(runs)
    wanted = state.chosen_run()
    if wanted and wanted not in ids:
        st.warning(
            f"The run **{messages.md(wanted)}** of this link is not in your library; showing another one.",
            icon=":material/link_off:",
        )
    if wanted not in ids:
        wanted = default_run(runs)
    # Always, because after a change of page the old value can still be read but is not used any more.
    st.session_state["pick_run"] = wanted
    picked = st.selectbox(
        "Run",
        ids,
        format_func=lambda key: names[key],
        key="pick_run",
        on_change=lambda: state.choose_run(st.session_state["pick_run"]),
        help="Every page shows this run. The samples come with the program.",
        width=420,
    )
    state.choose_run(picked)
    return picked


def default_run(runs: tuple[Listed, ...]) -> str:
    """The newest run of the user that can be read, else the first sample, else whatever there is."""
    readable = [item for item in runs if item.info is not None]
    ready = [item for item in readable if not item.status.live and item.info and item.info.kind != "rerun"]
    return (ready or readable or list(runs))[0].id


def _banner(opened: Run, listed: Listed) -> None:
    info, status = opened.info, opened.status
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if listed.sample:
            st.badge("sample", icon=":material/school:", color="violet")
        words.state_badge(status.state)
        facts = f"{words.made_of(info) or words.KINDS[info.kind]} · {len(info.tasks)} tasks"
        length = words.progress(status) if status.live else words.length(listed)
        seed = f"seed {info.seed}" if info.seed is not None else ""
        st.caption(" · ".join(messages.md(part) for part in (facts, length, seed) if part), width="content")
    if status.error:
        st.warning(messages.md(status.error), icon=":material/warning:")


def _explain_broken(listed: Listed) -> None:
    messages.show_error(
        AffinityError(
            f"This run cannot be read: {listed.problem}",
            hint="Pick another run above. Your other runs are not affected.",
        )
    )
    st.page_link("pages/runs.py", label="See all runs", icon=":material/folder_open:")
