"""All 2**M subsets, walked in blocks that fit the processor's cache, so that memory stays small.

The M elements are split into low and high ones. A block is one subset of the high elements joined with every
subset of the low ones: a sum over a block is then the vector of low sums plus one number.
"""

from dataclasses import dataclass

import numpy as np

from affinity.core.types import AnyArray, FloatArray
from affinity.grouping._elements import Elements
from affinity.grouping._tables import pair_sums, subset_sums


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Split:
    """The two halves with the sums that every walk needs.

    Attributes:
        low: number of low elements; their bits are the lowest.
        inside: per half the (2**bits,) sums of affinity inside a subset.
        sizes: per half the number of tasks of a subset.
        charges: per half the prices of training a subset.
        across: (2**high, low) affinity between a high subset and each low element, both directions.
    """

    low: int
    inside: tuple[FloatArray, FloatArray]
    sizes: tuple[FloatArray, FloatArray]
    charges: tuple[FloatArray, FloatArray]
    across: FloatArray

    @property
    def blocks(self) -> int:
        """Number of high subsets."""
        return len(self.sizes[1])


def split(elements: Elements, most_low: int) -> Split:
    """Divide the elements: at least 64 blocks where there are enough elements, at most 2**most_low rows."""
    low = max(1, min(most_low, elements.count - 7))
    sizes = elements.sizes.astype(np.float64)
    return Split(
        low=low,
        inside=(pair_sums(elements.pairs[:low, :low]), pair_sums(elements.pairs[low:, low:])),
        sizes=(subset_sums(sizes[:low]), subset_sums(sizes[low:])),
        charges=(subset_sums(elements.prices[:low]), subset_sums(elements.prices[low:])),
        across=_members(elements.count - low) @ elements.pairs[low:, :low],
    )


def fill_subset_sums(buffer: FloatArray, weights: FloatArray, start: float) -> None:
    """Write `start` plus the sum of the weights inside every mask into `buffer`, (2**M,)."""
    buffer[0] = start
    for index, weight in enumerate(weights):
        half = 1 << index
        np.add(buffer[:half], weight, out=buffer[half : 2 * half])


class Fits:
    """Which subsets of a block a network may train: size limits and cannot-links.

    Args:
        elements: the problem.
        parts: its halves.
    """

    def __init__(self, elements: Elements, parts: Split) -> None:
        self._sizes = parts.sizes
        self._limits = (elements.problem.smallest, elements.largest)
        self.limited = elements.problem.smallest > 1 or elements.largest < int(elements.sizes.sum())
        self.conflicted = any(elements.conflicts)
        if self.conflicted:
            low, high = parts.low, elements.count - parts.low
            self._low_possible = _conflict_union(elements.conflicts[:low], 0, low) >= 0
            self._blocked = _conflict_union(elements.conflicts[low:], low, high)
            self._rows = np.arange(1 << low, dtype=np.int64)

    def impossible(self, high: int) -> AnyArray | None:
        """(2**low,) true where a subset of the block is not allowed; None where all are."""
        if not self.limited and not self.conflicted:
            return None
        sizes = self._sizes[0] + self._sizes[1][high]
        wrong = (sizes < self._limits[0]) | (sizes > self._limits[1])
        if self.conflicted:
            blocked = int(self._blocked[high])
            wrong |= ~self._low_possible | (blocked < 0) | (self._rows & max(blocked, 0) != 0)
        return np.asarray(wrong)


def _members(count: int) -> FloatArray:
    return np.asarray((np.arange(1 << count)[:, None] >> np.arange(count) & 1).astype(np.float64))


def _conflict_union(conflicts: tuple[int, ...], offset: int, count: int) -> AnyArray:
    """(2**count,) union of the conflicts of a subset's elements; -1 where two of them are in conflict."""
    union = np.zeros(1, dtype=np.int64)
    for conflict in conflicts:
        union = np.concatenate([union, union | conflict])
    masks = np.arange(1 << count, dtype=np.int64) << offset
    return np.where(union & masks != 0, -1, union)
