"""The losses of all tasks at once, from one matrix of head outputs; a task without labels has no loss."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

from affinity.core.types import TaskSpec


class TaskLosses:
    """Mean loss of each task over the labelled samples of a batch.

    Regression uses squared error, binary and multiclass tasks cross-entropy. Tasks of one kind are computed
    together.

    Args:
        tasks: the tasks; their outputs stand side by side in this order.
        complete: no target is missing, so that no mask is needed.
    """

    def __init__(self, tasks: Sequence[TaskSpec], *, complete: bool = False) -> None:
        self.tasks = tuple(tasks)
        self.complete = complete
        starts, start = [], 0
        for task in self.tasks:
            starts.append(start)
            start += task.outputs
        self.starts = tuple(starts)
        self.total_outputs = start
        self._regression = self._of_kind("regression")
        self._binary = self._of_kind("binary")
        many = [index for index, task in enumerate(self.tasks) if task.kind == "multiclass"]
        sizes = sorted({self.tasks[index].classes for index in many})
        self._multiclass = {size: [i for i in many if self.tasks[i].classes == size] for size in sizes}
        grouped = [*self._regression, *self._binary, *(i for size in sizes for i in self._multiclass[size])]
        self._order = [grouped.index(index) for index in range(len(self.tasks))]

    def per_sample(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Loss of every sample.

        Args:
            outputs: (..., B, O) head outputs side by side; leading axes are for stacked networks.
            targets: (B, N) without missing values.

        Returns:
            (..., B, N)
        """
        parts = []
        if self._regression:
            errors = outputs[..., self._columns(self._regression)] - targets[:, _span(self._regression)]
            parts.append(errors.square())
        if self._binary:
            logits = outputs[..., self._columns(self._binary)]
            wanted = targets[:, _span(self._binary)].expand_as(logits)
            parts.append(functional.binary_cross_entropy_with_logits(logits, wanted, reduction="none"))
        parts += [self._cross_entropy(outputs, targets, size) for size in self._multiclass]
        joined = parts[0] if len(parts) == 1 else torch.cat(parts, dim=-1)
        return joined if self._order == sorted(self._order) else joined[..., self._order]

    def __call__(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Mean loss of every task.

        Args:
            outputs: (..., B, O) head outputs side by side.
            targets: (B, N); NaN = not labelled.

        Returns:
            (..., N); NaN for a task that no sample of the batch is labelled for.
        """
        if self.complete:
            return self.per_sample(outputs, targets).mean(dim=-2)
        labelled = ~targets.isnan()
        losses = self.per_sample(outputs, torch.where(labelled, targets, 0.0))
        counts = labelled.sum(dim=0)
        # The count is kept from 0 so that no 0/0 enters the backward pass of an absent task.
        means = torch.where(labelled, losses, 0.0).sum(dim=-2) / counts.clamp(min=1)
        return torch.where(counts > 0, means, torch.nan)

    def _cross_entropy(self, outputs: Tensor, targets: Tensor, size: int) -> Tensor:
        members = self._multiclass[size]
        columns = [self.starts[index] + offset for index in members for offset in range(size)]
        logits = outputs[..., _span(columns)].reshape(*outputs.shape[:-1], len(members), size)
        wanted = targets[:, _span(members)].long().unsqueeze(-1)
        chosen: Tensor = logits.gather(-1, wanted.expand(*logits.shape[:-1], 1)).squeeze(-1)
        normaliser: Tensor = logits.logsumexp(dim=-1)
        return normaliser - chosen

    def _of_kind(self, kind: str) -> list[int]:
        return [index for index, task in enumerate(self.tasks) if task.kind == kind]

    def _columns(self, members: list[int]) -> slice | list[int]:
        return _span([self.starts[index] for index in members])


def _span(positions: list[int]) -> slice | list[int]:
    """A slice where the positions are neighbours, because indexing with a list copies."""
    first, count = positions[0], len(positions)
    neighbours = positions == list(range(first, first + count))
    return slice(first, first + count) if neighbours else positions
