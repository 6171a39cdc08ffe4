"""A training loop as a user would write it, with or without a Recorder."""

import random
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import torch
from torch import nn

from affinity.runs.library import open_run
from affinity.runs.reader import Run
from affinity.training.recorder import Recorder

TASKS = ("depth", "normals", "edges")


class Net(nn.Module):
    """A trunk with batch norm and dropout, and three heads; answers a dict."""

    def __init__(self, *, dropout: float = 0.3) -> None:
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(dropout))
        self.unused = nn.Linear(8, 8)
        self.heads = nn.ModuleDict({task: nn.Linear(8, 1) for task in TASKS})

    def forward(self, inputs: torch.Tensor) -> dict[str, torch.Tensor]:
        features = self.trunk(inputs)
        return {task: head(features).squeeze(1) for task, head in self.heads.items()}


def batch(step: int, size: int = 16) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """The inputs and targets of a step, the same every time."""
    generator = torch.Generator().manual_seed(step)
    inputs = torch.randn(size, 4, generator=generator)
    return inputs, {task: torch.randn(size, generator=generator) for task in TASKS}


def losses_of(net: nn.Module, step: int, present: tuple[str, ...] = TASKS) -> dict[str, torch.Tensor]:
    """One loss a present task."""
    inputs, targets = batch(step)
    outputs = net(inputs)
    return {task: (outputs[task] - targets[task]).square().mean() for task in present}


def loop(
    home: Path | None,
    *,
    net: nn.Module | None = None,
    steps: int = 6,
    optimizer: Callable[[list[nn.Parameter]], torch.optim.Optimizer] | None = None,
    losses: Callable[[nn.Module, int], Mapping[str, torch.Tensor]] = losses_of,
    context: Callable[[], object] = nullcontext,
    accumulate: int = 1,
    lookahead: bool = True,
    every: int = 2,
) -> tuple[list[torch.Tensor], Run | None]:
    """Train; with a home the loop is recorded.

    Returns:
        Everything the training ended with, and the run.
    """
    torch.manual_seed(0)
    np.random.seed(0)
    random.seed(0)
    net = Net() if net is None else net
    make = optimizer or (lambda parameters: torch.optim.SGD(parameters, lr=0.05, momentum=0.9))
    chosen = make(list(net.parameters()))
    log = None if home is None else Recorder(home, tasks=TASKS, every=every)
    shared = list(net.trunk.parameters())
    for step in range(steps):
        with context():
            found = losses(net, step)
            if log is not None:
                log.step(step, found, shared=shared)
                if lookahead:
                    heads = {task: net.heads[task].parameters() for task in TASKS}
                    log.lookahead(
                        step,
                        lambda step=step: losses(net, step),
                        shared=shared,
                        optimizer=chosen,
                        heads=heads,
                    )
        total = sum(found.values())
        (total / accumulate).backward()
        if (step + 1) % accumulate == 0:
            chosen.step()
            chosen.zero_grad()
    if log is not None:
        log.close()
    state = [value for own in chosen.state.values() for value in own.values() if torch.is_tensor(value)]
    ended = [
        *net.parameters(),
        *net.buffers(),
        *state,
        torch.get_rng_state(),
        torch.tensor(np.random.random()),
    ]
    found_all = [value.detach().clone() for value in [*ended, torch.tensor(random.random())]]
    return found_all, None if log is None else open_run(home / log.id)
