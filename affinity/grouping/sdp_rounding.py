"""Semidefinite relaxation of density clustering, rounded to groups."""

from dataclasses import dataclass, replace

import numpy as np

from affinity.core.entry import Grouper
from affinity.core.grouping import GroupingProblem, GroupingSolution
from affinity.core.settings import Settings, setting
from affinity.core.types import FloatArray, IntArray
from affinity.grouping._clusterings import best_of
from affinity.grouping._limits import Watch
from affinity.grouping._scaled import scaled_elements, unit_of
from affinity.grouping._semidefinite import relaxed_density
from affinity.grouping._starts import usable_groups


@dataclass(frozen=True, kw_only=True)
class SdpRoundingSettings(Settings):
    """What the relaxation maximises."""

    exponential: bool = setting(
        True, help="Relax exp(affinity / temperature), as the source does by default."
    )
    temperature: float = setting(
        1.0, low=0.01, high=100.0, help="In shares of the largest affinity; small: only strong pairs count."
    )


def group(problem: GroupingProblem, settings: SdpRoundingSettings) -> GroupingSolution:
    """Solve the relaxation approximately for the allowed number of groups and round by the source's scan.

    The scan gives task after task a cluster of all later tasks whose entry exceeds 1/N; it can end with
    another number of clusters than asked.

    Raises:
        GroupingError: the objective is `measured`, or no grouping was found that meets the constraints.
    """
    watch, elements = Watch(problem), scaled_elements(problem)
    groups = usable_groups(elements)
    if elements.count == 1:
        return best_of(problem, [np.zeros(1, dtype=np.int64)], watch)
    matrix = _mean_affinity(elements.pairs, elements.sizes)
    if settings.exponential:
        matrix = np.exp(matrix / settings.temperature)
        matrix /= matrix.max()
    relaxed, bound = relaxed_density(matrix, groups, watch)
    solution = best_of(problem, [_rounded(relaxed)], watch)
    if problem.objective == "density" and not settings.exponential and not problem.together:
        solution = replace(solution, bound=max(solution.score, min(solution.bound, bound * unit_of(problem))))
    return solution


def _mean_affinity(pairs: FloatArray, sizes: IntArray) -> FloatArray:
    """(M, M) mean affinity between elements, both directions; the diagonal as it is."""
    own = np.diagonal(pairs) / sizes
    means = pairs / (2 * np.outer(sizes, sizes))
    np.fill_diagonal(means, own)
    return np.asarray(means)


def _rounded(relaxed: FloatArray) -> IntArray:
    count = len(relaxed)
    labels = np.full(count, -1)
    for first in range(count):
        if labels[first] < 0:
            mates = (labels < 0) & (relaxed[first] > 1 / count) & (np.arange(count) >= first)
            mates[first] = True
            labels[mates] = labels.max() + 1
    return labels


GROUPER = Grouper(
    key="sdp_rounding",
    title="Semidefinite relaxation, rounded",
    summary="Solves a convex relaxation of the density objective approximately and rounds it to groups.",
    reference="Li et al., 2024, https://arxiv.org/abs/2409.06091",
    group=group,
    settings=SdpRoundingSettings,
    exact=False,
    overlaps=True,
)
