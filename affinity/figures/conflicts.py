"""Where gradients fight: over steps, by pair, by layer and by task."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from affinity.analysis.views import ConflictsView
from affinity.core.types import AffinityMatrix, FloatArray
from affinity.figures._style import (
    HELPS,
    HURTS,
    NEUTRAL,
    SERIES,
    finish,
    numbers,
)
from affinity.figures.heatmap import matrix_heatmap


def conflict_timeline(view: ConflictsView, *, step: int | None = None) -> go.Figure:
    """Conflict fraction, mean and lowest cosine and magnitude similarity over steps, with the noise floor.

    Args:
        view: the conflict statistics.
        step: a step to mark, such as the one chosen with a slider.
    """
    figure = go.Figure()
    lines = (
        ("share of pairs in conflict", view.conflict_fraction, HURTS, "solid"),
        ("mean cosine", view.mean_cosine, HELPS, "solid"),
        ("lowest cosine", view.min_cosine, HELPS, "dot"),
        ("magnitude similarity", view.magnitude_similarity, SERIES[2], "dash"),
    )
    for name, values, colour, dash in lines:
        figure.add_trace(_line(view, name, values, colour, dash))
    noise = [value for _, value in view.noise_floor if np.isfinite(value)]
    if noise:
        figure.add_hline(
            y=min(noise),
            line={"color": NEUTRAL, "dash": "dashdot", "width": 1},
            annotation={"text": "cosine of a task with itself on two half batches (lowest)"},
        )
    if step is not None:
        figure.add_vline(x=step, line={"color": NEUTRAL, "width": 1, "dash": "dot"})
    figure.update_xaxes(title={"text": "optimiser step"})
    figure.update_yaxes(title={"text": "share or cosine"}, range=[-1.05, 1.05])
    return finish(figure, height=380)


def conflict_timeline_alt(view: ConflictsView) -> str:
    """The timeline in words."""
    shares = view.conflict_fraction[np.isfinite(view.conflict_fraction)]
    if not len(shares):
        return "Timeline of gradient conflicts; no step has two gradients to compare."
    course = (
        f"goes from {shares[0]:.0%} to {shares[-1]:.0%}, between {shares.min():.0%} and {shares.max():.0%}"
    )
    steps = f"{len(view.steps)} steps"
    return f"Timeline of gradient conflicts over {steps}: the share of pairs {course}. {view.sentence}"


def magnitude_timeline(view: ConflictsView) -> go.Figure:
    """Dominance, condition number and Pareto gap over steps, on a logarithmic scale."""
    figure = go.Figure()
    lines = (
        ("largest over smallest gradient norm", view.dominance, SERIES[1], "solid"),
        ("condition number", view.condition_number, SERIES[0], "dash"),
        ("Pareto gap over the mean norm", view.relative_gap, SERIES[2], "dot"),
    )
    for name, values, colour, dash in lines:
        figure.add_trace(_line(view, name, np.where(values > 0, values, np.nan), colour, dash))
    figure.update_xaxes(title={"text": "optimiser step"})
    figure.update_yaxes(title={"text": "ratio"}, type="log")
    return finish(figure, height=320)


def magnitude_timeline_alt(view: ConflictsView) -> str:
    """The timeline in words."""
    known = view.dominance[np.isfinite(view.dominance)]
    if not len(known):
        return "Timeline of gradient magnitudes; no step has a nonzero gradient."
    times = (
        f"{np.median(known):.3g} times the smallest in the median step and {known.max():.3g} times at most"
    )
    return f"Timeline of gradient magnitudes: the largest norm is {times}."


def conflict_heatmap(view: ConflictsView, *, order: Sequence[str] | None = None) -> go.Figure:
    """Mean cosine of every pair; a click on a cell selects the two tasks."""
    matrix = AffinityMatrix(tasks=view.tasks, values=view.pair_cosine, signal="cosine")
    return matrix_heatmap(matrix, order=order, limit=1.0, directed=False, title="mean gradient cosine")


def conflict_heatmap_alt(view: ConflictsView) -> str:
    """The heatmap in words."""
    return f"Heatmap of the mean gradient cosine of {len(view.tasks)} tasks, from -1 to 1. {view.sentence}"


def cosine_distribution(view: ConflictsView) -> go.Figure:
    """How the pairs' mean cosines are spread: the view for many tasks."""
    rows, columns = np.triu_indices(len(view.tasks), k=1)
    values = view.pair_cosine[rows, columns]
    counts, edges = np.histogram(values[np.isfinite(values)], bins=40, range=(-1, 1))
    centres = (edges[:-1] + edges[1:]) / 2
    figure = go.Figure(
        go.Bar(
            x=centres.tolist(),
            y=counts.tolist(),
            marker={"color": [HURTS if centre < 0 else HELPS for centre in centres]},
            hovertemplate="mean cosine near %{x:+.2f}: %{y} pairs<extra></extra>",
        )
    )
    figure.update_xaxes(title={"text": "mean gradient cosine of a pair"}, range=[-1, 1])
    figure.update_yaxes(title={"text": "pairs"})
    return finish(figure, height=280, bargap=0.05)


def cosine_distribution_alt(view: ConflictsView) -> str:
    """The distribution in words."""
    rows, columns = np.triu_indices(len(view.tasks), k=1)
    values = view.pair_cosine[rows, columns]
    known = values[np.isfinite(values)]
    if not len(known):
        return "No pair of tasks has a mean cosine."
    below = float((known < 0).mean())
    return f"Histogram of {len(known)} mean cosines: median {np.median(known):+.2f}, {below:.0%} below zero."


def _line(view: ConflictsView, name: str, values: FloatArray, colour: str, dash: str) -> go.Scatter:
    alone = np.isfinite(values).sum() < 3
    return go.Scatter(
        x=view.steps.tolist(),
        y=numbers(values),
        mode="lines+markers" if alone else "lines",
        line={"color": colour, "dash": dash, "width": 2},
        connectgaps=False,
        name=name,
        hovertemplate=f"{name}<br>step %{{x}}: %{{y:.3g}}<extra></extra>",
    )
