"""Column generation: the proof without listing all partitions.

The linear program over all networks bounds the best selection. Its optimum is found by asking for networks
that are worth more than their tasks pay; any prices give the bound
sum(duals) + K * max(0, largest reduced worth) (Lagrange), and networks whose reduced worth is too small to
be part of a better selection are discarded before an integer program decides among the rest. Guesses come
first: a complete search is asked only when they find nothing more.
"""

from dataclasses import dataclass, field

import numpy as np

from affinity.core.types import AnyArray
from affinity.grouping._elements import Elements
from affinity.grouping._limits import Watch
from affinity.grouping._master import Relaxed, solve_relaxed, solve_whole, whole_columns
from affinity.grouping._pricing import Columns, Pricing, joined, no_columns
from affinity.grouping._promising import beam, neighbours

# Proven means: no better by more than this share of one task's largest affinity.
TOLERANCE = 1e-9
MOST_FINAL_COLUMNS = 60_000
COLUMNS_A_ROUND = 150
# Share of the linear optimum by which the best selection may miss it for a list of all columns to stay short.
NEAR = 0.02
# For a first selection from the pool, which only has to be good.
POOL_SECONDS = 5.0


@dataclass(slots=True, kw_only=True, eq=False)
class Generation:
    """State of one run.

    Attributes:
        elements: the problem, scaled so that the largest affinity is about 1.
        pricing: complete search over all networks; without one there is no bound, only good selections.
        groups: budget of networks.
        watch: when to stop.
        pool: columns so far.
        value: worth of the best selection so far.
        chosen: its (train, serve) masks.
        bound: no selection is worth more.
        rounds: linear programs solved.
        searches: complete searches begun.
        guessed: what no selection would exceed if there were no other networks than those that guesses find.
    """

    elements: Elements
    pricing: Pricing | None
    groups: int
    watch: Watch
    pool: Columns
    value: float = -np.inf
    chosen: list[tuple[int, int]] = field(default_factory=list)
    bound: float = np.inf
    rounds: int = 0
    searches: int = 0
    guessed: float | None = None

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

    def limit(self, bound: float) -> None:
        """No selection is worth more than this either."""
        self.bound = min(self.bound, bound)


def generate(run: Generation) -> None:
    """Bring bound and best selection together; both are valid whenever it returns."""
    while not run.watch.stopped():
        run.rounds += 1
        relaxed = solve_relaxed(run.pool, run.elements.count, run.groups, exactly=run.exactly)
        whole = whole_columns(relaxed)
        if whole is not None:
            run.offer(whole, run.pool)
        if run.proven:
            return
        fresh = _promising(run, relaxed)
        if not len(fresh):
            fresh = _searched(run, relaxed)
        if run.proven or not len(fresh):
            return
        run.pool = joined(run.pool, fresh)


def _worth_of_interest(run: Generation, relaxed: Relaxed) -> float:
    """Only columns of a larger reduced worth can lift the linear program above what it reaches already."""
    return (relaxed.value - float(relaxed.duals.sum())) / run.groups


def _promising(run: Generation, relaxed: Relaxed) -> Columns:
    """Improving columns from guesses: near those in use, else from a beam."""
    used = np.unique(run.pool.train[relaxed.weights > 1e-9])
    near = _improving(run, relaxed, neighbours(run.elements, used, relaxed.duals))
    if len(near):
        return near
    floor = _worth_of_interest(run, relaxed) + run.tolerance
    return _improving(run, relaxed, beam(run.elements, relaxed.duals, floor))


def _improving(run: Generation, relaxed: Relaxed, columns: Columns) -> Columns:
    """The columns that the linear program lacks, those of largest reduced worth."""
    columns = columns.take(~_known(run.pool, columns))
    reduced = columns.reduced(relaxed.duals)
    rows = np.flatnonzero(reduced > _worth_of_interest(run, relaxed) + run.tolerance)
    best = rows[np.argsort(-reduced[rows], kind="stable")[:COLUMNS_A_ROUND]]
    return columns.take(best)


def _known(pool: Columns, columns: Columns) -> AnyArray:
    """(C,) whether the pool serves the same set at least as well; rounding must not let it come again."""
    if not len(pool):
        return np.zeros(len(columns), dtype=bool)
    order = np.argsort(pool.serve)
    place = np.minimum(np.searchsorted(pool.serve[order], columns.serve), len(pool) - 1)
    same = pool.serve[order][place] == columns.serve
    return np.asarray(same & (pool.values[order][place] >= columns.values - 1e-12))


def _searched(run: Generation, relaxed: Relaxed) -> Columns:
    """Improving columns from complete searches; without any, the question is decided or out of reach."""
    run.guessed = relaxed.value
    if run.searches == 0:
        _choose(run, run.pool, POOL_SECONDS)
    if run.pricing is None:
        return no_columns()
    run.searches += 1
    floor = _worth_of_interest(run, relaxed)
    floor = floor if run.exactly else max(0.0, floor)
    # Listing all is one search instead of two where few columns qualify, and hopeless where many do.
    near = relaxed.value - run.value <= NEAR * abs(relaxed.value)
    fresh = _listed(run, run.pricing, relaxed, floor) if near else None
    if fresh is None:
        fresh = _priced(run, run.pricing, relaxed, floor)
        if not near and not len(fresh) and not run.proven:
            fresh = _listed(run, run.pricing, relaxed, floor) or no_columns()
    return fresh


def _listed(run: Generation, pricing: Pricing, relaxed: Relaxed, floor: float) -> Columns | None:
    """List every column that a better selection could hold; None where that is too many.

    The list holds each improving column too. If there is none, the linear program is solved, its value is a
    bound, and the best selection from the list is the answer.
    """
    paid = float(relaxed.duals.sum())
    least = min(floor, run.value - paid - (run.groups - 1) * floor) - run.tolerance
    columns = pricing.above(relaxed.duals, least, MOST_FINAL_COLUMNS, run.watch)
    if columns is None:
        return None
    largest = max(floor, float(columns.reduced(relaxed.duals).max(initial=floor)))
    run.limit(paid + run.groups * largest)
    fresh = _improving(run, relaxed, columns)
    if not len(fresh) and not run.proven and _choose(run, columns, run.watch.left):
        run.limit(run.value)
    return fresh


def _priced(run: Generation, pricing: Pricing, relaxed: Relaxed, floor: float) -> Columns:
    """Improving columns of large worth, and a bound where the search was complete."""
    # A little above the floor, so that rounding does not bring back the columns in use.
    above = floor + run.tolerance / (2 * run.groups)
    largest, columns = pricing.price(relaxed.duals, above, run.watch)
    run.limit(float(relaxed.duals.sum()) + run.groups * largest)
    return _improving(run, relaxed, columns)


def _choose(run: Generation, columns: Columns, seconds: float) -> bool:
    """Offer the best selection among these columns; whether there is provably no better one among them."""
    if not len(columns):
        return True
    limit = min(seconds, run.watch.left)
    rows, proven = solve_whole(columns, run.elements.count, run.groups, exactly=run.exactly, seconds=limit)
    if rows is not None:
        run.offer(rows, columns)
    return proven
