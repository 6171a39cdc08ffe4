"""Mini-batches in an order that depends on a seed alone."""

from collections.abc import Sequence
from typing import Self

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


class Batches:
    """Endless mini-batches: every epoch a new order, the incomplete last batch of an epoch left out.

    Args:
        indices: samples to draw from.
        size: samples in a batch; all of them when there are fewer.
        rng: decides the order, unless somebody else does.
        whole: keep the incomplete last batch, so that an epoch visits every sample.

    Attributes:
        positions: places in `indices` of the samples in the last batch.
    """

    def __init__(
        self, indices: IntArray, size: int, rng: np.random.Generator, *, whole: bool = False
    ) -> None:
        self._indices = indices
        self._size = min(size, len(indices))
        self._rng = rng
        self._whole = whole
        self._start = 0
        self._order = np.arange(0)
        self._next: IntArray | None = None
        self.positions: IntArray = np.arange(0)

    @property
    def samples(self) -> int:
        """How many samples there are."""
        return len(self._indices)

    def set_next_order(self, order: Sequence[int]) -> None:
        """Visit the next epoch's samples, by their places, in this order."""
        self._next = np.asarray(order, dtype=np.int64)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> IntArray:
        left = len(self._order) - self._start
        if left <= 0 or (left < self._size and not self._whole):
            drawn = self._rng.permutation(len(self._indices)) if self._next is None else self._next
            self._order, self._next, self._start = drawn, None, 0
        self.positions = self._order[self._start : self._start + self._size]
        self._start += self._size
        return self._indices[self.positions]
