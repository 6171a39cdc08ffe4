"""Conflict-averse gradient descent: near the mean gradient, the best step for the task it serves worst."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from affinity.core.linalg import combined_length, min_norm_weights, onto_dual_cone
from affinity.core.method import GramWeighting, MethodState
from affinity.core.settings import Settings, setting
from affinity.core.types import FloatArray

# A length below this, in lengths of the largest gradient, is rounding.
SMALL: Final = 1e-9


@dataclass(frozen=True, kw_only=True)
class CagradSettings(Settings):
    """How far the direction may leave the mean gradient."""

    radius: float = setting(
        0.5,
        low=0.0,
        high=0.999,
        help="The paper's c: how far from the mean, in lengths of the mean; 0 = mean.",
    )


def weigh(
    gram: FloatArray, state: MethodState, rng: np.random.Generator, settings: CagradSettings
) -> tuple[FloatArray, MethodState]:
    """D = g0 + c |g0| g_w / |g_w| with g0 the mean gradient and w minimising g_w . g0 + c |g0| |g_w|.

    Tasks without a gradient count in the mean, and are left out of w: a zero gradient would draw all weight.
    One task alone has nothing to avoid and keeps its gradient.
    """
    if len(gram) == 1:
        return np.ones(1), state
    live = np.flatnonzero(np.diagonal(gram) > 0)
    weights = np.full(len(gram), 1.0 / len(gram))
    inner = gram[np.ix_(live, live)]
    mean = weights[live]
    reach = settings.radius * combined_length(inner, mean)
    if reach > 0:
        worst = _worst_case(inner, mean, reach)
        length = combined_length(inner, worst)
        if length > SMALL:
            weights[live] += worst * reach / length
        else:
            # Where g_w vanishes every step in the ball that hurts no task is best: the nearest to the mean.
            weights[live] = onto_dual_cone(inner, mean[None])[0]
    return weights, state


def _worst_case(gram: FloatArray, mean: FloatArray, reach: float) -> FloatArray:
    """(N,) w on the simplex with the smallest g_w . g0 + r |g_w|.

    As |g_w| is the smallest (|g_w|² / t + t) / 2 over t > 0, w for a fixed t is the one with the smallest
    |sum_i w_i (g_i + t g0 / r)|: a shortest convex combination. The right t equals |g_w|, found by bisection.
    """
    from scipy.optimize import brentq

    towards, square = gram @ mean, combined_length(gram, mean) ** 2
    found: dict[float, FloatArray] = {}

    def excess(length: float) -> float:
        share = length / reach
        found[length] = min_norm_weights(gram + share * (towards[:, None] + towards) + share**2 * square)
        return combined_length(gram, found[length]) - length

    high = float(np.sqrt(np.diagonal(gram).max()))
    low = min(max(combined_length(gram, min_norm_weights(gram)), SMALL / 2), high)
    if excess(low) <= 0:
        return found[low]
    if excess(high) >= 0:
        return found[high]
    length = float(brentq(excess, low, high, xtol=1e-15 * high, rtol=1e-14))
    excess(length)
    return found[length]


METHOD = GramWeighting(
    key="cagrad",
    title="CAGrad",
    summary="Within a ball around the mean gradient, the step that is best for the task it serves worst.",
    reference="Liu et al., 2021, https://arxiv.org/abs/2110.14048",
    weigh=weigh,
    settings=CagradSettings,
)
