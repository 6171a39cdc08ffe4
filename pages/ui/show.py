"""A picture never stands alone: sentence, figure with a text for those who cannot see it, table, download."""

import textwrap
from collections.abc import Callable, Sequence
from typing import Any, Literal

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pages.ui import messages

MAX_ROWS = 5000
TITLE_LENGTH = 44
MANY_POINTS = 300
INVISIBLE = 0.01

_CONFIG = {"displaylogo": False, "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"]}


def is_dark() -> bool:
    """The reader's theme is the dark one."""
    return st.context.theme.type == "dark"


def _fits(picture: go.Figure) -> go.Figure:
    """The figure with its colour bar below, so that a phone keeps its width for the cells."""
    bar = {"orientation": "h", "x": 0.5, "y": 0, "yanchor": "top", "len": 0.9, "thickness": 12}
    picture.update_traces(colorbar={**bar, "title_side": "top"}, selector={"type": "heatmap"})
    _with_few_marks(picture)
    title = picture.layout.xaxis.title.text
    if title:  # plotly neither wraps a title nor makes room for it
        picture.update_xaxes(title_text="<br>".join(textwrap.wrap(title, TITLE_LENGTH)))
    if any(trace.type == "heatmap" for trace in picture.data):
        picture.update_layout(margin_r=48)  # the last slanted name ends to the right of its column
    return picture


def _with_few_marks(picture: go.Figure) -> None:
    """Draw hardly any of thousands of invisible points: they answer hovers and clicks all the same.

    Each drawn point is an element of the page, and ten thousand of them keep a browser busy for seconds.
    """
    for trace in picture.data:
        crowded = trace.type == "scatter" and trace.x is not None and len(trace.x) > MANY_POINTS
        if crowded and trace.marker.opacity == INVISIBLE:
            trace.marker.maxdisplayed = 1


def figure(picture: go.Figure, *, alt: str, key: str) -> None:
    """A figure that is only looked at.

    Args:
        picture: the figure.
        alt: what it shows, in words.
        key: unique on the page.
    """
    st.plotly_chart(_fits(picture), theme="streamlit", key=key, config=_CONFIG, alt=alt)


def clickable(picture: go.Figure, *, alt: str, key: str, on_click: Callable[[list[Any]], None]) -> None:
    """A figure whose points can be clicked.

    Args:
        picture: the figure.
        alt: what it shows, in words.
        key: unique on the page.
        on_click: is called with the `customdata` of the clicked point, before the page is drawn again.
    """

    def clicked() -> None:
        points = st.session_state[key]["selection"]["points"]
        if points and points[0].get("customdata") is not None:
            on_click(list(points[0]["customdata"]))

    st.plotly_chart(
        _fits(picture),
        theme="streamlit",
        key=key,
        config=_CONFIG,
        alt=alt,
        on_select=clicked,
        selection_mode="points",
    )


def table(
    frame: pd.DataFrame,
    *,
    alt: str,
    key: str,
    columns: dict[str, Any] | None = None,
    rows: int | None = None,
) -> None:
    """A table to read and sort.

    Args:
        frame: the rows; columns of one type each.
        alt: what it holds, in words.
        key: unique on the page.
        columns: Streamlit column configuration by column name.
        rows: visible rows; automatic when left out.
    """
    shown = frame.head(MAX_ROWS)
    height: int | Literal["auto"] = "auto" if rows is None else 38 + 35 * min(rows, max(1, len(shown)))
    st.dataframe(shown, hide_index=True, column_config=columns, key=key, alt=alt, height=height)
    if len(frame) > MAX_ROWS:
        st.caption(f"The first {MAX_ROWS:,} of {len(frame):,} rows; the download holds them all.")


def download(label: str, make: Callable[[], str | bytes], *, file_name: str, mime: str, key: str) -> None:
    """A download button whose content is made when it is pressed."""
    st.download_button(label, make, file_name, mime, key=key, on_click="ignore", icon=":material/download:")


def panel(
    picture: go.Figure,
    frame: pd.DataFrame,
    *,
    alt: str,
    key: str,
    columns: dict[str, Any] | None = None,
    csv: Callable[[], str | bytes] | None = None,
    notes: Sequence[str] = (),
    open_table: bool = False,
) -> None:
    """Figure, fine print, table and download of one finding.

    Args:
        picture: the figure.
        frame: the same numbers as rows.
        alt: what the figure shows, in words.
        key: unique on the page; also the name of the downloaded file.
        columns: Streamlit column configuration by column name.
        csv: makes the file; without it the table has no download.
        notes: sentences under the figure.
        open_table: show the table unfolded.
    """
    figure(picture, alt=alt, key=f"{key}_figure")
    messages.caveats(list(notes))
    with st.expander("The numbers as a table", icon=":material/table:", expanded=open_table):
        table(frame, alt=f"Table: {alt}", key=f"{key}_table", columns=columns)
        if csv is not None:
            download("CSV", csv, file_name=f"{key}.csv", mime="text/csv", key=f"{key}_csv")
