"""Objectives evaluated on any grouping: the one place that says what a grouping is worth.

Every solver's score is this module's score of the groups it returns, so that a grouping edited by hand and
one that was searched for are comparable.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from affinity.core.errors import GroupingError
from affinity.core.grouping import MEAN_OBJECTIVES, GroupingProblem, GroupPositions
from affinity.core.types import FloatArray

ALONE_FORBIDDEN = -1e6


def filled_affinity(problem: GroupingProblem) -> FloatArray:
    """(N, N) `[source, affected]` with missing pairs at 0: no evidence is neither help nor harm."""
    return np.nan_to_num(problem.affinity, nan=0.0)


def alone_scores(problem: GroupingProblem) -> FloatArray:
    """(N,) what a task scores in a network of its own, under the mean objectives."""
    if problem.objective == "higher_order":
        return np.diagonal(filled_affinity(problem)).copy()
    return np.full(problem.size, ALONE_FORBIDDEN if problem.objective == "tag" else 0.0)


def scale(problem: GroupingProblem) -> float:
    """What a task's score is multiplied with in the objective: 1/N for means over tasks, else 1."""
    return 1.0 / problem.size if problem.objective in MEAN_OBJECTIVES else 1.0


def task_prices(problem: GroupingProblem) -> FloatArray:
    """(N,) price of training each task in one network."""
    return np.zeros(problem.size) if problem.task_prices is None else problem.task_prices


def group_scores(problem: GroupingProblem, train: Sequence[int]) -> FloatArray:
    """Score of every task of a network that trains `train`, in that order.

    Under the mean objectives this is s(t, g), the mean over g without t of affinity[source, t] (Fifty et
    al., 2021, section 3). Under `correlation` and `density` it is the task's share, which sums to the
    group's value. Under `measured` it is the table's row.

    Raises:
        GroupingError: `measured` and no network of the table trains exactly these tasks.
    """
    members = list(train)
    if problem.objective == "measured":
        return _measured_scores(problem, members)
    block = filled_affinity(problem)[np.ix_(members, members)]
    if problem.objective == "density":
        return np.asarray((block + block.T).sum(axis=0) / (2 * len(members)))
    off_diagonal = block - np.diag(np.diagonal(block))
    if problem.objective == "correlation":
        pairs = off_diagonal + off_diagonal.T - problem.threshold
        return np.asarray((pairs.sum(axis=0) - np.diagonal(pairs)) / 2)
    if len(members) == 1:
        return alone_scores(problem)[members]
    return np.asarray(off_diagonal.sum(axis=0) / (len(members) - 1))


def _measured_scores(problem: GroupingProblem, members: list[int]) -> FloatArray:
    table = problem.table
    assert table is not None
    rows = [row for row, group in enumerate(table.groups) if set(group) == set(members)]
    if not rows:
        raise GroupingError(f"the table has no network that trains exactly the tasks {sorted(members)}.")
    # Networks of different cost can train the same tasks; without a row, the best of them is meant.
    best = max(rows, key=lambda row: float(table.scores[row, members].sum()))
    return np.asarray(table.scores[best, members])


def task_scores(
    problem: GroupingProblem, groups: Sequence[GroupPositions], *, networks: Sequence[int] = ()
) -> FloatArray:
    """(N,) predicted score of every task in the group that serves it; NaN where none does.

    Args:
        problem: the question; only its affinity, table and objective matter here.
        groups: per network the positions it trains and those it serves.
        networks: rows of the problem's table, one a group, where several networks train the same tasks.
    """
    scores = np.full(problem.size, np.nan)
    for number, (train, serve) in enumerate(groups):
        if networks and problem.table is not None:
            found = problem.table.scores[networks[number]][list(train)]
        else:
            found = group_scores(problem, train)
        for task in serve:
            scores[task] = found[train.index(task)]
    return scores


def evaluate(
    problem: GroupingProblem, groups: Sequence[GroupPositions], *, networks: Sequence[int] = ()
) -> float:
    """Value of the objective: task scores, averaged or summed, minus the prices of the networks.

    Args:
        problem: the question.
        groups: per network the positions it trains and those it serves.
        networks: as in `task_scores`.

    Raises:
        GroupingError: a task is not served by exactly one of the groups.
    """
    served = sorted(task for _, serve in groups for task in serve)
    if served != list(range(problem.size)):
        raise GroupingError("every task has to be served by exactly one group.")
    prices = task_prices(problem)
    charged = sum(problem.price + float(prices[list(train)].sum()) for train, _ in groups)
    scores = task_scores(problem, groups, networks=networks)
    return float(scores.sum()) * scale(problem) - charged


def serve_best(problem: GroupingProblem, trained: Iterable[Sequence[int]]) -> tuple[GroupPositions, ...]:
    """Each task served by the trained group in which it scores best, the first among equals.

    Groups that would serve nobody are dropped. This is the rule of Fifty et al., 2021, for overlapping
    groups, and how a grouping by hand without stated services is read.

    Raises:
        GroupingError: a task is in none of the groups.
    """
    groups = [tuple(dict.fromkeys(group)) for group in trained]
    best = np.full(problem.size, -np.inf)
    server = np.full(problem.size, -1)
    for number, group in enumerate(groups):
        for task, value in zip(group, group_scores(problem, group), strict=True):
            if value > best[task]:
                best[task], server[task] = value, number
    if (server < 0).any():
        raise GroupingError(f"task {int(np.argmax(server < 0))} is in no group.")
    served = [tuple(task for task in group if server[task] == number) for number, group in enumerate(groups)]
    return tuple((group, serve) for group, serve in zip(groups, served, strict=True) if serve)
