"""Without a binding budget, groups of at most three tasks are enough for the mean objectives.

A group of even size is matched, on average over its perfect matchings, by pairs; one of odd size by a triple
and pairs: each ordered pair of mates keeps its weight 1/(size - 1). So a split into pairs and triples is at
least as good as any group of four or more, and only N^3/6 columns are needed. This is also why a budget, or a
price per network, is what makes the choice of larger groups meaningful.
"""

import itertools

import numpy as np

from affinity.core.grouping import MEAN_OBJECTIVES, GroupingProblem
from affinity.core.types import AnyArray, FloatArray
from affinity.grouping._objective import alone_scores, filled_affinity

MAX_TASKS = 150


def small_groups_suffice(problem: GroupingProblem) -> bool:
    """Whether groups of more than three tasks cannot help if the number of networks does not bind."""
    free = problem.price == 0 and problem.task_prices is None and problem.minimum_gain is None
    limits = problem.smallest <= 2 and (problem.largest is None or problem.largest >= 3)
    plain = not problem.overlap and not problem.together and free and limits
    return plain and problem.objective in MEAN_OBJECTIVES and problem.size <= MAX_TASKS


def best_small_groups(problem: GroupingProblem, seconds: float) -> tuple[list[tuple[int, ...]], bool] | None:
    """The best partition into groups of at most three, any number of them, and whether it is proven.

    Returns None when the integer program found nothing in the time.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import coo_array

    groups, values = _candidates(problem)
    sizes = (groups >= 0).sum(axis=1)
    columns = np.repeat(np.arange(len(groups)), sizes)
    cover = coo_array(
        (np.ones(len(columns)), (groups[groups >= 0], columns)), shape=(problem.size, len(groups))
    )
    answer = milp(
        -values / max(float(np.abs(values).max()), 1e-300),
        integrality=np.ones(len(groups)),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(cover.tocsc(), 1, 1),
        options={"mip_rel_gap": 0.0, "time_limit": max(0.1, min(seconds, 1e6))},
    )
    if answer.x is None:
        return None
    chosen = np.flatnonzero(answer.x > 0.5)
    return [tuple(int(task) for task in groups[row] if task >= 0) for row in chosen], answer.status == 0


def _candidates(problem: GroupingProblem) -> tuple[AnyArray, FloatArray]:
    """(C, 3) tasks, -1 where there are fewer, and (C,) values of the groups that may matter."""
    count, affinity = problem.size, filled_affinity(problem)
    pairs = affinity + affinity.T
    alone = alone_scores(problem)
    parted = np.zeros((count, count), dtype=bool)
    for one, other in problem.apart:
        parted[one, other] = parted[other, one] = True
    two = np.array(list(itertools.combinations(range(count), 2)), dtype=np.int64).reshape(-1, 2)
    two = two[~parted[two[:, 0], two[:, 1]]]
    three = np.array(list(itertools.combinations(range(count), 3)), dtype=np.int64).reshape(-1, 3)
    clash = parted[three[:, 0], three[:, 1]] | parted[three[:, 0], three[:, 2]]
    three = three[~(clash | parted[three[:, 1], three[:, 2]])]
    first, second, third = three.T
    worth = (pairs[first, second] + pairs[first, third] + pairs[second, third]) / 2
    # A triple no better than one of its pairs and a task alone is never needed.
    split = np.maximum.reduce(
        [
            pairs[first, second] + alone[third],
            pairs[first, third] + alone[second],
            pairs[second, third] + alone[first],
            alone[first] + alone[second] + alone[third],
        ]
    )
    useful = (worth > split) | (problem.smallest == 2)
    parts = [(two, pairs[two[:, 0], two[:, 1]]), (three[useful], worth[useful])]
    if problem.smallest == 1:
        parts.insert(0, (np.arange(count)[:, None], alone))
    groups = [np.pad(tasks, ((0, 0), (0, 3 - tasks.shape[1])), constant_values=-1) for tasks, _ in parts]
    return np.concatenate(groups), np.concatenate([values for _, values in parts])
