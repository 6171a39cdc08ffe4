"""Directed pairs as a table: who helps, who hurts, and how sure that is."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from affinity.analysis.views import PairRow
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


def draw(rows: Sequence[PairRow], *, key: str) -> None:
    """The surest help and the surest harm side by side, then every pair."""
    helps = [row for row in rows if row.verdict == "helps"]
    hurts = sorted((row for row in rows if row.verdict == "hurts"), key=lambda row: row.high)
    left, right = st.columns(2)
    with left:
        st.markdown(f":material/add_circle: **Helps most surely** ({len(helps)} pairs)")
        _short(helps, key=f"{key}_helps", words="The surest help between tasks, with its interval.")
    with right:
        st.markdown(f":material/do_not_disturb_on: **Hurts most surely** ({len(hurts)} pairs)")
        _short(hurts, key=f"{key}_hurts", words="The surest harm between tasks, with its interval.")


def _short(rows: Sequence[PairRow], *, key: str, words: str) -> None:
    if not rows:
        st.caption("No pair whose interval lies on this side of zero.")
        return
    brief = frame(rows[:8]).drop(columns=["Verdict", "from", "to", "Steps"])
    show.table(brief, alt=words, key=key, columns=COLUMNS)
