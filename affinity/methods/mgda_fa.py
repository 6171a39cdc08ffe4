"""MGDA without gradients of single tasks: the losses after a step say what the products would have been."""

from dataclasses import dataclass

import numpy as np

from affinity.core.method import LossWeighting, MethodState
from affinity.core.settings import Settings, setting
from affinity.core.types import AnyArray, FloatArray
from affinity.methods._simplex import among, descended

# Losses that differ by less than this share of themselves may differ by rounding alone.
ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class FastSettings(Settings):
    """How the weights follow."""

    rate: float = setting(0.05, low=0.0, high=100.0, help="The paper's beta: step size of the weights.")
    rho: float = setting(0.0, low=0.0, high=100.0, help="Pull of the weights towards each other.")


def weigh(
    losses: FloatArray, state: MethodState, rng: np.random.Generator, settings: FastSettings
) -> tuple[FloatArray, MethodState]:
    """The weights as they stand, on the simplex; equal at first."""
    weights, idle = _memory(state, len(losses))
    return among(weights, np.isfinite(losses) & ~idle), state


def after_step(
    before: FloatArray, after: FloatArray, learning_rate: float, state: MethodState, settings: FastSettings
) -> MethodState:
    """The weights move against (F - F') / alpha + rho w and back onto the simplex.

    F and F' are the losses before and after the step of length alpha along d = Gᵀ w, so that the quotient is
    K w up to order alpha. A loss that did not move at all while another clearly did has no gradient: it is
    left out of the next step. Near the end of a descent no loss moves by more than rounding, which says
    nothing.
    """
    weights, _ = _memory(state, len(before))
    clear = np.abs(before - after) > ROUNDING * np.abs(before)
    idle = (before == after) & bool(clear.any())
    fallen = np.where(idle | ~np.isfinite(before - after), np.nan, (before - after) / learning_rate)
    moved = descended(weights, fallen + settings.rho * weights, settings.rate)
    return {"weights": moved.tolist(), "idle": (idle & ~idle.all()).tolist()}


def _memory(state: MethodState, count: int) -> tuple[FloatArray, AnyArray]:
    if state is None:
        return np.full(count, 1.0 / count), np.zeros(count, dtype=bool)
    return np.array(state["weights"]), np.array(state["idle"], dtype=bool)


METHOD = LossWeighting(
    key="mgda_fa",
    title="MGDA-FA",
    summary="Approximates MGDA by one weighted backward pass and the losses after the step.",
    reference="Zhang et al., 2025, https://openreview.net/forum?id=eYqcSE0sBO",
    weigh=weigh,
    after_step=after_step,
    settings=FastSettings,
)
