"""The part of the Train form for a table of the user's own: upload it, then say which columns are tasks."""

import streamlit as st

from affinity.core.errors import AffinityError
from affinity.core.strict_json import Json
from affinity.datasets import DATASETS
from affinity.jobs.tables import OWN_TABLE, keep_table
from pages.ui import data, messages, state

_KINDS = {"regression": "an amount", "binary": "yes or no", "multiclass": "one of several classes"}


def draw() -> dict[str, Json]:
    """The dataset settings of an uploaded table; empty until columns were chosen."""
    _take_upload()
    kept = state.get("table")
    if kept is None:
        st.caption("A header line, one row a sample. Some columns become tasks, all others inputs.")
        return {}
    columns = data.table_columns(kept.file)
    names = [column.name for column in columns]
    kinds = {column.name: _KINDS[column.kind] for column in columns if column.kind in _KINDS}
    key = kept.checksum[:16]
    targets = st.multiselect(
        "Columns to predict, each a task",
        list(kinds),
        [],
        format_func=lambda name: f"{name} ({kinds[name]})",
        key=f"targets_{key}",
        persist_state="session",
    )
    ignored = st.multiselect(
        "Columns to leave out",
        [name for name in names if name not in targets],
        [],
        key=f"ignored_{key}",
        help="Neither input nor task, for example a row number or a name.",
        persist_state="session",
    )
    if not targets:
        st.caption("Choose at least one column to predict; two or more to see who helps whom.")
        return {}
    return {
        "file": kept.file,
        "checksum": kept.checksum,
        "targets": list(targets),
        "ignore": list(ignored),
    }


def _take_upload() -> None:
    """Keep an uploaded file at once, because the widget forgets it on the next page."""
    taken = state.get("uploads", 0)
    given = st.file_uploader(
        DATASETS[OWN_TABLE].title, type=["csv", "tsv", "txt"], key=f"table_{taken}", help="At most 20 MB."
    )
    if given is None:
        return
    try:
        kept = keep_table(data.library(), given.getvalue())
        data.table_columns(kept.file)
    except AffinityError as error:
        messages.show_error(error)
        return
    state.put("table", kept)
    state.put("uploads", taken + 1)
    state.notify("The table was read. Choose the columns to predict.")
    st.rerun()
