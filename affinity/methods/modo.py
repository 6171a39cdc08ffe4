"""Double sampling: two independent batches give the weights a gradient without bias."""

from dataclasses import dataclass

import numpy as np

from affinity.core.method import MethodState, RuleAccess, StepRule, Vector
from affinity.core.settings import Settings, setting
from affinity.methods._simplex import among, descended


@dataclass(frozen=True, kw_only=True)
class ModoSettings(Settings):
    """How the weights follow."""

    rate: float = setting(0.1, low=0.0, high=100.0, help="The paper's gamma: step size of the weights.")
    rho: float = setting(0.0, low=0.0, high=100.0, help="Pull of the weights towards each other.")


def step(
    access: RuleAccess, state: MethodState, rng: np.random.Generator, settings: ModoSettings
) -> tuple[Vector, MethodState]:
    """The weights w move against G(s) G(s')ᵀ w + rho w; d is the mean of both batches' Gᵀ w.

    The product of two independent batches is right on average; that of a batch with itself is too long.
    """
    count = access.count
    weights = np.full(count, 1.0 / count) if state is None else np.array(state["weights"])
    products = access.products(access.gradient(weights, batch=1))
    known = np.isfinite(products)
    # Divided by what the tasks with a gradient weigh together: the others have no part in G w.
    slope = (products + settings.rho * weights) / max(float(weights[known].sum()), 1e-12)
    weights = descended(weights, slope, settings.rate)
    used = among(weights, known)
    both = [access.gradient(used), access.gradient(used, batch=1)]
    return access.combination(both, np.array([0.5, 0.5])), {"weights": weights.tolist()}


METHOD = StepRule(
    key="modo",
    title="MoDo",
    summary="MGDA for mini-batches: the weights follow products of two independent batches' gradients.",
    reference="Chen et al., 2024, https://arxiv.org/abs/2305.20057",
    step=step,
    needs="two independent mini-batches",
    cost="one backward pass a task and three more a step",
    second_batch=True,
    settings=ModoSettings,
)
