"""Tasks tied by must-link become one element; everything that counts subsets counts elements.

A problem over elements keeps the numbers of its tasks: sizes, summed affinities and prices. All values
here are totals over tasks in units of one task's score; `problem_score` turns them into the objective.
"""

from dataclasses import dataclass

import numpy as np

from affinity.core.errors import GroupingError
from affinity.core.grouping import MEAN_OBJECTIVES, GroupingProblem, GroupPositions
from affinity.core.types import AnyArray, FloatArray, IntArray
from affinity.grouping._objective import alone_scores, evaluate, filled_affinity, scale, task_prices


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Elements:
    """A problem over M inseparable elements.

    Attributes:
        problem: the question it came from.
        tasks: per element its positions, ascending.
        sizes: (M,) number of tasks.
        belongs: (M, N) 1.0 where a task belongs to an element.
        onto: (M, N) summed affinity of an element's tasks onto each task, without a task's own.
        pairs: (M, M) summed affinity between two elements in both directions; the diagonal holds the sum
            inside the element.
        alone: (M,) score of an element in a network of its own, not counting prices.
        prices: (M,) price of training it in one network.
        price: price of one network.
        conflicts: per element the bit mask of elements it must not meet.
    """

    problem: GroupingProblem
    tasks: tuple[tuple[int, ...], ...]
    sizes: IntArray
    belongs: FloatArray
    onto: FloatArray
    pairs: FloatArray
    alone: FloatArray
    prices: FloatArray
    price: float
    conflicts: tuple[int, ...]

    @property
    def count(self) -> int:
        """Number of elements, M."""
        return len(self.tasks)

    @property
    def largest(self) -> int:
        """Largest number of tasks in a network."""
        limit = self.problem.largest
        return self.problem.size if limit is None else min(limit, self.problem.size)

    def positions(self, mask: int) -> tuple[int, ...]:
        """The tasks of the elements whose bits are set, ascending."""
        return tuple(sorted(task for index in bits(mask) for task in self.tasks[index]))


def bits(mask: int) -> list[int]:
    """Positions of the bits that are set, ascending."""
    return [index for index in range(int(mask).bit_length()) if mask >> index & 1]


def mask_of(indices: "list[int] | tuple[int, ...] | AnyArray") -> int:
    """The integer whose bits at `indices` are set."""
    return sum(1 << int(index) for index in indices)


def elements_of(problem: GroupingProblem) -> Elements:
    """Contract must-links and collect cannot-links.

    Raises:
        GroupingError: two tasks have to be both together and apart.
    """
    tasks = _components(problem.size, problem.together)
    owner = {task: index for index, members in enumerate(tasks) for task in members}
    conflicts = [0] * len(tasks)
    for first, second in problem.apart:
        one, other = owner[first], owner[second]
        if one == other:
            raise GroupingError(f"tasks {first} and {second} have to be both together and apart.")
        conflicts[one] |= 1 << other
        conflicts[other] |= 1 << one
    sizes = np.array([len(members) for members in tasks])
    belongs = np.zeros((len(tasks), problem.size))
    for index, members in enumerate(tasks):
        belongs[index, list(members)] = 1.0
    affinity = filled_affinity(problem)
    if problem.objective != "density":
        np.fill_diagonal(affinity, 0.0)
    inside = belongs @ affinity @ belongs.T
    pairs = inside + inside.T - np.diag(np.diagonal(inside))
    if problem.objective == "correlation":
        pairs = pairs - problem.threshold * _pair_counts(sizes)
    return Elements(
        problem=problem,
        tasks=tasks,
        sizes=sizes,
        belongs=belongs,
        onto=belongs @ affinity,
        pairs=pairs,
        alone=_alone(problem, tasks, np.diagonal(inside), sizes),
        prices=belongs @ task_prices(problem) / scale(problem),
        price=problem.price / scale(problem),
        conflicts=tuple(conflicts),
    )


def _components(size: int, together: tuple[tuple[int, int], ...]) -> tuple[tuple[int, ...], ...]:
    label = list(range(size))
    for first, second in together:
        kept, merged = label[first], label[second]
        label = [kept if item == merged else item for item in label]
    return tuple(tuple(task for task in range(size) if label[task] == item) for item in dict.fromkeys(label))


def _pair_counts(sizes: IntArray) -> FloatArray:
    """(M, M) number of task pairs between two elements, inside one on the diagonal."""
    counts = np.outer(sizes, sizes).astype(float)
    np.fill_diagonal(counts, sizes * (sizes - 1) / 2)
    return counts


def _alone(
    problem: GroupingProblem, tasks: tuple[tuple[int, ...], ...], inside: FloatArray, sizes: IntArray
) -> FloatArray:
    """(M,) mean objectives only: a single task's own rule, and a tied element's mean affinity."""
    if problem.objective not in MEAN_OBJECTIVES:
        return np.zeros(len(tasks))
    singles = alone_scores(problem)
    if problem.objective == "tag":
        # Forbidden is forbidden: a milder number that no gain can outweigh keeps the sums' digits.
        strongest = float(np.abs(filled_affinity(problem)).max())
        singles = np.maximum(singles, -10 * problem.size * strongest - 1)
    own = np.array([singles[members[0]] for members in tasks])
    return np.where(sizes == 1, own, inside / np.maximum(sizes - 1, 1))


def solution_groups(elements: Elements, chosen: "list[tuple[int, int]]") -> tuple[GroupPositions, ...]:
    """Groups by task position from (train, serve) element masks; equal networks become one."""
    merged: dict[int, int] = {}
    for train, serve in chosen:
        merged[train] = merged.get(train, 0) | serve
    groups = [(elements.positions(train), elements.positions(serve)) for train, serve in merged.items()]
    return tuple(sorted(groups, key=lambda group: group[1][0]))


def score_of(elements: Elements, chosen: "list[tuple[int, int]]") -> float:
    """The objective of the networks with these (train, serve) element masks."""
    return evaluate(elements.problem, solution_groups(elements, chosen))
