"""Two losses of fourth order, whose curvature has no bound: for methods that estimate instead of compute."""

import numpy as np

from affinity.core.problem import Problem
from affinity.core.types import FloatArray


def losses(theta: FloatArray) -> FloatArray:
    """(x - 1)⁴ + y² / 2 and (x + 1)⁴ + (y - 1)² / 2; (..., 2) to (..., 2)."""
    x, y = np.moveaxis(theta, -1, 0)
    return np.stack([(x - 1) ** 4 + y**2 / 2, (x + 1) ** 4 + (y - 1) ** 2 / 2], axis=-1)


def gradients(theta: FloatArray) -> FloatArray:
    """(..., 2) to (..., 2, 2)."""
    x, y = np.moveaxis(theta, -1, 0)
    first = np.stack([4 * (x - 1) ** 3, y], axis=-1)
    second = np.stack([4 * (x + 1) ** 3, y - 1], axis=-1)
    return np.stack([first, second], axis=-2)


def front(count: int) -> FloatArray:
    """Y is the second loss's weight w, and (1 + x) / (1 - x) the cube root of (1 - w) / w."""
    weight = (1 - np.cos(np.linspace(0.0, np.pi, count))) / 2
    first, second = np.cbrt(1 - weight), np.cbrt(weight)
    return np.stack([(first - second) / (first + second), weight], axis=-1)


PROBLEM = Problem(
    key="quartic_bowls",
    title="Two quartic bowls",
    summary="f1 = (x - 1)⁴ + y² / 2 and f2 = (x + 1)⁴ + (y - 1)² / 2.",
    losses=losses,
    gradients=gradients,
    front=front,
    tasks=("f1", "f2"),
    parameters=("x", "y"),
    starts=np.array([[0.6, 1.8], [-1.5, -0.8], [1.6, 1.4], [-1.2, 1.9]]),
    low=np.array([-2.0, -1.0]),
    high=np.array([2.0, 2.0]),
    depends=np.ones((2, 2), dtype=bool),
    lr=0.02,
    steps=600,
    watch="Methods that fall along both losses stop at the first point of the front that they meet.",
)
