"""One style for all figures: colours, labels and layout. Nothing here draws."""

import html
import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import plotly.graph_objects as go

from affinity.analysis.wording import number
from affinity.core.types import FloatArray

# Blue and orange differ for every common kind of colour vision, and both are light enough for dark text.
HELPS: Final = "#3d85c6"
HURTS: Final = "#d9730d"
NEUTRAL: Final = "#8a8f98"
GRID: Final = "rgba(138, 143, 152, 0.25)"
CELL_TEXT: Final = "#14181f"
TRANSPARENT: Final = "rgba(0, 0, 0, 0)"

DIVERGING: Final = (
    (0.0, HURTS),
    (0.25, "#efab73"),
    (0.5, "#e9e9ec"),
    (0.75, "#9fc4e8"),
    (1.0, HELPS),
)
SEQUENTIAL: Final = ((0.0, "#e9e9ec"), (0.5, "#c5b3e6"), (1.0, "#9878d3"))

# Okabe & Ito's palette without its yellow, which vanishes on white, and with line styles beside the colours.
SERIES: Final = ("#3d85c6", "#d9730d", "#1a9e77", "#b85c9e", "#8a8f98", "#56b4e9", "#a6761d", "#6a3fb5")
DASHES: Final = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")

MOST_LABELS: Final = 25
LABEL_LENGTH: Final = 24


def label(name: str, *, longest: int = LABEL_LENGTH) -> str:
    """A task name for a figure: no markup, no formula, cut in the middle when it is long."""
    plain = name.replace("$", "")
    if len(plain) > longest:
        head = (longest - 1) * 2 // 3
        plain = f"{plain[:head]}…{plain[len(plain) - (longest - 1 - head) :]}"
    return html.escape(plain, quote=False) or "unnamed"


def full_label(name: str) -> str:
    """The whole name for a hover: no markup, no formula."""
    return label(name, longest=10_000)


def value_text(value: float) -> str:
    """A signed number for a hover or a cell; `missing` where there is none."""
    return number(value, missing="missing")


def ticks(names: Sequence[str]) -> dict[str, Any]:
    """Axis ticks for tasks at positions 0 .. N-1, thinned beyond 25; the hover still names every task."""
    step = math.ceil(len(names) / MOST_LABELS)
    shown = list(range(0, len(names), step))
    return {
        "tickmode": "array",
        "tickvals": shown,
        "ticktext": [label(names[position]) for position in shown],
    }


def finish(figure: go.Figure, *, height: int, **layout: Any) -> go.Figure:  # noqa: ANN401 - plotly's own options
    """The layout that all figures share. No template is named, so that text follows the page's theme."""
    figure.update_layout(
        height=height,
        paper_bgcolor=TRANSPARENT,
        plot_bgcolor=TRANSPARENT,
        margin={"l": 16, "r": 16, "t": 32, "b": 16},
        hoverlabel={"namelength": -1, "align": "left"},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0},
        **layout,
    )
    figure.update_xaxes(automargin=True, gridcolor=GRID, zerolinecolor=NEUTRAL)
    figure.update_yaxes(automargin=True, gridcolor=GRID, zerolinecolor=NEUTRAL)
    return figure


def row_height(rows: int, *, each: int = 24, around: int = 150, least: int = 260, most: int = 1100) -> int:
    """Height of a figure with so many rows, in pixels."""
    return int(min(most, max(least, around + each * rows)))


def bar_rows(figure: go.Figure, names: Sequence[str]) -> go.Figure:
    """Name the rows of horizontal bars at positions 0 .. N-1, the first on top; two names may look alike."""
    return figure.update_yaxes(
        tickmode="array",
        tickvals=list(range(len(names))),
        ticktext=[label(name, longest=2 * LABEL_LENGTH) for name in names],
        autorange="reversed",
        showgrid=False,
        zeroline=False,
    )


def error_bars(values: FloatArray, low: FloatArray, high: FloatArray) -> dict[str, Any]:
    """Bars from low to high around the values; none where an interval is unknown."""
    up, down = np.nan_to_num(high - values, nan=0.0), np.nan_to_num(values - low, nan=0.0)
    return {
        "type": "data",
        "symmetric": False,
        "array": up.tolist(),
        "arrayminus": down.tolist(),
        "color": NEUTRAL,
        "thickness": 2,
        "width": 5,
    }


def sign_colours(values: FloatArray) -> list[str]:
    """Blue for what helps, orange for what hurts, grey for nothing."""
    return [HELPS if value > 0 else HURTS if value < 0 else NEUTRAL for value in values]


def numbers(values: FloatArray) -> list[Any]:
    """Plain lists with None for missing or infinite values, which every plotly version draws as a gap."""
    clean = np.where(np.isfinite(values), values, np.nan)
    return [[_plain(item) for item in row] if np.ndim(row) else _plain(row) for row in clean]


def _plain(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
