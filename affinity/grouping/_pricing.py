"""What column generation asks: which network is worth most after its tasks have paid their prices?

A column is one network with the elements it serves. With a dual price for each element, its reduced worth
is its value minus the prices of the elements it serves.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from affinity.core.grouping import MEAN_OBJECTIVES
from affinity.core.types import AnyArray, FloatArray
from affinity.grouping._elements import Elements
from affinity.grouping._limits import Watch
from affinity.grouping._tables import GAIN_TOLERANCE


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Columns:
    """Networks as bit masks over elements.

    Attributes:
        train: (C,) int64 masks of trained elements.
        serve: (C,) int64 masks of served elements.
        values: (C,) worth in units of one task's score, prices of networks and training subtracted.
    """

    train: AnyArray
    serve: AnyArray
    values: FloatArray

    def __len__(self) -> int:
        return len(self.values)

    def take(self, rows: AnyArray) -> "Columns":
        """The columns in these rows."""
        return Columns(train=self.train[rows], serve=self.serve[rows], values=self.values[rows])

    def reduced(self, duals: FloatArray) -> FloatArray:
        """(C,) value minus the prices of the served elements."""
        return np.asarray(self.values - members(self.serve, len(duals)) @ duals)


class Pricing(Protocol):
    """A complete search over all possible columns of one problem."""

    def price(self, duals: FloatArray, floor: float, watch: Watch) -> tuple[float, Columns]:
        """An upper bound on every reduced worth, never below the floor, and columns of large worth.

        Args:
            duals: (M,) what serving each element has to pay.
            floor: columns at or below this reduced worth are of no interest.
            watch: when to stop; the bound is then infinite, as it is when a search ends early because it
                has found enough columns.
        """

    def above(self, duals: FloatArray, floor: float, most: int, watch: Watch) -> Columns | None:
        """All columns whose reduced worth is at least the floor; None when more than `most` or stopped."""


def no_columns() -> Columns:
    """Nothing yet."""
    nothing = np.zeros(0, dtype=np.int64)
    return Columns(train=nothing, serve=nothing, values=np.zeros(0))


def joined(*parts: Columns) -> Columns:
    """All columns, for every served set only the one of the best value."""
    train = np.concatenate([part.train for part in parts])
    serve = np.concatenate([part.serve for part in parts])
    values = np.concatenate([part.values for part in parts])
    order = np.lexsort((-values, serve))
    first = np.ones(len(order), dtype=bool)
    first[1:] = serve[order][1:] != serve[order][:-1]
    kept = np.sort(order[first])
    return Columns(train=train[kept], serve=serve[kept], values=values[kept])


def members(masks: AnyArray, count: int) -> FloatArray:
    """(C, M) 1.0 where the bit of an element is set."""
    return np.asarray((masks[:, None] >> np.arange(count) & 1).astype(np.float64))


def evaluated(elements: Elements, train: AnyArray, duals: FloatArray) -> Columns:
    """The networks that train these masks, those that are allowed, each serving what suits the prices best.

    Without overlap a network serves all it trains. With overlap it serves the elements whose score in it is
    above their price; networks that would serve nobody are left out.

    Args:
        elements: the problem.
        train: (C,) masks, not empty.
        duals: (M,) prices of the elements.
    """
    inside = members(train, elements.count)
    sizes = inside @ elements.sizes
    fits = (sizes >= elements.problem.smallest) & (sizes <= elements.largest)
    for index, conflict in enumerate(elements.conflicts):
        if conflict:
            fits &= (inside[:, index] == 0) | (train & conflict == 0)
    train, inside, sizes = train[fits], inside[fits], sizes[fits]
    charges = inside @ elements.prices + elements.price
    if elements.problem.objective not in MEAN_OBJECTIVES:
        sums = np.einsum("ce,ef,cf->c", inside, np.triu(elements.pairs), inside)
        values = sums / sizes if elements.problem.objective == "density" else sums
        return Columns(train=train, serve=train, values=values - charges)
    scores = element_scores_in(elements, inside, sizes)
    served = inside > 0
    if elements.problem.overlap:
        served &= scores > duals
    serve = served @ (1 << np.arange(elements.count, dtype=np.int64))
    values = np.where(served, scores, 0.0).sum(axis=1) - charges
    possible = np.isfinite(values) & (serve > 0)
    return Columns(train=train[possible], serve=serve[possible], values=values[possible])


def element_scores_in(elements: Elements, inside: FloatArray, sizes: FloatArray) -> FloatArray:
    """(C, M) summed score of each element in each network; minus infinity below the minimum gain.

    Args:
        elements: a problem with a mean objective.
        inside: (C, M) 1.0 where a network trains an element.
        sizes: (C,) tasks in the network.
    """
    onto = inside @ elements.onto / np.maximum(sizes - 1, 1)[:, None]
    scores = onto @ elements.belongs.T
    alone = sizes == 1
    scores[alone] = elements.alone
    if elements.problem.minimum_gain is not None:
        below = (onto < elements.problem.minimum_gain - GAIN_TOLERANCE) @ elements.belongs.T > 0
        scores[below & ~alone[:, None]] = -np.inf
    return np.asarray(scores)
