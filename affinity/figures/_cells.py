"""What heatmaps of tasks share: axes with named tasks, and the sentence that a hover shows for a cell."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from affinity.core.types import AffinityMatrix
from affinity.figures._style import MOST_LABELS, finish, full_label, row_height, ticks, value_text


def task_axes(figure: go.Figure, names: Sequence[str], rows: str, columns: str) -> go.Figure:
    """Tasks on both axes, the first on top and on the left; titles say which end of the effect an axis is."""
    axis: dict[str, Any] = {"showgrid": False, "zeroline": False, "range": [-0.5, len(names) - 0.5]}
    figure.update_xaxes(title={"text": columns}, side="top", tickangle=-45, **axis, **ticks(names))
    upside_down = {**axis, "range": [len(names) - 0.5, -0.5]}
    figure.update_yaxes(title={"text": rows}, **upside_down, **ticks(names))
    return finish(
        figure, height=row_height(len(names), each=26 if len(names) <= MOST_LABELS else 9, around=210)
    )


def hover_texts(
    matrix: AffinityMatrix, names: Sequence[str], positions: Sequence[int], *, directed: bool
) -> list[list[str]]:
    """Per source and affected task, in the order of the axes: the sentence that a hover shows."""
    tell = _effect if directed else _agreement
    size = len(names)
    low = np.full((size, size), np.nan) if matrix.low is None else matrix.low
    high = np.full((size, size), np.nan) if matrix.high is None else matrix.high
    shown = [f"<b>{full_label(name)}</b>" for name in names]
    return [
        [
            tell(shown[row], shown[column], matrix.values[i, j]) + _interval(low[i, j], high[i, j])
            for column, j in enumerate(positions)
        ]
        for row, i in enumerate(positions)
    ]


def _effect(source: str, affected: str, value: float) -> str:
    verb = (
        "has no value for"
        if np.isnan(value)
        else "helps"
        if value > 0
        else "hurts"
        if value < 0
        else "leaves"
    )
    return f"a step on {source}<br>{verb} {affected}: {value_text(value)}"


def _agreement(first: str, second: str, value: float) -> str:
    verb = (
        "have no value"
        if np.isnan(value)
        else "agree"
        if value > 0
        else "conflict"
        if value < 0
        else "differ"
    )
    return f"{first} and {second}<br>{verb}: {value_text(value)}"


def _interval(low: float, high: float) -> str:
    if np.isnan(low) or np.isnan(high):
        return ""
    note = "<br>not distinguishable from zero" if low <= 0 <= high else ""
    return f"<br>95 % interval {value_text(low)} to {value_text(high)}{note}"


def _verb(value: float, verbs: tuple[str, str, str, str]) -> str:
    """The verb for a positive, a negative, a zero and a missing value."""
    if np.isnan(value):
        return verbs[3]
    return verbs[0] if value > 0 else verbs[1] if value < 0 else verbs[2]
