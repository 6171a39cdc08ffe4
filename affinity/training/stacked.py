"""All tasks at once for our own networks: one forward, one batched backward, one stacked lookahead.

The N networks of the lookahead differ only in their shared parameters, so they run as one network with a
leading axis of N; the heads are evaluated as a single matrix product.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor, optim

from affinity.core.entry import Split
from affinity.core.types import FloatArray
from affinity.training.access import StepAccess
from affinity.training.frozen import frozen_statistics, same_randomness
from affinity.training.lookahead import lookahead
from affinity.training.losses import TaskLosses
from affinity.training.network import MultiTaskNetwork, layers_of
from affinity.training.stacked_trunk import StackedTrunk

# Values that one chunk of stacked networks may hold in its largest layer. Two million floats are 8 MB, about
# what a cache holds; larger chunks are slower because fresh memory has to be cleared.
CHUNK_VALUES = 2_000_000
# Batch normalisation needs two samples in each half.
LEAST_SPLIT = 4
# Features of stepped trunks are kept for the next probe up to so many values, 256 MB of floats.
KEPT_VALUES = 64_000_000


@dataclass(frozen=True, slots=True)
class Batch:
    """Inputs (B, ...) and targets (B, N); NaN = not labelled."""

    inputs: Tensor
    targets: Tensor


class StackedAccess(StepAccess):
    """The quantities of one step of a `MultiTaskNetwork`.

    Args:
        network: the network being trained.
        losses: the losses of its tasks.
        optimizer: gives learning rate, state and rule of the lookahead.
        batches: the training batch and, where wanted, a held-out one.
        plain: look ahead along the plain gradient.
    """

    def __init__(
        self,
        network: MultiTaskNetwork,
        losses: TaskLosses,
        optimizer: optim.Optimizer,
        *,
        batches: Mapping[Split, Batch],
        plain: bool = False,
    ) -> None:
        names = [task.name for task in losses.tasks]
        layers = layers_of(network.trunk)
        super().__init__(names, network.shared_parameters(), optimizer, layers=layers, plain=plain)
        self._network = network
        self._task_losses = losses
        self._batches = batches
        self._known_features: dict[Split, tuple[Sequence[Tensor], list[Tensor]]] = {}
        self._trunk = StackedTrunk(network.trunk, self._shared)

    def losses(self, split: Split = "train") -> FloatArray:
        """(N,) losses before the step; NaN = the task is absent from the batch."""
        if split == "train":
            return _numpy(self._forward[2])
        batch = self._batches[split]
        with torch.no_grad(), same_randomness(), frozen_statistics([self._network]):
            return _numpy(self._task_losses(self._network(batch.inputs), batch.targets))

    @cached_property
    def _forward(self) -> tuple[Tensor, Tensor, Tensor]:
        """Features, head outputs with a graph of their own, and the losses."""
        batch = self._batches["train"]
        with same_randomness(), frozen_statistics([self._network]):
            features = self._trunk.forward(batch.inputs)
        with torch.enable_grad():
            outputs = self._network.apply_heads(features).detach().requires_grad_()
            return features, outputs, self._task_losses(outputs, batch.targets)

    @cached_property
    def _output_gradients(self) -> Tensor:
        """(B, O): the gradient of each task's loss with respect to its own head outputs.

        A task's loss depends on its own columns alone, so the gradient of the sum holds them all.
        """
        _, outputs, losses = self._forward
        finite = torch.isfinite(losses.detach())
        with torch.enable_grad():
            total = torch.where(finite, losses, 0.0).sum()
        return torch.autograd.grad(total, outputs, retain_graph=True)[0]

    def _gradients(self) -> list[Tensor]:
        absent = ~torch.isfinite(self._forward[2].detach())
        batch = self._batches["train"]
        with torch.no_grad():
            parts = [
                self._trunk.gradients(self._feature_gradients(chunk))
                for chunk in self._chunks(len(self._tasks), batch)
            ]
        gradients = [torch.cat(found) if len(found) > 1 else found[0] for found in zip(*parts, strict=True)]
        if not bool(absent.any()):
            return gradients
        return [
            gradient.masked_fill(absent.view(-1, *[1] * (gradient.dim() - 1)), torch.nan)
            for gradient in gradients
        ]

    def gram_by_layers(self) -> FloatArray:
        """(N, N) inner products of the tasks' gradients, without keeping the gradients for later probes."""
        cotangents = self._feature_gradients(slice(None))
        with torch.no_grad():
            gram = self._trunk.gram(cotangents).cpu().numpy()
        absent = ~np.isfinite(self.losses())
        gram[absent, :] = np.nan
        gram[:, absent] = np.nan
        return gram

    def half_cosines(self) -> FloatArray:
        """See `StepAccess.half_cosines`; every other sample of the batch is in the same half."""
        batch = self._batches["train"]
        if len(batch.inputs) < LEAST_SPLIT or not self._shared:
            return super().half_cosines()
        halves = [
            StackedAccess(
                self._network,
                self._task_losses,
                self._optimizer,
                batches={"train": Batch(batch.inputs[first::2], batch.targets[first::2])},
            ).gradients
            for first in (0, 1)
        ]
        return _cosines(*halves)

    def _feature_gradients(self, chunk: slice) -> Tensor:
        """(M, B, width): the gradient of each of these tasks' losses with respect to the shared features."""
        weight = self._network.stacked_heads()[0].detach()
        per_output = self._output_gradients
        starts, tasks = self._task_losses.starts, self._task_losses.tasks
        if all(task.outputs == 1 for task in tasks):
            return (weight[chunk].T.unsqueeze(-1) * per_output.T[chunk].contiguous()).permute(1, 2, 0)
        return torch.stack(
            [
                per_output[:, start : start + task.outputs] @ weight[start : start + task.outputs]
                for start, task in list(zip(starts, tasks, strict=True))[chunk]
            ]
        )

    def _losses_after(self, stepped: Sequence[Tensor], split: Split) -> FloatArray:
        with torch.no_grad():
            return self._losses_with(stepped, split, self._network.stacked_heads())

    def _own_losses_after(self, stepped: Sequence[Tensor], split: Split) -> FloatArray:
        with torch.no_grad():
            return np.diagonal(self._losses_with(stepped, split, self._stepped_heads())).copy()

    def _losses_with(
        self, stepped: Sequence[Tensor], split: Split, heads: tuple[Tensor, Tensor]
    ) -> FloatArray:
        """(N, N) losses of the stepped trunks under the given weights and biases of all heads."""
        targets = self._batches[split].targets
        return np.concatenate(
            [
                _numpy(self._task_losses(_outputs(features, *heads), targets))
                for features in self._features_after(stepped, split)
            ]
        )

    def _features_after(self, stepped: Sequence[Tensor], split: Split) -> Iterator[Tensor]:
        """Features of the stepped trunks by chunks; kept for the next probe where they are not too many."""
        known = self._known_features.get(split)
        if known is not None and known[0] is stepped:
            yield from known[1]
            return
        batch, kept = self._batches[split], list[Tensor]()
        count = len(stepped[0]) if stepped else len(self._tasks)
        for chunk in self._chunks(count, batch):
            features = self._stacked_features(stepped, chunk, batch.inputs)
            if count * features[0].numel() <= KEPT_VALUES:
                kept.append(features)
            yield features
        if kept:
            self._known_features[split] = (stepped, kept)

    def _stepped_heads(self) -> tuple[Tensor, Tensor]:
        """All heads after each has taken its own task's optimiser step."""
        features = self._forward[0]
        per_output = self._output_gradients
        weights, biases = per_output.T @ features, per_output.sum(dim=0)
        moved_weights, moved_biases = [], []
        heads: Any = self._network.heads
        for head, start, task in zip(heads, self._task_losses.starts, self._task_losses.tasks, strict=True):
            rows = slice(start, start + task.outputs)
            gradients = [weights[rows].unsqueeze(0), biases[rows].unsqueeze(0)]
            weight, bias = lookahead([head.weight, head.bias], gradients, self._optimizer)
            moved_weights.append(weight[0])
            moved_biases.append(bias[0])
        return torch.cat(moved_weights), torch.cat(moved_biases)

    def _stacked_features(self, stepped: Sequence[Tensor], chunk: slice, inputs: Tensor) -> Tensor:
        """(M, B, width) features of the chunk's trunks, which differ in their trainable parameters."""
        chosen, count = [value[chunk] for value in stepped], chunk.stop - chunk.start
        with same_randomness(), frozen_statistics([self._network]):
            return self._trunk.stacked(chosen, inputs, count=count)

    def _chunks(self, count: int, batch: Batch) -> list[slice]:
        widest = max((parameter.shape[0] for parameter in self._shared), default=1)
        positions = batch.inputs[0, 0].numel() if batch.inputs.dim() > 2 else 1
        size = max(1, CHUNK_VALUES // max(1, len(batch.inputs) * widest * positions))
        return [slice(start, min(start + size, count)) for start in range(0, count, size)]


def _outputs(features: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """(M, B, O) outputs of all heads on (M, B, width) features that lie in memory as (M, width, B)."""
    return (torch.matmul(weight, features.transpose(1, 2)) + bias.unsqueeze(-1)).transpose(1, 2)


def _cosines(one: Sequence[Tensor], other: Sequence[Tensor]) -> FloatArray:
    """(N,) cosines between rows that are given one parameter at a time; NaN where a row is zero."""
    lengths = np.sqrt(_row_products(one, one)) * np.sqrt(_row_products(other, other))
    known = np.isfinite(lengths) & (lengths > 0)
    cosines = _row_products(one, other) / np.where(known, lengths, 1.0)
    return np.where(known, np.clip(cosines, -1.0, 1.0), np.nan)


def _row_products(one: Sequence[Tensor], other: Sequence[Tensor]) -> FloatArray:
    parts = [
        (first.flatten(1).double() * second.flatten(1).double()).sum(dim=1)
        for first, second in zip(one, other, strict=True)
    ]
    return _numpy(torch.stack(parts).sum(dim=0))


def _numpy(values: Tensor) -> FloatArray:
    return values.detach().cpu().double().numpy()
