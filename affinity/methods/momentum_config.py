"""ConFIG with momentum: one task's gradient a step, the conflict is solved among their running means."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from affinity.core.method import MethodState, RuleAccess, StepRule, Vector
from affinity.core.settings import Settings, setting
from affinity.methods._equal_cosines import equal_cosines


@dataclass(frozen=True, kw_only=True)
class MomentumSettings(Settings):
    """How long gradients are remembered."""

    first: float = setting(0.9, low=0.0, high=0.9999, help="Share kept in the means of the gradients.")
    second: float = setting(0.999, low=0.0, high=0.99999, help="Share kept in the mean of the squares.")


def step(
    access: RuleAccess, state: MethodState, rng: np.random.Generator, settings: MomentumSettings
) -> tuple[Vector, MethodState]:
    """One task's gradient enters its mean; ConFIG of all means is divided by the root mean square.

    The squares are those of the gradient that would have made the first moment what it became,
    q = (M - b1 M_before) / (1 - b1). Until every task was seen there is no step. Take it with plain SGD: it
    is scaled already, as Adam's is.
    """
    count = access.count
    memory: dict[str, Any] = state or {"turn": 0, "rounds": 0, "seen": [0] * count, "means": [None] * count}
    turn, seen, means = int(memory["turn"]), list(memory["seen"]), list(memory["means"])
    gradient = access.gradient(np.eye(count)[turn])
    means[turn] = access.vector(means[turn]) * settings.first + gradient * (1 - settings.first)
    seen[turn] += 1
    memory = {**memory, "turn": (turn + 1) % count, "seen": seen, "means": means}
    if min(seen) == 0:
        return access.vector(None), memory
    return _scaled(access, memory, settings)


def _scaled(
    access: RuleAccess, memory: dict[str, Any], settings: MomentumSettings
) -> tuple[Vector, MethodState]:
    rounds = int(memory["rounds"]) + 1
    vectors = [access.vector(mean) for mean in memory["means"]]
    unbiased = 1 / (1 - settings.first ** np.array(memory["seen"], dtype=np.float64))
    products = access.gram(vectors) * unbiased[:, None] * unbiased
    direction = access.combination(vectors, equal_cosines(products) * unbiased)
    moment = direction * (1 - settings.first**rounds)
    before, squares = access.vector(memory.get("moment")), access.vector(memory.get("squares"))
    equivalent = (moment - before * settings.first) / (1 - settings.first)
    squares = squares * settings.second + equivalent**2 * (1 - settings.second)
    update = direction / ((squares / (1 - settings.second**rounds)) ** 0.5 + 1e-8)
    return update, {**memory, "rounds": rounds, "moment": moment, "squares": squares}


METHOD = StepRule(
    key="momentum_config",
    title="Momentum ConFIG",
    summary="One backward pass a step: the tasks take turns, and ConFIG is applied to their running means.",
    reference="Liu et al., 2025, https://arxiv.org/abs/2408.11104",
    step=step,
    needs="one task's gradient a step",
    cost="one backward pass a step",
    settings=MomentumSettings,
)
