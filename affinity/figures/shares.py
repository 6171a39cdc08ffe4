"""Shares of unordered pairs as a heatmap, such as how often two tasks are grouped together."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from affinity.core.types import FloatArray
from affinity.figures._cells import task_axes
from affinity.figures._style import CELL_TEXT, SEQUENTIAL, full_label, numbers

_MOST_CELL_TEXTS = 12


def share_heatmap(
    tasks: Sequence[str], shares: FloatArray, *, title: str, order: Sequence[str] | None = None
) -> go.Figure:
    """Shares between 0 and 1 of unordered pairs, such as how often two tasks are grouped together."""
    names = tuple(order or tasks)
    positions = [list(tasks).index(name) for name in names]
    values = np.array(shares, dtype=np.float64)[np.ix_(positions, positions)]
    np.fill_diagonal(values, np.nan)
    figure = go.Figure(_shares(values, title, names))
    return task_axes(figure, names, "", "")


def share_heatmap_alt(tasks: Sequence[str], shares: FloatArray, *, title: str) -> str:
    """The shares in words: the pair with the largest one."""
    values = np.array(shares, dtype=np.float64)
    np.fill_diagonal(values, np.nan)
    if not np.isfinite(values).any():
        return f"Heatmap of the {title} for {len(tasks)} tasks; no pair has a value."
    i, j = divmod(int(np.nanargmax(values)), len(values))
    largest = f"{tasks[i]} and {tasks[j]}, {values[i, j]:.0%}"
    return f"Heatmap of the {title} for {len(tasks)} tasks. Largest: {largest}."


def _shares(values: FloatArray, title: str, names: Sequence[str]) -> go.Heatmap:
    few = len(values) <= _MOST_CELL_TEXTS
    hover = [
        [
            f"{full_label(row)} and {full_label(column)}: {value:.0%}"
            for column, value in zip(names, line, strict=True)
        ]
        for row, line in zip(names, np.nan_to_num(values), strict=True)
    ]
    return go.Heatmap(
        z=numbers(values),
        zmin=0.0,
        zmax=1.0,
        colorscale=[list(stop) for stop in SEQUENTIAL],
        texttemplate="%{z:.0%}" if few else None,
        textfont={"color": CELL_TEXT},
        hovertext=hover,
        hovertemplate="%{hovertext}<extra></extra>",
        hoverongaps=False,
        xgap=1,
        ygap=1,
        colorbar={
            "title": {"text": full_label(title), "side": "right"},
            "tickformat": ".0%",
            "thickness": 14,
        },
    )
