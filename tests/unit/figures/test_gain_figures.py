import numpy as np

from affinity.analysis.views import CompareView, PredictionCheck, RunsComparison, TaskGain
from affinity.figures import compare
from affinity.figures._style import HELPS, HURTS

NAN = float("nan")


def gain(task: str, value: float, low: float = NAN, high: float = NAN) -> TaskGain:
    return TaskGain(
        task=task,
        against="joint",
        value=value,
        low=low,
        high=high,
        metric=0.9,
        reference_metric=0.8,
        metric_gain=0.1,
        metric_low=NAN,
        metric_high=NAN,
        n=3,
        outcome="win" if value > 0 else "loss",
    )


def view(*gains: TaskGain) -> CompareView:
    tasks = tuple(one.task for one in gains)
    return CompareView(
        tasks=tasks, grouping=None, seeds=(0, 1, 2), gains=gains, totals=(), costs=(), sentence="", caveats=()
    )


def test_bars_show_the_sign_by_colour_and_the_interval() -> None:
    bars = compare.real_gain_bars(view(gain("a", 0.2, 0.1, 0.35), gain("b", -0.1))).data[0]
    assert list(bars.x) == [0.2, -0.1]
    assert list(bars.marker.color) == [HELPS, HURTS]
    np.testing.assert_allclose(bars.error_x.array, [0.15, 0.0])
    np.testing.assert_allclose(bars.error_x.arrayminus, [0.1, 0.0])


def test_a_missing_gain_is_a_gap_and_the_words_leave_it_out() -> None:
    shown = view(gain("a", 0.2), gain("b", NAN))
    assert compare.real_gain_bars(shown).data[0].x[1] is None
    assert compare.real_gain_bars_alt(shown).endswith("a +20.0%.")
    assert "No task can be compared" in compare.real_gain_bars_alt(shown, against="single")


def test_predictions_are_points_a_task() -> None:
    check = PredictionCheck(
        title="lookahead",
        against="single",
        tasks=("a", "b"),
        predicted=np.array([0.1, -0.1]),
        real=np.array([0.2, 0.1]),
        low=np.array([0.1, NAN]),
        high=np.array([0.3, NAN]),
        correlation=NAN,
        same_sign=1,
        sentence="One of two.",
    )
    points = compare.prediction_scatter(check).data[0]
    assert list(points.x) == [0.1, -0.1]
    assert compare.prediction_scatter_alt(check).endswith("One of two.")


def test_a_task_that_a_run_does_not_have_has_no_bar_and_says_so() -> None:
    comparison = RunsComparison(
        ids=("run-1", "run-2"),
        labels=("one", "two"),
        tasks=("a", "b"),
        metrics=np.array([[0.9, NAN], [0.8, 0.7]]),
        losses=np.full((2, 2), NAN),
        present=np.array([[True, False], [True, True]]),
        shared=("a",),
        differences=(),
        sentence="2 runs.",
    )
    figure = compare.run_bars(comparison)
    assert figure.data[0].y[1] is None
    assert "not in this run" in figure.data[0].hovertext[1]
    assert compare.run_bars_alt(comparison).endswith("2 runs.")
