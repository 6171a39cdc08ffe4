"""Uncertainty weighting: every task learns how noisy it is, and noisy tasks count less."""

from dataclasses import dataclass

import numpy as np

from affinity.core.method import LossWeighting, MethodState
from affinity.core.settings import Settings, setting
from affinity.core.types import FloatArray
from affinity.methods._adam import adam


@dataclass(frozen=True, kw_only=True)
class UncertaintySettings(Settings):
    """How the log variances are learned."""

    rate: float = setting(0.01, low=0.0, high=1.0, help="Adam's learning rate for the log variances.")


def weigh(
    losses: FloatArray, state: MethodState, rng: np.random.Generator, settings: UncertaintySettings
) -> tuple[FloatArray, MethodState]:
    """Weights exp(-s_i) of the joint loss sum_i exp(-s_i) L_i + s_i, with s_i the log variances.

    It is twice the loss of the paper, so that the first step is that of the joint sum. The log variances
    start at 0 and take an Adam step on the same joint loss.
    """
    variances = np.zeros(len(losses)) if state is None else np.array(state["values"])
    weights = np.exp(-variances)
    known = np.isfinite(losses)
    slope = np.where(known, 1.0 - weights * np.where(known, losses, 0.0), 0.0)
    return weights, adam(state, slope, rate=settings.rate)


METHOD = LossWeighting(
    key="uncertainty",
    title="Uncertainty weighting",
    summary="Learns a noise level for every task and weights its loss by the inverse variance.",
    reference="Kendall et al., 2018, https://arxiv.org/abs/1705.07115",
    weigh=weigh,
    settings=UncertaintySettings,
)
