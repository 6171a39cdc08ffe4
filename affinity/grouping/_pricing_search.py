"""Pricing by branch and bound over groups of each size, for more elements than can be enumerated.

Works on chunks of open nodes at once. A node is a set of elements of which the last one has the highest
position; children add a later element. For a group of m tasks the objective is a sum over members and pairs,
and a node's bound lets every possible later member bring the best partners it could still get.
"""

from dataclasses import dataclass

import numpy as np

from affinity.core.grouping import MEAN_OBJECTIVES
from affinity.core.types import AnyArray, FloatArray, IntArray
from affinity.grouping._elements import Elements
from affinity.grouping._limits import Watch
from affinity.grouping._pricing import Columns, evaluated, no_columns
from affinity.grouping._shared_pairs import partner_sums, shared_out

CHUNK = 2048
COLUMNS_A_ROUND = 200
SHARING_ROUNDS = 80
# After so many nodes a search that has already found enough columns ends without a bound: the prices are
# still so far off that the linear program learns more from the columns than from a bad bound.
PATIENCE = 200_000
ENOUGH = 40
MAX_ELEMENTS = 62


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Nodes:
    """Open nodes of one size of group, all with the same number of members.

    Attributes:
        level: members so far.
        last: (n,) position of the latest member.
        gain: (n,) reduced worth so far.
        across: (n, M) affinity of the members with every element.
        barred: (n, M) elements that a member must not meet, or None.
        masks: (n,) members in the original numbering.
    """

    level: int
    last: IntArray
    gain: FloatArray
    across: FloatArray
    barred: AnyArray | None
    masks: IntArray

    def rows(self, rows: AnyArray) -> "_Nodes":
        barred = None if self.barred is None else self.barred[rows]
        return _Nodes(
            level=self.level,
            last=self.last[rows],
            gain=self.gain[rows],
            across=self.across[rows],
            barred=barred,
            masks=self.masks[rows],
        )


class _Found:
    """The best groups so far; the floor rises once there are enough of them."""

    def __init__(self, floor: float, most: int, *, keep_all: bool) -> None:
        self.floor, self._most, self._keep_all = floor, most, keep_all
        self.values: list[FloatArray] = []
        self.masks: list[IntArray] = []
        self.count = 0

    def add(self, values: FloatArray, masks: IntArray) -> None:
        self.values.append(values)
        self.masks.append(masks)
        self.count += len(values)
        if not self._keep_all and self.count > self._most:
            worth, order = np.concatenate(self.values), np.concatenate(self.masks)
            best = np.argsort(-worth)[: self._most // 2]
            self.values, self.masks, self.count = [worth[best]], [order[best]], len(best)
            self.floor = max(self.floor, float(worth[best[-1]]))

    @property
    def many(self) -> bool:
        """Enough for the linear program to learn from, when not all are asked for."""
        return not self._keep_all and self.count >= ENOUGH

    @property
    def overflowed(self) -> bool:
        """More groups than may be kept."""
        return self._keep_all and self.count > self._most


class SubsetSearch:
    """Partition form with single tasks as elements, for the mean objectives and `density`.

    Args:
        elements: at most 62 elements of one task each.
    """

    def __init__(self, elements: Elements) -> None:
        self.elements = elements
        own = np.diagonal(elements.pairs)
        between = elements.pairs - np.diag(own)
        # Weak elements first: nodes that start with one are closed early, while the rest is large.
        self._order = np.argsort(np.sort(between, axis=1)[:, -6:].sum(axis=1))
        self._between = between[np.ix_(self._order, self._order)]
        self._own = own[self._order]
        self._shares: dict[int, FloatArray] = {}
        self._visited = 0
        clash = np.array([[mask >> int(index) & 1 for index in self._order] for mask in elements.conflicts])
        self._clash = clash[self._order].astype(bool) if any(elements.conflicts) else None

    def price(self, duals: FloatArray, floor: float, watch: Watch) -> tuple[float, Columns]:
        """See `Pricing.price`."""
        found = _Found(floor, 2 * COLUMNS_A_ROUND, keep_all=False)
        if not self._search(duals, found, watch):
            return float("inf"), self._columns(found, duals)
        best = max((float(values.max()) for values in found.values if len(values)), default=floor)
        return max(best, floor), self._columns(found, duals)

    def above(self, duals: FloatArray, floor: float, most: int, watch: Watch) -> Columns | None:
        """See `Pricing.above`."""
        found = _Found(floor, most, keep_all=True)
        return self._columns(found, duals) if self._search(duals, found, watch) else None

    def _columns(self, found: _Found, duals: FloatArray) -> Columns:
        if not found.count:
            return no_columns()
        return evaluated(self.elements, np.concatenate(found.masks), duals)

    def _search(self, duals: FloatArray, found: _Found, watch: Watch) -> bool:
        """Visit all sizes, the usual ones first; whether the search was complete."""
        problem = self.elements.problem
        self._alone(duals, found)
        usual = problem.size / problem.groups
        sizes = range(max(2, problem.smallest), self.elements.largest + 1)
        self._visited = 0
        return all(
            self._search_size(size, duals, found, watch)
            for size in sorted(sizes, key=lambda size: abs(size - usual))
        )

    def _search_size(self, size: int, duals: FloatArray, found: _Found, watch: Watch) -> bool:
        divisor, weights = self._divisor(size), self._weights(size, duals)
        bound, shares = shared_out(
            weights,
            self._shares.get(size, self._between / 2),
            size,
            divisor=divisor,
            floor=found.floor + self.elements.price,
            rounds=SHARING_ROUNDS,
        )
        self._shares[size] = shares
        if bound <= found.floor + self.elements.price:
            return True
        partners = partner_sums(shares, 0, size)
        return self._descend(self._roots(size, duals), size, partners, duals, found, watch)

    def _descend(
        self,
        roots: _Nodes,
        size: int,
        partners: FloatArray,
        duals: FloatArray,
        found: _Found,
        watch: Watch,
    ) -> bool:
        """Depth first, a chunk of nodes at a time; whether everything below the roots was visited."""
        stack = [roots]
        while stack:
            enough = self._visited > PATIENCE and found.many
            if enough or watch.stopped() or found.overflowed:
                return False
            nodes = stack.pop()
            self._visited += min(len(nodes.gain), CHUNK)
            if len(nodes.gain) > CHUNK:
                stack.append(nodes.rows(np.arange(CHUNK, len(nodes.gain))))
                nodes = nodes.rows(np.arange(CHUNK))
            children = self._expanded(nodes, size, partners, duals, found)
            if children is not None:
                stack.append(children)
        return not found.overflowed

    def _alone(self, duals: FloatArray, found: _Found) -> None:
        elements = self.elements
        if elements.problem.smallest > 1:
            return
        own = np.diagonal(elements.pairs) if elements.problem.objective == "density" else elements.alone
        worth = own - elements.prices - elements.price - duals
        rows = np.flatnonzero(worth > found.floor)
        found.add(worth[rows], 1 << rows.astype(np.int64))

    def _divisor(self, size: int) -> float:
        return float(size - 1) if self.elements.problem.objective in MEAN_OBJECTIVES else float(size)

    def _weights(self, size: int, duals: FloatArray) -> FloatArray:
        """(M,) what a member adds by itself in a group of this size."""
        weights = self._own / self._divisor(size)
        return np.asarray(weights - (duals + self.elements.prices)[self._order])

    def _roots(self, size: int, duals: FloatArray) -> _Nodes:
        return _Nodes(
            level=1,
            last=np.arange(len(duals)),
            gain=self._weights(size, duals) - self.elements.price,
            across=self._between,
            barred=self._clash,
            masks=1 << self._order.astype(np.int64),
        )

    def _expanded(
        self, nodes: _Nodes, size: int, partners: FloatArray, duals: FloatArray, found: _Found
    ) -> _Nodes | None:
        """Children that may still exceed the floor; complete groups are handed to `found`."""
        remaining, divisor = size - nodes.level, self._divisor(size)
        adds = self._weights(size, duals) + nodes.across / divisor
        adds[np.arange(len(duals)) <= nodes.last[:, None]] = -np.inf
        if nodes.barred is not None:
            adds[nodes.barred] = -np.inf
        if remaining == 1:
            totals = nodes.gain[:, None] + adds
            rows, columns = np.nonzero(totals > found.floor)
            if len(rows):
                masks = nodes.masks[rows] | 1 << self._order[columns].astype(np.int64)
                found.add(totals[rows, columns], masks)
            return None
        hopes = adds + partners[nodes.last, :, remaining - 1] / divisor
        top = -np.partition(-hopes, remaining - 1, axis=1)[:, :remaining]
        least = top.min(axis=1)
        fillable = np.isfinite(least)
        nodes, adds, hopes = nodes.rows(fillable), adds[fillable], hopes[fillable]
        top, least = top[fillable], least[fillable]
        others = nodes.gain + top.sum(axis=1) - least
        bounds = others[:, None] + np.minimum(hopes, hopes.max(axis=1)[:, None])
        # A member that is among the best ones stands in `others` already; the least one makes way for it.
        bounds = np.where(hopes >= least[:, None], (others + least)[:, None], bounds)
        rows, columns = np.nonzero(bounds > found.floor)
        return self._children(nodes, adds, rows, columns) if len(rows) else None

    def _children(self, nodes: _Nodes, adds: FloatArray, rows: AnyArray, columns: AnyArray) -> _Nodes:
        barred = None
        if nodes.barred is not None and self._clash is not None:
            barred = nodes.barred[rows] | self._clash[columns]
        return _Nodes(
            level=nodes.level + 1,
            last=columns,
            gain=nodes.gain[rows] + adds[rows, columns],
            across=nodes.across[rows] + self._between[columns],
            barred=barred,
            masks=nodes.masks[rows] | 1 << self._order[columns].astype(np.int64),
        )
