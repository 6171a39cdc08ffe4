"""Any method applied to one gradient matrix: what it would do in its first step."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from affinity.core.errors import AffinityError, SettingsError
from affinity.core.method import GramWeighting, LossWeighting, Method, StepRule
from affinity.core.types import AnyArray, FloatArray
from affinity.methods._gram import weigh_gram
from affinity.methods._numpy_access import NumpyAccess


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Direction:
    """A method's update for a gradient matrix.

    Attributes:
        direction: (n,) to be subtracted from the parameters.
        weights: (N,) weights of the gradients, or None where the update is no weighting of them.
        inner_products: (N,) of each gradient with the direction; negative = hurt, NaN = gradient not finite.
        cosines: (N,) the same as cosines; NaN where either is zero.
        zero: positions of tasks whose gradient is zero.
        not_finite: positions of tasks whose gradient is not finite.
        warnings: sentences that belong beside the numbers.
    """

    direction: FloatArray
    weights: FloatArray | None
    inner_products: FloatArray
    cosines: FloatArray
    zero: tuple[int, ...] = ()
    not_finite: tuple[int, ...] = ()
    warnings: tuple[str, ...] = ()


def direction(
    matrix: FloatArray,
    method: Method,
    settings: Any = None,  # noqa: ANN401 - the method's own settings class
    rng: np.random.Generator | None = None,
    *,
    losses: FloatArray | None = None,
    tasks: Sequence[str] | None = None,
) -> Direction:
    """What a method does with a gradient matrix in its first step.

    Args:
        matrix: (N, n) one task's gradient a row; a row that is not finite takes no part and is reported.
        method: the method.
        settings: the method's settings; its defaults when left out.
        rng: where the method draws from; seed 0 when left out.
        losses: (N,) for methods that weight by the losses' values.
        tasks: names for the warnings.

    Raises:
        SettingsError: the method needs losses and none are given, or they do not fit.
        AffinityError: not a matrix.
    """
    gradients = np.asarray(matrix, dtype=np.float64)
    if gradients.ndim != 2 or not gradients.size:
        raise AffinityError(f"found a matrix of shape {gradients.shape}, expected one gradient a row.")
    chosen = method.settings() if settings is None else settings
    draw = np.random.default_rng(0) if rng is None else rng
    finite: AnyArray = np.all(np.isfinite(gradients), axis=1)
    known = np.where(finite[:, None], gradients, 0.0)
    unit = float(np.abs(known).max()) or 1.0
    rows = known / unit
    weights, update = _applied(method, chosen, draw, rows=rows, unit=unit, finite=finite, losses=losses)
    zero: AnyArray = finite & ~known.any(axis=1)
    names = [f"task {row + 1}" for row in range(len(rows))] if tasks is None else list(tasks)
    largest = float(np.abs(update).max()) or 1.0
    # Scaled first, so that a product too large for a float keeps its sign.
    products = rows @ (update / largest)
    return Direction(
        direction=update,
        weights=weights,
        inner_products=np.where(finite, _times(products, largest, unit), np.nan),
        cosines=_cosines(products, rows, update / largest, finite & ~zero),
        zero=_positions(zero),
        not_finite=_positions(~finite),
        warnings=_warnings(method, update, names, zero=zero, finite=finite),
    )


def _times(products: FloatArray, *scales: float) -> FloatArray:
    with np.errstate(over="ignore"):
        for scale in scales:
            products = products * scale
    return products


def _cosines(products: FloatArray, rows: FloatArray, update: FloatArray, live: AnyArray) -> FloatArray:
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(update)
    known = live & (lengths > 0)
    return np.where(known, np.clip(products / np.where(known, lengths, 1.0), -1.0, 1.0), np.nan)


def _applied(
    method: Method,
    settings: Any,  # noqa: ANN401
    rng: np.random.Generator,
    *,
    rows: FloatArray,
    unit: float,
    finite: AnyArray,
    losses: FloatArray | None,
) -> tuple[FloatArray | None, FloatArray]:
    """Weights, where there are any, and the direction; `rows` are the gradients divided by `unit`."""
    if isinstance(method, GramWeighting):
        # Scaled rows first, because squares of huge gradients overflow and those of tiny ones vanish.
        gram = np.where(finite[:, None] & finite, rows @ rows.T, np.nan)
        weights, _ = weigh_gram(method, gram, None, rng, settings)
        weights = weights * unit**method.degree
        return weights, (weights @ rows) * unit
    if isinstance(method, LossWeighting):
        weights, _ = method.weigh(_fitting_losses(method, losses, finite), None, rng, settings)
        weights = np.where(finite, weights, 0.0)
        return weights, (weights @ rows) * unit
    return None, _first_step(method, settings, rng, rows * unit)


def _fitting_losses(method: LossWeighting, losses: FloatArray | None, finite: AnyArray) -> FloatArray:
    if losses is None:
        if method.needs_losses:
            raise SettingsError(
                f"{method.title} weights by the losses' values, and there are none.",
                "losses",
                'Add "losses": one number a task.',
            )
        return np.where(finite, 1.0, np.nan)
    given = np.asarray(losses, dtype=np.float64)
    if given.shape != finite.shape:
        raise SettingsError(f"found losses of shape {given.shape}, expected {finite.shape}.", "losses")
    return np.where(finite, given, np.nan)


def _first_step(
    method: StepRule,
    settings: Any,  # noqa: ANN401
    rng: np.random.Generator,
    rows: FloatArray,
) -> FloatArray:
    """The first step that is not zero: a method that takes the tasks in turn needs a round to begin."""
    state, update = None, np.zeros(rows.shape[1])
    for _ in range(len(rows)):
        update, state = method.step(NumpyAccess(lambda: rows), state, rng, settings)
        if update.any():
            break
    return update


def _warnings(
    method: Method, update: FloatArray, names: Sequence[str], *, zero: AnyArray, finite: AnyArray
) -> tuple[str, ...]:
    found = [f"'{names[row]}' has a zero gradient: no step serves it." for row in _positions(zero)]
    found += [
        f"'{names[row]}' has a gradient that is not finite and no part in this step."
        for row in _positions(~finite)
    ]
    if not update.any() and (finite & ~zero).any():
        found.append("The direction is zero: the gradients cancel, so this method takes no step.")
    if isinstance(method, StepRule):
        found.append("The method remembers earlier steps; this is its first one.")
    return tuple(found)


def _positions(chosen: AnyArray) -> tuple[int, ...]:
    return tuple(int(position) for position in np.flatnonzero(chosen))
