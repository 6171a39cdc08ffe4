"""Fixed weights chosen by hand: the baseline every adaptive method has to beat."""

from dataclasses import dataclass

import numpy as np

from affinity.core.errors import SettingsError
from affinity.core.method import LossWeighting, MethodState
from affinity.core.settings import Settings, setting
from affinity.core.types import FloatArray
from affinity.methods._numbers import numbers, one_a_task


@dataclass(frozen=True, kw_only=True)
class WeightedSettings(Settings):
    """The weights."""

    weights: str = setting("", help="One number a task, such as 1, 0.5, 2; all 1 when empty.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if any(weight < 0 for weight in numbers(self.weights, "weights")):
            raise SettingsError("a weight is negative.", "weights", "A task's loss would be made to grow.")


def weigh(
    losses: FloatArray, state: MethodState, rng: np.random.Generator, settings: WeightedSettings
) -> tuple[FloatArray, MethodState]:
    """The weights of the settings."""
    return one_a_task(settings.weights, len(losses), "weights", default=1.0), state


METHOD = LossWeighting(
    key="weighted_sum",
    title="Weighted sum",
    summary="One step on the sum of the losses with weights that you choose.",
    weigh=weigh,
    needs_losses=False,
    settings=WeightedSettings,
)
