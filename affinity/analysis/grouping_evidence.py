"""Is there evidence that a grouping helps? Its mean predicted gain as one series over a training's steps.

The gains of all tasks of a step are averaged before anything is said about their spread, so that what tasks
and pairs have in common counts as often as it happened.
"""

from dataclasses import replace

import numpy as np

from affinity.analysis.collected import Collected, Reduce, estimate
from affinity.analysis.grouping_search import Search
from affinity.analysis.uncertainty import mean_over_steps
from affinity.core.types import AnyArray, FloatArray, Grouping

_PARTS = 4
_LEAST_ROWS = 8


def gain_series(values: FloatArray, grouping: Grouping) -> FloatArray:
    """(T,) mean predicted gain of every row of affinities; NaN where no task's gain is known.

    Args:
        values: (T, N, N) affinities `[source, affected]` in the order of the grouping's tasks; NaN = missing.
        grouping: the grouping.
    """
    mates = mates_of(grouping)
    known = np.isfinite(values) & mates
    counts = known.sum(axis=1)
    sums = np.where(known, values, 0.0).sum(axis=1)
    alone = ~mates.any(axis=0)
    with np.errstate(invalid="ignore"):
        gains = np.where(alone, 0.0, sums / np.where(counts > 0, counts, np.nan))
    told = np.isfinite(gains)
    with np.errstate(invalid="ignore"):
        means = np.where(told, gains, 0.0).sum(axis=1) / np.where(told.any(axis=1), told.sum(axis=1), np.nan)
    return np.asarray(means)


def mates_of(grouping: Grouping) -> AnyArray:
    """(N, N) whether the row's task is trained beside the column's task in the network that serves it."""
    position = {task: at for at, task in enumerate(grouping.tasks)}
    mates = np.zeros((len(position), len(position)), dtype=bool)
    for group in grouping.groups:
        mates[np.ix_([position[task] for task in group.train], [position[task] for task in group.serve])] = (
            True
        )
    np.fill_diagonal(mates, False)
    return mates


def gain_interval(
    collected: Collected, reduce: Reduce, grouping: Grouping, score: float
) -> tuple[float, float]:
    """95 % interval of the mean predicted gain around its value; NaN where steps cannot tell.

    Args:
        collected: the affinities over steps, in the order of the grouping's tasks.
        reduce: how the steps are reduced.
        grouping: the grouping.
        score: its mean predicted gain.
    """
    value, low, high = _reduced(collected, reduce, gain_series(collected.values, grouping))
    return score + low - value, score + high - value


def difference_interval(
    collected: Collected, reduce: Reduce, better: Grouping, other: Grouping
) -> tuple[float, float, float]:
    """How much more one grouping promises than another, step by step, with its 95 % interval.

    What moves both alike cancels, so two groupings can differ surely although their intervals overlap.
    """
    series = gain_series(collected.values, better) - gain_series(collected.values, other)
    return _reduced(collected, reduce, series)


def _reduced(collected: Collected, reduce: Reduce, series: FloatArray) -> tuple[float, float, float]:
    """A series with one value a row, reduced like the affinities it comes from: value, low, high."""
    rows = series[:, None, None]
    known = np.isfinite(rows)
    total = np.where(known, rows, 0.0).sum(axis=0)
    found = estimate(replace(collected, values=rows, total=total, count=known.sum(axis=0)), reduce)
    return float(found.value[0, 0]), float(found.low[0, 0]), float(found.high[0, 0])


def held_out_gain(
    collected: Collected, search: Search, grouping: Grouping
) -> tuple[float, float, float] | None:
    """Mean predicted gain of groupings chosen on one half of the steps and judged by the other.

    Choosing the best of many groupings makes the winner look better than it is; steps that had no part in the
    choice do not. The steps are cut into four parts; the first and third choose for the second and
    fourth, and the other way round.

    Returns:
        The mean with its 95 % interval; None where there are fewer than eight recorded steps.
    """
    rows = len(collected.values)
    if rows < _LEAST_ROWS:
        return None
    part = np.arange(rows) * _PARTS // rows
    series = np.empty(rows)
    for chosen_on in (part % 2 == 0, part % 2 == 1):
        values = collected.values[chosen_on]
        known = np.isfinite(values)
        mean = np.where(known, values, 0.0).sum(axis=0) / np.where(
            known.any(axis=0), known.sum(axis=0), np.nan
        )
        found = search.named(mean, grouping.tasks)
        series[~chosen_on] = gain_series(collected.values[~chosen_on], found)
    found_mean = mean_over_steps(series[:, None])
    return float(found_mean.value[0]), float(found_mean.low[0]), float(found_mean.high[0])
