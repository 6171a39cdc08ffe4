"""Did the grouping help? Real gains of a rerun against one network for all and one network a task."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from affinity.analysis.agreement import spearman
from affinity.analysis.compare_words import compare_caveats, compare_sentence, prediction_sentence
from affinity.analysis.grouping_gains import predicted_gains
from affinity.analysis.trainings import ARMS, ArmResults, arm_cost, arm_results
from affinity.analysis.uncertainty import LEVEL
from affinity.analysis.views import CompareView, DeltaM, PredictionCheck, TaskGain
from affinity.core.errors import AffinityError, GroupingError, NotEnoughData, NotRecorded
from affinity.core.strict_json import dumps
from affinity.core.types import AffinityMatrix, FloatArray, Grouping, read_only
from affinity.grouping import read_grouping
from affinity.runs.reader import Run

Reference = Literal["joint", "single"]
REFERENCES: tuple[Reference, ...] = ("joint", "single")

# Gains closer to zero than this are float noise of two trainings that are the same.
_SAME = 1e-9


def compare_view(run: Run) -> CompareView:
    """What each task gained under the grouping, paired seed by seed, and what each way of training costs.

    Raises:
        NotRecorded: the run is not a rerun of a grouping.
        NotEnoughData: no training of the grouping has finished yet.
    """
    if run.info.kind != "rerun":
        raise NotRecorded("this run is not a rerun.", f"run {run.id}", "Rerun a grouping on the Groups page.")
    rows = run.trainings()
    grouped = {row["seed"] for row in rows if row.get("arm") == "group" and isinstance(row.get("seed"), int)}
    if not grouped:
        raise NotEnoughData(
            "no network of the grouping is trained yet.", f"run {run.id}", "Wait for the first."
        )
    seeds = tuple(sorted(grouped))
    arms = {arm: arm_results(rows, arm, seeds, run.tasks) for arm in ARMS}
    gains = tuple(
        gain
        for reference in REFERENCES
        if np.isfinite(arms[reference].loss).any() or np.isfinite(arms[reference].metric).any()
        for gain in _task_gains(run.tasks, arms["group"], arms[reference], reference)
    )
    totals = tuple(
        _total(
            arms["group"], arms[reference], [gain for gain in gains if gain.against == reference], reference
        )
        for reference in REFERENCES
        if any(gain.against == reference for gain in gains)
    )
    costs = tuple(cost for arm in ARMS if (cost := arm_cost(rows, arm)) is not None)
    grouping = _grouping(run)
    return CompareView(
        tasks=run.tasks,
        grouping=grouping,
        seeds=seeds,
        gains=gains,
        totals=totals,
        costs=costs,
        sentence=compare_sentence(totals, gains, costs, seeds),
        caveats=compare_caveats(seeds, gains, live=run.status.live, known_grouping=grouping is not None),
    )


def prediction_check(
    view: CompareView, matrix: AffinityMatrix, *, against: Reference = "single"
) -> PredictionCheck:
    """Did the affinities foretell who gains?

    Args:
        view: the comparison.
        matrix: the affinities that the grouping is judged by.
        against: the reference of the real gains; affinities speak of gains over a network of one's own.

    Raises:
        GroupingError: the comparison does not say which grouping it retrained, or about other tasks.
    """
    if view.grouping is None:
        raise GroupingError("this rerun does not say which grouping it retrained.")
    predicted = {gain.task: gain.value for gain in predicted_gains(matrix, view.grouping)}
    rows = [
        gain
        for gain in view.gains
        if gain.against == against and np.isfinite(gain.value) and np.isfinite(predicted[gain.task])
    ]
    foretold = np.array([predicted[row.task] for row in rows])
    real = np.array([row.value for row in rows])
    correlation = spearman(foretold, real) if len(rows) >= 3 else float("nan")
    same = int(((foretold > 0) == (real > 0)).sum())
    return PredictionCheck(
        title=matrix.signal,
        against=against,
        tasks=tuple(row.task for row in rows),
        predicted=read_only(foretold),
        real=read_only(real),
        low=read_only([row.low for row in rows]),
        high=read_only([row.high for row in rows]),
        correlation=correlation,
        same_sign=same,
        sentence=prediction_sentence(matrix.signal, correlation, same, len(rows)),
    )


def t_interval(values: FloatArray) -> tuple[float, float, float]:
    """Mean of (n,) independent values and its 95 % t interval, which needs two of them."""
    from scipy.special import stdtrit

    known = values[np.isfinite(values)]
    if not len(known):
        return float("nan"), float("nan"), float("nan")
    mean = float(known.mean())
    if len(known) < 2:
        return mean, float("nan"), float("nan")
    margin = float(stdtrit(len(known) - 1, 0.5 + LEVEL / 2) * known.std(ddof=1) / np.sqrt(len(known)))
    return mean, mean - margin, mean + margin


def relative_gain(loss: FloatArray, reference: FloatArray) -> FloatArray:
    """1 - loss / reference loss; NaN where the reference is missing or not positive."""
    usable = np.where(reference > 0, reference, np.nan)
    return np.asarray((usable - loss) / usable)


def _task_gains(
    tasks: Sequence[str], group: ArmResults, reference: ArmResults, against: Reference
) -> list[TaskGain]:
    gains = relative_gain(group.loss, reference.loss)
    metrics = group.metric - reference.metric
    return [
        _task_gain(task, against, gains[:, column], metrics[:, column], (group, reference, column))
        for column, task in enumerate(tasks)
    ]


def _task_gain(
    task: str,
    against: Reference,
    gains: FloatArray,
    metrics: FloatArray,
    where: tuple[ArmResults, ArmResults, int],
) -> TaskGain:
    group, reference, column = where
    value, low, high = t_interval(gains)
    metric_gain, metric_low, metric_high = t_interval(metrics)
    return TaskGain(
        task=task,
        against=against,
        value=value,
        low=low,
        high=high,
        metric=t_interval(group.metric[:, column])[0],
        reference_metric=t_interval(reference.metric[:, column])[0],
        metric_gain=metric_gain,
        metric_low=metric_low,
        metric_high=metric_high,
        n=int(np.isfinite(gains).sum()),
        outcome=_outcome(value, low, high),
    )


def _outcome(value: float, low: float, high: float) -> Literal["win", "tie", "loss", "missing"]:
    if np.isnan(value):
        return "missing"
    lowest, highest = (value, value) if np.isnan(low) else (low, high)
    if lowest > _SAME:
        return "win"
    return "loss" if highest < -_SAME else "tie"


def _total(group: ArmResults, reference: ArmResults, gains: Sequence[TaskGain], against: Reference) -> DeltaM:
    by_seed = relative_gain(group.loss, reference.loss)
    # A task without a value in any seed is left out; a seed that lacks one of the others is not comparable.
    trained = np.isfinite(by_seed).any(axis=0)
    complete = np.isfinite(by_seed[:, trained]).all(axis=1)
    means = by_seed[complete][:, trained].mean(axis=1) if trained.any() else np.empty(0)
    value, low, high = t_interval(means)
    outcomes = [gain.outcome for gain in gains]
    return DeltaM(
        against=against,
        value=value,
        low=low,
        high=high,
        n=len(means),
        wins=outcomes.count("win"),
        ties=outcomes.count("tie"),
        losses=outcomes.count("loss"),
    )


def _grouping(run: Run) -> Grouping | None:
    stored: Any = run.info.settings.get("grouping")
    if stored is None:
        return None
    try:
        return read_grouping(dumps(stored), f"run {run.id}", tasks=run.tasks)
    except AffinityError:
        return None
