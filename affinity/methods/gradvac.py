"""Gradient vaccine: gradients are turned until their cosines reach what they usually are."""

from dataclasses import dataclass

import numpy as np

from affinity.core.method import GramWeighting, MethodState
from affinity.core.settings import Settings, setting
from affinity.core.types import FloatArray, IntArray
from affinity.methods._surgery import operated


@dataclass(frozen=True, kw_only=True)
class VaccineSettings(Settings):
    """How fast the targets follow, and the order in which a gradient meets the others."""

    rate: float = setting(
        0.01, low=0.0, high=1.0, help="Share of the newest cosine in the target; 0 keeps the targets at 0."
    )
    order: str = setting(
        "random", choices=("random", "index"), help="Drawn anew in each step, or that of the tasks."
    )


def weigh(
    gram: FloatArray, state: MethodState, rng: np.random.Generator, settings: VaccineSettings
) -> tuple[FloatArray, MethodState]:
    """Weights of the sum of turned gradients.

    As in PCGrad, p starts as g_i and meets the others in turn. With c the cosine of p and g_j and phi the
    pair's target, where c < phi, p gains |p| (phi sqrt(1 - c²) - c sqrt(1 - phi²)) / (|g_j| sqrt(1 - phi²))
    times g_j, after which its cosine is phi. The target is a running mean of c that starts at 0: then the
    first step is PCGrad's. A meeting without a direction leaves its target as it is.
    """
    squares = np.diagonal(gram)
    targets = np.zeros_like(gram) if state is None else np.array(state["targets"], dtype=np.float64)

    def amount(coefficients: FloatArray, tasks: IntArray, others: IntArray) -> FloatArray:
        images = coefficients @ gram
        lengths = np.sqrt(np.maximum(np.einsum("ij,ij->i", images, coefficients), 0.0))
        whole = lengths > 1e-12 * np.sqrt(squares[tasks])
        products = images[np.arange(len(tasks)), others]
        norms = np.sqrt(squares[others])
        cosines = np.clip(products / np.where(whole, lengths * norms, 1.0), -1.0, 1.0)
        wanted = targets[tasks, others]
        across = np.sqrt(np.maximum(1 - wanted**2, 1e-16))
        gained = lengths * (wanted * np.sqrt(1 - cosines**2) - cosines * across) / (norms * across)
        targets[tasks, others] = np.where(
            whole, (1 - settings.rate) * wanted + settings.rate * cosines, wanted
        )
        return np.where(whole & (cosines < wanted), gained, 0.0)

    draw = rng if settings.order == "random" else None
    weights = operated(gram, squares > 0, draw, amount)
    return weights, {"targets": targets.tolist()}


METHOD = GramWeighting(
    key="gradvac",
    title="GradVac",
    summary="Turns gradients towards each other until their cosine reaches its running mean, and sums them.",
    reference="Wang et al., 2021, https://arxiv.org/abs/2010.05874",
    weigh=weigh,
    settings=VaccineSettings,
)
