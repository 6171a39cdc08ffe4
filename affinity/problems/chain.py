"""Two losses that share one of three parameters: the smallest case in which plain MGDA stops too early."""

import numpy as np

from affinity.core.problem import Problem
from affinity.core.types import FloatArray


def losses(theta: FloatArray) -> FloatArray:
    """t1² + t2² and (t2 - 1)² + (t3 - 1)²; (..., 3) to (..., 2)."""
    first, shared, last = np.moveaxis(theta, -1, 0)
    return np.stack([first**2 + shared**2, (shared - 1) ** 2 + (last - 1) ** 2], axis=-1)


def gradients(theta: FloatArray) -> FloatArray:
    """(..., 3) to (..., 2, 3)."""
    first, shared, last = np.moveaxis(theta, -1, 0)
    zero = np.zeros_like(first)
    return np.stack(
        [
            np.stack([2 * first, 2 * shared, zero], axis=-1),
            np.stack([zero, 2 * (shared - 1), 2 * (last - 1)], axis=-1),
        ],
        axis=-2,
    )


def front(count: int) -> FloatArray:
    """t1 = 0 and t3 = 1, with t2 anywhere between the two wishes."""
    shared = np.linspace(0.0, 1.0, count)
    return np.stack([np.zeros(count), shared, np.ones(count)], axis=-1)


PROBLEM = Problem(
    key="chain",
    title="Chain of two losses",
    summary="f1 = t1² + t2² and f2 = (t2 - 1)² + (t3 - 1)² share only t2.",
    reference="Official code of RP-MGDA, https://github.com/watml/RP-MGDA",
    losses=losses,
    gradients=gradients,
    front=front,
    tasks=("f1", "f2"),
    parameters=("t1", "t2", "t3"),
    # The first start is the hand-worked one: MGDA ends at (0, 0, 3), the refined partition at (0, 0, 1).
    starts=np.array(
        [[0.5, -1.0, 3.0], [1.5, 1.5, -0.5], [-0.8, 0.4, 1.8], [1.8, -0.6, 0.2], [-0.5, 1.8, 1.6]]
    ),
    low=np.array([-1.0, -1.0, -1.0]),
    high=np.array([2.0, 2.0, 3.0]),
    depends=np.array([[True, True, False], [False, True, True]]),
    axes=(1, 2),
    lr=0.1,
    steps=150,
    watch="As soon as one loss is at its minimum, MGDA's step has length zero and the other loss is stuck.",
)
