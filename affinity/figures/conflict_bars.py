"""Where gradients fight, ranked: pairs, layers and tasks as bars with the worst on top."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import plotly.graph_objects as go

from affinity.analysis.views import ConflictsView, HurtTask
from affinity.core.types import FloatArray
from affinity.figures._style import HURTS, bar_rows, finish, full_label, numbers, row_height

MOST_BARS: Final = 20


def worst_pairs(view: ConflictsView, *, most: int = MOST_BARS) -> go.Figure:
    """The pairs that fight most often, with their conflict rate; a click on a bar selects the two tasks."""
    pairs = [pair for pair in view.pairs if pair.n][:most]
    names = [f"{pair.first} · {pair.second}" for pair in pairs]
    figure = _bars(names, np.array([pair.rate for pair in pairs]))
    figure.update_traces(
        customdata=[[pair.first, pair.second] for pair in pairs],
        hovertext=[
            f"{full_label(pair.first)} and {full_label(pair.second)}<br>{pair.conflicts} of {pair.n} steps"
            f"<br>mean cosine {pair.mean_cosine:+.2f}"
            for pair in pairs
        ],
    )
    figure.update_xaxes(title={"text": "share of steps in conflict"})
    return figure


def worst_pairs_alt(view: ConflictsView, *, most: int = MOST_BARS) -> str:
    """The bars in words."""
    named = [f"{pair.first} and {pair.second} {pair.rate:.0%}" for pair in view.pairs if pair.n][:most]
    return f"Bars of the pairs that conflict most often: {', '.join(named[:3]) or 'no pair has a value'}."


def layer_bars(view: ConflictsView, *, most: int = MOST_BARS) -> go.Figure:
    """Layers by how often gradients conflict there."""
    layers = view.layers[:most]
    figure = _bars([layer.layer for layer in layers], np.array([layer.rate for layer in layers]))
    figure.update_traces(
        hovertext=[
            f"{full_label(layer.layer)}<br>{layer.score} of {layer.n} comparisons"
            f"<br>mean cosine {layer.mean_cosine:+.2f}"
            for layer in layers
        ]
    )
    figure.update_xaxes(title={"text": "share of comparisons in conflict"})
    return figure


def layer_bars_alt(view: ConflictsView) -> str:
    """The bars in words."""
    if not view.layers:
        return "Gradients were not recorded by layer."
    named = [f"{layer.layer} {layer.rate:.0%}" for layer in view.layers[:3]]
    return f"Bars of {len(view.layers)} layers by share of conflicts; most in {', '.join(named)}."


def hurt_bars(rows: Sequence[HurtTask], *, most: int = MOST_BARS) -> go.Figure:
    """Tasks by how often an update goes against their gradient."""
    shown = [row for row in rows if row.n][:most]
    figure = _bars([row.task for row in shown], np.array([row.rate for row in shown]))
    figure.update_traces(
        hovertext=[
            f"{full_label(row.task)}<br>{row.hurt} of {row.n} steps"
            f"<br>mean alignment {row.mean_alignment:+.2f}"
            for row in shown
        ]
    )
    figure.update_xaxes(title={"text": "share of steps that hurt the task"})
    return figure


def hurt_bars_alt(rows: Sequence[HurtTask]) -> str:
    """The bars in words."""
    named = [f"{row.task} {row.rate:.0%}" for row in rows if row.n][:3]
    return f"Bars of the tasks that the update goes against most often: {', '.join(named) or 'none'}."


def _bars(names: Sequence[str], shares: FloatArray) -> go.Figure:
    """Horizontal bars of shares, the first on top."""
    figure = go.Figure(
        go.Bar(
            x=numbers(shares),
            y=list(range(len(names))),
            orientation="h",
            marker={"color": HURTS},
            hovertemplate="%{hovertext}<extra></extra>",
        )
    )
    bar_rows(figure, names)
    figure.update_xaxes(range=[0, 1], tickformat=".0%")
    return finish(figure, height=row_height(len(names), around=110, least=160))
