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

TIME_OUT = 1


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
    if answer.x is None and answer.status == TIME_OUT and problem.overlap and not problem.together:
        rows = _greedy_rows(problem, table, usable, charges)
        if rows:
            return _served_by(problem, table, rows)
    if answer.x is None:
        raise GroupingError(
            "no choice of networks meets the constraints.", hint="Allow a larger budget or more networks."
        )
    taken = answer.x[len(usable) :] > 0.5
    return _solution(
        problem, [pair for pair, used in zip(serving, taken, strict=True) if used], answer, largest
    )


def _greedy_rows(
    problem: GroupingProblem, table: GroupTable, usable: list[int], charges: list[float]
) -> list[int]:
    """Networks added one by one, each the one that gains most for its cost; empty if tasks stay uncovered.

    For tables so large that the integer program has no answer in time.
    """
    scores = np.nan_to_num(table.scores[usable], nan=-np.inf)
    finite = table.scores[np.isfinite(table.scores)]
    # Below every score by more than all tasks together can make up for: covering comes first.
    best = np.full(problem.size, finite.min() - problem.size * (np.ptp(finite) + max(charges) + 1.0))
    budget = np.inf if problem.budget is None else problem.budget + 1e-9
    costs, taken = table.costs[usable], list[int]()
    while len(taken) < problem.groups:
        gains = np.maximum(scores, best).sum(axis=1) - best.sum() - np.array(charges)
        gains[(costs > budget - costs[taken].sum()) | (gains <= 1e-12)] = -np.inf
        choice = int(np.argmax(gains / costs))
        if np.isneginf(gains[choice]):
            break
        taken.append(choice)
        best = np.maximum(best, scores[choice])
    covered = np.isfinite(scores[taken]).any(axis=0).all() if taken else False
    return [usable[at] for at in taken] if covered else []


def _served_by(problem: GroupingProblem, table: GroupTable, rows: list[int]) -> GroupingSolution:
    """Each task served by the best of these networks; nothing is proven."""
    server = np.nanargmax(np.where(np.isnan(table.scores[rows]), -np.inf, table.scores[rows]), axis=0)
    served = [(row, tuple(np.flatnonzero(server == at).tolist())) for at, row in enumerate(rows)]
    used = sorted((row, serve) for row, serve in served if serve)
    groups = tuple((table.groups[row], serve) for row, serve in used)
    networks = tuple(row for row, _ in used)
    return GroupingSolution(
        groups=groups, score=evaluate(problem, groups, networks=networks), networks=networks, stopped="time"
    )


def _allowed(problem: GroupingProblem, group: set[int]) -> bool:
    largest = problem.size if problem.largest is None else problem.largest
    torn = any((first in group) != (second in group) for first, second in problem.together)
    clash = any(first in group and second in group for first, second in problem.apart)
    return problem.smallest <= len(group) <= largest and not torn and not clash


def _constraints(
    problem: GroupingProblem, table: GroupTable, usable: list[int], serving: list[tuple[int, int]]
) -> tuple[AnyArray, FloatArray, FloatArray]:
    """Rows: each task served once, only by chosen networks, cost and number of networks, no overlap.

    The matrix is sparse: a table of thousands of networks would fill gigabytes otherwise.
    """
    from scipy.sparse import coo_array

    place = {row: index for index, row in enumerate(usable)}
    at = {pair: len(usable) + index for index, pair in enumerate(serving)}
    free = -np.inf if problem.overlap else 0.0
    rows: list[tuple[dict[int, float], float, float]] = [
        ({at[row, task]: 1.0, place[row]: -1.0}, free, 0.0) for row, task in serving
    ]
    served: list[dict[int, float]] = [{} for _ in range(problem.size)]
    for pair, column in at.items():
        served[pair[1]][column] = 1.0
    rows += [(line, 1.0, 1.0) for line in served]
    rows.append((dict.fromkeys(place.values(), 1.0), 0.0, float(problem.groups)))
    costs = {place[row]: float(table.costs[row]) for row in usable}
    rows.append((costs, 0.0, np.inf if problem.budget is None else problem.budget + 1e-9))
    for one, other in problem.together:
        rows += [({at[row, one]: 1.0, at[row, other]: -1.0}, 0.0, 0.0) for row in usable if (row, one) in at]
    lines, lower, upper = zip(*rows, strict=True)
    entries = [(line, column, value) for line, row in enumerate(lines) for column, value in row.items()]
    places_down, places_across, values = (np.array(part) for part in zip(*entries, strict=True))
    matrix = coo_array(
        (values, (places_down, places_across)), shape=(len(rows), len(usable) + len(serving))
    ).tocsc()
    return matrix, np.array(lower), np.array(upper)


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
