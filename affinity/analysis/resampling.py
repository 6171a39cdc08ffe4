"""Which grouping would other steps of the same training have suggested? A block bootstrap of whole matrices.

All pairs of a step are drawn together, so that what pairs have in common stays in common.
"""

import math

import numpy as np

from affinity.analysis.collected import Collected
from affinity.analysis.uncertainty import Estimate
from affinity.core.types import FloatArray


def block_length(estimate: Estimate, rows: int, per_row: int = 1) -> int:
    """Rows in a block: the optimal rate for a variance (Politis & White, 2004) under an autoregression.

    Args:
        estimate: estimates of the pairs; their median correlation decides.
        rows: number of rows.
        per_row: recorded steps in a row.
    """
    ratios = estimate.correlated[np.isfinite(estimate.correlated)] / per_row
    ratio = max(1.0, float(np.median(ratios))) if len(ratios) else 1.0
    phi = (ratio - 1) / (ratio + 1)
    length = (math.sqrt(6) * phi / (1 - phi**2)) ** (2 / 3) * rows ** (1 / 3)
    return int(np.clip(round(length), 1, max(1, rows // 3)))


def resampled_means(
    collected: Collected, estimate: Estimate, *, resamples: int, rng: np.random.Generator
) -> FloatArray:
    """Means over steps of resampled trainings.

    Blocks of neighbouring rows are drawn from a circle (Politis & Romano, 1992). Blocks lose the correlation
    beyond their ends, so the spread of each pair is stretched to the error of its mean.

    Args:
        collected: the affinities over steps.
        estimate: the estimate of their mean.
        resamples: how many means to draw.
        rng: source of the draws.

    Returns:
        (resamples, N, N); a pair without error stays at its mean.
    """
    rows = len(collected.values)
    length = block_length(estimate, rows, collected.block)
    starts = rng.integers(rows, size=(resamples, math.ceil(rows / length)))
    drawn = ((starts[:, :, None] + np.arange(length)) % rows).reshape(resamples, -1)[:, :rows]
    weights = np.apply_along_axis(np.bincount, 1, drawn, minlength=rows).astype(np.float64)
    flat = collected.values.reshape(rows, -1)
    known = np.isfinite(flat)
    totals = weights @ np.where(known, flat, 0.0)
    counts = weights @ known
    means = np.where(counts > 0, totals / np.maximum(counts, 1), np.nan).reshape(
        resamples, *estimate.value.shape
    )
    offset = np.nan_to_num(means - estimate.value)
    spread = offset.std(axis=0)
    stretch = np.nan_to_num(estimate.error) / np.where(spread > 0, spread, 1.0)
    centred: FloatArray = estimate.value + (offset - offset.mean(axis=0)) * stretch
    return centred
