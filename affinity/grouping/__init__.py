"""Which tasks share a network: algorithms (one a file), the objective, and the grouping file.

Everything starts from a `GroupingProblem`, whose affinity is `[source, affected]`.
"""

import sys
from collections.abc import Mapping

from affinity.core.catalogue import Catalogue
from affinity.core.entry import Grouper
from affinity.core.errors import GroupingError
from affinity.core.grouping import GroupingProblem, GroupingSolution
from affinity.core.settings import Settings
from affinity.grouping._agreement import RankAgreement, rank_agreement
from affinity.grouping._curve import BudgetPoint, budget_curve
from affinity.grouping._exchange import read_grouping, to_grouping, write_grouping
from affinity.grouping._objective import evaluate as score
from affinity.grouping._objective import serve_best, task_scores
from affinity.grouping._stability import Stability, second_best, second_best_grouping, stability
from affinity.grouping._validation import (
    BudgetOutcome,
    Validation,
    alone_in,
    gains_over_alone,
    higher_order_table,
    validate,
)

GROUPERS: Catalogue[Grouper] = Catalogue(sys.modules[__name__], Grouper)

__all__ = [
    "GROUPERS",
    "BudgetOutcome",
    "BudgetPoint",
    "RankAgreement",
    "Stability",
    "Validation",
    "alone_in",
    "budget_curve",
    "gains_over_alone",
    "higher_order_table",
    "rank_agreement",
    "read_grouping",
    "score",
    "second_best",
    "second_best_grouping",
    "serve_best",
    "solve",
    "stability",
    "task_scores",
    "to_grouping",
    "validate",
    "write_grouping",
]


def solve(
    problem: GroupingProblem,
    algorithm: str = "exact",
    *,
    settings: Settings | Mapping[str, object] | None = None,
) -> GroupingSolution:
    """A grouping found by one of the algorithms on the shelf.

    Args:
        problem: the question.
        algorithm: key of a grouper, see `GROUPERS`.
        settings: its settings, or untrusted values for them; its defaults when None.

    Raises:
        SettingsError: no such algorithm, or settings that do not fit.
        GroupingError: the algorithm cannot answer this problem, or no grouping meets the constraints.
    """
    grouper = GROUPERS.find(algorithm)
    if grouper.limit is not None and problem.size > grouper.limit:
        raise GroupingError(f"'{algorithm}' takes at most {grouper.limit} tasks, not {problem.size}.")
    if problem.overlap and not grouper.overlaps:
        raise GroupingError(f"'{algorithm}' cannot put a task into several groups.", hint="Choose 'exact'.")
    if settings is None or isinstance(settings, Mapping):
        settings = grouper.settings.from_json(settings or {})
    solution: GroupingSolution = grouper.group(problem, settings)
    return solution
