"""Aligned gradients: the gradients are made orthogonal and of one length before they are averaged."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from affinity.core.method import GramWeighting, MethodState
from affinity.core.settings import Settings, setting
from affinity.core.types import FloatArray

_SCALES: Final[dict[str, Callable[[FloatArray], Any]]] = {
    "min": np.min,
    "mean": np.mean,
    "median": np.median,
}


@dataclass(frozen=True, kw_only=True)
class AlignedSettings(Settings):
    """The common length."""

    scale: str = setting(
        "min", choices=tuple(_SCALES), help="Which squared singular value all of them take on."
    )


def weigh(
    gram: FloatArray, state: MethodState, rng: np.random.Generator, settings: AlignedSettings
) -> tuple[FloatArray, MethodState]:
    """Weights sqrt(s) V L^(-1/2) Vᵀ p with K = V L Vᵀ over nonzero eigenvalues, s one of them, p = 1 / N."""
    eigenvalues, vectors = np.linalg.eigh(gram)
    kept = eigenvalues > eigenvalues[-1] * len(gram) * np.finfo(np.float64).eps
    scale = float(_SCALES[settings.scale](eigenvalues[kept]))
    basis = vectors[:, kept]
    return basis @ ((np.sqrt(scale / eigenvalues[kept]) * basis.sum(axis=0)) / len(gram)), state


METHOD = GramWeighting(
    key="aligned_mtl",
    title="Aligned-MTL",
    summary="Makes the gradients orthogonal and equally long by their singular values, and averages them.",
    reference="Senushkin et al., 2023, https://arxiv.org/abs/2305.19000",
    weigh=weigh,
    settings=AlignedSettings,
)
