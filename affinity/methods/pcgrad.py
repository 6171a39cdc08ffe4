"""Gradient surgery: a task's gradient loses the part that points against another task's."""

from dataclasses import dataclass

import numpy as np

from affinity.core.method import GramWeighting, MethodState
from affinity.core.settings import Settings, setting
from affinity.core.types import FloatArray, IntArray
from affinity.methods._surgery import operated


@dataclass(frozen=True, kw_only=True)
class SurgerySettings(Settings):
    """The order in which a gradient meets the others."""

    order: str = setting(
        "random", choices=("random", "index"), help="Drawn anew in each step, or that of the tasks."
    )


def weigh(
    gram: FloatArray, state: MethodState, rng: np.random.Generator, settings: SurgerySettings
) -> tuple[FloatArray, MethodState]:
    """Weights of the sum of projected gradients.

    For each task i, p starts as g_i; for the other tasks j in turn, where p . g_j < 0, p loses its projection
    onto the original g_j. The direction is the sum of all p.
    """
    squares = np.diagonal(gram)

    def amount(coefficients: FloatArray, tasks: IntArray, others: IntArray) -> FloatArray:
        overlaps = np.einsum("ij,ji->i", coefficients, gram[:, others])
        return np.asarray(np.maximum(-overlaps / squares[others], 0.0))

    draw = rng if settings.order == "random" else None
    return operated(gram, squares > 0, draw, amount), state


METHOD = GramWeighting(
    key="pcgrad",
    title="PCGrad",
    summary="Projects conflicting gradients onto each other's normal plane, one by one, and sums them.",
    reference="Yu et al., 2020, https://arxiv.org/abs/2001.06782",
    weigh=weigh,
    settings=SurgerySettings,
)
