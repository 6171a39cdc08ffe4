"""Did it help? Real gains with their intervals, predicted against real, and runs side by side."""

from typing import Literal

import numpy as np
import plotly.graph_objects as go

from affinity.analysis.views import CompareView, PredictionCheck, RunsComparison
from affinity.figures._style import (
    NEUTRAL,
    SERIES,
    bar_rows,
    error_bars,
    finish,
    full_label,
    label,
    numbers,
    row_height,
    sign_colours,
    ticks,
)

_AGAINST = {"joint": "all tasks in one network", "single": "one network a task"}


def real_gain_bars(view: CompareView, *, against: Literal["joint", "single"] = "joint") -> go.Figure:
    """What every task really gained under the grouping, with its interval over seeds."""
    gains = [gain for gain in view.gains if gain.against == against]
    values = np.array([gain.value for gain in gains])
    bars = error_bars(values, np.array([gain.low for gain in gains]), np.array([gain.high for gain in gains]))
    figure = go.Figure(
        go.Bar(
            x=numbers(values),
            y=list(range(len(gains))),
            orientation="h",
            marker={"color": sign_colours(np.nan_to_num(values))},
            error_x=bars,
            customdata=[[gain.task] for gain in gains],
            hovertext=[
                f"<b>{full_label(gain.task)}</b>: {gain.value:+.1%} ({gain.outcome})<br>"
                f"metric {gain.metric:.3f} against {gain.reference_metric:.3f}<br>seeds: {gain.n}"
                for gain in gains
            ],
            hovertemplate="%{hovertext}<extra></extra>",
            showlegend=False,
        )
    )
    figure.add_vline(x=0, line={"color": NEUTRAL, "width": 1})
    bar_rows(figure, [gain.task for gain in gains])
    title = f"gain in validation loss against {_AGAINST[against]}; right of 0 is better"
    figure.update_xaxes(title={"text": title}, tickformat="+.0%")
    return finish(figure, height=row_height(len(gains), around=130))


def real_gain_bars_alt(view: CompareView, *, against: Literal["joint", "single"] = "joint") -> str:
    """The bars in words."""
    gains = [gain for gain in view.gains if gain.against == against and not np.isnan(gain.value)]
    if not gains:
        return f"No task can be compared with {_AGAINST[against]} yet."
    told = ", ".join(f"{gain.task} {gain.value:+.1%}" for gain in gains[:6])
    return (
        f"Bars of the gain of each task against {_AGAINST[against]}: {told}{' …' if len(gains) > 6 else ''}."
    )


def prediction_scatter(check: PredictionCheck) -> go.Figure:
    """Predicted against real gain, a point a task."""
    figure = go.Figure(
        go.Scatter(
            x=numbers(check.predicted),
            y=numbers(check.real),
            mode="markers+text" if len(check.tasks) <= 15 else "markers",
            text=[label(task, longest=16) for task in check.tasks],
            textposition="top center",
            marker={"size": 11, "color": sign_colours(check.real)},
            error_y=error_bars(check.real, check.low, check.high),
            hovertext=[full_label(task) for task in check.tasks],
            hovertemplate="%{hovertext}<br>predicted %{x:+.3g}<br>real %{y:+.1%}<extra></extra>",
            showlegend=False,
        )
    )
    figure.add_hline(y=0, line={"color": NEUTRAL, "width": 1})
    figure.add_vline(x=0, line={"color": NEUTRAL, "width": 1})
    figure.update_xaxes(title={"text": f"predicted: mean {full_label(check.title)} of the mates"})
    figure.update_yaxes(title={"text": f"real gain against {_AGAINST[check.against]}"}, tickformat="+.0%")
    return finish(figure, height=420)


def prediction_scatter_alt(check: PredictionCheck) -> str:
    """The scatter in words."""
    return f"Scatter of predicted against real gain for {len(check.tasks)} tasks. {check.sentence}"


def run_bars(comparison: RunsComparison) -> go.Figure:
    """Final validation metric of every task in every run; no bar = the run does not have the task."""
    figure = go.Figure()
    for number, name in enumerate(comparison.labels):
        figure.add_trace(
            go.Bar(
                x=list(range(len(comparison.tasks))),
                y=numbers(comparison.metrics[number]),
                marker={"color": SERIES[number % len(SERIES)]},
                name=label(name, longest=40),
                hovertext=[
                    f"{full_label(task)}: {'not in this run' if not there else ''}"
                    for task, there in zip(comparison.tasks, comparison.present[number], strict=True)
                ],
                hovertemplate="%{hovertext} %{y:.3f}<extra>%{fullData.name}</extra>",
            )
        )
    figure.update_xaxes(**ticks(comparison.tasks))
    figure.update_yaxes(title={"text": "validation metric, larger is better"})
    return finish(figure, height=400, barmode="group")


def run_bars_alt(comparison: RunsComparison) -> str:
    """The bars in words."""
    return f"Bars of the final validation metric by task and run. {comparison.sentence}"
