"""Gradient surgery: a task's gradient loses the part that points against another task's."""

import numpy as np

from affinity.core.method import GramWeighting, MethodState
from affinity.core.settings import NoSettings
from affinity.core.types import FloatArray


def weigh(
    gram: FloatArray, state: MethodState, rng: np.random.Generator, settings: NoSettings
) -> tuple[FloatArray, MethodState]:
    """Weights of the sum of projected gradients.

    For each task i, p starts as g_i; for the other tasks j in random order, where p . g_j < 0, p loses its
    projection onto the original g_j. The direction is the sum of all p. A row of coefficients stands for p,
    so only the Gram matrix is needed. Tasks with a zero gradient, or none, are never projected onto.
    """
    count = len(gram)
    usable = np.flatnonzero(np.diagonal(gram) > 0)
    weights = np.zeros(count)
    for task in usable:
        coefficients = np.zeros(count)
        coefficients[task] = 1.0
        for other in rng.permutation(usable[usable != task]):
            overlap = float(coefficients[usable] @ gram[usable, other])
            if overlap < 0:
                coefficients[other] -= overlap / gram[other, other]
        weights += coefficients
    return weights, state


METHOD = GramWeighting(
    key="pcgrad",
    title="PCGrad",
    summary="Projects conflicting gradients onto each other's normal plane, in random order, and sums them.",
    reference="Yu et al., 2020, https://arxiv.org/abs/2001.06782",
    weigh=weigh,
)
