"""What one network more would bring: the best score for every budget, with bounds."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from affinity.core.errors import GroupingError
from affinity.core.grouping import GroupingProblem, GroupingSolution
from affinity.grouping._limits import Watch


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetPoint:
    """The answer for one budget.

    Attributes:
        groups: largest number of networks.
        solution: the best grouping found for it.
        gain: score above the budget before; None for the first one and where it is unknown.
    """

    groups: int
    solution: GroupingSolution
    gain: float | None


def budget_curve(
    problem: GroupingProblem,
    algorithm: str = "exact",
    *,
    budgets: Iterable[int] | None = None,
) -> tuple[BudgetPoint, ...]:
    """The best score for at most 1, 2, ... networks.

    A grouping for a small budget is allowed under a larger one, so the score never falls; the gain from one
    more network is the price at which it stops being worth having. Budgets that cannot be met are left out.

    Args:
        problem: the question; its `groups` is the largest budget and its time limit holds for all together.
        algorithm: key of a grouper.
        budgets: the budgets to try, ascending; 1 to `problem.groups` when None.

    Raises:
        GroupingError: no budget can be met.
    """
    from affinity.grouping import solve

    watch, points = Watch(problem), list[BudgetPoint]()
    for groups in budgets if budgets is not None else range(1, problem.groups + 1):
        if watch.stopped():
            break
        left = None if problem.time_limit is None else watch.left
        try:
            solution = solve(replace(problem, groups=groups, time_limit=left), algorithm)
        except GroupingError:
            continue
        before = points[-1].solution if points else None
        if before is not None and problem.objective != "density" and before.score > solution.score:
            solution = replace(solution, groups=before.groups, networks=before.networks, score=before.score)
        gain = None if before is None else solution.score - before.score
        points.append(BudgetPoint(groups=groups, solution=solution, gain=gain))
    if not points:
        raise GroupingError("no budget can be met.", hint="Allow more networks or relax a limit.")
    return tuple(points)
