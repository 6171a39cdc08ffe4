"""Correlation of loss changes over time: the cheapest hint, for runs that recorded nothing but losses."""

from collections.abc import Mapping
from typing import Final

import numpy as np

from affinity.core.entry import Measure
from affinity.core.types import FloatArray

WINDOW: Final = 20
# Fewer shared changes than this make a correlation a coin toss.
LEAST: Final = 10


def compute(recorded: Mapping[str, FloatArray]) -> FloatArray:
    """Pearson correlation of the tasks' loss changes within windows of 20 changes.

    The steps are cut into windows that do not overlap; the correlation of a window stands at its last step
    and every other step is missing, so that the mean over steps is the mean over independent windows and
    the number of values that enter is honest. The slow fall of all losses, which every pair shares,
    cancels within a window because changes are centred there.

    Args:
        recorded: `losses` (T, N), at consecutive recorded steps.

    Returns:
        (T, N, N) in [-1, 1], symmetric.
    """
    losses = recorded["losses"]
    steps, tasks = losses.shape
    values = np.full((steps, tasks, tasks), np.nan)
    changes = -np.diff(np.where(np.isfinite(losses), losses, np.nan), axis=0)
    windows = len(changes) // WINDOW
    cut = changes[: windows * WINDOW].reshape(windows, WINDOW, tasks)
    values[WINDOW::WINDOW][:windows] = _correlations(cut)
    return values


def _correlations(changes: FloatArray) -> FloatArray:
    """(W, N, N) correlations of (W, window, N) changes over the rows that both tasks have."""
    known = np.isfinite(changes)
    here = known.astype(np.float64)
    means = np.where(known, changes, 0.0).sum(axis=1, keepdims=True) / np.maximum(
        here.sum(axis=1, keepdims=True), 1
    )
    # Centring each task first keeps the sums of products below from cancelling.
    centred = np.where(known, changes - means, 0.0)
    n = _products(here, here)
    n[n < LEAST] = np.nan
    sums, raw = _products(centred, here), _products(centred**2, here)
    squares = raw - sums**2 / n
    covariance = _products(centred, centred) - sums * sums.transpose(0, 2, 1) / n
    spread = np.sqrt(np.where(squares > np.finfo(np.float64).eps * raw, squares, np.nan))
    correlation: FloatArray = covariance / spread / spread.transpose(0, 2, 1)
    return np.clip(correlation, -1.0, 1.0)


def _products(left: FloatArray, right: FloatArray) -> FloatArray:
    """(W, N, N) sums over the rows of each window."""
    products: FloatArray = np.matmul(left.transpose(0, 2, 1), right)
    return products


MEASURE = Measure(
    key="loss_correlation",
    title="Loss-change correlation",
    summary="Whether two tasks' losses fall and rise at the same steps; needs no gradients, and is weak "
    "evidence.",
    compute=compute,
    needs=("losses",),
    formula=f"Pearson correlation of L(t) - L(t+1) of the two tasks within windows of {WINDOW} changes",
    symmetric=True,
    bounds=(-1.0, 1.0),
    diagonal="one",
    undefined_when=f"the step does not close a window of {WINDOW} loss changes, fewer than {LEAST} of them "
    "are known to both tasks, or a loss does not change",
    caveat="Weak evidence: tasks that see the same batch rise and fall together without helping each other.",
)
