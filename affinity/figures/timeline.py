"""Pairs of tasks over steps: points, a moving average, the interval of the mean, and gaps that show."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from affinity.analysis.views import PairCurve
from affinity.figures._style import DASHES, NEUTRAL, SERIES, finish, full_label, label, numbers

# More curves than this cannot be told apart; a table ranks the rest.
MOST_CURVES = 8


def pair_curves(curves: Sequence[PairCurve], *, step: int | None = None) -> go.Figure:
    """What steps on the sources did to the affected tasks over the training.

    Args:
        curves: the pairs; only the first 8 are drawn.
        step: a step to mark, such as the one chosen with a slider.
    """
    figure = go.Figure()
    for number, curve in enumerate(curves[:MOST_CURVES]):
        _add_curve(figure, curve, SERIES[number % len(SERIES)], DASHES[number % len(DASHES)])
    figure.add_hline(y=0, line={"color": NEUTRAL, "width": 1})
    if step is not None:
        figure.add_vline(x=step, line={"color": NEUTRAL, "width": 1, "dash": "dot"})
    title = full_label(curves[0].title) if curves else "affinity"
    figure.update_xaxes(title={"text": "optimiser step"})
    figure.update_yaxes(title={"text": f"{title}: hurts below 0, helps above"})
    return finish(figure, height=380)


def pair_curves_alt(curves: Sequence[PairCurve]) -> str:
    """The curves in words."""
    if not curves:
        return "No pair of tasks is chosen."
    drawn = " ".join(curve.sentence for curve in curves[:MOST_CURVES])
    return f"Curves of {curves[0].title.lower()} over training steps. {drawn}"


def _add_curve(figure: go.Figure, curve: PairCurve, colour: str, dash: str) -> None:
    name = f"{label(curve.source)} → {label(curve.affected)}"
    steps = curve.steps.tolist()
    known = np.isfinite(curve.values)
    if np.isfinite(curve.low):
        figure.add_trace(_band(curve, colour, name))
    figure.add_trace(
        go.Scatter(
            x=steps,
            y=numbers(curve.values),
            mode="markers",
            marker={"color": colour, "size": 5, "opacity": 0.45},
            name=name,
            legendgroup=name,
            showlegend=False,
            hovertemplate=f"{name}<br>step %{{x}}: %{{y:+.3g}}<extra></extra>",
        )
    )
    figure.add_trace(
        go.Scatter(
            x=steps,
            y=numbers(curve.smooth),
            mode="lines",
            line={"color": colour, "width": 2.5, "dash": dash},
            connectgaps=False,
            name=name,
            legendgroup=name,
            hoverinfo="skip",
        )
    )
    if not known.all():
        figure.add_trace(_gaps(curve, known, colour, name))


def _band(curve: PairCurve, colour: str, name: str) -> go.Scatter:
    """The interval of the mean as a band over all steps."""
    first, last = int(curve.steps[0]), int(curve.steps[-1])
    return go.Scatter(
        x=[first, last, last, first],
        y=[curve.low, curve.low, curve.high, curve.high],
        fill="toself",
        mode="lines",
        line={"width": 0},
        fillcolor=colour,
        opacity=0.15,
        name=f"{name}: 95 % interval of the mean",
        legendgroup=name,
        showlegend=False,
        hoverinfo="skip",
    )


def _gaps(
    curve: PairCurve, known: "np.ndarray[tuple[int], np.dtype[np.bool_]]", colour: str, name: str
) -> go.Scatter:
    """Crosses at the steps without a value, so that a gap is not mistaken for a calm stretch."""
    lowest = float(np.min(curve.values[known])) if known.any() else 0.0
    steps = curve.steps[~known].tolist()
    return go.Scatter(
        x=steps,
        y=[min(lowest, 0.0)] * len(steps),
        mode="markers",
        marker={"symbol": "x-thin", "size": 9, "line": {"color": colour, "width": 2}},
        name=f"{name}: no value",
        legendgroup=name,
        hovertemplate=f"{name}<br>step %{{x}}: no value<extra></extra>",
    )
