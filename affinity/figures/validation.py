"""Predicted against measured networks: a scatter of gains, and what is lost at every budget."""

import numpy as np
import plotly.graph_objects as go

from affinity.analysis.views.validation import ValidationView
from affinity.figures._style import (
    DASHES,
    HELPS,
    HURTS,
    NEUTRAL,
    SERIES,
    finish,
    full_label,
    numbers,
    value_text,
)

MOST_POINTS = 2000


def gain_scatter(view: ValidationView) -> go.Figure:
    """A point per task and network of three or more tasks, coloured by the size of the network.

    On the dotted line the prediction is right. Beyond 2,000 points a regular part of them is drawn.
    """
    figure = go.Figure()
    shown = view.points[:: max(1, -(-len(view.points) // MOST_POINTS))]
    for at, size in enumerate(sorted({len(point.network) for point in shown})):
        points = [point for point in shown if len(point.network) == size]
        figure.add_trace(
            go.Scatter(
                x=numbers(np.array([point.predicted for point in points])),
                y=numbers(np.array([point.measured for point in points])),
                mode="markers",
                marker={"size": 8, "color": SERIES[at % len(SERIES)], "opacity": 0.8, "symbol": at % 6},
                name=f"{size} tasks",
                hovertext=[
                    f"<b>{full_label(point.task)}</b> in {', '.join(map(full_label, point.network[:8]))}"
                    for point in points
                ],
                hovertemplate="%{hovertext}<br>predicted %{x:+.3g}, measured %{y:+.3g}<extra></extra>",
            )
        )
    low, high = _range(view)
    figure.add_trace(
        go.Scatter(
            x=[low, high],
            y=[low, high],
            mode="lines",
            line={"color": NEUTRAL, "dash": "dot", "width": 1},
            name="as predicted",
            hoverinfo="skip",
        )
    )
    figure.update_xaxes(title={"text": f"predicted {view.unit}"})
    figure.update_yaxes(title={"text": "measured"})
    return finish(figure, height=420)


def gain_scatter_alt(view: ValidationView) -> str:
    """The scatter in words."""
    return (
        f"Scatter of predicted against measured {view.unit}: {len(view.points)} points, "
        f"Spearman {value_text(view.over_tasks.spearman)}."
    )


def regret_lines(view: ValidationView) -> go.Figure:
    """The true total of the networks that the prediction chooses, beside the best possible, per budget."""
    figure = go.Figure()
    for name, field, colour, dash in (
        ("best possible", "best", HELPS, DASHES[0]),
        ("chosen by the prediction", "chosen", HURTS, DASHES[1]),
    ):
        figure.add_trace(
            go.Scatter(
                x=[row.budget for row in view.rows],
                y=numbers(np.array([getattr(row, field) for row in view.rows])),
                mode="lines+markers",
                line={"color": colour, "width": 2, "dash": dash},
                marker={"size": 9},
                name=name,
                hovertemplate="budget %{x}: %{y:.4g}<extra>%{fullData.name}</extra>",
            )
        )
    figure.update_xaxes(title={"text": "budget: networks of full size"}, dtick=1)
    word = "total loss, lower is better" if view.lower_is_better else "total score, higher is better"
    figure.update_yaxes(title={"text": word})
    return finish(figure, height=340)


def regret_lines_alt(view: ValidationView) -> str:
    """The lines in words."""
    told = ", ".join(f"{row.budget:g}: {row.chosen:.3g} of {row.best:.3g}" for row in view.rows[:6])
    return f"True total of the chosen networks beside the best possible, by budget: {told}."


def _range(view: ValidationView) -> tuple[float, float]:
    values = [value for point in view.points for value in (point.predicted, point.measured)]
    known = [value for value in values if np.isfinite(value)]
    return (min(known), max(known)) if known else (0.0, 1.0)
