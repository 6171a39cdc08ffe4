"""The sum of all losses: what people do before they ask which tasks belong together."""

import numpy as np

from affinity.core.method import LossWeighting, MethodState
from affinity.core.settings import NoSettings
from affinity.core.types import FloatArray


def weigh(
    losses: FloatArray, state: MethodState, rng: np.random.Generator, settings: NoSettings
) -> tuple[FloatArray, MethodState]:
    """Weight 1 for every task."""
    return np.ones(len(losses)), state


METHOD = LossWeighting(
    key="joint",
    title="Joint sum",
    summary="One network, one step on the sum of all losses.",
    reference="Caruana, 1997, https://doi.org/10.1023/A:1007379606734",
    weigh=weigh,
    needs_losses=False,
)
