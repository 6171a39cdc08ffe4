"""Pricing by looking at every one of the 2**M networks, for up to 28 elements."""

from abc import ABC, abstractmethod

import numpy as np

from affinity.core.grouping import MEAN_OBJECTIVES
from affinity.core.types import AnyArray, FloatArray
from affinity.grouping._blocks import Fits, Split, fill_subset_sums, split
from affinity.grouping._elements import Elements
from affinity.grouping._limits import Watch
from affinity.grouping._pricing import Columns, evaluated, joined, no_columns
from affinity.grouping._served_sets import served_sets_above
from affinity.grouping._tables import subset_sums

MAX_ELEMENTS = 28
# Values of all subsets are kept up to this many elements (64 MB) and computed again beyond.
STORED_ELEMENTS = 23
COLUMNS_A_ROUND = 128
ENOUGH_BLOCKS = 512
# Affinities are at most 1 and there are at most 28 elements, so single precision errs by less than 1e-4.
COARSE_ERROR = 1e-3
LOW_BITS_PARTITION = 15
LOW_BITS_OVERLAP = 13
# Anything below is the minus infinity of a network that is not allowed.
LEAST_WORTH = -1e200


class BlockPricing(ABC):
    """Walks all blocks; the kinds differ in the reduced worth of one block.

    Args:
        elements: the problem.
        most_low: largest number of low elements.
    """

    def __init__(self, elements: Elements, most_low: int) -> None:
        self.elements = elements
        self.parts: Split = split(elements, most_low)
        self.fits = Fits(elements, self.parts)
        # In random order a search that ends early has seen a fair part of everything.
        self._order = [int(high) for high in np.random.default_rng(0).permutation(self.parts.blocks)]

    @abstractmethod
    def prepare(self, duals: FloatArray) -> None:
        """Compute what all blocks share under these prices."""

    @abstractmethod
    def reduced(self, high: int) -> FloatArray:
        """(2**low,) best reduced worth of a network that trains exactly this subset."""

    def hopeful(self, high: int, floor: float) -> bool:
        """False only if no network of the block can exceed the floor."""
        return True

    def price(self, duals: FloatArray, floor: float, watch: Watch) -> tuple[float, Columns]:
        """See `Pricing.price`; the best network of every block that exceeds the floor is offered."""
        self.prepare(duals)
        best = floor
        found: list[tuple[float, int]] = []
        complete = True
        for number, high in enumerate(self._order):
            if number % 64 == 0 and watch.stopped():
                return float("inf"), no_columns()
            if len(found) >= ENOUGH_BLOCKS:
                # Prices are still far off: the linear program learns more from these than from a bound.
                complete = False
                break
            if not self.hopeful(high, floor):
                continue
            worth = self.reduced(high)
            row = int(worth.argmax())
            if worth[row] > floor:
                best = max(best, float(worth[row]))
                found.append((float(worth[row]), row | high << self.parts.low))
        found.sort(reverse=True)
        masks = np.array([mask for _, mask in found[:COLUMNS_A_ROUND]], dtype=np.int64)
        return best if complete else float("inf"), evaluated(self.elements, masks, duals)

    def above(self, duals: FloatArray, floor: float, most: int, watch: Watch) -> Columns | None:
        """See `Pricing.above`."""
        self.prepare(duals)
        found, count = [no_columns()], 0
        floor = max(floor, LEAST_WORTH)
        for high in range(self.parts.blocks):
            if high % 64 == 0 and watch.stopped():
                return None
            if not self.hopeful(high, floor):
                continue
            rows = np.flatnonzero(self.reduced(high) >= floor)
            if not len(rows):
                continue
            columns = self._all_columns(rows | high << self.parts.low, duals, floor, most - count)
            if columns is None:
                return None
            count += len(columns)
            found.append(columns)
        return joined(*found)

    def _all_columns(self, masks: AnyArray, duals: FloatArray, floor: float, most: int) -> Columns | None:
        if len(masks) > most:
            return None
        if not self.elements.problem.overlap:
            return evaluated(self.elements, masks, duals)
        return served_sets_above(self.elements, masks, duals, floor, most)


class PartitionBlocks(BlockPricing):
    """A network serves all it trains."""

    def __init__(self, elements: Elements) -> None:
        super().__init__(elements, LOW_BITS_PARTITION)
        self._stored: dict[int, FloatArray] = {}
        self._buffer = np.empty(1 << self.parts.low)
        self._divisors: dict[float, FloatArray] = {}

    def prepare(self, duals: FloatArray) -> None:
        """Sum the prices inside every half."""
        low = self.parts.low
        self._paid = (subset_sums(duals[:low]), subset_sums(duals[low:]))

    def reduced(self, high: int) -> FloatArray:
        """See `BlockPricing.reduced`."""
        worth = self._values(high) - self._paid[0]
        worth -= self._paid[1][high]
        return worth

    def _values(self, high: int) -> FloatArray:
        if self.elements.count > STORED_ELEMENTS:
            return self._computed(high)
        if high not in self._stored:
            self._stored[high] = self._computed(high).copy()
        return self._stored[high]

    def _computed(self, high: int) -> FloatArray:
        parts, elements, values = self.parts, self.elements, self._buffer
        fill_subset_sums(values, parts.across[high], float(parts.inside[1][high]))
        values += parts.inside[0]
        if elements.problem.objective != "correlation":
            values *= self._divisor(float(parts.sizes[1][high]))
        _put_singles(elements, parts, high, values)
        values -= parts.charges[0]
        values -= parts.charges[1][high] + elements.price
        wrong = self.fits.impossible(high)
        if wrong is not None:
            values[wrong] = -np.inf
        if elements.problem.minimum_gain is not None:
            self._drop_small_gains(high, values)
        if high == 0:
            values[0] = -np.inf
        return values

    def _divisor(self, high_size: float) -> FloatArray:
        """(2**low,) one over what a sum inside the group is divided by; few different ones exist."""
        if high_size not in self._divisors:
            own = 1.0 if self.elements.problem.objective in MEAN_OBJECTIVES else 0.0
            self._divisors[high_size] = 1.0 / np.maximum(self.parts.sizes[0] + high_size - own, 1.0)
        return self._divisors[high_size]

    def _drop_small_gains(self, high: int, values: FloatArray) -> None:
        masks = np.flatnonzero(values > -np.inf) | high << self.parts.low
        kept = evaluated(self.elements, masks[masks > 0], np.zeros(self.elements.count))
        chosen = np.full(len(values), -np.inf)
        chosen[kept.train & len(values) - 1] = kept.values
        values[:] = chosen


class OverlapBlocks(BlockPricing):
    """A network serves the elements that score above their price in it: positive parts, element by element.

    With n tasks trained, (n - 1) times the reduced worth is a sum over elements of max(0, low + high), where
    low depends only on the low subset and high only on the high one.
    """

    def __init__(self, elements: Elements) -> None:
        super().__init__(elements, LOW_BITS_OVERLAP)
        low, inward = self.parts.low, elements.onto @ elements.belongs.T
        self._inward = [
            (subset_sums(inward[:low, index]), subset_sums(inward[low:, index]))
            for index in range(elements.count)
        ]
        self._charges = self.parts.charges[0] + elements.price
        rows = np.arange(1 << low)
        self._outside = [(rows >> index & 1) == 0 for index in range(low)]
        self._term, self._sum = np.empty(1 << low), np.empty(1 << low)
        self._coarse_term, self._coarse_sum = (np.empty(1 << low, dtype=np.float32) for _ in range(2))
        self._mates: dict[float, AnyArray] = {}

    def prepare(self, duals: FloatArray) -> None:
        """Subtract the prices from the halves' sums."""
        self._duals = duals
        self._low_terms = []
        for index, (sums, _) in enumerate(self._inward):
            term = sums - duals[index] * self.parts.sizes[0]
            if index < self.parts.low:
                term[self._outside[index]] = -np.inf
            self._low_terms.append(term)
        self._coarse_terms = [term.astype(np.float32) for term in self._low_terms]

    def hopeful(self, high: int, floor: float) -> bool:
        """See `BlockPricing.hopeful`: a look in single precision, twice as quick, with room for its error."""
        if self.elements.problem.minimum_gain is not None or high == 0 or high & high - 1 == 0:
            return True
        total = self._positive_parts(high, self._coarse_terms, self._coarse_sum, self._coarse_term)
        total *= self._coarse_mates(float(self.parts.sizes[1][high]))
        least = float(self.elements.price + self.parts.charges[1][high])
        return float(total.max()) - least > floor - COARSE_ERROR

    def _coarse_mates(self, high_size: float) -> AnyArray:
        """(2**low,) one over the number of mates, for the few different sizes of a high subset."""
        if high_size not in self._mates:
            mates = np.maximum(self.parts.sizes[0] + (high_size - 1), 1)
            self._mates[high_size] = (1.0 / mates).astype(np.float32)
        return self._mates[high_size]

    def _positive_parts(self, high: int, terms: list[AnyArray], total: AnyArray, term: AnyArray) -> AnyArray:
        """(2**low,) sum over elements of max(0, low + high), in `total`."""
        total.fill(0.0)
        base, size = 0.0, float(self.parts.sizes[1][high])
        for index, low_term in enumerate(terms):
            if index >= self.parts.low and not high >> index - self.parts.low & 1:
                continue
            fixed = float(self._inward[index][1][high]) - float(self._duals[index]) * (size - 1)
            # max(0, x + f) = max(-f, x) + f saves one pass over the block.
            np.maximum(low_term, -fixed, out=term)
            np.add(total, term, out=total)
            base += fixed
        total += base
        return total

    def reduced(self, high: int) -> FloatArray:
        """See `BlockPricing.reduced`."""
        if self.elements.problem.minimum_gain is not None:
            return self._reduced_slowly(high)
        size = float(self.parts.sizes[1][high])
        total = self._positive_parts(high, self._low_terms, self._sum, self._term)
        total /= np.maximum(self.parts.sizes[0] + (size - 1), 1)
        worth = total - self._charges
        worth -= self.parts.charges[1][high]
        self._put_single_tasks(high, worth)
        wrong = self.fits.impossible(high)
        if wrong is not None:
            worth[wrong] = -np.inf
        if high == 0:
            worth[0] = -np.inf
        return worth

    def _put_single_tasks(self, high: int, worth: FloatArray) -> None:
        elements, low = self.elements, self.parts.low
        for index in range(elements.count):
            mask = 1 << index
            if mask >> low == high and elements.sizes[index] == 1:
                own = elements.alone[index] - self._duals[index]
                worth[mask & (1 << low) - 1] = own - elements.prices[index] - elements.price

    def _reduced_slowly(self, high: int) -> FloatArray:
        """With a minimum gain the positive parts have a step, so every network is evaluated by itself."""
        masks = np.arange(1 << self.parts.low, dtype=np.int64) | high << self.parts.low
        columns = evaluated(self.elements, masks[masks > 0], self._duals)
        worth = np.full(1 << self.parts.low, -np.inf)
        worth[columns.train & len(worth) - 1] = columns.reduced(self._duals)
        return worth


def _put_singles(elements: Elements, parts: Split, high: int, values: FloatArray) -> None:
    """A task alone follows its own rule."""
    if elements.problem.objective not in MEAN_OBJECTIVES:
        return
    for index in range(elements.count):
        mask = 1 << index
        if mask >> parts.low == high:
            values[mask & (1 << parts.low) - 1] = elements.alone[index]
