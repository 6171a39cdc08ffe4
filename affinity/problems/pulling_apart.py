"""Two linear losses: the counter-check that a partition of the parameters must follow the structure."""

import numpy as np

from affinity.core.problem import Problem
from affinity.core.types import FloatArray

SLOPES = np.array([[1.0, 3.0], [-3.0, -1.0]])


def losses(theta: FloatArray) -> FloatArray:
    """t1 + 3 t2 and -3 t1 - t2; (..., 2) to (..., 2)."""
    return np.asarray(theta @ SLOPES.T)


def gradients(theta: FloatArray) -> FloatArray:
    """The same everywhere; (..., 2) to (..., 2, 2)."""
    return np.broadcast_to(SLOPES, (*theta.shape[:-1], 2, 2)).copy()


def front(count: int) -> FloatArray:
    """The lower and the right edge of the box: the way from (-2, -2) over (2, -2) to (2, 2)."""
    way = np.linspace(0.0, 8.0, count)
    return np.stack([np.minimum(way, 4.0) - 2.0, np.maximum(way, 4.0) - 6.0], axis=-1)


PROBLEM = Problem(
    key="pulling_apart",
    title="Pulling apart in every coordinate",
    summary="f1 = t1 + 3 t2 and f2 = -3 t1 - t2 disagree in each coordinate, but not along the diagonal.",
    losses=losses,
    gradients=gradients,
    front=front,
    tasks=("f1", "f2"),
    parameters=("t1", "t2"),
    starts=np.array([[-1.5, 1.5], [0.0, 1.0], [-1.0, -0.5], [1.0, 1.5]]),
    low=np.array([-2.0, -2.0]),
    high=np.array([2.0, 2.0]),
    depends=np.ones((2, 2), dtype=bool),
    bounded=True,
    lr=0.02,
    steps=200,
    watch="Taken coordinate by coordinate nothing would move; taken together both losses fall.",
)
