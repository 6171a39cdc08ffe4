"""Methods walking down a problem: their ways on the loss landscape, and in the space of the losses."""

from typing import Final

import numpy as np
import plotly.graph_objects as go

from affinity.analysis.try_method_view import Outcome, TryView
from affinity.core.types import FloatArray
from affinity.figures._style import CELL_TEXT, DASHES, NEUTRAL, SERIES, finish, label

# From light to grey, so that coloured ways stand out on it in the light and in the dark theme.
HEIGHTS: Final = ((0.0, "#f4f4f6"), (1.0, "#9aa0ab"))
OUTCOME_SYMBOLS: Final[dict[Outcome, str]] = {
    "front": "star",
    "under way": "triangle-right",
    "stuck": "x",
    "diverged": "circle",
}


def landscape(view: TryView, *, shown: int | None = None) -> go.Figure:
    """The sum of the losses as shades, the Pareto set, and every method's ways from every start.

    Args:
        view: what the methods did.
        shown: how many of the kept steps the ways go; all when left out. Ends are marked by outcome only
            where all are shown.
    """
    ground = view.landscape
    figure = go.Figure(
        go.Contour(
            x=ground.first,
            y=ground.second,
            z=_shades(ground.height),
            customdata=ground.height,
            colorscale=[list(stop) for stop in HEIGHTS],
            contours={"coloring": "fill", "showlines": True},
            line={"width": 0.5, "color": "rgba(20, 24, 31, 0.25)"},
            ncontours=24,
            showscale=False,
            hovertemplate="sum of the losses %{customdata:.4g}<extra></extra>",
        )
    )
    _line(figure, ground.front[:, 0], ground.front[:, 1], CELL_TEXT)
    for place, way in enumerate(view.ways):
        _ways(figure, view, place, way.theta[:, :, list(ground.axes)], shown, ink=CELL_TEXT)
    figure.update_xaxes(title={"text": ground.names[0]}, range=[ground.first[0], ground.first[-1]])
    figure.update_yaxes(title={"text": ground.names[1]}, range=[ground.second[0], ground.second[-1]])
    return finish(figure, height=560)


def landscape_alt(view: TryView) -> str:
    """The same in words."""
    return f"Ways of {len(view.ways)} methods on the landscape of “{view.landscape.title}”. {view.sentence}"


def loss_space(view: TryView, *, shown: int | None = None) -> go.Figure:
    """The first loss against the second along every way, with the front of the best compromises.

    Args:
        view: what the methods did, on a problem with at least two losses.
        shown: how many of the kept steps the ways go; all when left out.
    """
    figure = go.Figure()
    front = view.landscape.front_losses
    _line(figure, front[:, 0], front[:, 1], NEUTRAL)
    for place, way in enumerate(view.ways):
        _ways(figure, view, place, way.losses[:, :, :2], shown, ink=NEUTRAL)
    figure.update_xaxes(title={"text": label(view.tasks[0])})
    figure.update_yaxes(title={"text": label(view.tasks[1])})
    if _spans_decades(view):
        figure.update_xaxes(type="log")
        figure.update_yaxes(type="log")
    return finish(figure, height=420)


def loss_space_alt(view: TryView) -> str:
    """The same in words."""
    return (
        f"{label(view.tasks[0])} against {label(view.tasks[1])} along the ways of {len(view.ways)} methods, "
        f"with the front of the best compromises. {view.sentence}"
    )


def _ways(
    figure: go.Figure, view: TryView, place: int, points: FloatArray, shown: int | None, *, ink: str
) -> None:
    """One method's ways as one line with gaps, its starts, and its ends."""
    way, colour = view.ways[place], SERIES[place % len(SERIES)]
    kept = points[: len(points) if shown is None else max(1, shown)]
    gap = np.full((1, kept.shape[1], 2), np.nan)
    joined = np.concatenate([kept, gap]).swapaxes(0, 1).reshape(-1, 2)
    steps = np.append(view.steps[: len(kept)].astype(np.float64), np.nan)
    figure.add_trace(
        go.Scatter(
            x=_finite(joined[:, 0]),
            y=_finite(joined[:, 1]),
            customdata=np.tile(steps, kept.shape[1]),
            mode="lines",
            line={"color": colour, "width": 2.5, "dash": DASHES[place % len(DASHES)]},
            name=way.title,
            legendgroup=way.key,
            hovertemplate=f"{way.title}, step %{{customdata:.0f}}<br>(%{{x:.4g}}, %{{y:.4g}})<extra></extra>",
        )
    )
    ends = [end for end in view.ends if end.method == way.title]
    complete = len(kept) == len(points)
    symbols = [OUTCOME_SYMBOLS[end.outcome] if complete else "circle" for end in ends]
    said = [f"start {end.start}: {end.outcome}" if complete else f"start {end.start}" for end in ends]
    figure.add_trace(
        go.Scatter(
            x=_finite(kept[-1, :, 0]),
            y=_finite(kept[-1, :, 1]),
            mode="markers",
            marker={"symbol": symbols, "size": 12, "color": colour, "line": {"width": 1, "color": ink}},
            hovertext=said,
            hovertemplate=f"{way.title}, %{{hovertext}}<extra></extra>",
            legendgroup=way.key,
            showlegend=False,
        )
    )
    if place == 0:  # all methods begin at the same places
        _starts(figure, points[0], ink)


def _starts(figure: go.Figure, points: FloatArray, ink: str) -> None:
    figure.add_trace(
        go.Scatter(
            x=_finite(points[:, 0]),
            y=_finite(points[:, 1]),
            mode="markers+text",
            text=[str(number + 1) for number in range(len(points))],
            textposition="top center",
            textfont={"color": ink},
            marker={"symbol": "circle-open", "size": 11, "color": ink, "line": {"width": 2}},
            showlegend=False,  # dark ink would vanish in the legend of a dark page
            hovertemplate="start %{text}<extra></extra>",
        )
    )


def _line(figure: go.Figure, x: FloatArray, y: FloatArray, ink: str) -> None:
    figure.add_trace(
        go.Scatter(
            x=x,
            y=y,
            mode="lines",
            line={"color": ink, "width": 5},
            name="best compromises",
            hoverinfo="name",
            showlegend=False,
        )
    )


def _finite(values: FloatArray) -> list[float | None]:
    return [float(value) if np.isfinite(value) else None for value in values]


def _shades(height: FloatArray) -> FloatArray:
    """Heights on a logarithmic scale above the lowest point, because valleys are flat and walls are steep."""
    above = height - height.min()
    least = max(float(np.quantile(above, 0.02)), float(above.max()) * 1e-6, 1e-12)
    return np.asarray(np.log10(above + least))


def _spans_decades(view: TryView) -> bool:
    """All losses are positive, and at least one of the two drawn spans more than two orders of magnitude."""
    values = np.concatenate([way.losses[:, :, :2].reshape(-1, 2) for way in view.ways])
    values = values[np.isfinite(values).all(axis=1)]
    if not len(values) or values.min() <= 0 or view.landscape.front_losses[:, :2].min() <= 0:
        return False
    return bool((values.max(axis=0) / values.min(axis=0)).max() > 100)
