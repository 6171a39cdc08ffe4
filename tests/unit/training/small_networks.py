"""Small networks and batches that training tests share."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import nn, optim

from affinity.core.config import TrainConfig
from affinity.core.types import TaskSpec
from affinity.training.access import LoopAccess
from affinity.training.losses import TaskLosses
from affinity.training.network import MultiTaskNetwork, build_network, layers_of
from affinity.training.stacked import Batch, StackedAccess

MIXED = (
    TaskSpec(name="amount", kind="regression"),
    TaskSpec(name="digit", kind="multiclass", classes=4),
    TaskSpec(name="odd", kind="binary", classes=2),
    TaskSpec(name="height", kind="regression"),
    TaskSpec(name="shade", kind="multiclass", classes=3),
    TaskSpec(name="loop", kind="binary", classes=2),
)

OPTIMIZERS = {
    "sgd": lambda parameters: optim.SGD(parameters, lr=0.05),
    "momentum": lambda parameters: optim.SGD(parameters, lr=0.05, momentum=0.9, weight_decay=0.01),
    "nesterov": lambda parameters: optim.SGD(parameters, lr=0.05, momentum=0.9, nesterov=True),
    "dampened": lambda parameters: optim.SGD(parameters, lr=0.05, momentum=0.8, dampening=0.3, maximize=True),
    "adam": lambda parameters: optim.Adam(parameters, lr=0.01, weight_decay=0.01),
    "amsgrad": lambda parameters: optim.Adam(parameters, lr=0.01, amsgrad=True, maximize=True),
    "adamw": lambda parameters: optim.AdamW(parameters, lr=0.01, weight_decay=0.1),
}


def network_of(
    model: str = "mlp", tasks: Sequence[TaskSpec] = MIXED, *, seed: int = 0, **settings: object
) -> MultiTaskNetwork:
    """A network in float32 from a seed, in training mode."""
    small = {"width": 7, "depth": 2} if model == "mlp" else {"channels": 3, "width": 6}
    config = TrainConfig(model=model, model_settings=small | settings)
    torch.manual_seed(seed)
    return build_network(config, (5,) if model == "mlp" else (1, 8, 8), tasks).train()


def batch_of(
    model: str = "mlp",
    tasks: Sequence[TaskSpec] = MIXED,
    *,
    size: int = 12,
    seed: int = 1,
    missing: float = 0.0,
    absent: Sequence[int] = (),
    dtype: torch.dtype = torch.float32,
) -> Batch:
    """Random inputs and targets that fit; some labels missing, and some tasks without any."""
    rng = np.random.default_rng(seed)
    inputs = rng.normal(size=(size, 5) if model == "mlp" else (size, 1, 8, 8))
    columns = [
        rng.normal(size=size)
        if task.kind == "regression"
        else rng.integers(task.classes, size=size).astype(float)
        for task in tasks
    ]
    targets = np.stack(columns, axis=1)
    targets[rng.random(targets.shape) < missing] = np.nan
    targets[:, list(absent)] = np.nan
    return Batch(torch.tensor(inputs, dtype=dtype), torch.tensor(targets, dtype=dtype))


def loop_access(
    network: MultiTaskNetwork,
    losses: TaskLosses,
    optimizer: optim.Optimizer,
    batches: dict,
    *,
    plain: bool = False,
) -> LoopAccess:
    """The plain, one-after-the-other way to the same quantities."""
    functions = {
        split: (lambda batch=batch: losses(network(batch.inputs), batch.targets))
        for split, batch in batches.items()
    }
    return LoopAccess(
        [task.name for task in losses.tasks],
        network.shared_parameters(),
        optimizer,
        losses_functions=functions,
        heads=[list(head.parameters()) for head in network.heads],
        layers=layers_of(network.trunk),
        plain=plain,
    )


def both_ways(
    network: MultiTaskNetwork,
    batches: dict,
    *,
    optimizer: str = "sgd",
    steps: int = 2,
    plain: bool = False,
    tasks: Sequence[TaskSpec] = MIXED,
) -> tuple[LoopAccess, StackedAccess]:
    """Both accesses after some real steps, so that the optimiser has a state."""
    complete = not any(bool(batch.targets.isnan().any()) for batch in batches.values())
    losses = TaskLosses(tasks, complete=complete)
    made = OPTIMIZERS[optimizer](network.parameters())
    for _ in range(steps):
        made.zero_grad()
        losses(network(batches["train"].inputs), batches["train"].targets).nansum().backward()
        made.step()
    loop = loop_access(network, losses, made, batches, plain=plain)
    return loop, StackedAccess(network, losses, made, batches=batches, plain=plain)


def everything_of(network: nn.Module, optimizer: optim.Optimizer) -> list[torch.Tensor]:
    """Copies of all that a training depends on: weights, gradients, buffers, optimiser and random state."""
    state = [value for own in optimizer.state.values() for value in own.values() if torch.is_tensor(value)]
    gradients = [parameter.grad for parameter in network.parameters() if parameter.grad is not None]
    found = [*network.parameters(), *network.buffers(), *gradients, *state, torch.get_rng_state()]
    return [value.detach().clone() for value in found]
