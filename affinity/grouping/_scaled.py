"""Solvers work on affinities of size one, so that their tolerances mean the same for every measure."""

from dataclasses import replace

import numpy as np

from affinity.core.errors import GroupingError
from affinity.core.grouping import GroupingProblem
from affinity.grouping._elements import Elements, elements_of
from affinity.grouping._objective import filled_affinity


def unit_of(problem: GroupingProblem) -> float:
    """Largest absolute affinity; 1 where all are 0 or missing."""
    largest = float(np.abs(filled_affinity(problem)).max())
    return largest if largest > 0 else 1.0


def scaled(problem: GroupingProblem, unit: float) -> GroupingProblem:
    """The same problem measured in `unit`."""
    prices = problem.task_prices
    return replace(
        problem,
        affinity=problem.affinity / unit,
        threshold=problem.threshold / unit,
        price=problem.price / unit,
        task_prices=None if prices is None else prices / unit,
        minimum_gain=None if problem.minimum_gain is None else problem.minimum_gain / unit,
    )


def scaled_elements(problem: GroupingProblem) -> Elements:
    """The elements of the scaled problem, for searches that need affinities.

    Raises:
        GroupingError: the problem has a table instead of affinities, or contradicts itself.
    """
    if problem.table is not None:
        raise GroupingError("only 'exact' chooses among measured networks.", hint="Choose 'exact'.")
    return elements_of(scaled(problem, unit_of(problem)))
