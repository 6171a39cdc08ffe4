"""The task graph: an arrow from the source of a step to the task it helps or hurts.

Tasks stand on a circle in a given order, so that nothing jumps when the step changes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import plotly.graph_objects as go

from affinity.analysis.views import AffinityView
from affinity.core.types import AffinityMatrix, AnyArray
from affinity.figures._style import HELPS, HURTS, NEUTRAL, finish, full_label, label, value_text

# More arrows than this hide each other; the strongest are drawn and the rest is counted.
MOST_ARROWS: Final = 60
MOST_NAMES: Final = 30
# Where there are more tasks, the ends of so many of the strongest arrows are named.
MOST_NAMED: Final = 12

_BEND: Final = 0.16
_POINTS: Final = 24
# Arrows stop before the circle of their task, so that their heads show.
_STANDOFF: Final = 0.09


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrow:
    """An arrow that is drawn: from the source to the affected task, as strong as its value."""

    source: int
    affected: int
    value: float


def task_graph(
    view: AffinityView,
    *,
    threshold: float = 0.0,
    hide_uncertain: bool = True,
    order: Sequence[str] | None = None,
    matrix: AffinityMatrix | None = None,
) -> go.Figure:
    """Who helps and who hurts whom as a graph; a click on an arrow's middle selects (source, affected).

    Args:
        view: the affinities.
        threshold: arrows weaker than this are left out.
        hide_uncertain: leave out what cannot be told from zero.
        order: tasks around the circle; similar ones side by side when left out.
        matrix: values to draw instead of the view's, such as those of one step; the same tasks.
    """
    names = tuple(order or view.order)
    shown = matrix or view.matrix
    certain = np.asarray(view.distinguishable) if hide_uncertain else None
    arrows = chosen_arrows(shown, threshold=threshold, certain=certain)
    places = {name: _place(number, len(names)) for number, name in enumerate(names)}
    figure = go.Figure()
    strongest = max((abs(arrow.value) for arrow in arrows), default=1.0)
    for arrow in arrows[:MOST_ARROWS]:
        _add_arrow(figure, shown.tasks, places, arrow, strongest)
    drawn = {shown.tasks[end] for arrow in arrows[:MOST_NAMED] for end in (arrow.source, arrow.affected)}
    figure.add_trace(_tasks(names, places, drawn))
    for name, colour, dash in (("helps", HELPS, "solid"), ("hurts", HURTS, "dash")):
        line = {"color": colour, "dash": dash, "width": 3}
        figure.add_trace(go.Scatter(x=[None], y=[None], mode="lines", line=line, name=name))
    hidden = {"visible": False, "range": [-1.35, 1.35]}
    figure.update_xaxes(**hidden)
    figure.update_yaxes(**hidden, scaleanchor="x")
    return finish(figure, height=560)


def task_graph_alt(view: AffinityView, *, threshold: float = 0.0, hide_uncertain: bool = True) -> str:
    """The graph in words."""
    certain = np.asarray(view.distinguishable) if hide_uncertain else None
    arrows = chosen_arrows(view.matrix, threshold=threshold, certain=certain)
    drawn = min(len(arrows), MOST_ARROWS)
    cut = f" of {len(arrows)}, the strongest," if drawn < len(arrows) else ""
    ends = "from the task a step was on to the task it helps (solid, blue) or hurts (dashed, orange)"
    return f"Graph of {len(view.matrix.tasks)} tasks with {drawn} arrows{cut} {ends}. {view.sentence}"


def chosen_arrows(matrix: AffinityMatrix, *, threshold: float, certain: AnyArray | None) -> tuple[Arrow, ...]:
    """Arrows to draw, the strongest first.

    Args:
        matrix: the affinities.
        threshold: weaker ones are left out; so are zeros and missing values.
        certain: (N, N) bool, what may be drawn; everything when None.
    """
    values = matrix.off_diagonal()
    wanted = np.isfinite(values) & (np.abs(values) >= threshold) & (values != 0)
    if certain is not None:
        wanted &= certain
    arrows = [
        Arrow(source=int(i), affected=int(j), value=float(values[i, j])) for i, j in np.argwhere(wanted)
    ]
    return tuple(sorted(arrows, key=lambda arrow: (-abs(arrow.value), arrow.source, arrow.affected)))


def _place(number: int, count: int) -> tuple[float, float]:
    angle = math.pi / 2 - 2 * math.pi * number / count
    return math.cos(angle), math.sin(angle)


def _add_arrow(
    figure: go.Figure,
    tasks: Sequence[str],
    places: dict[str, tuple[float, float]],
    arrow: Arrow,
    strongest: float,
) -> None:
    source, affected = tasks[arrow.source], tasks[arrow.affected]
    x, y = _bow(places[source], places[affected])
    helps = arrow.value > 0
    verb = "helps" if helps else "hurts"
    told = f"{verb} <b>{full_label(affected)}</b>: {value_text(arrow.value)}"
    text = f"a step on <b>{full_label(source)}</b><br>{told}"
    colour = HELPS if helps else HURTS
    width = 1.0 + 4.0 * abs(arrow.value) / strongest
    middle = len(x) // 2
    figure.add_trace(
        go.Scatter(
            x=x,
            y=y,
            mode="lines+markers",
            line={"color": colour, "width": width, "dash": "solid" if helps else "dash"},
            marker={
                "symbol": "arrow",
                "angleref": "previous",
                "color": colour,
                "opacity": 1.0,
                "size": [0.0] * (len(x) - 1) + [9.0 + 1.5 * width],
            },
            opacity=0.85,
            hoverinfo="skip",
            showlegend=False,
        )
    )
    figure.add_trace(
        go.Scatter(
            x=[x[middle]],
            y=[y[middle]],
            mode="markers",
            marker={"size": 14, "opacity": 0.01},
            text=[text],
            customdata=[[source, affected]],
            hovertemplate="%{text}<extra></extra>",
            showlegend=False,
        )
    )


def _bow(start: tuple[float, float], end: tuple[float, float]) -> tuple[list[float], list[float]]:
    """A bent line, so that an arrow and the one back do not lie on each other; it stops before the task."""
    from_x, from_y = start
    to_x, to_y = end
    length = math.hypot(to_x - from_x, to_y - from_y) or 1.0
    aside = (-(to_y - from_y) * _BEND, (to_x - from_x) * _BEND)
    mid_x, mid_y = (from_x + to_x) / 2 + aside[0], (from_y + to_y) / 2 + aside[1]
    t = np.linspace(_STANDOFF / length, 1 - _STANDOFF / length, _POINTS)
    x = (1 - t) ** 2 * from_x + 2 * t * (1 - t) * mid_x + t**2 * to_x
    y = (1 - t) ** 2 * from_y + 2 * t * (1 - t) * mid_y + t**2 * to_y
    return x.tolist(), y.tolist()


def _tasks(names: Sequence[str], places: dict[str, tuple[float, float]], drawn: set[str]) -> go.Scatter:
    """The tasks; where there are many, only those with an arrow are named, the others by the hover."""
    named = set(names) if len(names) <= MOST_NAMES else drawn
    return go.Scatter(
        x=[places[name][0] for name in names],
        y=[places[name][1] for name in names],
        mode="markers+text",
        marker={"size": 16 if len(names) <= MOST_NAMES else 7, "color": NEUTRAL, "line": {"width": 0}},
        text=[label(name) if name in named else "" for name in names],
        textposition=[_side(places[name]) for name in names],
        hovertext=[full_label(name) for name in names],
        hovertemplate="%{hovertext}<extra></extra>",
        showlegend=False,
    )


def _side(place: tuple[float, float]) -> str:
    """Where a task's name stands: outside the circle."""
    x, y = place
    vertical = "top" if y > 0.3 else "bottom" if y < -0.3 else "middle"
    horizontal = "right" if x > 0.3 else "left" if x < -0.3 else "center"
    return f"{vertical} {horizontal}"
