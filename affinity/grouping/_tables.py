"""The worth of every subset of at most about fourteen elements, as arrays over bit masks.

Bit j of an index says whether element j is inside. Impossible subsets are worth minus infinity.
"""

import numpy as np

from affinity.core.grouping import MEAN_OBJECTIVES
from affinity.core.types import AnyArray, FloatArray
from affinity.grouping._elements import Elements, bits

# Rounding must not turn a score that equals the minimum gain into one below it.
GAIN_TOLERANCE = 1e-12


def subset_sums(weights: FloatArray) -> FloatArray:
    """(2**M,) sum of the weights inside every mask."""
    sums = np.zeros(1)
    for weight in weights:
        sums = np.concatenate([sums, sums + weight])
    return sums


def pair_sums(pairs: FloatArray) -> FloatArray:
    """(2**M,) sum of `pairs[i, j]` over i <= j inside every mask."""
    sums = np.zeros(1)
    for index in range(len(pairs)):
        sums = np.concatenate([sums, sums + subset_sums(pairs[:index, index]) + pairs[index, index]])
    return sums


def allowed(elements: Elements) -> AnyArray:
    """(2**M,) whether a network may train exactly these elements: size limits and cannot-links."""
    sizes = subset_sums(elements.sizes.astype(float))
    fits = (sizes >= elements.problem.smallest) & (sizes <= elements.largest)
    masks = np.arange(len(sizes))
    for index, conflict in enumerate(elements.conflicts):
        if conflict:
            fits &= ~((masks >> index & 1).astype(bool) & ((masks & conflict) != 0))
    return fits


def element_scores(elements: Elements) -> FloatArray:
    """(2**M, M) summed score of each element's tasks in each network, mean objectives.

    Minus infinity where the element is outside, or where a task of it stays below the minimum gain.
    """
    sizes = subset_sums(elements.sizes.astype(float))
    mates = np.maximum(sizes - 1, 1)
    masks = np.arange(len(sizes))
    scores = np.empty((len(masks), elements.count))
    for index, members in enumerate(elements.tasks):
        onto = np.stack([subset_sums(elements.onto[:, task]) / mates for task in members])
        summed = onto.sum(axis=0)
        summed[1 << index] = elements.alone[index]
        scores[:, index] = np.where(masks >> index & 1, summed, -np.inf)
        if elements.problem.minimum_gain is not None:
            enough = (onto >= elements.problem.minimum_gain - GAIN_TOLERANCE).all(axis=0)
            scores[~enough & (sizes > 1), index] = -np.inf
    return scores


def partition_values(elements: Elements) -> FloatArray:
    """(2**M,) worth of a network that trains and serves exactly these elements, prices subtracted."""
    objective = elements.problem.objective
    inside, sizes = pair_sums(elements.pairs), subset_sums(elements.sizes.astype(float))
    if objective in MEAN_OBJECTIVES:
        values = inside / np.maximum(sizes - 1, 1)
        for index, own in enumerate(elements.alone):
            values[1 << index] = own
        if elements.problem.minimum_gain is not None:
            scores = element_scores(elements)
            below = np.isneginf(scores) & _membership(elements.count)
            values[below.any(axis=1)] = -np.inf
    else:
        values = inside / np.maximum(sizes, 1) if objective == "density" else inside
    values = values - subset_sums(elements.prices) - elements.price
    values[~allowed(elements)] = -np.inf
    values[0] = -np.inf
    return values


def _membership(count: int) -> AnyArray:
    return (np.arange(1 << count)[:, None] >> np.arange(count) & 1).astype(bool)


def overlapping_values(elements: Elements) -> tuple[FloatArray, AnyArray]:
    """(2**M,) worth of serving exactly these elements from their best network, and that network's mask.

    The served-set reduction: an overlapping selection of at most K networks is a partition into at most
    K served sets, each with the best superset as its network.
    """
    scores, fits = element_scores(elements), allowed(elements)
    charges = subset_sums(elements.prices) + elements.price
    values, networks = np.full(len(fits), -np.inf), np.zeros(len(fits), dtype=np.int64)
    for network in np.flatnonzero(fits)[::1]:
        inside = bits(int(network))
        served, sums = np.zeros(1, dtype=np.int64), np.array([-charges[network]])
        for index in inside:
            served = np.concatenate([served, served | 1 << index])
            sums = np.concatenate([sums, sums + scores[network, index]])
        better = sums > values[served]
        values[served[better]], networks[served[better]] = sums[better], network
    values[0] = -np.inf
    return values, networks
