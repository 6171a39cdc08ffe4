"""Dynamic weight average: tasks whose losses fall slowly count more."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from affinity.core.method import LossWeighting, MethodState
from affinity.core.settings import Settings, setting
from affinity.core.types import FloatArray


@dataclass(frozen=True, kw_only=True)
class DwaSettings(Settings):
    """How strongly, and over how long, speeds are compared."""

    temperature: float = setting(2.0, low=1e-3, high=1e3, help="Higher makes the weights more equal.")
    window: int = setting(25, low=1, high=100_000, help="Steps that one mean loss is taken over: an epoch.")


def weigh(
    losses: FloatArray, state: MethodState, rng: np.random.Generator, settings: DwaSettings
) -> tuple[FloatArray, MethodState]:
    """Weights N softmax(r / temperature), r_i the mean loss of the last window over that of the one before.

    All are 1 until two windows are complete; a task that was absent from one counts as unchanged.
    """
    count = len(losses)
    memory: dict[str, Any] = state or {"total": [0.0] * count, "seen": [0] * count, "steps": 0, "means": []}
    weights = _weights(memory["means"], count, settings.temperature)
    known = np.isfinite(losses)
    total = np.array(memory["total"]) + np.where(known, losses, 0.0)
    seen = np.array(memory["seen"]) + known
    steps, means = int(memory["steps"]) + 1, memory["means"]
    if steps == settings.window:
        mean = [float(sum_) / int(n) if n else None for sum_, n in zip(total, seen, strict=True)]
        means, steps, total, seen = [*means, mean][-2:], 0, np.zeros(count), np.zeros(count, dtype=int)
    return weights, {"total": total.tolist(), "seen": seen.tolist(), "steps": steps, "means": means}


def _weights(means: list[list[float | None]], count: int, temperature: float) -> FloatArray:
    if len(means) < 2:
        return np.ones(count)
    pairs = zip(means[0], means[1], strict=True)
    rates = np.array([new / old if old and new is not None else 1.0 for old, new in pairs])
    shares = np.exp((rates - rates.max()) / temperature)
    return np.asarray(count * shares / shares.sum())


METHOD = LossWeighting(
    key="dwa",
    title="Dynamic weight average",
    summary="Gives more weight to the tasks whose losses fell least over the last stretch of steps.",
    reference="Liu et al., 2019, https://arxiv.org/abs/1803.10704",
    weigh=weigh,
    settings=DwaSettings,
)
