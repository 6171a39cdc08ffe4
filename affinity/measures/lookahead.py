"""Lookahead affinity: how much a step of the shared part along one task's gradient lowers another's loss."""

from collections.abc import Mapping

from affinity.core.entry import Measure
from affinity.core.types import FloatArray
from affinity.measures._relative import NEAR_ZERO_IN_WORDS, relative_drop


def compute(recorded: Mapping[str, FloatArray]) -> FloatArray:
    """Z[i, j] = 1 - L_j(S', H_j) / L_j(S, H_j), S' after a step of the shared part along task i's gradient.

    Args:
        recorded: `losses` (T, N) before the step; `lookahead_losses` (T, N, N) after it.

    Returns:
        (T, N, N) `[source, affected]`, at most 1. Reference: Fifty et al., 2021, equation 1.
    """
    return relative_drop(recorded["losses"], recorded["lookahead_losses"])


MEASURE = Measure(
    key="lookahead",
    title="Lookahead affinity",
    summary="The share by which a step of the shared part along the source's gradient lowers the affected "
    "task's loss on the same batch, heads fixed.",
    reference="Fifty et al., 2021, Efficiently Identifying Task Groupings, https://arxiv.org/abs/2109.04617",
    compute=compute,
    needs=("losses", "lookahead_losses"),
    formula="1 - L_affected(after source's lookahead step) / L_affected(before)",
    symmetric=False,
    bounds=(float("-inf"), 1.0),
    diagonal="self-effect",
    undefined_when=NEAR_ZERO_IN_WORDS,
    caveat="Measured on the batch that made the gradient, so it flatters; the held-out form does not.",
)
