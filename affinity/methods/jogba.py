"""Joint gradient balancing: the order of the samples lets all losses' gradients cancel along an epoch."""

from typing import Any

import numpy as np

from affinity.core.method import MethodState, RuleAccess, StepRule, Vector
from affinity.core.settings import NoSettings


def step(
    access: RuleAccess, state: MethodState, rng: np.random.Generator, settings: NoSettings
) -> tuple[Vector, MethodState]:
    """A step on the sum of the losses; its samples get their places in the next epoch.

    Every sample's gradients, all losses side by side and less last epoch's means, get the sign that keeps the
    running sum of signed ones short. Samples with + go to the front of the next epoch, those with - to its
    back. All losses share one order, as a sample carries all labels.
    """
    count = access.count
    memory: dict[str, Any] = state or _fresh_epoch([None] * count, count)
    stale = [access.vector(mean) for mean in memory["stale"]]
    balance = [access.vector(part) for part in memory["balance"]]
    total = [access.vector(part) for part in memory["total"]]
    front, back = list(memory["front"]), list(memory["back"])
    for sample, gradients in access.samples():
        centred = [gradient - mean for gradient, mean in zip(gradients, stale, strict=True)]
        # |s + c| <= |s - c| exactly where s . c <= 0
        overlap = sum(float((part * one).sum()) for part, one in zip(balance, centred, strict=True))
        sign = 1.0 if overlap <= 0 else -1.0
        balance = [part + one * sign for part, one in zip(balance, centred, strict=True)]
        total = [part + gradient for part, gradient in zip(total, gradients, strict=True)]
        (front if sign > 0 else back).append(sample)
    memory = {"stale": stale, "balance": balance, "total": total, "front": front, "back": back}
    seen = len(front) + len(back)
    if seen >= access.sample_count():
        access.set_next_order([*front, *reversed(back)])
        memory = _fresh_epoch([part / seen for part in total], count)
    return access.gradient(np.ones(count)), memory


def _fresh_epoch(stale: list[Vector], count: int) -> dict[str, Any]:
    return {"stale": stale, "balance": [None] * count, "total": [None] * count, "front": [], "back": []}


METHOD = StepRule(
    key="jogba",
    title="JoGBa",
    summary="Steps on the sum of the losses and orders the samples so that all their gradients balance.",
    reference="Yang and Kwok, 2025, https://openreview.net/forum?id=UCjlVaOsjp",
    step=step,
    needs="every sample's gradient of every task",
    cost="one backward pass a sample and task",
    ordering=True,
)
