"""Methods walking down a problem from several starts, all walks side by side and without torch."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from affinity.core.method import Method
from affinity.core.problem import Problem
from affinity.core.types import FloatArray
from affinity.methods import Descent

Optimizer: TypeAlias = Literal["sgd", "adam"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Walker:
    """A method with its settings, and how its direction becomes a step."""

    method: Method
    settings: Any
    optimizer: Optimizer
    lr: float


class _Known:
    """Losses and gradients of one walk, computed for all walks at once and handed out one by one."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._theta: FloatArray | None = None
        self._losses: FloatArray = np.empty(0)
        self._rows: FloatArray = np.empty(0)

    def keep(self, theta: FloatArray, losses: FloatArray, rows: FloatArray) -> None:
        self._theta, self._losses, self._rows = theta, losses, rows

    def losses(self, theta: FloatArray) -> FloatArray:
        return self._losses if theta is self._theta else self._problem.losses(theta)

    def gradients(self, theta: FloatArray) -> FloatArray:
        return self._rows if theta is self._theta else self._problem.gradients(theta)


def walk(
    problem: Problem,
    walkers: Sequence[Walker],
    starts: FloatArray,
    *,
    steps: int,
    keep: Sequence[int] | None = None,
    seed: int = 0,
) -> tuple[FloatArray, FloatArray]:
    """Let every walker go from every start.

    Args:
        problem: what they walk down.
        walkers: methods; each start of each has a memory of its own.
        starts: (S, n).
        steps: how many.
        keep: the steps whose places are returned, 0 = the start; the last one only when left out.
        seed: seed of what methods draw.

    Returns:
        (M, T, S, n) places at the kept steps, NaN once a walk has left all bounds; and (M, S, n) the
        directions that the methods would take next, NaN where there is none.
    """
    size = starts.shape[-1]
    theta = np.tile(problem.inside(starts), (len(walkers), 1))
    known = [_Known(problem) for _ in theta]
    descents = [
        Descent(
            method=walker.method,
            settings=walker.settings,
            losses=one.losses,
            gradients=one.gradients,
            rng=np.random.default_rng([seed, number]),
            depends=problem.depends,
        )
        for (walker, number), one in zip(
            ((walker, number) for walker in walkers for number in range(len(starts))), known, strict=True
        )
    ]
    each = np.repeat(np.arange(len(walkers)), len(starts))
    rate = np.array([walker.lr for walker in walkers])[each, None]
    adaptive = np.array([walker.optimizer == "adam" for walker in walkers])[each, None]
    wanted = set(range(steps, steps + 1) if keep is None else keep)
    places = [theta] if 0 in wanted else []
    update, moments = _directions(problem, descents, known, theta), (np.zeros(theta.shape),) * 2
    for step in range(1, steps + 1):
        adam, moments = _adam(update, moments, step)
        moved = problem.inside(theta - rate * np.where(adaptive, adam, update))
        for descent, before, after, each_rate in zip(descents, theta, moved, rate[:, 0], strict=True):
            descent.after(before, after, learning_rate=float(each_rate))
        theta = moved
        if step in wanted:
            places.append(theta)
        update = _directions(problem, descents, known, theta)
    shape = (len(places), len(walkers), len(starts), size)
    return np.stack(places).reshape(shape).swapaxes(0, 1), update.reshape(shape[1:])


def _directions(
    problem: Problem, descents: Sequence[Descent], known: Sequence[_Known], theta: FloatArray
) -> FloatArray:
    """(W, n) the update of every walk; NaN where losses or gradients are not finite any more."""
    with np.errstate(over="ignore", invalid="ignore"):
        losses, rows = problem.losses(theta), problem.gradients(theta)
    alive = np.isfinite(losses).all(axis=1) & np.isfinite(rows).all(axis=(1, 2))
    update = np.full(theta.shape, np.nan)
    for number in np.flatnonzero(alive).tolist():
        place = theta[number]
        known[number].keep(place, losses[number], rows[number])
        update[number] = descents[number].direction(place)
    return update


def _adam(
    gradient: FloatArray, moments: tuple[FloatArray, FloatArray], step: int
) -> tuple[FloatArray, tuple[FloatArray, FloatArray]]:
    """Kingma and Ba's update with the usual constants, for all walks at once; `step` counts from 1."""
    mean = 0.9 * moments[0] + 0.1 * gradient
    square = 0.999 * moments[1] + 0.001 * gradient**2
    return mean / (1 - 0.9**step) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8), (mean, square)
