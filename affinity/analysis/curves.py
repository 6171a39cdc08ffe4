"""One pair of tasks over steps."""

import numpy as np

from affinity.analysis.series import parts
from affinity.analysis.signals import find_choice
from affinity.analysis.uncertainty import mean_over_steps
from affinity.analysis.views import PairCurve
from affinity.analysis.wording import interval, number, plural
from affinity.core.errors import AffinityError, NotEnoughData
from affinity.core.types import FloatArray, IntArray, read_only
from affinity.runs.reader import Run

# The moving average spans this share of the recorded steps.
_WINDOW_SHARE = 0.1


def pair_curve(
    run: Run,
    signal: str,
    *,
    source: str,
    affected: str,
    first: int | None = None,
    last: int | None = None,
    split: str = "train",
) -> PairCurve:
    """What a step on `source` did to `affected`, over the training.

    Raises:
        AffinityError: a name is not a task of the run.
        NotRecorded: the run cannot show this signal on this part of the data.
        NotEnoughData: no step of the range was recorded.
    """
    for task in (source, affected):
        if task not in run.tasks:
            raise AffinityError(f"'{task}' is not a task of this run.", f"run {run.id}")
    choice = find_choice(run, signal)
    steps, values = _pair_values(run, signal, (source, affected), (first, last), split)
    found = mean_over_steps(values)
    mean, low, high = float(found.value), float(found.low), float(found.high)
    missing = int(np.isnan(values).sum())
    return PairCurve(
        source=source,
        affected=affected,
        title=choice.title,
        unit=choice.unit,
        steps=read_only(steps, np.int64),
        values=read_only(values),
        smooth=read_only(moving_average(values)),
        mean=mean,
        low=low,
        high=high,
        missing=missing,
        sentence=_sentence(source, affected, (mean, low, high), (len(steps), missing)),
    )


def moving_average(values: FloatArray) -> FloatArray:
    """(T,) centred moving average over a tenth of the values; missing ones are passed over and stay so."""
    half = max(1, round(len(values) * _WINDOW_SHARE / 2))
    known = np.isfinite(values)
    sums = np.concatenate([[0.0], np.cumsum(np.where(known, values, 0.0))])
    counts = np.concatenate([[0], np.cumsum(known)])
    at = np.arange(len(values))
    low, high = np.maximum(at - half, 0), np.minimum(at + half + 1, len(values))
    inside = counts[high] - counts[low]
    return np.where(known, (sums[high] - sums[low]) / np.maximum(inside, 1), np.nan)


def _pair_values(
    run: Run, signal: str, pair: tuple[str, str], span: tuple[int | None, int | None], split: str
) -> tuple[IntArray, FloatArray]:
    i, j = run.tasks.index(pair[0]), run.tasks.index(pair[1])
    steps, values = [], []
    for part in parts(run, signal, split=split, first=span[0], last=span[1]):
        # A step without a value for any pair was not meant to have one; a step with some of them was.
        filled = np.isfinite(part.values).any(axis=(1, 2))
        steps.append(part.steps[filled])
        values.append(part.values[filled, i, j])
    if not steps or not sum(map(len, steps)):
        raise NotEnoughData("no step was recorded yet.", f"run {run.id}", "Wait, or choose a wider range.")
    return np.concatenate(steps), np.concatenate(values)


def _sentence(
    source: str, affected: str, figures: tuple[float, float, float], counts: tuple[int, int]
) -> str:
    mean, low, high = figures
    steps, missing = counts
    if steps == missing:
        return f"A step on {source} has no value for {affected} at any of {plural(steps, 'step')}."
    verb = "helped" if mean > 0 else "hurt" if mean < 0 else "did nothing to"
    sure = f", 95 % interval {interval(low, high)}" if interval(low, high) else ""
    gaps = f"; {missing} without a value" if missing else ""
    return f"A step on {source} {verb} {affected}: mean {number(mean)}{sure}, {plural(steps, 'step')}{gaps}."
