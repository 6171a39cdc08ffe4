"""First-order affinity: the lookahead affinity to first order in the learning rate, without extra passes."""

from collections.abc import Mapping

import numpy as np

from affinity.core.entry import Measure
from affinity.core.types import FloatArray
from affinity.measures._relative import NEAR_ZERO_IN_WORDS, divisible


def compute(recorded: Mapping[str, FloatArray]) -> FloatArray:
    """F[i, j] = lr K_ij / L_j, the Taylor expansion of the lookahead affinity for a plain gradient step.

    Args:
        recorded: `gram` (T, N, N); `losses` (T, N); `learning_rate` (T,).

    Returns:
        (T, N, N) `[source, affected]`.
    """
    gram = np.where(np.isfinite(recorded["gram"]), recorded["gram"], np.nan)
    rate = recorded["learning_rate"][:, None, None]
    return np.asarray(rate * gram / divisible(recorded["losses"])[:, None, :])


MEASURE = Measure(
    key="first_order",
    title="First-order affinity",
    summary="What the lookahead affinity would be if the loss were a straight line: inner product of the "
    "gradients times learning rate over the affected task's loss.",
    reference="First-order form of Fifty et al., 2021, https://arxiv.org/abs/2109.04617",
    compute=compute,
    needs=("gram", "losses", "learning_rate"),
    formula="learning rate * <g_source, g_affected> / L_affected",
    symmetric=False,
    diagonal="self-effect",
    undefined_when=f"a gradient or the learning rate is missing, or {NEAR_ZERO_IN_WORDS}",
    caveat="An approximation: it ignores curvature, and momentum or Adam's scaling of the step.",
)
