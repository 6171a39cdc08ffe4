"""Smooth Tchebycheff: a soft maximum of the losses, which reaches every point of a front."""

from dataclasses import dataclass

import numpy as np

from affinity.core.method import LossWeighting, MethodState
from affinity.core.settings import Settings, setting
from affinity.core.types import FloatArray
from affinity.methods._numbers import one_a_task

SMALL = 1e-12


@dataclass(frozen=True, kw_only=True)
class StchSettings(Settings):
    """The softness, the preference, and how the losses are made comparable."""

    mu: float = setting(0.1, low=1e-6, high=1e6, help="Softness; towards 0 only the largest loss counts.")
    weights: str = setting("", help="Preference, one number a task; all 1 / N when empty.")
    ideal: str = setting("", help="The lowest loss of each task; all 0 when empty.")
    warm_up: int = setting(
        0,
        low=0,
        high=1_000_000,
        help="Steps whose mean losses are the scale: afterwards logs of losses over it are compared; "
        "0 compares the losses as they are.",
    )


def weigh(
    losses: FloatArray, state: MethodState, rng: np.random.Generator, settings: StchSettings
) -> tuple[FloatArray, MethodState]:
    """The gradient of g = mu log sum_i exp(lam_i (f_i - z_i) / mu): weights lam_i softmax_i.

    With a warm-up, f_i = log(l_i / scale_i), every lam is 1 and g counts N times; until it is over, the sum
    of the logs is what is minimised.
    """
    if settings.warm_up:
        return _relative(losses, state, settings)
    count = len(losses)
    preference = one_a_task(settings.weights, count, "weights", default=1.0 / count)
    values = preference * (losses - one_a_task(settings.ideal, count, "ideal", default=0.0))
    return preference * _shares(values, settings.mu), state


def _relative(
    losses: FloatArray, state: MethodState, settings: StchSettings
) -> tuple[FloatArray, MethodState]:
    count = len(losses)
    memory = state or {"total": [0.0] * count, "seen": [0] * count, "steps": 0}
    known = np.isfinite(losses) & (losses > 0)
    positive = np.where(known, losses, 1.0)
    total, seen = np.array(memory["total"]), np.array(memory["seen"])
    if memory["steps"] < settings.warm_up:
        total, seen = total + np.where(known, losses, 0.0), seen + known
        memory = {"total": total.tolist(), "seen": seen.tolist(), "steps": memory["steps"] + 1}
        return np.where(known, 1.0 / positive, 0.0), memory
    scale = np.where(seen > 0, total / np.maximum(seen, 1), 1.0)
    values = np.where(known, np.log(positive) - np.log(np.maximum(scale, SMALL)), np.nan)
    return np.where(known, count * _shares(values, settings.mu) / positive, 0.0), memory


def _shares(values: FloatArray, mu: float) -> FloatArray:
    """Softmax of values / mu over the known ones, 0 for the others."""
    known = np.isfinite(values)
    if not known.any():
        return np.zeros(len(values))
    shares = np.where(known, np.exp((np.where(known, values, 0.0) - values[known].max()) / mu), 0.0)
    return np.asarray(shares / shares.sum())


METHOD = LossWeighting(
    key="stch",
    title="Smooth Tchebycheff",
    summary="Steps on a smooth maximum of the weighted losses, so the worst task leads.",
    reference="Lin et al., 2024, https://arxiv.org/abs/2402.19078",
    weigh=weigh,
    settings=StchSettings,
)
