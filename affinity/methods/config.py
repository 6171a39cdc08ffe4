"""Conflict-free inverse gradients: the update has the same cosine to every task's gradient."""

import numpy as np

from affinity.core.method import GramWeighting, MethodState
from affinity.core.settings import NoSettings
from affinity.core.types import FloatArray
from affinity.methods._equal_cosines import equal_cosines


def weigh(
    gram: FloatArray, state: MethodState, rng: np.random.Generator, settings: NoSettings
) -> tuple[FloatArray, MethodState]:
    """The direction with equal cosines, as long as the gradients' projections onto it together."""
    return equal_cosines(gram), state


METHOD = GramWeighting(
    key="config",
    title="ConFIG",
    summary="Steps in the direction with the same positive cosine to all gradients, if they are independent.",
    reference="Liu et al., 2025, https://arxiv.org/abs/2408.11104",
    weigh=weigh,
)
