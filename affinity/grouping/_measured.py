"""The best networks of a measured table under a cost budget: an integer program of facility-location form.

Standley et al., 2020 (https://arxiv.org/abs/1905.07553), section 5: choose trained networks within the budget
so that the sum over tasks of the best score is largest.
"""

import numpy as np

from affinity.core.errors import GroupingError
from affinity.core.grouping import GroupingProblem, GroupingSolution, GroupTable
from affinity.core.types import AnyArray, FloatArray
from affinity.grouping._limits import Watch
from affinity.grouping._objective import evaluate, task_prices


def best_networks_of_table(problem: GroupingProblem, watch: Watch) -> GroupingSolution:
    """Choose rows of the table, and serve each task by the best of them.

    Raises:
        GroupingError: no choice of networks meets the constraints.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    table = problem.table
    assert table is not None
    usable = [row for row, group in enumerate(table.groups) if _allowed(problem, set(group))]
    serving = [(row, task) for row in usable for task in table.groups[row]]
    matrix, lower, upper = _constraints(problem, table, usable, serving)
    largest = float(np.nanmax(np.abs(table.scores), initial=1e-300))
    charges = [problem.price + float(task_prices(problem)[list(table.groups[row])].sum()) for row in usable]
    scores = [float(table.scores[row, task]) for row, task in serving]
    costs = np.array([*charges, *[-score for score in scores]]) / largest
    answer = milp(
        costs * 1e3,
        integrality=np.ones(len(costs)),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(matrix, lower, upper),
        options={"mip_rel_gap": 0.0, "time_limit": max(0.1, min(watch.left, 1e6))},
    )
    if answer.x is None:
        raise GroupingError(
            "no choice of networks meets the constraints.", hint="Allow a larger budget or more networks."
        )
    taken = answer.x[len(usable) :] > 0.5
    return _solution(
        problem, [pair for pair, used in zip(serving, taken, strict=True) if used], answer, largest
    )


def _allowed(problem: GroupingProblem, group: set[int]) -> bool:
    largest = problem.size if problem.largest is None else problem.largest
    torn = any((first in group) != (second in group) for first, second in problem.together)
    clash = any(first in group and second in group for first, second in problem.apart)
    return problem.smallest <= len(group) <= largest and not torn and not clash


def _constraints(
    problem: GroupingProblem, table: GroupTable, usable: list[int], serving: list[tuple[int, int]]
) -> tuple[AnyArray, FloatArray, FloatArray]:
    """Rows: each task served once, only by chosen networks, cost and number of networks, no overlap."""
    place = {row: index for index, row in enumerate(usable)}
    columns = len(usable) + len(serving)
    rows: list[tuple[FloatArray, float, float]] = []
    served = np.zeros((problem.size, columns))
    for index, (row, task) in enumerate(serving):
        served[task, len(usable) + index] = 1.0
        link = np.zeros(columns)
        link[len(usable) + index], link[place[row]] = 1.0, -1.0
        low = 0.0 if not problem.overlap else -np.inf
        rows.append((link, low, 0.0))
    rows += [(line, 1.0, 1.0) for line in served]
    budget, number = np.zeros(columns), np.zeros(columns)
    budget[: len(usable)] = table.costs[usable]
    number[: len(usable)] = 1.0
    rows.append((number, 0.0, float(problem.groups)))
    rows.append((budget, 0.0, np.inf if problem.budget is None else problem.budget + 1e-9))
    first, second = ([pair[side] for pair in problem.together] for side in (0, 1))
    for one, other in zip(first, second, strict=True):
        for row in usable:
            if one in table.groups[row]:
                tie = np.zeros(columns)
                tie[len(usable) + serving.index((row, one))] = 1.0
                tie[len(usable) + serving.index((row, other))] = -1.0
                rows.append((tie, 0.0, 0.0))
    lines, lower, upper = zip(*rows, strict=True)
    return np.array(lines), np.array(lower), np.array(upper)


def _solution(
    problem: GroupingProblem, serving: list[tuple[int, int]], answer: object, largest: float
) -> GroupingSolution:
    table = problem.table
    assert table is not None
    networks = sorted({row for row, _ in serving})
    groups = tuple(
        (table.groups[row], tuple(sorted(task for used, task in serving if used == row))) for row in networks
    )
    score = evaluate(problem, groups, networks=networks)
    proven = getattr(answer, "status", 1) == 0
    dual = getattr(answer, "mip_dual_bound", None)
    bound = score if proven else (-dual * largest / 1e3 if dual is not None else float("inf"))
    return GroupingSolution(
        groups=groups,
        score=score,
        bound=max(bound, score),
        optimal=proven,
        networks=tuple(networks),
        stopped="" if proven else "time",
    )
