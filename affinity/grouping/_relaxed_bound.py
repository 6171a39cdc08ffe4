"""A bound for any size: every task gets the best mates it could have, network by network.

Lagrangian relaxation of "each task is served once", with the hardest question (which set is best?) replaced
by a sum of optimistic shares. It is valid, quick, and not tight; where a search cannot prove its answer, this
is what states how far off it can be at most.
"""

import numpy as np

from affinity.core.grouping import MEAN_OBJECTIVES, GroupingProblem
from affinity.core.types import FloatArray
from affinity.grouping._limits import Watch
from affinity.grouping._objective import alone_scores, filled_affinity, scale, task_prices

ROUNDS = 300


def relaxed_bound(problem: GroupingProblem, target: float, watch: Watch) -> float:
    """No grouping scores above this; constraints that tie or part tasks are ignored.

    Args:
        problem: a problem with a mean objective, `correlation` or `density`.
        target: score of a known grouping; decides the step length only.
        watch: stops the improvement of the bound early; it is valid at any time.
    """
    share = _shares(problem)
    own = task_prices(problem) / scale(problem)
    alone = alone_scores(problem) if problem.objective in MEAN_OBJECTIVES else share[0]
    price, goal = problem.price / scale(problem), target / scale(problem)
    duals, best, pace = np.full(problem.size, goal / problem.size), np.inf, 1.0
    for _ in range(ROUNDS):
        worth, users = _optimistic(problem, share, alone, duals + own, price)
        bound = float(duals.sum()) + problem.groups * worth
        pace = pace if bound < best else pace * 0.95
        best = min(best, bound)
        counts = problem.groups if worth > 0 or problem.objective == "density" else 0
        slope = 1.0 - counts * users
        length = float(slope @ slope)
        if length < 1e-12 or best <= goal or watch.stopped():
            break
        duals = duals - pace * (bound - goal) / length * slope
    return best * scale(problem)


def _shares(problem: GroupingProblem) -> FloatArray:
    """(N, N) at [m-1, t] the most a task can contribute to a network that trains m tasks."""
    affinity = filled_affinity(problem)
    own = np.diagonal(affinity).copy() if problem.objective == "density" else np.zeros(problem.size)
    np.fill_diagonal(affinity, 0.0)
    pairs = affinity + affinity.T
    if problem.objective == "correlation":
        pairs = pairs - problem.threshold
    # With overlap a network counts only what flows onto served tasks; else each pair is shared evenly.
    flows = affinity.copy() if problem.overlap else pairs / 2
    np.fill_diagonal(flows, -np.inf)
    ranked = np.cumsum(-np.sort(-flows, axis=0)[: problem.size - 1], axis=0)
    sums = np.concatenate([np.zeros((1, problem.size)), ranked]) + own
    sizes = np.arange(1, problem.size + 1, dtype=np.float64)[:, None]
    if problem.objective == "correlation":
        return sums
    return np.asarray(sums / (sizes if problem.objective == "density" else np.maximum(sizes - 1, 1)))


def _optimistic(
    problem: GroupingProblem, share: FloatArray, alone: FloatArray, duals: FloatArray, price: float
) -> tuple[float, FloatArray]:
    """Largest optimistic reduced worth of a network, and (N,) which tasks it would serve."""
    largest = problem.size if problem.largest is None else min(problem.largest, problem.size)
    gains = share - duals
    gains[0] = alone - duals
    order = np.argsort(-gains, axis=1)
    ranked = np.take_along_axis(gains, order, axis=1)
    if problem.overlap:
        ranked = np.maximum(ranked, 0.0)
    totals = np.diagonal(np.cumsum(ranked, axis=1)) - price
    row = problem.smallest - 1 + int(np.argmax(totals[problem.smallest - 1 : largest]))
    users = np.zeros(problem.size)
    users[order[row, : row + 1]] = 1.0
    if problem.overlap:
        users[gains[row] <= 0] = 0.0
    worth = float(totals[row])
    return (worth if problem.objective == "density" else max(0.0, worth)), users
