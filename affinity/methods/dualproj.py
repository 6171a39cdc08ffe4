"""The mean gradient, moved as little as possible until it hurts no task."""

import numpy as np

from affinity.core.linalg import onto_dual_cone
from affinity.core.method import GramWeighting, MethodState
from affinity.core.settings import NoSettings
from affinity.core.types import FloatArray


def weigh(
    gram: FloatArray, state: MethodState, rng: np.random.Generator, settings: NoSettings
) -> tuple[FloatArray, MethodState]:
    """The mean gradient's exact projection onto {d: g_i . d >= 0 for all i}."""
    return onto_dual_cone(gram, np.full((1, len(gram)), 1.0 / len(gram)))[0], state


METHOD = GramWeighting(
    key="dualproj",
    title="DualProj",
    summary="Projects the mean gradient onto the directions that hurt no task.",
    reference="Lopez-Paz and Ranzato, 2017, https://arxiv.org/abs/1706.08840",
    weigh=weigh,
)
