"""Directed pairs as a table: who helps, who hurts, and how sure that is."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from affinity.analysis.views import AffinityView, PairRow
from affinity.export.matrices import matrix_csv, matrix_json_text, pairs_csv
from pages.ui import glossary, show

COLUMNS: dict[str, Any] = {
    "Learning this": st.column_config.TextColumn(help=glossary.plain("source")),
    "does to this": st.column_config.TextColumn(help=glossary.plain("affected")),
    "Effect": st.column_config.NumberColumn(format="%+.3g", help=glossary.plain("affinity")),
    "from": st.column_config.NumberColumn(format="%+.3g", help=glossary.plain("interval")),
    "to": st.column_config.NumberColumn(format="%+.3g", help=glossary.plain("interval")),
    "Sure of the sign": st.column_config.NumberColumn(
        "Sure", format="percent", help=glossary.plain("confidence")
    ),
    "Steps": st.column_config.NumberColumn(help="Recorded steps that entered the number."),
}

# Side by side there is little room: long names are cut before the numbers are.
_BRIEF: dict[str, Any] = {
    **COLUMNS,
    "Learning this": st.column_config.TextColumn(width=130, help=glossary.plain("source")),
    "does to this": st.column_config.TextColumn(width=130, help=glossary.plain("affected")),
}


# The table of the surest pairs is for a glance; the whole list opens below it.
MOST = 8


def frame(rows: Sequence[PairRow]) -> pd.DataFrame:
    """One row a directed pair."""
    names = ["Learning this", "does to this", "Verdict", "Effect", "from", "to", "Sure of the sign", "Steps"]
    values = [
        (
            row.source,
            row.affected,
            row.verdict,
            row.value,
            row.low,
            row.high,
            row.sign_confidence,
            row.n,
        )
        for row in rows
    ]
    return pd.DataFrame(values, columns=names)


def surest(view: AffinityView, *, key: str) -> None:
    """The surest help and the surest harm side by side."""
    rows = view.rows
    helps = [row for row in rows if row.verdict == "helps"]
    hurts = sorted((row for row in rows if row.verdict == "hurts"), key=lambda row: row.high)
    left, right = st.columns(2)
    with left:
        st.markdown(f":material/add_circle: **Helps most surely** ({_of(helps)})")
        _short(helps, key=f"{key}_helps", words="The surest help between tasks, with its interval.")
    with right:
        st.markdown(f":material/do_not_disturb_on: **Hurts most surely** ({_of(hurts)})")
        _short(hurts, key=f"{key}_hurts", words="The surest harm between tasks, with its interval.")


def _of(rows: Sequence[PairRow]) -> str:
    """How many pairs there are, and how many of them the short table shows."""
    return f"{MOST} of {len(rows)} pairs" if len(rows) > MOST else f"{len(rows)} pairs"


def every_pair(view: AffinityView, *, key: str) -> None:
    """All pairs and the downloads, once somebody opens them."""
    box = st.expander(
        "Every pair as a table, and downloads", icon=":material/table:", key=f"{key}_open", on_change="rerun"
    )
    if not box.open:  # a hundred tasks are 9,900 rows
        return
    with box:
        show.table(frame(view.rows), alt="Every pair of tasks.", key=f"{key}_all", columns=COLUMNS, rows=12)
        with st.container(horizontal=True):
            show.download(
                "Pairs as CSV",
                lambda: pairs_csv(view),
                file_name="pairs.csv",
                mime="text/csv",
                key="csv_pairs",
            )
            show.download(
                "Matrix as CSV",
                lambda: matrix_csv(view.matrix),
                file_name="matrix.csv",
                mime="text/csv",
                key="csv_matrix",
            )
            show.download(
                "Matrix as JSON",
                lambda: matrix_json_text(view.matrix),
                file_name="matrix.json",
                mime="application/json",
                key="json_matrix",
            )


def _short(rows: Sequence[PairRow], *, key: str, words: str) -> None:
    if not rows:
        st.caption("No pair whose interval lies on this side of zero.")
        return
    brief = frame(rows[:MOST]).drop(columns=["Verdict", "from", "to", "Steps"])
    show.table(brief, alt=words, key=key, columns=_BRIEF)
