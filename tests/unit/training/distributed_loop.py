"""One process of a distributed training, recorded or not; prints what it ended with.

Usage: distributed_loop.py RANK MEETING_FILE HOME_OR_DASH KIND
"""

import hashlib
import sys

import torch
from recorded_loop import TASKS, Net, batch
from torch import distributed, nn

from affinity.training.recorder import Recorder

PROCESSES = 2
STEPS = 3


class Wrapped(nn.Module):
    """A network whose forward gives all losses, so that the distributed wrapper sees one call."""

    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, inputs: torch.Tensor, targets: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        outputs = self.net(inputs)
        return {task: (outputs[task] - targets[task]).square().mean() for task in TASKS}


def part(step: int, rank: int) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """The half of a step's batch that belongs to a process."""
    inputs, targets = batch(step)
    rows = slice(rank * 8, rank * 8 + 8)
    return inputs[rows], {task: values[rows] for task, values in targets.items()}


def network(kind: str) -> Net:
    """Plain layers where two halves have to add up; batch norm and dropout where only the end counts."""
    torch.manual_seed(0)
    net = Net(dropout=0.3 if kind == "full" else 0.0)
    if kind == "plain":
        net.trunk[1] = nn.Identity()
    del net.unused
    return net


def main(rank: int, meeting: str, home: str, kind: str) -> None:
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=PROCESSES)
    net = network(kind)
    model = nn.parallel.DistributedDataParallel(Wrapped(net))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    log = None if home == "-" else Recorder(home, tasks=TASKS, every=1)
    shared = list(net.trunk.parameters())
    torch.manual_seed(rank)
    for step in range(STEPS):
        optimizer.zero_grad()
        inputs, targets = part(step, rank)
        losses = model(inputs, targets)
        if log is not None:
            log.step(step, losses, shared=shared)
            heads = {task: net.heads[task].parameters() for task in TASKS}
            log.lookahead(
                step,
                lambda inputs=inputs, targets=targets: model(inputs, targets),
                shared=shared,
                optimizer=optimizer,
                heads=heads,
            )
        sum(losses.values()).backward()
        optimizer.step()
    if log is not None:
        log.close()
    ended = [*model.parameters(), *model.buffers(), torch.get_rng_state()]
    print(hashlib.sha256(b"".join(value.detach().numpy().tobytes() for value in ended)).hexdigest())
    distributed.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
