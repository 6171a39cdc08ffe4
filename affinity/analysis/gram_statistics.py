"""Conflict statistics of Gram matrices of task gradients, as pure functions over steps.

K = G Gᵀ holds the inner products of the tasks' gradients of the shared parameters, one row of G a task. All
of it is float64, because norms of 1e20 overflow in float32. A gradient that is zero or not finite makes its
pairs missing and leaves the rest alone.
"""

from typing import Final

import numpy as np

from affinity.core.linalg import cosine_of_gram
from affinity.core.types import AnyArray, FloatArray, IntArray

# Float noise around zero is no conflict.
DEAD_ZONE: Final = 1e-12


def usable(gram: FloatArray) -> AnyArray:
    """(..., N) bool: the task's gradient is finite."""
    return np.isfinite(np.diagonal(gram, axis1=-2, axis2=-1))


def gradient_norms(gram: FloatArray) -> FloatArray:
    """(..., N) norms of the tasks' gradients; NaN where not finite."""
    squares = np.diagonal(gram, axis1=-2, axis2=-1)
    return np.sqrt(np.where(np.isfinite(squares), np.maximum(squares, 0.0), np.nan))


def pair_cosines(gram: FloatArray) -> FloatArray:
    """(..., N, N) cosines between the tasks' gradients; NaN where one is zero or not finite."""
    return cosine_of_gram(np.where(np.isfinite(gram), gram, np.nan))


def conflicts(cosines: FloatArray, *, threshold: float = 0.0) -> AnyArray:
    """(..., N, N) bool: the cosine lies below the threshold by more than float noise; False where missing."""
    return np.asarray(cosines < threshold - DEAD_ZONE)


def magnitude_similarity(norms: FloatArray) -> FloatArray:
    """2 n_i n_j / (n_i² + n_j²), in [0, 1]; NaN when both are zero. Reference: Yu et al., 2020, definition 2.

    Args:
        norms: (..., N) gradient norms.

    Returns:
        (..., N, N), 1 = equal norms, 0 = exactly one of the two is zero.
    """
    largest = np.maximum(norms[..., :, None], norms[..., None, :])
    smallest = np.minimum(norms[..., :, None], norms[..., None, :])
    ratio = over(smallest, largest)
    return np.asarray(2 * ratio / (1 + ratio**2))


def dominance(norms: FloatArray) -> FloatArray:
    """(...) largest over smallest nonzero norm, at least 1; NaN without a nonzero gradient."""
    positive = np.where(norms > 0, norms, np.nan)
    lowest = np.min(np.where(np.isnan(positive), np.inf, positive), axis=-1)
    highest = np.max(np.where(np.isnan(positive), -np.inf, positive), axis=-1)
    return np.where(np.isfinite(lowest), highest / np.where(np.isfinite(lowest), lowest, 1.0), np.nan)


def spectrum(gram: FloatArray) -> tuple[FloatArray, IntArray, FloatArray, FloatArray]:
    """Singular values of G, its rank, and its condition numbers. Reference: Senushkin et al., 2023.

    Args:
        gram: (..., N, N); tasks that are not finite are counted as zero rows.

    Returns:
        Singular values (..., N) descending; rank (...), eigenvalues of K above lmax N eps; condition number
        (...), infinite below full rank; the same over the nonzero singular values, NaN for rank 0.
    """
    eigenvalues = np.linalg.eigvalsh(finite_part(gram))[..., ::-1]
    size = gram.shape[-1]
    largest = eigenvalues[..., :1]
    kept = eigenvalues > np.maximum(largest, 0.0) * size * np.finfo(np.float64).eps
    rank = kept.sum(axis=-1)
    singular = np.sqrt(np.where(kept, eigenvalues, 0.0))
    smallest = np.min(np.where(kept, singular, np.inf), axis=-1)
    nonzero = np.where(rank > 0, singular[..., 0] / np.where(rank > 0, smallest, 1.0), np.nan)
    return singular, rank, np.where(rank == size, nonzero, np.inf), nonzero


def pareto_gap(gram: FloatArray, weights: FloatArray) -> float:
    """|Gᵀ w|: the norm of a weighted sum of the gradients; with `min_norm_weights` the Pareto gap."""
    return float(np.sqrt(max(0.0, float(weights @ finite_part(gram) @ weights))))


def inner_products(gram: FloatArray, weights: FloatArray) -> FloatArray:
    """(..., N) inner products of each task's gradient with the update sum_j w_j g_j; negative = hurt.

    Args:
        gram: (..., N, N).
        weights: (N,) or (..., N) weights of the update.
    """
    broadcast = np.broadcast_to(weights, gram.shape[:-1])
    products = np.einsum("...ij,...j->...i", finite_part(gram), broadcast)
    return np.where(usable(gram), products, np.nan)


def alignment(gram: FloatArray, weights: FloatArray) -> FloatArray:
    """(..., N) cosines of each task's gradient with the update; NaN where either is zero."""
    broadcast = np.broadcast_to(weights, gram.shape[:-1])
    products = inner_products(gram, weights)
    square = np.einsum("...i,...ij,...j->...", broadcast, finite_part(gram), broadcast)
    lengths = gradient_norms(gram) * np.sqrt(np.maximum(square, 0.0))[..., None]
    return np.clip(over(products, lengths), -1.0, 1.0)


def coherence(gram: FloatArray) -> FloatArray:
    """(...) |sum_i g_i| / sum_i |g_i|, in [0, 1]; 1 = all aligned; NaN when all are zero."""
    total = np.sqrt(np.maximum(finite_part(gram).sum(axis=(-2, -1)), 0.0))
    return over(total, np.nansum(gradient_norms(gram), axis=-1))


def vaccine_targets(cosines: FloatArray, *, rate: float = 0.01) -> FloatArray:
    """(T, N, N) running means of the cosines, from 0: what GradVac turns gradients towards.

    A step without a cosine leaves the mean as it is. Reference: Wang et al., 2021
    (https://arxiv.org/abs/2010.05874).

    Args:
        cosines: (T, N, N).
        rate: share of the newest cosine.
    """
    targets = np.zeros_like(cosines)
    last = np.zeros(cosines.shape[1:])
    for step, now in enumerate(cosines):
        known = np.isfinite(now)
        last = np.where(known, (1 - rate) * last + rate * np.where(known, now, 0.0), last)
        targets[step] = last
    return targets


def curvature_along(change: FloatArray, slope: FloatArray, square: FloatArray) -> FloatArray:
    """2 (L(t + s) - L(t) - g . s) / |s|²: the mean curvature of a loss along a step s, from two losses.

    For a plain gradient step s = -eta g, times |g|², it is exactly the measure of Yu et al., 2020,
    definition 3 (Taylor's theorem with the remainder as an integral). Both losses are of one batch.

    Args:
        change: L(t + s) - L(t).
        slope: g . s.
        square: |s|²; the answer is NaN where it is 0.
    """
    return over(2 * (change - slope), square)


def upper_pairs(values: FloatArray) -> FloatArray:
    """(..., P) the entries above the diagonal: one value an unordered pair."""
    rows, columns = np.triu_indices(values.shape[-1], k=1)
    return np.asarray(values[..., rows, columns])


def finite_part(gram: FloatArray) -> FloatArray:
    """The Gram matrix with the tasks that are not finite taken as zero rows."""
    good = usable(gram)
    kept = good[..., :, None] & good[..., None, :] & np.isfinite(gram)
    return np.where(kept, gram, 0.0)


def mean_of_known(values: FloatArray) -> float:
    """Mean over the values that are there; NaN if none is."""
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else float("nan")


def over(numerator: FloatArray, denominator: "FloatArray | float") -> FloatArray:
    """Quotient, NaN where the denominator is not positive."""
    bottom = np.broadcast_to(denominator, np.shape(numerator))
    quotient: FloatArray = np.divide(
        numerator, bottom, out=np.full(np.shape(numerator), np.nan), where=bottom > 0
    )
    return quotient
