"""Mini-batches in an order that depends on a seed alone."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from affinity.core.types import DatasetArrays, IntArray


class Tensors:
    """A dataset on a device.

    Args:
        data: the arrays.
        device: where the tensors live.

    Attributes:
        inputs: (n, ...) float32.
        targets: (n, N) float32; NaN = not labelled.
        complete: no target is missing.
    """

    def __init__(self, data: DatasetArrays, device: torch.device) -> None:
        columns = np.stack([data.targets[task.name] for task in data.tasks], axis=1)
        self.inputs = torch.tensor(data.inputs, device=device)
        self.targets = torch.tensor(columns, dtype=torch.float32, device=device)
        self.complete = not bool(np.isnan(columns).any())
        self.train = data.train
        self.validation = data.validation

    def rows(self, indices: IntArray) -> tuple[Tensor, Tensor]:
        """Inputs and targets of some samples."""
        chosen = torch.tensor(indices, device=self.inputs.device)
        return self.inputs[chosen], self.targets[chosen]


def batches(indices: IntArray, size: int, rng: np.random.Generator) -> Iterator[IntArray]:
    """Endless mini-batches: every epoch a new order, the incomplete last batch of an epoch left out.

    Args:
        indices: samples to draw from.
        size: samples in a batch; all of them when there are fewer.
        rng: decides the order.
    """
    size = min(size, len(indices))
    while True:
        order = rng.permutation(indices)
        for start in range(0, len(order) - size + 1, size):
            yield order[start : start + size]
