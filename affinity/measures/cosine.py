"""Cosine of the tasks' gradients: do they pull the shared part the same way?"""

from collections.abc import Mapping

import numpy as np

from affinity.core.entry import Measure
from affinity.core.linalg import cosine_of_gram
from affinity.core.types import FloatArray


def compute(recorded: Mapping[str, FloatArray]) -> FloatArray:
    """c[i, j] = K_ij / sqrt(K_ii K_jj), K the Gram matrix of the shared gradients.

    Args:
        recorded: `gram` (T, N, N).

    Returns:
        (T, N, N) in [-1, 1], NaN where a gradient is zero. Reference: Yu et al., 2020, definition 1.
    """
    gram = recorded["gram"]
    return cosine_of_gram(np.where(np.isfinite(gram), gram, np.nan))


MEASURE = Measure(
    key="cosine",
    title="Gradient cosine",
    summary="The cosine of the angle between two tasks' gradients of the shared parameters; negative is a "
    "conflict.",
    reference="Yu et al., 2020, Gradient Surgery for Multi-Task Learning, https://arxiv.org/abs/2001.06782",
    compute=compute,
    needs=("gram",),
    formula="<g_source, g_affected> / (|g_source| |g_affected|)",
    symmetric=True,
    bounds=(-1.0, 1.0),
    diagonal="one",
    undefined_when="a task's gradient is zero or not finite",
    caveat="Symmetric: it cannot tell who helps whom. Two mini-batches of the same task can already have a "
    "low cosine.",
)
