"""How the size of a series changes over a training, as a smooth curve.

Affinities often fall tenfold in the first steps or grow towards the end. Taken for noise, such a trend would
make the interval of a mean many times too wide; divided out, only the noise around the trend is left.
"""

from typing import Final

import numpy as np

from affinity.core.types import AnyArray, FloatArray

# With fewer values a trend cannot be told from noise.
LEAST_LEVELLED: Final = 20

# A value near zero would count as minus infinity on the logarithmic scale.
_FLOOR_SHARE: Final = 0.05
# Three terms do not need more rows than this.
_MOST_ROWS: Final = 256


def typical_sizes(values: FloatArray) -> FloatArray:
    """The typical size of each series at each step.

    Args:
        values: (T, P) series over steps; NaN = missing.

    Returns:
        (T, P) positive: median size times exp of the least-squares fit of log |value| / median by 1,
        log(1 + t) and t; constant for a series with fewer than 20 values; 1 for one of mostly zeros.
    """
    steps, series = values.shape
    if not steps:
        return np.ones_like(values)
    chosen = np.unique(np.linspace(0, steps - 1, min(steps, _MOST_ROWS)).astype(np.int64))
    sizes = np.abs(values[chosen])
    known = np.isfinite(sizes)
    median = _medians(sizes, known)
    unit = np.where(median > 0, median, 1.0)
    fit = (known.sum(axis=0) * (steps / len(chosen)) >= LEAST_LEVELLED) & (median > 0)
    if not fit.any():
        return np.broadcast_to(unit, (steps, series)).copy()
    logs = np.log(np.maximum(np.where(known, sizes, unit) / unit, _FLOOR_SHARE))
    terms = _terms(steps)
    coefficients = np.where(fit, _fitted(terms[chosen], logs, known), 0.0)
    curves: FloatArray = terms @ coefficients
    np.exp(curves, out=curves)
    curves *= unit
    return curves


def _terms(steps: int) -> FloatArray:
    """(T, 3) terms of the fit: a constant, an early fall or rise, and a steady one, on similar scales."""
    at = np.arange(steps) / max(1, steps - 1)
    return np.column_stack([np.ones(steps), np.log1p(np.arange(steps)) / np.log1p(steps), at])


def _fitted(terms: FloatArray, logs: FloatArray, known: AnyArray) -> FloatArray:
    """(3, P) coefficients of the least-squares fits to the known values."""
    if known.all():
        return np.asarray(np.linalg.lstsq(terms, logs, rcond=None)[0])
    weight = known.astype(np.float64)
    # One small system a series, because each misses other steps; the ridge keeps a lopsided one solvable.
    products = (terms[:, :, None] * terms[:, None, :]).reshape(len(terms), -1)
    squares = (weight.T @ products).reshape(-1, 3, 3) + 1e-9 * np.eye(3)
    right = (weight * logs).T @ terms
    return np.asarray(np.linalg.solve(squares, right[:, :, None])[:, :, 0].T)


def _medians(sizes: FloatArray, known: AnyArray) -> FloatArray:
    """(P,) median of the known sizes; 0 where there is none."""
    if known.all():
        return np.asarray(np.median(sizes, axis=0))
    return np.array(
        [np.median(sizes[here, column]) if here.any() else 0.0 for column, here in enumerate(known.T)]
    )
