"""The six problems of the smooth Tchebycheff paper: three shapes of the Pareto set, two of the front.

With six parameters x1 .. x6 in [0, 1] and offsets y2 .. y6 that vanish on the Pareto set,
f1 = (1 + a) x1 with a the mean of y3², y5², and with g = 1 + the mean of y2², y4², y6²
f2 = g - sqrt(g x1) for the convex front f2 = 1 - sqrt(f1), or f2 = g - x1² / g for the concave f2 = 1 - f1².
"""

from collections.abc import Callable
from typing import Final, TypeAlias

import numpy as np

from affinity.core.problem import Problem
from affinity.core.types import FloatArray

REFERENCE: Final = "Lin et al., 2024, https://arxiv.org/abs/2402.19078"
SIZE: Final = 6
# Index i of x_i for the five parameters that follow x1.
PLACES: Final = np.arange(2, SIZE + 1)
EVEN: Final = PLACES % 2 == 0
# sqrt(x1) has no finite slope at 0: slopes nearer to it are those at this x1, values are exact.
LEAST: Final = 1e-4

# x1 (...) -> what scale * x_i + shift should equal (..., 5), and its slope along x1 (..., 5)
Target: TypeAlias = Callable[[FloatArray], tuple[FloatArray, FloatArray]]


def parabola(x1: FloatArray) -> tuple[FloatArray, FloatArray]:
    """x_i = (2 x1 - 1)² for all i."""
    bend = 2 * x1[..., None] - 1
    ones = np.ones(len(PLACES))
    return bend**2 * ones, 4 * bend * ones


def powers(x1: FloatArray) -> tuple[FloatArray, FloatArray]:
    """x_i = x1 to the power of 0.5, 0.875, 1.25, 1.625, 2."""
    exponents = 0.5 * (1 + 3 * (PLACES - 2) / (SIZE - 2))
    base = np.maximum(x1[..., None], 0.0)
    return base**exponents, exponents * np.maximum(base, LEAST) ** (exponents - 1)


def waves(x1: FloatArray) -> tuple[FloatArray, FloatArray]:
    """2 x_i - 1 = 0.8 x1 sin or cos (4 pi x1 + i pi / 6); sine for even i."""
    base = x1[..., None]
    angle = 4 * np.pi * base + PLACES * np.pi / SIZE
    wave = np.where(EVEN, np.sin(angle), np.cos(angle))
    slope = 4 * np.pi * np.where(EVEN, np.cos(angle), -np.sin(angle))
    return 0.8 * base * wave, 0.8 * (wave + base * slope)


def bent_front(
    *, key: str, title: str, summary: str, target: Target, scale: float, shift: float, convex: bool
) -> Problem:
    """One of the six problems.

    Args:
        key: as in every entry.
        title: as in every entry.
        summary: as in every entry.
        target: where the parameters after x1 lie on the Pareto set.
        scale: the target is compared with scale * x_i + shift.
        shift: see scale.
        convex: the front is f2 = 1 - sqrt(f1), else f2 = 1 - f1².
    """

    def losses(theta: FloatArray) -> FloatArray:
        x1 = theta[..., 0]
        odd, g, _ = parts(theta)
        second = g - np.sqrt(g * np.maximum(x1, 0)) if convex else g - x1**2 / g
        return np.stack([(1 + odd) * x1, second], axis=-1)

    def gradients(theta: FloatArray) -> FloatArray:
        x1 = theta[..., 0]
        odd, g, offset = parts(theta)
        slope = target(x1)[1]
        safe = np.maximum(x1, LEAST)
        by_x1 = -0.5 * np.sqrt(g / safe) if convex else -2 * x1 / g
        by_g = 1 - 0.5 * np.sqrt(safe / g) if convex else 1 + (x1 / g) ** 2
        first, second = np.zeros(theta.shape), np.zeros(theta.shape)
        share_odd = np.where(EVEN, 0.0, 2 * offset / (~EVEN).sum())
        share_even = np.where(EVEN, 2 * offset / EVEN.sum(), 0.0)
        first[..., 1:] = x1[..., None] * share_odd * scale
        first[..., 0] = 1 + odd - x1 * (share_odd * slope).sum(axis=-1)
        second[..., 1:] = by_g[..., None] * share_even * scale
        second[..., 0] = by_x1 - by_g * (share_even * slope).sum(axis=-1)
        return np.stack([first, second], axis=-2)

    def parts(theta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The mean of y3², y5²; g; and y2 .. y6."""
        offset = scale * theta[..., 1:] + shift - target(theta[..., 0])[0]
        square = offset**2
        return square[..., ~EVEN].mean(axis=-1), 1 + square[..., EVEN].mean(axis=-1), offset

    def front(count: int) -> FloatArray:
        x1 = np.linspace(0.0, 1.0, count)
        return np.concatenate([x1[:, None], (target(x1)[0] - shift) / scale], axis=-1)

    depends = np.stack([np.concatenate([[True], ~EVEN]), np.concatenate([[True], EVEN])])
    rng = np.random.default_rng(0)
    return Problem(
        key=key,
        title=title,
        summary=summary,
        reference=REFERENCE,
        losses=losses,
        gradients=gradients,
        front=front,
        tasks=("f1", "f2"),
        parameters=tuple(f"x{place}" for place in range(1, SIZE + 1)),
        starts=rng.uniform(0.05, 0.95, size=(5, SIZE)).round(2),
        low=np.zeros(SIZE),
        high=np.ones(SIZE),
        depends=depends,
        bounded=True,
        optimizer="adam",
        lr=0.01,
        steps=500,
        watch="The front is convex: a weighted sum can reach every point of it."
        if convex
        else "The front is concave: a weighted sum can reach only its two ends.",
    )
