"""ConFIG's toy: two losses with narrow curved valleys above and a wide common basin below."""

from typing import Final

import numpy as np

from affinity.core.problem import Problem
from affinity.core.types import FloatArray

# The logarithms are cut off here, and the gradient of a cut-off logarithm is zero.
FLOOR: Final = 5e-6
SCALES: Final = np.array([0.1, 1.0])
CENTRES: Final = np.array([7.0, -7.0])


def losses(theta: FloatArray) -> FloatArray:
    """Both losses, the first one times 0.1; (..., 2) to (..., 2).

    For y > 0 each is a logarithm with a valley along a curve, times tanh(y / 2); for y < 0 a paraboloid
    around (7, -8) or (-7, -8), times tanh(-y / 2).
    """
    x, y = np.moveaxis(theta, -1, 0)
    found = []
    for valley, bowl in zip(_valleys(x, y), _bowls(x, y), strict=True):
        above, below = np.tanh(np.maximum(y, 0) / 2), np.tanh(np.maximum(-y, 0) / 2)
        found.append(valley[0] * above + bowl[0] * below)
    return np.asarray(np.stack(found, axis=-1) * SCALES)


def gradients(theta: FloatArray) -> FloatArray:
    """(..., 2) to (..., 2, 2).

    At y = 0, where the halves meet in a kink, both have the slope of their own side, as in the official code.
    """
    x, y = np.moveaxis(theta, -1, 0)
    above, below = np.tanh(np.maximum(y, 0) / 2), np.tanh(np.maximum(-y, 0) / 2)
    above_slope = np.where(y >= 0, 0.5 * (1 - above**2), 0.0)
    below_slope = np.where(y <= 0, -0.5 * (1 - below**2), 0.0)
    rows = []
    for valley, bowl in zip(_valleys(x, y), _bowls(x, y), strict=True):
        along_x = valley[1] * above + bowl[1] * below
        along_y = valley[2] * above + valley[0] * above_slope + bowl[2] * below + bowl[0] * below_slope
        rows.append(np.stack([along_x, along_y], axis=-1))
    return np.asarray(np.stack(rows, axis=-2) * SCALES[:, None])


def front(count: int) -> FloatArray:
    """Between the two paraboloids: for each x the y at which a weighted sum of both losses is flat.

    The weights (7 + x, 7 - x) / 14 make the sum flat along x; along y it is flat where
    y = -8 + 50 s / sinh(-y) with s = (49 - x² + 0.1 (y + 8)²) / 10 - 20, a contraction.
    """
    x = np.linspace(-7.0, 7.0, count)
    y = np.full(count, -8.4)
    for _ in range(100):
        level = (49.0 - x**2 + 0.1 * (y + 8.0) ** 2) / 10.0 - 20.0
        y = -8.0 + 50.0 * level / np.sinh(-y)
    return np.stack([x, y], axis=-1)


def _valleys(x: FloatArray, y: FloatArray) -> list[tuple[FloatArray, FloatArray, FloatArray]]:
    """Value and slopes of the upper part of each loss."""
    bend, steep = np.tanh(-y), 1 - np.tanh(y) ** 2
    insides = ((0.5 * (-x - 7) - bend, steep), (0.5 * (3 - x) + bend + 2, -steep))
    found = []
    for inside, inside_y in insides:
        size = np.abs(inside)
        known = size > FLOOR
        slope = np.where(known, 1.0 / np.where(known, inside, 1.0), 0.0)
        found.append((np.log(np.maximum(size, FLOOR)) + 6, -0.5 * slope, inside_y * slope))
    return found


def _bowls(x: FloatArray, y: FloatArray) -> list[tuple[FloatArray, FloatArray, FloatArray]]:
    """Value and slopes of the lower part of each loss."""
    return [
        (((x - centre) ** 2 + 0.1 * (y + 8) ** 2) / 10 - 20, (x - centre) / 5, 0.02 * (y + 8))
        for centre in CENTRES
    ]


PROBLEM = Problem(
    key="two_valleys",
    title="Two valleys and a basin",
    summary="Two losses of very different size whose gradients point apart in curved valleys.",
    reference="Liu et al., 2025, https://arxiv.org/abs/2408.11104",
    losses=losses,
    gradients=gradients,
    front=front,
    tasks=("loss 1", "loss 2"),
    parameters=("x", "y"),
    starts=np.array([[-8.5, 7.5], [0.0, 0.0], [9.0, 9.0], [-7.5, -0.5], [9.0, -1.0]]),
    low=np.array([-10.0, -10.0]),
    high=np.array([10.0, 10.0]),
    depends=np.ones((2, 2), dtype=bool),
    near=0.25,
    optimizer="adam",
    lr=0.01,
    steps=4000,
    watch="The start at (9, 9) has to leave a valley of one loss before it can find the common basin.",
)
