"""Matrices of task pairs as heatmaps: rows are sources, columns affected tasks, zero the neutral colour."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import plotly.graph_objects as go

from affinity.analysis.views import AffinityView
from affinity.core.types import AffinityMatrix, AnyArray, FloatArray
from affinity.figures._style import (
    CELL_TEXT,
    DIVERGING,
    SEQUENTIAL,
    finish,
    full_label,
    numbers,
    row_height,
    ticks,
    value_text,
)

SOURCE_TITLE: Final = "a step on …"
AFFECTED_TITLE: Final = "… helps or hurts"

# Up to here the sign stands in the cell, so that colour is not needed to read it.
MOST_CELL_TEXTS: Final = 12
# Beyond this a clickable layer over the cells would make the figure too heavy.
MOST_CLICKABLE: Final = 150


def affinity_heatmap(
    view: AffinityView,
    *,
    order: Sequence[str] | None = None,
    hide_uncertain: bool = False,
    signed: bool = True,
) -> go.Figure:
    """Who helps whom as a heatmap; a click on a cell selects (source, affected).

    Args:
        view: the affinities.
        order: tasks in the order of the axes; similar ones side by side when left out.
        hide_uncertain: leave out what cannot be told from zero.
        signed: colours from orange (hurts) to blue (helps); False = by size alone.
    """
    hidden = ~np.asarray(view.distinguishable) if hide_uncertain else None
    return matrix_heatmap(
        view.matrix,
        order=order or view.order,
        limit=view.limit,
        hidden=hidden,
        signed=signed,
        title=view.choice.title,
    )


def affinity_heatmap_alt(view: AffinityView) -> str:
    """The heatmap in words."""
    size = len(view.matrix.tasks)
    return (
        f"Heatmap of {view.choice.title.lower()}, {size} by {size} tasks. Rows: the task a step was on. "
        f"Columns: the task it helps or hurts. Colours run from {-view.limit:.3g} to {view.limit:.3g}. "
        f"{view.sentence}"
    )


def matrix_heatmap(
    matrix: AffinityMatrix,
    *,
    order: Sequence[str] | None = None,
    limit: float | None = None,
    hidden: AnyArray | None = None,
    signed: bool = True,
    title: str = "affinity",
) -> go.Figure:
    """A matrix as a heatmap, its diagonal left out; a click on a cell selects (source, affected).

    Args:
        matrix: the values.
        order: tasks in the order of the axes; the matrix's own when left out.
        limit: colours run from -limit to +limit; the largest value of another task's pair when left out.
        hidden: (N, N) bool, cells to leave empty.
        signed: colours by sign; False = by size alone.
        title: what the values are.
    """
    names = tuple(order or matrix.tasks)
    positions = [matrix.tasks.index(name) for name in names]
    values = matrix.off_diagonal()[np.ix_(positions, positions)]
    texts = _hover_texts(matrix, names, positions)
    shown = values if hidden is None else np.where(hidden[np.ix_(positions, positions)], np.nan, values)
    figure = go.Figure(_cells(shown, limit, title, signed=signed, unit=matrix.unit))
    if len(names) <= MOST_CLICKABLE:
        figure.add_trace(_clickable(names, texts))
    return _with_task_axes(figure, names, SOURCE_TITLE, AFFECTED_TITLE)


def share_heatmap(
    tasks: Sequence[str], shares: FloatArray, *, title: str, order: Sequence[str] | None = None
) -> go.Figure:
    """Shares between 0 and 1 of unordered pairs, such as how often two tasks are grouped together."""
    names = tuple(order or tasks)
    positions = [list(tasks).index(name) for name in names]
    values = np.array(shares, dtype=np.float64)[np.ix_(positions, positions)]
    np.fill_diagonal(values, np.nan)
    figure = go.Figure(_shares(values, title, names))
    return _with_task_axes(figure, names, "", "")


def share_heatmap_alt(tasks: Sequence[str], shares: FloatArray, *, title: str) -> str:
    """The shares in words: the pair with the largest one."""
    values = np.array(shares, dtype=np.float64)
    np.fill_diagonal(values, np.nan)
    if not np.isfinite(values).any():
        return f"Heatmap of the {title} for {len(tasks)} tasks; no pair has a value."
    i, j = divmod(int(np.nanargmax(values)), len(values))
    largest = f"{tasks[i]} and {tasks[j]}, {values[i, j]:.0%}"
    return f"Heatmap of the {title} for {len(tasks)} tasks. Largest: {largest}."


def _cells(values: FloatArray, limit: float | None, title: str, *, signed: bool, unit: str) -> go.Heatmap:
    sizes = np.abs(values[np.isfinite(values)])
    largest = limit or (float(sizes.max()) if len(sizes) and sizes.max() else 1.0)
    few = len(values) <= MOST_CELL_TEXTS
    texts = [["" if np.isnan(value) else _cell_text(value) for value in row] for row in values]
    return go.Heatmap(
        z=numbers(values if signed else np.abs(values)),
        zmin=-largest if signed else 0.0,
        zmax=largest,
        colorscale=[list(stop) for stop in (DIVERGING if signed else SEQUENTIAL)],
        text=texts if few else None,
        texttemplate="%{text}" if few else None,
        textfont={"color": CELL_TEXT},
        hoverinfo="skip",
        xgap=1,
        ygap=1,
        colorbar={
            "title": {"text": _bar_title(title, unit, signed=signed), "side": "right"},
            "thickness": 14,
        },
    )


def _bar_title(title: str, unit: str, *, signed: bool) -> str:
    meaning = "orange hurts, blue helps" if signed else "size"
    return f"{full_label(title)}{f' ({full_label(unit)})' if unit else ''}: {meaning}"


def _cell_text(value: float) -> str:
    return f"{'+' if value > 0 else '−' if value < 0 else ''}{abs(value):.2g}"


def _shares(values: FloatArray, title: str, names: Sequence[str]) -> go.Heatmap:
    few = len(values) <= MOST_CELL_TEXTS
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


def _hover_texts(matrix: AffinityMatrix, names: Sequence[str], positions: Sequence[int]) -> list[list[str]]:
    """Per source and affected task, in the order of the axes: the sentence that a hover shows."""
    size = len(names)
    low = np.full((size, size), np.nan) if matrix.low is None else matrix.low
    high = np.full((size, size), np.nan) if matrix.high is None else matrix.high
    shown = [full_label(name) for name in names]
    return [
        [
            _hover(shown[row], shown[column], matrix.values[i, j], (low[i, j], high[i, j]))
            for column, j in enumerate(positions)
        ]
        for row, i in enumerate(positions)
    ]


def _hover(source: str, affected: str, value: float, bounds: tuple[float, float]) -> str:
    verb = (
        "has no value for"
        if np.isnan(value)
        else "helps"
        if value > 0
        else "hurts"
        if value < 0
        else "leaves"
    )
    sentence = f"a step on <b>{source}</b><br>{verb} <b>{affected}</b>: {value_text(value)}"
    if np.isnan(bounds[0]):
        return sentence
    unclear = bounds[0] <= 0 <= bounds[1]
    note = "<br>not distinguishable from zero" if unclear else ""
    return f"{sentence}<br>95 % interval {value_text(bounds[0])} to {value_text(bounds[1])}{note}"


def _clickable(names: Sequence[str], texts: list[list[str]]) -> go.Scatter:
    """Invisible markers over the cells, because clicks on the cells themselves do not reach the page."""
    pairs = [(row, column) for row in range(len(names)) for column in range(len(names)) if row != column]
    return go.Scatter(
        x=[column for _, column in pairs],
        y=[row for row, _ in pairs],
        mode="markers",
        marker={"symbol": "square", "size": 26 if len(names) <= MOST_CELL_TEXTS else 10, "opacity": 0.01},
        text=[texts[row][column] for row, column in pairs],
        customdata=[[names[row], names[column]] for row, column in pairs],
        hovertemplate="%{text}<extra></extra>",
        showlegend=False,
    )


def _with_task_axes(figure: go.Figure, names: Sequence[str], rows: str, columns: str) -> go.Figure:
    axis: dict[str, Any] = {"showgrid": False, "zeroline": False, "range": [-0.5, len(names) - 0.5]}
    figure.update_xaxes(title={"text": columns}, side="top", tickangle=-45, **axis, **ticks(names))
    upside_down = {**axis, "range": [len(names) - 0.5, -0.5]}
    figure.update_yaxes(title={"text": rows}, **upside_down, **ticks(names))
    return finish(figure, height=row_height(len(names), each=26 if len(names) <= 25 else 9, around=210))
