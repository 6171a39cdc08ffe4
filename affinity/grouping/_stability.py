"""How much a grouping depends on the noise of its affinities, and how far the second best is."""

from dataclasses import dataclass, replace

import numpy as np

from affinity.core.errors import GroupingError
from affinity.core.grouping import GroupingProblem, GroupingSolution, GroupPositions
from affinity.core.types import FloatArray, read_only
from affinity.grouping._elements import elements_of, score_of, solution_groups
from affinity.grouping._limits import Watch
from affinity.grouping._proof import MAX_SUBSET_ELEMENTS
from affinity.grouping._subset_dp import best_partitions
from affinity.grouping._tables import overlapping_values, partition_values


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stability:
    """Answers over resampled affinities.

    Attributes:
        together: (N, N) share of the samples in which a network that serves the row's task trains the
            column's task; symmetric without overlap.
        scores: (B,) score of each sample's own best grouping.
        helps: share of the samples in which the best grouping scores above every task alone.
    """

    together: FloatArray
    scores: FloatArray
    helps: float

    @property
    def verdict(self) -> str:
        """One sentence for the reader."""
        if self.helps < 0.95:
            share = f"{100 * self.helps:.0f} %"
            return f"No evidence that grouping helps: it beats every task alone in {share} of the samples."
        return "Grouping beats every task alone in nearly all samples."


def stability(
    problem: GroupingProblem, samples: FloatArray, *, algorithm: str = "exact", alone: float = 0.0
) -> Stability:
    """Solve the problem again for each resampled affinity matrix.

    Args:
        problem: the question; its affinity is replaced, its limits hold for each sample.
        samples: (B, N, N) affinities, for instance bootstrap means over steps.
        algorithm: key of a grouper.
        alone: score of every task alone, to compare with.

    Raises:
        GroupingError: the samples have another shape than the affinity, or there are none.
    """
    from affinity.grouping import solve

    if samples.ndim != 3 or samples.shape[1:] != problem.affinity.shape or not len(samples):
        raise GroupingError(
            f"the samples have shape {samples.shape}, expected (B, N, N) with N = {problem.size}."
        )
    counts, scores = np.zeros((problem.size, problem.size)), np.empty(len(samples))
    for number, sample in enumerate(samples):
        solution = solve(replace(problem, affinity=sample), algorithm)
        counts += served_with(problem.size, solution.groups)
        scores[number] = solution.score
    return Stability(
        together=read_only(counts / len(samples)),
        scores=read_only(scores),
        helps=float((scores > alone + 1e-12).mean()),
    )


def served_with(size: int, groups: tuple[GroupPositions, ...]) -> FloatArray:
    """(N, N) 1.0 where the network that serves the row's task trains the column's task."""
    shared = np.zeros((size, size))
    for train, serve in groups:
        shared[np.ix_(serve, train)] = 1.0
    return shared


def second_best(problem: GroupingProblem, groups: tuple[GroupPositions, ...]) -> float | None:
    """Score of the best grouping that differs from a given one; None for more than ten tasks.

    See `second_best_grouping`.
    """
    found = second_best_grouping(problem, groups)
    return None if found is None else found.score


def second_best_grouping(
    problem: GroupingProblem, groups: tuple[GroupPositions, ...]
) -> GroupingSolution | None:
    """The best grouping that differs from a given one; None for more than ten tasks, or where there is none.

    A grouping that differs lacks at least one of the served sets, so the best one without each of them in
    turn is the second best. With overlap, two groupings with the same served sets count as one.

    Args:
        problem: the question.
        groups: the best grouping.
    """
    elements = elements_of(problem)
    if elements.count > MAX_SUBSET_ELEMENTS or problem.table is not None:
        return None
    networks = None
    if problem.overlap:
        values, networks = overlapping_values(elements)
    else:
        values = partition_values(elements)
    owner = {task: index for index, tasks in enumerate(elements.tasks) for task in tasks}
    best, blocks = -np.inf, list[int]()
    for _, serve in groups:
        without = values.copy()
        without[sum(1 << index for index in {owner[task] for task in serve})] = -np.inf
        layers = best_partitions(without, min(problem.groups, elements.count), Watch(problem))
        layers = layers[problem.groups - 1 :] if problem.objective == "density" else layers
        for score, found in layers:
            if score > best:
                best, blocks = score, list(found)
    if best == -np.inf:
        return None
    chosen = [(block if networks is None else int(networks[block]), block) for block in blocks]
    score = score_of(elements, chosen)
    return GroupingSolution(groups=solution_groups(elements, chosen), score=score, bound=score, optimal=True)
