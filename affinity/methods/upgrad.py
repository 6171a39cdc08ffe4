"""Unconflicting projection of gradients: each gradient is moved until it hurts no task, then averaged."""

import numpy as np

from affinity.core.linalg import onto_dual_cone
from affinity.core.method import GramWeighting, MethodState
from affinity.core.settings import NoSettings
from affinity.core.types import FloatArray


def weigh(
    gram: FloatArray, state: MethodState, rng: np.random.Generator, settings: NoSettings
) -> tuple[FloatArray, MethodState]:
    """The mean of the gradients' exact projections onto {d: g_i . d >= 0 for all i}."""
    return onto_dual_cone(gram, np.eye(len(gram))).mean(axis=0), state


METHOD = GramWeighting(
    key="upgrad",
    title="UPGrad",
    summary="Projects every gradient onto the directions that hurt no task, and averages the projections.",
    reference="Quinton and Rey, 2024, https://arxiv.org/abs/2406.16232",
    weigh=weigh,
)
