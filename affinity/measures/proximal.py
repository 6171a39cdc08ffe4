"""Proximal affinity: what a real step of one task, shared part and its own head, does to every loss."""

from collections.abc import Mapping

import numpy as np

from affinity.core.entry import Measure
from affinity.core.types import FloatArray
from affinity.measures._relative import NEAR_ZERO_IN_WORDS, relative_drop


def compute(recorded: Mapping[str, FloatArray]) -> FloatArray:
    """B[i, j] = 1 - L_j(S', H'_j) / L_j(S, H_j) after task i's own step; H'_j is not H_j only for j = i.

    The values are what the method feeds to its average for groups of one task: a task's effect on itself
    is left out where it is negative, every other value enters as it is.

    Args:
        recorded: `losses` (T, N) before the step; `proximal_losses` (T, N, N) after it.

    Returns:
        (T, N, N) `[source, affected]`, at most 1. Reference: Jeong & Yoon, 2025, definition 2.
    """
    drop = relative_drop(recorded["losses"], recorded["proximal_losses"])
    own = np.einsum("tii->ti", drop)
    own[own < 0] = np.nan
    return drop


# The method averages exponentially because it regroups while it trains. Read afterwards, an average that
# starts at 0 and forgets slowly would be biased towards 0 in short runs; the mean over steps is not, and it
# has an interval. The exponential average stays one click away.
MEASURE = Measure(
    key="proximal",
    title="Proximal affinity",
    summary="The share by which a real optimiser step of the source, shared part and its own head, lowers "
    "the affected task's loss on the same batch.",
    reference="Jeong & Yoon, 2025, Selective Task Group Updates, https://arxiv.org/abs/2502.11986",
    compute=compute,
    needs=("losses", "proximal_losses"),
    formula="1 - L_affected(after source's step) / L_affected(before); negative self-effects are left out",
    symmetric=False,
    bounds=(float("-inf"), 1.0),
    diagonal="self-effect",
    undefined_when=f"a task's step raises its own loss (its self-effect only), or {NEAR_ZERO_IN_WORDS}",
    default_reduce="mean",
    caveat="A task's effect on itself includes its head and leaves out steps that hurt it, so the diagonal "
    "is not comparable with the rest.",
)
