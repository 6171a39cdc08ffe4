"""How a Gram matrix reaches a `GramWeighting`: whole, of one scale, and with its odd tasks named."""

from typing import Any

import numpy as np

from affinity.core.method import GramWeighting, MethodState
from affinity.core.types import AnyArray, FloatArray


def weigh_gram(
    method: GramWeighting,
    gram: FloatArray,
    state: MethodState,
    rng: np.random.Generator,
    settings: Any,  # noqa: ANN401 - the method's own settings class
) -> tuple[FloatArray, MethodState]:
    """A method's weights for a Gram matrix as it was measured.

    One gradient that is not finite never spoils the others: its row and column count as zero. Gradients of
    any size are brought to a largest norm of 1, so that no method meets an overflow or an absolute threshold.

    Args:
        method: the method.
        gram: (N, N) inner products of the tasks' gradients; NaN = absent or not finite.
        state: what the method remembers; None at first.
        rng: where the method draws from.
        settings: the method's settings.

    Returns:
        (N,) weights, 0 for tasks without a finite gradient, and the new state. All are 0 where no task has a
        gradient; the state then stays.
    """
    finite = finite_tasks(gram)
    whole = np.where(finite[:, None] & finite & np.isfinite(gram), gram, 0.0)
    largest = float(np.diagonal(whole).max(initial=0.0))
    if largest <= 0:
        return np.zeros(len(gram)), state
    weights, state = method.weigh(whole / largest, state, rng, settings)
    return np.where(finite, weights, 0.0) * np.sqrt(largest) ** method.degree, state


def finite_tasks(gram: FloatArray) -> AnyArray:
    """(N,) bool: the task's gradient is there and finite."""
    return np.isfinite(np.diagonal(gram))
