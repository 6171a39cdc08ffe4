"""Lookahead affinity per unit of learning rate: comparable across a learning rate schedule."""

from collections.abc import Mapping

import numpy as np

from affinity.core.entry import Measure
from affinity.core.types import FloatArray
from affinity.measures._relative import NEAR_ZERO_IN_WORDS, relative_drop


def compute(recorded: Mapping[str, FloatArray]) -> FloatArray:
    """Z[i, j] / lr, with Z the lookahead affinity and lr the learning rate of the step.

    Args:
        recorded: `losses` (T, N); `lookahead_losses` (T, N, N); `learning_rate` (T,).

    Returns:
        (T, N, N) `[source, affected]`. Reference: the authors' code of Fifty et al., 2021, stores this form.
    """
    rate = recorded["learning_rate"]
    usable = np.where(np.isfinite(rate) & (rate > 0), rate, np.nan)
    drop = relative_drop(recorded["losses"], recorded["lookahead_losses"])
    return np.asarray(drop / usable[:, None, None])


MEASURE = Measure(
    key="lookahead_per_lr",
    title="Lookahead affinity per learning rate",
    summary="The lookahead affinity over the learning rate, so that all steps of a schedule count alike.",
    reference="Fifty et al., 2021, Efficiently Identifying Task Groupings, https://arxiv.org/abs/2109.04617",
    compute=compute,
    needs=("losses", "lookahead_losses", "learning_rate"),
    formula="(1 - L_affected(after source's lookahead step) / L_affected(before)) / learning rate",
    symmetric=False,
    diagonal="self-effect",
    undefined_when=f"the learning rate is missing or zero, or {NEAR_ZERO_IN_WORDS}",
    unit="1 / learning rate",
    caveat="Measured on the batch that made the gradient, so it flatters; the held-out form does not.",
)
