"""Column generation: the proof without listing all partitions.

The linear program over all networks bounds the best selection. Its optimum is found by asking a pricing for
networks that are worth more than their tasks pay; any prices give the bound
sum(duals) + K * max(0, largest reduced worth) (Lagrange), and networks whose reduced worth is too small to
be part of a better selection are discarded before an integer program decides among the rest.
"""

from dataclasses import dataclass, field

import numpy as np

from affinity.core.types import AnyArray, FloatArray
from affinity.grouping._elements import Elements
from affinity.grouping._limits import Watch
from affinity.grouping._master import Relaxed, solve_relaxed, solve_whole, whole_columns
from affinity.grouping._pricing import Columns, Pricing, evaluated, joined

# Proven means: no better by more than this share of one task's largest affinity.
TOLERANCE = 1e-9
# Weight of the best prices so far when new ones are tried; damps the swings of the duals.
SMOOTHING = 0.6
MOST_FINAL_COLUMNS = 60_000
NEIGHBOURS_A_ROUND = 150


@dataclass(slots=True, kw_only=True, eq=False)
class Generation:
    """State of one run.

    Attributes:
        elements: the problem, scaled so that the largest affinity is about 1.
        pricing: complete search over all networks.
        groups: budget of networks.
        watch: when to stop.
        pool: columns so far.
        value: worth of the best selection so far.
        chosen: its (train, serve) masks.
        bound: no selection is worth more.
        duals: prices that gave the bound.
        largest: largest reduced worth under them.
    """

    elements: Elements
    pricing: Pricing
    groups: int
    watch: Watch
    pool: Columns
    value: float = -np.inf
    chosen: list[tuple[int, int]] = field(default_factory=list)
    bound: float = np.inf
    duals: FloatArray = field(default_factory=lambda: np.zeros(0))
    largest: float = 0.0
    rounds: int = 0

    @property
    def exactly(self) -> bool:
        """The objective wants all K groups."""
        return self.elements.problem.objective == "density"

    @property
    def tolerance(self) -> float:
        """Largest difference that counts as rounding."""
        return TOLERANCE * max(1.0, abs(self.value) if np.isfinite(self.value) else 1.0)

    @property
    def proven(self) -> bool:
        """The best selection so far cannot be beaten."""
        return self.bound - self.value <= self.tolerance

    def offer(self, rows: AnyArray, columns: Columns) -> None:
        """Remember a selection if it is the best so far."""
        value = float(columns.values[rows].sum())
        if value > self.value:
            self.value = value
            self.chosen = [(int(columns.train[row]), int(columns.serve[row])) for row in rows]


def generate(run: Generation) -> None:
    """Bring bound and best selection together; both are valid whenever it returns."""
    _close_relaxation(run)
    if run.proven or not np.isfinite(run.bound):
        return
    rows, _ = _whole(run, run.pool)
    if rows is not None:
        run.offer(rows, run.pool)
    if not run.proven and not run.watch.stopped():
        _decide(run)


def _close_relaxation(run: Generation) -> None:
    smoothing = SMOOTHING
    while not run.watch.stopped() and not run.proven:
        run.rounds += 1
        relaxed = solve_relaxed(run.pool, run.elements.count, run.groups, exactly=run.exactly)
        whole = whole_columns(relaxed)
        if whole is not None:
            run.offer(whole, run.pool)
        if run.bound - relaxed.value <= run.tolerance or run.proven:
            return
        near = _improving(run, relaxed, _neighbours(run, relaxed))
        if len(near):
            run.pool = joined(run.pool, near)
            continue
        found = _price(run, relaxed, smoothing)
        if found is None:
            return
        fresh = _improving(run, relaxed, found)
        if not len(fresh) and smoothing == 0.0:
            return
        smoothing = SMOOTHING if len(fresh) else 0.0
        run.pool = joined(run.pool, fresh)


def _price(run: Generation, relaxed: Relaxed, smoothing: float) -> Columns | None:
    """Ask the pricing under smoothed prices and improve the bound; None when it was stopped."""
    duals = relaxed.duals
    if len(run.duals) and smoothing:
        duals = smoothing * run.duals + (1 - smoothing) * relaxed.duals
    # Below this floor a column cannot lift the bound above what the pool reaches already.
    floor = (relaxed.value - float(duals.sum())) / run.groups
    floor = floor if run.exactly else max(0.0, floor)
    largest, found = run.pricing.price(duals, floor, run.watch)
    bound = float(duals.sum()) + run.groups * (largest if run.exactly else max(0.0, largest))
    if bound < run.bound:
        run.bound, run.duals, run.largest = bound, duals, largest
    return found if len(found) or np.isfinite(largest) else None


def _neighbours(run: Generation, relaxed: Relaxed) -> Columns:
    """Networks that differ in one or two elements from those the linear program uses."""
    used = np.unique(run.pool.train[relaxed.weights > 1e-9])
    singles = 1 << np.arange(run.elements.count, dtype=np.int64)
    flipped = used[:, None] ^ singles
    inside = (used[:, None] & singles) != 0
    moved = []
    for mask, row in zip(used, inside, strict=True):
        moved.append((mask ^ singles[row][:, None] ^ singles[~row]).ravel())
    masks = np.unique(np.concatenate([flipped.ravel(), *moved, singles]))
    return evaluated(run.elements, masks[masks > 0], relaxed.duals)


def _improving(run: Generation, relaxed: Relaxed, columns: Columns) -> Columns:
    """The columns that the linear program lacks, those of largest reduced worth."""
    columns = columns.take(~_known(run.pool, columns))
    reduced = columns.reduced(relaxed.duals)
    threshold = (relaxed.value - float(relaxed.duals.sum())) / run.groups
    rows = np.flatnonzero(reduced > threshold + run.tolerance)
    best = rows[np.argsort(-reduced[rows], kind="stable")[:NEIGHBOURS_A_ROUND]]
    return columns.take(best)


def _known(pool: Columns, columns: Columns) -> AnyArray:
    """(C,) whether the pool serves the same set at least as well; rounding must not let it come again."""
    if not len(pool):
        return np.zeros(len(columns), dtype=bool)
    order = np.argsort(pool.serve)
    place = np.minimum(np.searchsorted(pool.serve[order], columns.serve), len(pool) - 1)
    same = pool.serve[order][place] == columns.serve
    return np.asarray(same & (pool.values[order][place] >= columns.values - 1e-12))


def _decide(run: Generation) -> None:
    """The relaxation is not whole: list every column of a possibly better selection and choose among them."""
    others = run.largest if run.exactly else max(0.0, run.largest)
    floor = run.value - float(run.duals.sum()) - (run.groups - 1) * others
    columns = run.pricing.above(run.duals, floor, MOST_FINAL_COLUMNS, run.watch)
    if columns is None:
        return
    rows, proven = _whole(run, columns)
    if rows is not None:
        run.offer(rows, columns)
    if proven:
        run.bound = run.value


def _whole(run: Generation, columns: Columns) -> tuple[AnyArray | None, bool]:
    if not len(columns):
        return None, True
    seconds = run.watch.left
    return solve_whole(columns, run.elements.count, run.groups, exactly=run.exactly, seconds=seconds)
