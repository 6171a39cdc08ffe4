"""The best network for tasks that are to be served: which helpers to train with them."""

import numpy as np

from affinity.core.types import AnyArray, FloatArray
from affinity.grouping._elements import Elements
from affinity.grouping._pricing import element_scores_in


def best_networks(elements: Elements, served: AnyArray) -> tuple[FloatArray, AnyArray]:
    """Value of serving each set from its best network, and the elements that network trains.

    Helpers are added while they raise the mean: with single tasks, no prices of training and no
    cannot-links this is exact (the closed form sorts helpers by what they bring), otherwise greedy.

    Args:
        elements: a problem with a mean objective.
        served: (V, M) true where an element is to be served; no row is empty.
    """
    problem, sizes = elements.problem, elements.sizes.astype(np.float64)
    bring = served @ (elements.onto @ elements.belongs.T).T
    training = served.copy()
    total, tasks = (served * bring).sum(axis=1), served @ sizes
    base = -np.where(served, elements.prices, 0.0).sum(axis=1)
    value = _worth(elements, served, total, tasks) + base
    clash = _clashes(elements)
    rows = np.arange(len(served))
    for _ in range(elements.count):
        after = (total[:, None] + bring) / np.maximum(tasks[:, None] + sizes - 1, 1)
        after += base[:, None] - elements.prices
        impossible = training | (tasks[:, None] + sizes > elements.largest)
        if clash is not None:
            impossible |= training @ clash > 0
        after[impossible] = -np.inf
        helper = after.argmax(axis=1)
        too_small = tasks < problem.smallest
        better = (after[rows, helper] > value + 1e-12) | (too_small & ~impossible[rows, helper])
        if not better.any():
            break
        changed, helper = rows[better], helper[better]
        training[changed, helper] = True
        value[changed] = after[changed, helper]
        total[changed] += bring[changed, helper]
        tasks[changed] += sizes[helper]
        base[changed] -= elements.prices[helper]
    return _checked(elements, served, training, tasks, value - elements.price), training


def _worth(elements: Elements, served: AnyArray, total: FloatArray, tasks: FloatArray) -> FloatArray:
    alone = np.where(served, elements.alone, 0.0).sum(axis=1)
    return np.asarray(np.where(tasks == 1, alone, total / np.maximum(tasks - 1, 1)))


def _clashes(elements: Elements) -> FloatArray | None:
    if not any(elements.conflicts):
        return None
    return np.array(
        [[float(mask >> index & 1) for index in range(elements.count)] for mask in elements.conflicts]
    )


def _checked(
    elements: Elements, served: AnyArray, training: AnyArray, tasks: FloatArray, value: FloatArray
) -> FloatArray:
    """Minus infinity where the network breaks a size limit, a cannot-link or the minimum gain."""
    problem, clash = elements.problem, _clashes(elements)
    wrong = (tasks < problem.smallest) | (tasks > elements.largest)
    if clash is not None:
        wrong |= ((training @ clash) * training).any(axis=1)
    if problem.minimum_gain is not None:
        scores = element_scores_in(elements, training.astype(np.float64), tasks)
        wrong |= (served & np.isneginf(scores)).any(axis=1)
    return np.where(wrong, -np.inf, value)
