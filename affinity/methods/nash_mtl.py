"""Bargaining: the direction on which all tasks agree when each values its own relative gain."""

import math
from dataclasses import dataclass

import numpy as np

from affinity.core.linalg import cosine_of_gram
from affinity.core.method import GramWeighting, MethodState
from affinity.core.settings import Settings, setting
from affinity.core.types import FloatArray


@dataclass(frozen=True, kw_only=True)
class NashSettings(Settings):
    """The length of the direction."""

    max_norm: float = setting(
        0.0,
        low=0.0,
        high=1e6,
        help="Longest direction; 0 = as defined, where its length is the square root of the number of tasks.",
    )


def weigh(
    gram: FloatArray, state: MethodState, rng: np.random.Generator, settings: NashSettings
) -> tuple[FloatArray, MethodState]:
    """Alpha > 0 with K alpha = 1 / alpha, so that alpha_i g_i . d = 1 for every task with a gradient.

    All weights are 0 where the gradients cancel: there is no such alpha.
    """
    norms = np.sqrt(np.diagonal(gram))
    live = norms > 0
    lengths = norms[live]
    weights = np.zeros(len(gram))
    weights[live] = _bargain(cosine_of_gram(gram[np.ix_(live, live)])) / lengths
    length = math.sqrt(int(live.sum()))
    if settings.max_norm and length > settings.max_norm:
        weights *= settings.max_norm / length
    return weights, state


def _bargain(cosines: FloatArray) -> FloatArray:
    """(N,) b > 0 with C b = 1 / b: the minimum of b C b / 2 - sum log b, by damped Newton steps.

    The function is strictly convex and self-concordant, so damped steps never leave b > 0 and full steps
    converge once the decrement is small.
    """
    bargain = np.ones(len(cosines))
    for _ in range(200):
        slope = cosines @ bargain - 1 / bargain
        step = np.linalg.solve(cosines + np.diag(bargain**-2.0), slope)
        decrement = math.sqrt(max(float(slope @ step), 0.0))
        bargain = bargain - step / (1 + decrement if decrement > 0.25 else 1.0)
        if decrement < 1e-13:
            break
        if bargain.max() > 1e7:
            return np.zeros(len(cosines))
    return bargain


METHOD = GramWeighting(
    key="nash_mtl",
    title="Nash-MTL",
    summary="The Nash bargaining solution: every task's weight times its gain is the same.",
    reference="Navon et al., 2022, https://arxiv.org/abs/2202.01017",
    weigh=weigh,
    degree=-1,
    settings=NashSettings,
)
