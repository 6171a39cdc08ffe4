"""Matrices of task pairs as heatmaps: rows are sources, columns affected tasks, zero the neutral colour."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import plotly.graph_objects as go

from affinity.analysis.views import AffinityView
from affinity.analysis.wording import number
from affinity.core.types import AffinityMatrix, AnyArray, FloatArray
from affinity.figures._cells import hover_texts, task_axes
from affinity.figures._style import CELL_TEXT, DIVERGING, MOST_LABELS, SEQUENTIAL, full_label, numbers

SOURCE_TITLE: Final = "a step on …"
AFFECTED_TITLE: Final = "… helps or hurts"

_MEANINGS: Final = {True: "orange hurts, blue helps", False: "orange conflicts, blue agrees"}

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
    directed: bool = True,
    title: str = "affinity",
) -> go.Figure:
    """A matrix as a heatmap, its diagonal left out; a click on a cell selects (source, affected).

    Args:
        matrix: the values.
        order: tasks in the order of the axes; the matrix's own when left out.
        limit: colours run from -limit to +limit; the largest value of another task's pair when left out.
        hidden: (N, N) bool, cells to leave empty.
        signed: colours by sign; False = by size alone.
        directed: a value is an effect of source on affected; False = the pair agrees or conflicts.
        title: what the values are.
    """
    names = tuple(order or matrix.tasks)
    positions = [matrix.tasks.index(name) for name in names]
    values = matrix.off_diagonal()[np.ix_(positions, positions)]
    texts = hover_texts(matrix, names, positions, directed=directed)
    shown = values if hidden is None else np.where(hidden[np.ix_(positions, positions)], np.nan, values)
    meaning = (
        ("orange hurts, blue helps" if directed else "orange conflicts, blue agrees") if signed else "size"
    )
    unit = f" ({full_label(matrix.unit)})" if matrix.unit else ""
    figure = go.Figure(_cells(shown, limit, f"{full_label(title)}{unit}: {meaning}", signed=signed))
    if len(names) <= MOST_CLICKABLE:
        figure.add_trace(_clickable(names, texts))
    titles = (SOURCE_TITLE, AFFECTED_TITLE) if directed else ("", "")
    return task_axes(figure, names, *titles)


def _cells(values: FloatArray, limit: float | None, title: str, *, signed: bool) -> go.Heatmap:
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
        xgap=1 if len(values) <= MOST_LABELS else 0,
        ygap=1 if len(values) <= MOST_LABELS else 0,
        colorbar={"title": {"text": title, "side": "right"}, "thickness": 14},
    )


def _cell_text(value: float) -> str:
    return number(value, digits=2).replace("-", "−", 1)


def _clickable(names: Sequence[str], texts: list[list[str]]) -> go.Scatter:
    """Invisible markers over the cells, because clicks on the cells themselves do not reach the page."""
    size = len(names)
    rows, columns = np.nonzero(~np.eye(size, dtype=bool))
    # Object arrays pass plotly's checks as a whole; nested lists would be checked item by item.
    return go.Scatter(
        x=columns,
        y=rows,
        mode="markers",
        marker={"symbol": "square", "size": 26 if size <= MOST_CELL_TEXTS else 10, "opacity": 0.01},
        text=np.array(texts, dtype=object)[rows, columns],
        customdata=np.column_stack(
            [np.array(names, dtype=object)[rows], np.array(names, dtype=object)[columns]]
        ),
        hovertemplate="%{text}<extra></extra>",
        showlegend=False,
    )
