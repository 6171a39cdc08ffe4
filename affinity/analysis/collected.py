"""All affinities of a run in bounded memory: exact sums and counts, and rows for curves and intervals."""

from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

import numpy as np

from affinity.analysis.series import parts
from affinity.analysis.uncertainty import Estimate, mean_over_steps
from affinity.core.errors import NotEnoughData
from affinity.core.types import FloatArray, IntArray
from affinity.runs.reader import Run

Reduce: TypeAlias = Literal["mean", "last", "ema"]

# Beyond this many bytes neighbouring steps are averaged in pairs, again and again.
ROW_BYTES: Final = 256_000_000

# Weight of the newest recorded step in the exponential average; a step counts half after 14 recorded ones.
EMA_WEIGHT: Final = 0.05


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Collected:
    """Affinities of a run over a range of steps.

    Attributes:
        steps: (T,) last step of each row.
        values: (T, N, N) mean over the steps of each row; NaN = missing. Rows without any value are left out.
        total: (N, N) exact sums over all steps.
        count: (N, N) how many steps entered them.
        recorded: number of recorded steps in the range.
        empty: number of them without a single value.
        excluded: (N,) steps at which a task's loss was too small to be divided by.
        block: recorded steps averaged in a row.
        truncated: a file ended in the middle of a batch.
    """

    steps: IntArray
    values: FloatArray
    total: FloatArray
    count: IntArray
    recorded: int
    empty: int
    excluded: IntArray
    block: int
    truncated: bool


def collect(
    run: Run, signal: str, *, split: str = "train", first: int | None = None, last: int | None = None
) -> Collected:
    """Read the affinities of a range of steps.

    Raises:
        NotRecorded: the run cannot show this signal on this part of the data.
        NotEnoughData: no step of the range was recorded.
    """
    size = len(run.tasks)
    total, count = np.zeros((size, size)), np.zeros((size, size), dtype=np.int64)
    excluded = np.zeros(size, dtype=np.int64)
    rows = _Rows(max(2, ROW_BYTES // (8 * size * size)))
    recorded, empty, truncated = 0, 0, False
    for part in parts(run, signal, split=split, first=first, last=last):
        known = np.isfinite(part.values)
        total += np.where(known, part.values, 0.0).sum(axis=0)
        count += known.sum(axis=0)
        filled = known.any(axis=(1, 2))
        excluded += part.excluded.sum(axis=0)
        recorded += len(part.steps)
        empty += int((~filled).sum())
        truncated |= part.truncated
        rows.add(part.steps[filled], part.values[filled])
    steps, values = rows.joined(size)
    if not len(steps):
        raise NotEnoughData(*_nothing(run, recorded, first, last))
    return Collected(
        steps=steps,
        values=values,
        total=total,
        count=count,
        recorded=recorded,
        empty=empty,
        excluded=excluded,
        block=rows.block,
        truncated=truncated,
    )


def estimate(collected: Collected, reduce: Reduce) -> Estimate:
    """Reduce the steps to one value a pair, with its error.

    Args:
        collected: the affinities over steps.
        reduce: `mean` over the steps; `last` value, which has no interval; `ema`, the exponential average
            with weight 0.05 for the newest step, normalised so that it does not start at 0.
    """
    values = collected.values
    if reduce == "last":
        return _last(values)
    if reduce == "ema":
        age = np.arange(len(values))[::-1] * collected.block
        found = mean_over_steps(values, weights=np.power(1 - EMA_WEIGHT, age, dtype=np.float64))
        value = found.value
    else:
        found = mean_over_steps(values)
        value = np.where(collected.count > 0, collected.total / np.maximum(collected.count, 1), np.nan)
    return replace(found, value=value, count=collected.count, correlated=found.correlated * collected.block)


class _Rows:
    """Rows over steps that never take more than `most`: neighbours are averaged when they would.

    Args:
        most: largest number of rows to keep.
    """

    def __init__(self, most: int) -> None:
        self.block = 1
        self._most = most
        self._steps: list[IntArray] = []
        self._values: list[FloatArray] = []

    def add(self, steps: IntArray, values: FloatArray) -> None:
        """Append the rows of one part."""
        if self.block > 1:
            steps, values = _merged(steps, values, self.block)
        self._steps.append(steps)
        self._values.append(values)
        while sum(map(len, self._steps)) > self._most:
            merged = _merged(np.concatenate(self._steps), np.concatenate(self._values), 2)
            self._steps, self._values = [merged[0]], [merged[1]]
            self.block *= 2

    def joined(self, size: int) -> tuple[IntArray, FloatArray]:
        """All rows."""
        if len(self._steps) == 1:
            return self._steps[0], self._values[0]
        none = np.empty(0, dtype=np.int64), np.empty((0, size, size))
        return np.concatenate([none[0], *self._steps]), np.concatenate([none[1], *self._values])


def _merged(steps: IntArray, values: FloatArray, block: int) -> tuple[IntArray, FloatArray]:
    """Means over neighbouring rows; a row stands for its last step."""
    starts = np.arange(0, len(steps), block)
    if not len(starts):
        return steps, values
    known = np.isfinite(values)
    sums = np.add.reduceat(np.where(known, values, 0.0), starts, axis=0)
    counts = np.add.reduceat(known.astype(np.int64), starts, axis=0)
    means = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    return steps[np.minimum(starts + block, len(steps)) - 1], means


def _last(values: FloatArray) -> Estimate:
    known = np.isfinite(values)
    position = len(values) - 1 - np.argmax(known[::-1], axis=0)
    value = np.take_along_axis(values, position[None], axis=0)[0]
    unknown = np.full(value.shape, np.nan)
    count = np.asarray(known.any(axis=0), dtype=np.int64)
    return Estimate(
        value=value,
        error=unknown,
        freedom=unknown,
        count=count,
        correlated=unknown,
        typical=unknown,
        typical_error=unknown,
        typical_freedom=unknown,
        smallest=unknown,
        largest=unknown,
    )


def _nothing(run: Run, recorded: int, first: int | None, last: int | None) -> tuple[str, str, str]:
    place = f"run {run.id}"
    if recorded:
        return f"none of the {recorded} recorded steps holds a value.", place, "Record more steps."
    if first is None and last is None:
        return "no step was recorded yet.", place, "Wait for the training's first recorded step."
    low, high = "the start" if first is None else first, "the end" if last is None else last
    return f"no step was recorded from {low} to {high}.", place, "Choose a wider range."
