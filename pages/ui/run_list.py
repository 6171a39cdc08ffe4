"""The list of runs and what can be done with one of them."""

import pandas as pd
import streamlit as st

from affinity.core.errors import AffinityError
from affinity.runs.archive import pack, unpack
from affinity.runs.library import Listed
from pages.ui import data, messages, show, state, words

_COLUMNS = {
    "Created": st.column_config.DatetimeColumn("Created (UTC)", format="YYYY-MM-DD HH:mm"),
    "Name": st.column_config.TextColumn(width="medium"),
    "Note": st.column_config.TextColumn(width="medium"),
}


def draw(runs: tuple[Listed, ...]) -> None:
    """The table; clicking a row selects its run."""
    frame = pd.DataFrame([_row(item, name) for item, name in zip(runs, _names(runs), strict=True)])
    st.dataframe(
        frame,
        hide_index=True,
        key="run_table",
        on_select=lambda: _select(runs),
        selection_mode="single-row",
        column_config=_COLUMNS,
        height=38 + 35 * min(len(frame), 12),
        placeholder="–",
        alt="Runs with their name, state, tasks, method, length and time of creation.",
    )
    broken = [item for item in runs if item.problem]
    if broken:
        with st.expander(f"{len(broken)} cannot be read: why?", icon=":material/warning:"):
            for item in broken:
                st.markdown(f"- **{messages.md(item.id)}**: {messages.md(item.problem)}")


def actions(item: Listed) -> None:
    """Open, rename, download and delete the selected run."""
    with st.container(horizontal=True, vertical_alignment="center"):
        if item.info is not None:
            _open_link(item)
            _download(item)
        if item.sample:
            st.caption("Samples are read-only.", width="content")
        else:
            if item.info is not None:
                _rename(item)
            if st.button("Delete", icon=":material/delete:", key="delete", disabled=item.status.live):
                _confirm_delete(item)


def upload() -> None:
    """Take a run that somebody sent as a zip file."""
    taken = state.get("uploads", 0)
    given = st.file_uploader(
        "A run as a zip file, as the download button makes it",
        type="zip",
        key=f"upload_{taken}",
        help="At most 20 MB. The file is checked before anything is kept.",
    )
    if given is None:
        return
    try:
        run_id = unpack(given.getvalue(), data.library())
    except AffinityError as error:
        messages.show_error(error)
        return
    state.put("uploads", taken + 1)
    state.choose_run(run_id)
    state.notify("The run was added to your library and is selected below.")
    st.rerun()


def _names(runs: tuple[Listed, ...]) -> list[str]:
    labels = words.labels(runs)
    return [labels[item.id] for item in runs]


def _row(item: Listed, name: str) -> dict[str, object]:
    info = item.info
    state_word = "cannot be read" if item.problem else words.STATES[item.status.state][0]
    return {
        "Name": name,
        "State": f"{state_word} (sample)" if item.sample else state_word,
        "Tasks": len(info.tasks) if info else None,
        "Length": words.length(item),
        "Created": words.when(info.created) if info else None,
        "Made of": words.made_of(info) if info else "",
        "Kind": words.KINDS[info.kind] if info else "",
        "Note": item.problem or item.status.error or item.status.note,
    }


def _select(runs: tuple[Listed, ...]) -> None:
    rows = st.session_state["run_table"]["selection"]["rows"]
    if rows and rows[0] < len(runs):
        state.choose_run(runs[rows[0]].id)


def _open_link(item: Listed) -> None:
    assert item.info is not None
    target = "pages/compare.py" if item.info.kind == "rerun" else "pages/affinity.py"
    label = "See whether it helped" if item.info.kind == "rerun" else "See who helps whom"
    st.page_link(target, label=label, icon=":material/arrow_forward:", query_params={state.RUN: item.id})


def _download(item: Listed) -> None:
    show.download(
        "Download",
        lambda: pack(data.open_run(item.id)),
        file_name=f"{item.id}.zip",
        mime="application/zip",
        key="download_run",
    )


def _rename(item: Listed) -> None:
    assert item.info is not None
    with st.popover("Rename", icon=":material/edit:", key=f"rename_{item.id}"):
        label = st.text_input("New name", item.info.label, 200, key=f"label_{item.id}")
        if st.button("Save", type="primary", key="save_label", disabled=not (label or "").strip()):
            data.library().rename(item.id, label)
            state.notify("The run has its new name.")
            st.rerun()


@st.dialog("Delete this run?", icon=":material/delete:")
@messages.boundary()
def _confirm_delete(item: Listed) -> None:
    name = item.info.label if item.info else item.id
    st.markdown(f"**{messages.md(name)}** and everything recorded in it will be gone for good.")
    with st.container(horizontal=True):
        sure = st.button(
            "Delete for good", type="primary", key="delete_yes", on_click=_delete, args=(item.id,)
        )
        if sure or st.button("Keep it", key="delete_no"):
            st.rerun()


@messages.safely
def _delete(run_id: str) -> None:
    data.library().delete(run_id)
    state.choose_run("")
    state.notify("The run was deleted.")
