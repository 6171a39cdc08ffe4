"""Impartial learning, the part for gradients: the update has equal projections onto all gradients."""

import numpy as np

from affinity.core.linalg import pseudo_inverse
from affinity.core.method import GramWeighting, MethodState
from affinity.core.settings import NoSettings
from affinity.core.types import FloatArray


def weigh(
    gram: FloatArray, state: MethodState, rng: np.random.Generator, settings: NoSettings
) -> tuple[FloatArray, MethodState]:
    """Weights proportional to K⁺ n with n the norms, with sum 1; weights may be negative.

    All are 0 where they cannot be scaled to sum 1.
    """
    weights = pseudo_inverse(gram) @ np.sqrt(np.diagonal(gram))
    total = float(weights.sum())
    return (weights / total if abs(total) > 1e-12 else np.zeros(len(gram))), state


METHOD = GramWeighting(
    key="imtl_g",
    title="IMTL-G",
    summary="Weights the gradients so that the update has the same projection onto each of them.",
    reference="Liu et al., 2021, https://openreview.net/forum?id=IMPnRXEWpvr",
    weigh=weigh,
)
