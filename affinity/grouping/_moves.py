"""Local search on many groupings at once: the best move of each is made until none helps.

The arrays have one row a start (S), so that fifty starts cost little more than one. Moves are: an element
changes its group, or two elements change places.
"""

from dataclasses import dataclass, field

import numpy as np

from affinity.core.grouping import MEAN_OBJECTIVES
from affinity.core.types import AnyArray, FloatArray, IntArray
from affinity.grouping._elements import Elements
from affinity.grouping._limits import Watch

# A move has to gain more than rounding does, or two moves could undo each other forever.
LEAST_GAIN = 1e-10


@dataclass(slots=True, kw_only=True, eq=False)
class _State:
    """Groupings and the sums that moves need.

    Attributes:
        labels: (S, M) group of each element.
        inside: (S, K) affinity inside each group.
        sizes: (S, K) tasks in each group.
        alone: (S, K) summed score alone; means something where one task is left.
        across: (S, K, M) affinity between a group and an element, without the element's own.
        clashes: (S, K, M) conflicts between a group and an element, or None.
    """

    labels: IntArray
    inside: FloatArray
    sizes: FloatArray
    alone: FloatArray
    across: FloatArray
    clashes: FloatArray | None


@dataclass(slots=True, eq=False)
class Climber:
    """Moves and their gains for one problem.

    Args:
        elements: the problem; overlap and minimum gain are ignored here.
        groups: number of groups that may be used.
    """

    elements: Elements
    groups: int
    _between: FloatArray = field(init=False)
    _own: FloatArray = field(init=False)
    _conflicts: FloatArray | None = field(init=False)

    def __post_init__(self) -> None:
        self._own = np.diagonal(self.elements.pairs).copy()
        self._between = self.elements.pairs - np.diag(self._own)
        count = self.elements.count
        rows = [[float(mask >> index & 1) for index in range(count)] for mask in self.elements.conflicts]
        self._conflicts = np.array(rows) if any(self.elements.conflicts) else None

    def worth(self, inside: FloatArray, sizes: FloatArray, alone: FloatArray) -> FloatArray:
        """Value of groups from their sums; an empty one is worth nothing and costs nothing."""
        objective = self.elements.problem.objective
        if objective in MEAN_OBJECTIVES:
            values = np.where(sizes == 1, alone, inside / np.maximum(sizes - 1, 1))
        elif objective == "density":
            # Exactly K groups: emptying one is impossible, not free.
            return np.where(sizes > 0, inside / np.maximum(sizes, 1) - self.elements.price, -np.inf)
        else:
            values = inside
        return np.where(sizes > 0, values - self.elements.price, 0.0)

    def totals(self, labels: IntArray) -> FloatArray:
        """(S,) value of each grouping; minus infinity where a size limit or a cannot-link is broken."""
        state = self._state(labels)
        values = self.worth(state.inside, state.sizes, state.alone).sum(axis=1)
        values -= self.elements.prices.sum()
        smallest, largest = self.elements.problem.smallest, self.elements.largest
        wrong = ((state.sizes > 0) & ((state.sizes < smallest) | (state.sizes > largest))).any(axis=1)
        if state.clashes is not None:
            own = np.take_along_axis(state.clashes, labels[:, None, :], axis=1)
            wrong |= own.any(axis=(1, 2))
        return np.where(wrong, -np.inf, values)

    def climb(self, labels: IntArray, watch: Watch) -> IntArray:
        """(S, M) groupings after the best moves, until none of any start gains or the watch stops."""
        labels = labels.copy()
        active = np.arange(len(labels))
        for _ in range(50 * self.elements.count):
            if not len(active) or watch.stopped():
                break
            state = self._state(labels[active])
            moved = self._best_move(state)
            labels[active] = state.labels
            active = active[moved]
        return labels

    def _state(self, labels: IntArray) -> _State:
        elements = self.elements
        member = (labels[:, None, :] == np.arange(self.groups)[None, :, None]).astype(np.float64)
        across = member @ self._between
        inside = (member * across).sum(axis=2) / 2 + member @ self._own
        return _State(
            labels=labels,
            inside=inside,
            sizes=member @ elements.sizes.astype(np.float64),
            alone=member @ elements.alone,
            across=across,
            clashes=None if self._conflicts is None else member @ self._conflicts,
        )

    def _best_move(self, state: _State) -> AnyArray:
        """Make the best move of each start; whether it gained."""
        starts = np.arange(len(state.labels))
        shift, shift_gain = _largest(self._relocation_gains(state))
        swap, swap_gain = _largest(self._swap_gains(state))
        moved = np.maximum(shift_gain, swap_gain) > LEAST_GAIN
        shifted = starts[moved & (shift_gain >= swap_gain)]
        swapped = starts[moved & (shift_gain < swap_gain)]
        element, target = shift[shifted] // self.groups, shift[shifted] % self.groups
        state.labels[shifted, element] = target
        first, second = swap[swapped] // self.elements.count, swap[swapped] % self.elements.count
        old_first, old_second = state.labels[swapped, first], state.labels[swapped, second]
        state.labels[swapped, first], state.labels[swapped, second] = old_second, old_first
        return moved

    def _relocation_gains(self, state: _State) -> FloatArray:
        """(S, M, K) gain of putting each element into each group."""
        elements, own = self.elements, self._own[None, :]
        sizes, alone = elements.sizes[None, :].astype(np.float64), elements.alone[None, :]
        source = _of_source(state)
        left = source["sizes"] - sizes
        left_worth = self.worth(source["inside"] - source["across"] - own, left, source["alone"] - alone)
        lost = source["worth_now"] = self.worth(source["inside"], source["sizes"], source["alone"])
        joined_sizes = state.sizes[:, None, :] + sizes[:, :, None]
        joined = self.worth(
            state.inside[:, None, :] + state.across.transpose(0, 2, 1) + own[:, :, None],
            joined_sizes,
            state.alone[:, None, :] + alone[:, :, None],
        )
        now = self.worth(state.inside, state.sizes, state.alone)
        if elements.problem.objective == "density":
            now = np.where(np.isfinite(now), now, 0.0)
        gains = joined - now[:, None, :] + (left_worth - lost)[:, :, None]
        broken = (left > 0) & (left < elements.problem.smallest)
        gains[broken] = -np.inf
        gains[joined_sizes > elements.largest] = -np.inf
        gains[joined_sizes < elements.problem.smallest] = -np.inf
        if state.clashes is not None:
            gains[state.clashes.transpose(0, 2, 1) > 0] = -np.inf
        np.put_along_axis(gains, state.labels[:, :, None], -np.inf, axis=2)
        return np.asarray(gains)

    def _swap_gains(self, state: _State) -> FloatArray:
        """(S, M, M) gain of exchanging two elements of different groups."""
        half = self._after_exchange(state)
        source = _of_source(state)
        now = self.worth(source["inside"], source["sizes"], source["alone"])
        change = half - now[:, :, None]
        gains = change + change.transpose(0, 2, 1)
        gains[state.labels[:, :, None] == state.labels[:, None, :]] = -np.inf
        return np.asarray(gains)

    def _after_exchange(self, state: _State) -> FloatArray:
        """(S, M, M) worth of the first element's group once the second has taken its place."""
        elements, own = self.elements, self._own
        source, sizes = _of_source(state), elements.sizes.astype(np.float64)
        arriving = np.take_along_axis(state.across, state.labels[:, :, None], axis=1)
        inside = (source["inside"] - source["across"] - own)[:, :, None] + arriving - self._between + own
        after = source["sizes"][:, :, None] - sizes[None, :, None] + sizes[None, None, :]
        alone = (source["alone"] - elements.alone)[:, :, None] + elements.alone
        worth = self.worth(inside, after, alone)
        worth[(after > elements.largest) | (after < elements.problem.smallest)] = -np.inf
        if state.clashes is not None and self._conflicts is not None:
            met = np.take_along_axis(state.clashes, state.labels[:, :, None], axis=1) - self._conflicts
            worth[met > 0] = -np.inf
        return worth


def _of_source(state: _State) -> dict[str, FloatArray]:
    """(S, M) sums of the group that each element is in."""
    found = {
        name: np.take_along_axis(getattr(state, name), state.labels, axis=1)
        for name in ("inside", "sizes", "alone")
    }
    found["across"] = np.take_along_axis(state.across, state.labels[:, None, :], axis=1)[:, 0, :]
    return found


def _largest(gains: FloatArray) -> tuple[AnyArray, FloatArray]:
    """(S,) position of each start's largest gain, and the gain."""
    flat = gains.reshape(len(gains), -1)
    best = flat.argmax(axis=1)
    return best, flat[np.arange(len(flat)), best]
