"""The weights of ConFIG, which its momentum form uses too."""

import numpy as np

from affinity.core.linalg import combined_length, cosine_of_gram, pseudo_inverse
from affinity.core.types import FloatArray


def equal_cosines(gram: FloatArray) -> FloatArray:
    """(N,) weights of the direction with the same cosine to every gradient.

    With U the unit gradients, b = U⁺ 1 and u = b / |b|, the direction is (sum_i g_i . u) u. From the cosine
    matrix C, v = C⁺ 1 gives b = Uᵀ v. Gradients that cancel leave nothing of b but rounding: then all are 0.

    Args:
        gram: (N, N) of finite gradients; tasks without one get 0.
    """
    norms = np.sqrt(np.diagonal(gram))
    live = np.flatnonzero(norms > 0)
    weights = np.zeros(len(gram))
    if not len(live):
        return weights
    lengths = norms[live]
    cosines = cosine_of_gram(gram[np.ix_(live, live)])
    shares = pseudo_inverse(cosines) @ np.ones(len(live))
    images = cosines @ shares
    size = combined_length(cosines, shares)
    if size > 1e-9:
        weights[live] = shares / lengths * float(lengths @ images) / size**2
    return weights
