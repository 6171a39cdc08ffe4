"""Groupings: what they promise each task, and what another network is worth."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from affinity.analysis.grouping_compare import GroupingsComparison
from affinity.analysis.views import BudgetPoint, GroupsView
from affinity.figures._style import (
    HELPS,
    NEUTRAL,
    SERIES,
    error_bars,
    finish,
    full_label,
    label,
    numbers,
    row_height,
    ticks,
    value_text,
)


def gain_bars(view: GroupsView) -> go.Figure:
    """The predicted gain of every task with its interval, coloured by the network that serves it."""
    order = [task for group in view.grouping.groups for task in group.serve]
    position = {task: number for number, task in enumerate(order)}
    figure = go.Figure()
    for number, group in enumerate(view.grouping.groups):
        gains = [gain for gain in view.gains if gain.group == number]
        values = np.array([gain.value for gain in gains])
        low, high = np.array([gain.low for gain in gains]), np.array([gain.high for gain in gains])
        figure.add_trace(
            go.Bar(
                x=numbers(values),
                y=[position[gain.task] for gain in gains],
                orientation="h",
                marker={"color": SERIES[number % len(SERIES)]},
                error_x=error_bars(values, low, high),
                name=f"network {number + 1}: {', '.join(label(task, longest=14) for task in group.train[:4])}"
                + (" …" if len(group.train) > 4 else ""),
                hovertext=[_hover(gain.task, gain.mates, gain.value) for gain in gains],
                hovertemplate="%{hovertext}<extra></extra>",
            )
        )
    figure.add_vline(x=0, line={"color": NEUTRAL, "width": 1})
    figure.update_yaxes(**ticks(order), autorange="reversed")
    figure.update_xaxes(title={"text": "predicted gain: mean affinity of the mates onto the task"})
    return finish(figure, height=row_height(len(order), around=170))


def gain_bars_alt(view: GroupsView) -> str:
    """The bars in words."""
    known = [gain for gain in view.gains if not np.isnan(gain.value)]
    if not known:
        return "No task has a predicted gain."
    best, worst = max(known, key=lambda gain: gain.value), min(known, key=lambda gain: gain.value)
    extremes = f"{worst.task} ({value_text(worst.value)}) to {best.task} ({value_text(best.value)})"
    networks = f"{len(view.gains)} tasks in {len(view.grouping.groups)} networks"
    return f"Bars of the predicted gain of {networks}: from {extremes}."


def compared_bars(answer: GroupingsComparison) -> go.Figure:
    """The predicted gain of every task under each grouping, with its interval."""
    figure, tasks = go.Figure(), [gain.task for gain in answer.compared[0].gains]
    for number, item in enumerate(answer.compared):
        values = np.array([gain.value for gain in item.gains])
        low, high = np.array([gain.low for gain in item.gains]), np.array([gain.high for gain in item.gains])
        figure.add_trace(
            go.Bar(
                x=numbers(values),
                y=list(range(len(tasks))),
                orientation="h",
                marker={"color": SERIES[number % len(SERIES)]},
                error_x=error_bars(values, low, high),
                name=label(item.name, longest=40),
                hovertext=[_hover(gain.task, gain.mates, gain.value) for gain in item.gains],
                hovertemplate="%{hovertext}<extra>%{fullData.name}</extra>",
            )
        )
    figure.add_vline(x=0, line={"color": NEUTRAL, "width": 1})
    figure.update_yaxes(**ticks(tasks), autorange="reversed")
    figure.update_xaxes(title={"text": "predicted gain: mean affinity of the mates onto the task"})
    height = row_height(len(tasks), each=14 * len(answer.compared) + 8, around=170, most=1600)
    return finish(figure, height=height, barmode="group")


def compared_bars_alt(answer: GroupingsComparison) -> str:
    """The bars in words."""
    return f"Bars of the predicted gain of every task under each grouping. {answer.sentence}"


def budget_line(points: Sequence[BudgetPoint], *, chosen: int | None = None) -> go.Figure:
    """The best score for every number of networks; open markers are not proven best.

    Args:
        points: one per budget.
        chosen: a number of networks to mark.
    """
    figure = go.Figure(
        go.Scatter(
            x=[point.groups for point in points],
            y=numbers(np.array([point.score for point in points])),
            mode="lines+markers",
            line={"color": HELPS, "width": 2},
            marker={"symbol": ["circle" if point.optimal else "circle-open" for point in points], "size": 10},
            customdata=[[point.groups] for point in points],
            hovertext=[_budget_hover(point) for point in points],
            hovertemplate="%{hovertext}<extra></extra>",
            name="best found",
            showlegend=False,
        )
    )
    open_ = [point for point in points if not point.optimal and not np.isnan(point.bound)]
    if open_:
        figure.add_trace(_bounds(points))
        figure.update_traces(showlegend=True)
    if chosen is not None:
        figure.add_vline(x=chosen, line={"color": NEUTRAL, "width": 1, "dash": "dot"})
    figure.update_xaxes(title={"text": "networks allowed"}, dtick=1)
    figure.update_yaxes(title={"text": "score of the best grouping"})
    return finish(figure, height=300)


def _bounds(points: Sequence[BudgetPoint]) -> go.Scatter:
    """What no grouping can exceed; where a score is proven it is the score itself."""
    bounds = np.array([point.score if point.optimal else point.bound for point in points])
    return go.Scatter(
        x=[point.groups for point in points],
        y=numbers(bounds),
        mode="lines+markers",
        line={"color": NEUTRAL, "width": 1, "dash": "dot"},
        marker={"symbol": "line-ew-open", "size": 10},
        name="at most possible",
        hovertemplate="%{x} networks: at most %{y:.4g}<extra></extra>",
    )


def budget_line_alt(points: Sequence[BudgetPoint]) -> str:
    """The curve in words."""
    known = [point for point in points if not np.isnan(point.score)]
    if not known:
        return "No budget was searched."
    best = max(known, key=lambda point: (point.score, -point.groups))
    course = f"{value_text(known[0].score)} with one, highest ({value_text(best.score)}) with {best.used}"
    return f"Score of the best grouping for 1 to {known[-1].groups} networks: {course}."


def _hover(task: str, mates: Sequence[str], value: float) -> str:
    company = ", ".join(full_label(mate) for mate in mates[:8]) + (" …" if len(mates) > 8 else "")
    return f"<b>{full_label(task)}</b>: {value_text(value)}<br>{f'with {company}' if mates else 'alone'}"


def _budget_hover(point: BudgetPoint) -> str:
    proof = "proven best" if point.optimal else "not proven best"
    return f"at most {point.groups} networks, {point.used} used<br>score {value_text(point.score)}, {proof}"
