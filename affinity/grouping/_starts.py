"""Groupings to begin a search from: random ones that keep to the limits, and greedy merging."""

import numpy as np

from affinity.core.types import FloatArray, IntArray
from affinity.grouping._elements import Elements
from affinity.grouping._moves import LEAST_GAIN, Climber


def usable_groups(elements: Elements) -> int:
    """Number of groups a partition can have: the budget, the elements and the smallest size bound it."""
    problem = elements.problem
    return max(1, min(problem.groups, elements.count, problem.size // problem.smallest))


def random_starts(elements: Elements, groups: int, count: int, rng: np.random.Generator) -> IntArray:
    """(count, M) random groupings; limits are kept where a random order of filling can keep them."""
    problem = elements.problem
    bounded = problem.smallest > 1 or elements.largest < problem.size or any(elements.conflicts)
    if bounded or problem.objective == "density":
        return np.array([_filled(elements, groups, rng) for _ in range(count)])
    return rng.integers(0, groups, size=(count, elements.count))


def _filled(elements: Elements, groups: int, rng: np.random.Generator) -> IntArray:
    """Elements one by one into a random group that can take them; groups that are too small come first."""
    labels = np.zeros(elements.count, dtype=np.int64)
    sizes, members = np.zeros(groups), [0] * groups
    order = np.argsort(-elements.sizes + rng.random(elements.count) * 0.5)
    blocked = np.array([mask.bit_count() for mask in elements.conflicts])
    order = order[np.argsort(-blocked[order], kind="stable")]
    for element in order:
        size, conflict = elements.sizes[element], elements.conflicts[element]
        free = [group for group in range(groups) if not members[group] & conflict]
        free = [group for group in free if sizes[group] + size <= elements.largest] or list(range(groups))
        wanting = [group for group in free if sizes[group] < elements.problem.smallest]
        chosen = int(rng.choice(wanting or free))
        labels[element] = chosen
        sizes[chosen] += size
        members[chosen] |= 1 << int(element)
    return labels


def merged(elements: Elements, groups: int, labels: IntArray | None = None) -> IntArray:
    """(M,) labels after merging, again and again, the two groups that gain most from it.

    Merging goes on while there are too many groups, too small groups, or something to gain; merges that
    break the largest size or a cannot-link are never made, so that the answer can have too many groups.

    Args:
        elements: the problem.
        groups: number of groups to come down to.
        labels: groups to start from; every element alone when None. Given groups are merged only as far as
            the limits ask.
    """
    climber = Climber(elements, elements.count)
    greedy = labels is None and elements.problem.objective != "density"
    labels = np.arange(elements.count) if labels is None else labels.copy()
    sums = _sums_of(elements, labels)
    while len(sums["sizes"]) > 1:
        gains = _merge_gains(climber, sums)
        gains[(sums["clash"] > 0) | (sums["sizes"][:, None] + sums["sizes"] > elements.largest)] = -np.inf
        one, other = (int(index) for index in np.unravel_index(int(gains.argmax()), gains.shape))
        needed = len(sums["sizes"]) > groups or bool((sums["sizes"] < elements.problem.smallest).any())
        worthwhile = greedy and gains[one, other] > LEAST_GAIN
        if np.isneginf(gains[one, other]) or not (needed or worthwhile):
            break
        _merge(sums, one, other)
        labels[labels == other] = one
        labels[labels > other] -= 1
    return labels


def _sums_of(elements: Elements, labels: IntArray) -> dict[str, FloatArray]:
    """Per group what its value depends on, and between groups affinity and conflicts."""
    member = (labels == np.arange(int(labels.max()) + 1)[:, None]).astype(np.float64)
    own = np.diagonal(elements.pairs)
    between = member @ (elements.pairs - np.diag(own)) @ member.T
    rows = [[mask >> index & 1 for index in range(elements.count)] for mask in elements.conflicts]
    return {
        "inside": np.diagonal(between) / 2 + member @ own,
        "sizes": member @ elements.sizes,
        "alone": member @ elements.alone,
        "between": between - np.diag(np.diagonal(between)),
        "clash": member @ np.array(rows, dtype=np.float64) @ member.T,
    }


def _merge(sums: dict[str, FloatArray], one: int, other: int) -> None:
    sums["inside"][one] += sums["between"][one, other]
    for name in ("inside", "sizes", "alone"):
        sums[name][one] += sums[name][other]
        sums[name] = np.delete(sums[name], other)
    for name in ("between", "clash"):
        sums[name] = _folded(sums[name], one, other)


def _merge_gains(climber: Climber, sums: dict[str, FloatArray]) -> FloatArray:
    inside, sizes, alone = sums["inside"], sums["sizes"], sums["alone"]
    apart = climber.worth(inside, sizes, alone)
    together = climber.worth(
        inside[:, None] + inside + sums["between"], sizes[:, None] + sizes, alone[:, None] + alone
    )
    gains = together - apart[:, None] - apart
    gains[np.tril_indices(len(gains))] = -np.inf
    return np.asarray(gains)


def _folded(matrix: FloatArray, one: int, other: int) -> FloatArray:
    """Row and column `other` added to `one` and removed; the diagonal is set to 0."""
    matrix = matrix.copy()
    matrix[one] += matrix[other]
    matrix[:, one] += matrix[:, other]
    matrix = np.delete(np.delete(matrix, other, axis=0), other, axis=1)
    matrix[one, one] = 0
    return matrix
