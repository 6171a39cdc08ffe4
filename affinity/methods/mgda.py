"""Multiple gradient descent: the shortest convex combination of the gradients, which hurts no task."""

import numpy as np

from affinity.core.linalg import min_norm_of_nonzero
from affinity.core.method import GramWeighting, MethodState
from affinity.core.settings import NoSettings
from affinity.core.types import FloatArray


def weigh(
    gram: FloatArray, state: MethodState, rng: np.random.Generator, settings: NoSettings
) -> tuple[FloatArray, MethodState]:
    """The w on the simplex with the smallest |sum_i w_i g_i|, over the tasks that have a gradient.

    Found exactly rather than by Frank-Wolfe, whose early stop can leave a task hurt.
    """
    return min_norm_of_nonzero(gram), state


METHOD = GramWeighting(
    key="mgda",
    title="MGDA",
    summary="Steps along the shortest convex combination of the gradients; no task is hurt, small ones lead.",
    reference="Désidéri, 2012, https://doi.org/10.1016/j.crma.2012.03.014",
    weigh=weigh,
)
