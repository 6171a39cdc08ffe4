"""What the clustering algorithms share: a symmetric similarity, and labels brought within the budget."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from affinity.core.errors import GroupingError
from affinity.core.grouping import GroupingProblem, GroupingSolution
from affinity.core.types import AnyArray, FloatArray, IntArray
from affinity.grouping._elements import Elements
from affinity.grouping._heuristics import bounded, finished
from affinity.grouping._limits import Watch
from affinity.grouping._scaled import scaled_elements
from affinity.grouping._starts import merged, random_starts, usable_groups


def similarity(elements: Elements) -> FloatArray:
    """(M, M) mean affinity between the tasks of two elements, both directions; 0 on the diagonal.

    None of the clustering algorithms takes a directed matrix, so direction is lost here.
    """
    means = elements.pairs / (2 * np.outer(elements.sizes, elements.sizes))
    np.fill_diagonal(means, 0.0)
    return np.asarray(means)


def clustered(
    problem: GroupingProblem, labels: AnyArray, watch: Watch, *, notes: tuple[str, ...] = ()
) -> GroupingSolution:
    """Labels of a clustering algorithm as a solution of the problem; see `best_of`."""
    return best_of(problem, [labels], watch, notes=notes)


def best_of(
    problem: GroupingProblem, candidates: Sequence[AnyArray], watch: Watch, *, notes: tuple[str, ...] = ()
) -> GroupingSolution:
    """The labels with the best objective, within the problem's budget and limits.

    Groups beyond the budget are merged by the objective; labels that break a limit give way to a grouping
    that keeps to it. A note says so.

    Raises:
        GroupingError: the objective is `measured`, or no grouping was found that meets the constraints.
    """
    elements = scaled_elements(problem)
    groups = usable_groups(elements)
    fitted = [_within_budget(elements, groups, labels) for labels in candidates]
    try:
        solution = finished(elements, [labels for labels, _ in fitted], watch)
    except GroupingError:
        kept = random_starts(elements, groups, 1, np.random.default_rng(0))
        notes = (*notes, "The algorithm's groups break the limits; this grouping only keeps to them.")
        return bounded(problem, finished(elements, kept, watch, notes=notes), watch)
    if all(was_merged for _, was_merged in fitted):
        notes = (*notes, "The algorithm found more groups than allowed; the objective merged them.")
    return bounded(problem, replace(solution, notes=notes), watch)


def _within_budget(elements: Elements, groups: int, labels: AnyArray) -> tuple[IntArray, bool]:
    tidy = np.unique(np.asarray(labels), return_inverse=True)[1].astype(np.int64)
    if tidy.max() < groups:
        return tidy, False
    return merged(elements, groups, tidy), True
