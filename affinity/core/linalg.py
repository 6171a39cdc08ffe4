"""Small shared mathematics of Gram matrices K = G Gᵀ: one row of G is one task's gradient."""

import math

import numpy as np

from affinity.core.types import FloatArray


def cosine_of_gram(gram: FloatArray) -> FloatArray:
    """Cosines from inner products.

    Args:
        gram: (..., N, N) inner products of the tasks' gradients.

    Returns:
        (..., N, N) in [-1, 1], clipped; NaN where a gradient is zero or not finite, never 0, because 0
        would read as orthogonal. Reference: Yu et al., 2020, definition 1 (https://arxiv.org/abs/2001.06782).
    """
    squares = np.diagonal(gram, axis1=-2, axis2=-1)
    norms = np.sqrt(np.where(squares > 0, squares, np.nan))
    # Dividing twice keeps the product of two tiny or huge norms from under- or overflowing.
    cosines = gram / norms[..., :, None] / norms[..., None, :]
    return np.clip(cosines, -1.0, 1.0)


def min_norm_weights(gram: FloatArray) -> FloatArray:
    """(N,) w on the simplex with the smallest |Gᵀ w|. Reference: Désidéri, 2012.

    For weights s u with u on the simplex, w K w + (sum w - 1)² = s² q(u) + (s - 1)² is smallest at the u with
    the smallest q(u) = u K u whatever s is, so a nonnegative least-squares solver answers exactly.
    """
    from scipy.optimize import nnls  # noqa: PLC0415 - scipy takes a second to load

    scale = np.trace(gram) / len(gram)
    zero = np.diagonal(gram) <= 0
    if scale <= 0 or zero.any():
        return np.asarray(zero / zero.sum())
    system, goal = _least_squares(gram / scale)
    weights, _ = nnls(system, goal, maxiter=50 * len(gram))
    return np.asarray(weights / weights.sum())


def _least_squares(gram: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A and b with AᵀA = K + 1 1ᵀ and Aᵀb = 1: |A w - b|² is w K w + (sum w - 1)² up to a constant."""
    ones = np.ones(len(gram))
    try:
        # Ten times cheaper than eigenvalues, but only for gradients that are clearly independent.
        lower = np.asarray(np.linalg.cholesky(gram + 1.0), dtype=np.float64)
        if np.diagonal(lower).min() > 1e-4 * np.diagonal(lower).max():
            return lower.T, np.asarray(np.linalg.solve(lower, ones), dtype=np.float64)
    except np.linalg.LinAlgError:
        pass
    return np.vstack([root_of_gram(gram), ones]), np.append(np.zeros(len(gram)), 1.0)


def min_norm_of_nonzero(gram: FloatArray) -> FloatArray:
    """(N,) the same over the tasks that have a gradient; the others get 0.

    A zero gradient alone is the shortest combination: left in, it would stop the training of all tasks.
    """
    live = np.flatnonzero(np.diagonal(gram) > 0)
    weights = np.zeros(len(gram))
    if len(live):
        weights[live] = min_norm_weights(gram[np.ix_(live, live)])
    return weights


def projected_onto_simplex(values: FloatArray) -> FloatArray:
    """(N,) the nearest point with entries from 0 that sum to 1."""
    falling = np.sort(values)[::-1]
    excess = (np.cumsum(falling) - 1.0) / np.arange(1, len(values) + 1)
    last = int(np.flatnonzero(falling > excess)[-1])
    return np.asarray(np.maximum(values - excess[last], 0.0))


def onto_dual_cone(gram: FloatArray, combinations: FloatArray) -> FloatArray:
    """Combinations of the gradients, moved as little as possible so that none goes against a gradient.

    The nearest vector to v = Gᵀ u in {d: G d >= 0} is v + Gᵀ x with x >= 0 making it shortest, which
    nonnegative least squares finds exactly. Reference: Lopez-Paz and Ranzato, 2017,
    https://arxiv.org/abs/1706.08840 (the dual of their problem).

    Args:
        gram: (N, N) of finite gradients.
        combinations: (M, N) weights u of the M vectors.

    Returns:
        (M, N) weights u + x.
    """
    from scipy.optimize import nnls  # noqa: PLC0415 - scipy takes a second to load

    norms = np.sqrt(np.diagonal(gram))
    live = np.flatnonzero(norms > 0)
    # In units of the gradients' own lengths: a small gradient constrains as much as a large one.
    lengths = norms[live]
    root = root_of_gram(cosine_of_gram(gram[np.ix_(live, live)]))
    moved = np.array(combinations, dtype=np.float64)
    for row in moved:
        shift, _ = nnls(root, -(root @ (row[live] * lengths)), maxiter=50 * max(1, len(live)))
        row[live] += shift / lengths
    return moved


def root_of_gram(gram: FloatArray) -> FloatArray:
    """(N, N) R with Rᵀ R = K: the gradients as its columns, in fewer dimensions."""
    try:
        lower = np.linalg.cholesky(gram)
        if np.diagonal(lower).min(initial=1.0) > 1e-4 * np.diagonal(lower).max(initial=1.0):
            return np.asarray(lower.T, dtype=np.float64)
    except np.linalg.LinAlgError:
        pass
    eigenvalues, vectors = np.linalg.eigh(gram)
    return np.asarray(np.sqrt(np.maximum(eigenvalues, 0.0))[:, None] * vectors.T)


def pseudo_inverse(gram: FloatArray) -> FloatArray:
    """(N, N) K⁺; eigenvalues up to lmax N eps count as zero."""
    eigenvalues, vectors = np.linalg.eigh(gram)
    kept = eigenvalues > eigenvalues[-1] * len(gram) * np.finfo(np.float64).eps
    inverse = np.where(kept, 1.0 / np.where(kept, eigenvalues, 1.0), 0.0)
    return np.asarray((vectors * inverse) @ vectors.T)


def combined_length(gram: FloatArray, weights: FloatArray) -> float:
    """|sum_i w_i g_i|, the norm of a weighted sum of the gradients."""
    return math.sqrt(max(0.0, float(weights @ gram @ weights)))
