"""What PCGrad and GradVac share: every task's gradient meets the others one by one, all tasks side by side.

Row i of the coefficients stands for task i's changed gradient, so that only the Gram matrix is needed.
"""

from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np

from affinity.core.types import AnyArray, FloatArray, IntArray

Meet: TypeAlias = Callable[[FloatArray, IntArray, IntArray], FloatArray]


def operated(gram: FloatArray, live: AnyArray, rng: np.random.Generator | None, amount: Meet) -> FloatArray:
    """(N,) weights of the sum of all changed gradients.

    Args:
        gram: (N, N).
        live: (N,) bool, tasks with a gradient; the others neither change nor are met.
        rng: draws for each task the order in which it meets the others; None is the order of the tasks.
        amount: `(coefficients (M, N), tasks (M,), others (M,)) -> (M,)` how much of the other's original
            gradient each task's changed gradient takes on.
    """
    tasks = np.flatnonzero(live)
    coefficients = np.eye(len(gram))[tasks]
    for others in _meetings(tasks, rng):
        coefficients[np.arange(len(tasks)), others] += amount(coefficients, tasks, others)
    return np.asarray(coefficients.sum(axis=0))


def _meetings(tasks: IntArray, rng: np.random.Generator | None) -> Iterator[IntArray]:
    """Round by round, whom each task meets: (M,) positions."""
    count = len(tasks)
    others = np.array([np.delete(tasks, row) for row in range(count)]).reshape(count, max(count - 1, 0))
    if rng is not None:
        others = rng.permuted(others, axis=1)
    return iter(others.T)
