"""Small shared mathematics of Gram matrices."""

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
