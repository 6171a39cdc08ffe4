"""Adam on a few numbers, for methods that learn their own weights. Kingma and Ba, 2015."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from affinity.core.types import FloatArray

FIRST, SECOND, SMALL = 0.9, 0.999, 1e-8


def adam(
    state: Mapping[str, Any] | None, gradient: FloatArray, *, rate: float, decay: float = 0.0
) -> dict[str, Any]:
    """One step.

    Args:
        state: what the last step returned; None starts from zeros.
        gradient: (N,) at the state's values; 0 where a value has no say in this step.
        rate: learning rate.
        decay: weight decay, added to the gradient.

    Returns:
        `values`, `mean`, `square` as lists of N numbers, and `steps`.
    """
    zeros = np.zeros(len(gradient))
    values, mean, square = (
        zeros if state is None else np.array(state[name]) for name in ("values", "mean", "square")
    )
    steps = (0 if state is None else int(state["steps"])) + 1
    slope = gradient + decay * values
    mean = FIRST * mean + (1 - FIRST) * slope
    square = SECOND * square + (1 - SECOND) * slope**2
    moved = mean / (1 - FIRST**steps) / (np.sqrt(square / (1 - SECOND**steps)) + SMALL)
    values = values - rate * moved
    return {
        "values": values.tolist(),
        "mean": mean.tolist(),
        "square": square.tolist(),
        "steps": steps,
    }
