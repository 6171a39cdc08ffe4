"""Fast adaptive multitask optimisation: all losses fall at the same relative rate, for one backward pass."""

from dataclasses import dataclass

import numpy as np

from affinity.core.method import LossWeighting, MethodState
from affinity.core.settings import Settings, setting
from affinity.core.types import FloatArray
from affinity.methods._adam import adam
from affinity.methods._numbers import one_a_task

SMALL = 1e-8


@dataclass(frozen=True, kw_only=True)
class FamoSettings(Settings):
    """How the logits are learned, and where the losses end."""

    rate: float = setting(0.025, low=0.0, high=1.0, help="Adam's learning rate for the logits.")
    decay: float = setting(1e-3, low=0.0, high=1.0, help="Weight decay of the logits.")
    lowest: str = setting("", help="The lowest loss of each task, such as 0, 0.1; all 0 when empty.")


def weigh(
    losses: FloatArray, state: MethodState, rng: np.random.Generator, settings: FamoSettings
) -> tuple[FloatArray, MethodState]:
    """Weights c z_i / (l_i - b_i) with z the softmax of the logits; they sum to 1.

    They are the gradient of c sum z_i log(l_i - b_i) with c held fixed.
    """
    above = _above(losses, settings)
    pull = np.where(np.isfinite(above), _softmax(_logits(state, len(losses))) / above, 0.0)
    total = float(pull.sum())
    return (pull / total if total > 0 else pull), state


def after_step(
    before: FloatArray, after: FloatArray, learning_rate: float, state: MethodState, settings: FamoSettings
) -> MethodState:
    """An Adam step on the logits along how much less each log loss fell than the others."""
    fallen = np.log(_above(before, settings)) - np.log(_above(after, settings))
    fallen = np.where(np.isfinite(fallen), fallen, 0.0)
    shares = _softmax(_logits(state, len(before)))
    slope = shares * (fallen - float(shares @ fallen))
    return adam(state, slope, rate=settings.rate, decay=settings.decay)


def _above(losses: FloatArray, settings: FamoSettings) -> FloatArray:
    """How far the losses are above their lowest, never below a tiny positive number; NaN stays."""
    lowest = one_a_task(settings.lowest, len(losses), "lowest", default=0.0)
    return np.maximum(losses - lowest, 0.0) + SMALL


def _logits(state: MethodState, count: int) -> FloatArray:
    return np.zeros(count) if state is None else np.array(state["values"])


def _softmax(logits: FloatArray) -> FloatArray:
    shares = np.exp(logits - logits.max())
    return np.asarray(shares / shares.sum())


METHOD = LossWeighting(
    key="famo",
    title="FAMO",
    summary="Learns weights under which all losses fall at the same relative rate, from the losses alone.",
    reference="Liu et al., 2023, https://arxiv.org/abs/2306.03792",
    weigh=weigh,
    after_step=after_step,
    settings=FamoSettings,
)
