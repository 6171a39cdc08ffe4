"""All tasks at once against the papers' loop, in one process: `python -m tests.benchmarks.lookahead`.

The loop is plain and fair: one forward pass and N backward passes for the gradients, then for every task one
step of the shared part in place and one forward pass through trunk and all heads. The limit is one matrix
product with as many floating-point operations as the MLP's lookahead needs.
"""

import time
from collections.abc import Callable

import torch
from torch import Tensor, nn

from affinity.core.types import TaskSpec
from affinity.models import MODELS
from affinity.training.losses import TaskLosses
from affinity.training.network import MultiTaskNetwork
from affinity.training.stacked import Batch, StackedAccess

SAMPLES, RATE = 256, 0.1


def loop(network: MultiTaskNetwork, inputs: Tensor, targets: Tensor) -> Tensor:
    """(N, N) losses after each task's step, one task after the other."""
    shared, heads = network.shared_parameters(), list(network.heads)
    features = network.trunk(inputs)
    losses = [(head(features)[:, 0] - targets[:, i]).square().mean() for i, head in enumerate(heads)]
    gradients = [torch.autograd.grad(loss, shared, retain_graph=True) for loss in losses]
    after = inputs.new_empty(len(heads), len(heads))
    with torch.no_grad():
        originals = [parameter.clone() for parameter in shared]
        for source, gradient in enumerate(gradients):
            for parameter, original, slope in zip(shared, originals, gradient, strict=True):
                parameter.copy_(original - RATE * slope)
            features = network.trunk(inputs)
            for affected, head in enumerate(heads):
                after[source, affected] = (head(features)[:, 0] - targets[:, affected]).square().mean()
        for parameter, original in zip(shared, originals, strict=True):
            parameter.copy_(original)
    return after


def best_of(function: Callable[[], object], *, times: int) -> float:
    """Shortest of several runs, in seconds; the first one warms up."""
    function()
    seconds = []
    for _ in range(times):
        started = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - started)
    return min(seconds)


def trunk_of(model: str) -> tuple[nn.Module, int, Tensor]:
    """The trunk, its width and inputs: MLP 64-128-128, or the small CNN on 8 x 8 images."""
    if model == "cnn":
        return *MODELS["cnn"].build(MODELS["cnn"].settings(), (1, 8, 8)), torch.randn(SAMPLES, 1, 8, 8)
    layers = [nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU()]
    return nn.Sequential(*layers), 128, torch.randn(SAMPLES, 64)


def limit(tasks: int) -> float:
    """Seconds of one matrix product with the operations of the MLP's lookahead for so many tasks."""
    operations = tasks * SAMPLES * 2 * (2 * 64 * 128 + 3 * 128 * 128 + 128 * tasks)
    left, right = torch.randn(1024, 1024), torch.randn(1024, operations // (2 * 1024 * 1024))
    return best_of(lambda: left @ right, times=10)


def main() -> None:
    """Print one line a model and number of tasks."""
    torch.manual_seed(0)
    print("model  tasks  loop ms  ours ms  faster  share of matmul rate  largest difference")
    for model in ("mlp", "cnn"):
        for tasks in (16, 40, 100):
            trunk, width, inputs = trunk_of(model)
            specs = [TaskSpec(name=f"task {i}", kind="regression") for i in range(tasks)]
            network = MultiTaskNetwork(trunk, width, specs)
            targets, losses = torch.randn(SAMPLES, tasks), TaskLosses(specs, complete=True)
            optimizer = torch.optim.SGD(network.parameters(), lr=RATE)
            batch = Batch(inputs, targets)

            def ours(
                network: MultiTaskNetwork = network,
                losses: TaskLosses = losses,
                optimizer: torch.optim.Optimizer = optimizer,
                batch: Batch = batch,
            ) -> Tensor:
                access = StackedAccess(network, losses, optimizer, batches={"train": batch})
                return torch.from_numpy(access.lookahead_losses())

            difference = float((ours() - loop(network, inputs, targets)).abs().max())
            slow = best_of(lambda n=network, x=inputs, y=targets: loop(n, x, y), times=3)
            fast = best_of(ours, times=10)
            share = f"{limit(tasks) / fast:.2f}" if model == "mlp" else "-"
            figures = f"{slow * 1e3:8.1f} {fast * 1e3:8.1f} {slow / fast:6.1f}x"
            print(f"{model:5} {tasks:6} {figures}  {share:>20}  {difference:18.1e}", flush=True)


if __name__ == "__main__":
    main()
