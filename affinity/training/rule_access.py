"""What a `StepRule` may ask for, answered from losses with a graph."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

import numpy as np
import torch
from torch import Tensor, nn

from affinity.core.types import AnyArray, FloatArray
from affinity.training.inner_products import gram_of

LossesOf = Callable[[], Sequence[Tensor] | Tensor]


class Samples:
    """The samples of a step's batch, for methods that choose their order.

    Args:
        count: samples in an epoch.
        numbers: their positions in the training part, in the order of the batch.
        losses: (B, N) loss of each sample for each task, with a graph; NaN = not labelled.
        set_next_order: takes the order of the next epoch.
    """

    def __init__(
        self,
        count: int,
        numbers: Sequence[int],
        losses: Callable[[], Tensor],
        set_next_order: Callable[[Sequence[int]], None],
    ) -> None:
        self.count = count
        self.numbers = numbers
        self.losses = losses
        self.set_next_order = set_next_order


class TorchAccess:
    """One step on the losses of a training; implements `RuleAccess`.

    Vectors are flat tensors over the shared parameters in the order given.

    Args:
        losses: N scalars of the step's batch; one that is not finite has no gradient.
        shared: the shared trainable parameters.
        second: gives N scalars of an independent batch; without it that is the step's batch once more.
        samples: the batch's samples; without them the batch counts as one sample.
    """

    # Numbers that the gradients of a chunk of samples may hold.
    CHUNK_VALUES = 16_000_000

    def __init__(
        self,
        losses: Sequence[Tensor] | Tensor,
        shared: Sequence[nn.Parameter],
        *,
        second: LossesOf | None = None,
        samples: Samples | None = None,
    ) -> None:
        self._shared = list(shared)
        self._second = second
        self._samples = samples
        self._losses: dict[int, list[Tensor]] = {0: list(losses)}

    @property
    def count(self) -> int:
        """Number of tasks."""
        return len(self._losses[0])

    def gradient(self, weights: FloatArray, *, batch: int = 0) -> Tensor:
        """The gradient of the weighted sum of the losses."""
        return self._flat(self._parts(weights, self._shared, batch))

    def products(self, direction: Tensor, *, batch: int = 0) -> FloatArray:
        """(N,) inner products of every task's gradient with a direction; NaN where it has none."""
        found = np.full(self.count, np.nan)
        for task in range(self.count):
            row = self.gradient(np.eye(self.count)[task], batch=batch).double()
            if bool(row.any()):
                found[task] = float(row @ direction.double())
        return found

    def gram(self, vectors: Sequence[Tensor]) -> FloatArray:
        """(M, M) float64 inner products."""
        return gram_of(vectors)

    def combination(self, vectors: Sequence[Tensor], weights: FloatArray) -> Tensor:
        """sum_i weights_i * vectors_i."""
        total = torch.zeros_like(vectors[0])
        for vector, weight in zip(vectors, weights, strict=True):
            if weight:
                total += vector * float(weight)
        return total

    def vector(self, values: Sequence[float] | Tensor | None) -> Tensor:
        """Numbers as a vector on the parameters' device; zeros for None."""
        first = self._shared[0]
        if values is None:
            return first.new_zeros(sum(parameter.numel() for parameter in self._shared))
        return torch.as_tensor(values, dtype=first.dtype, device=first.device)

    @cached_property
    def _structure(self) -> tuple[AnyArray, FloatArray]:
        """(N, V) which loss reaches which parameter tensor, and (V, N, N) inner products."""
        rows = [self._reached(task) for task in range(self.count)]
        uses = np.array([[part is not None for part in row] for row in rows])
        grams = np.zeros((len(self._shared), self.count, self.count))
        for place, parameter in enumerate(self._shared):
            parts = [row[place] for row in rows]
            flat = [parameter.new_zeros(parameter.numel()) if p is None else p.flatten() for p in parts]
            grams[place] = gram_of(flat)
        return uses, grams

    def uses(self) -> AnyArray:
        """(N, V) bool: the graph of a loss reaches a parameter tensor."""
        return self._structure[0]

    def variable_grams(self) -> FloatArray:
        """(V, N, N) inner products, one parameter tensor at a time."""
        return self._structure[1]

    def block_gradient(self, weights: FloatArray) -> Tensor:
        """Each parameter tensor with weights of its own; one backward pass for each different row."""
        parts: list[Tensor] = [torch.zeros_like(parameter) for parameter in self._shared]
        rows, which = np.unique(weights, axis=0, return_inverse=True)
        for index, row in enumerate(rows):
            places = np.flatnonzero(which.ravel() == index).tolist()
            if row.any():
                found = self._parts(row, [self._shared[place] for place in places], 0)
                for place, part in zip(places, found, strict=True):
                    parts[place] = part
        return self._flat(parts)

    def samples(self) -> Iterator[tuple[int, Sequence[Tensor]]]:
        """Each sample of the batch with its gradients, computed a chunk at a time."""
        if self._samples is None:
            yield 0, [self.gradient(one) for one in np.eye(self.count)]
            return
        size = self.vector(None).numel()
        step = max(1, self.CHUNK_VALUES // max(1, size * self.count))
        losses = self._samples.losses()
        for start in range(0, len(losses), step):
            rows = self._sample_rows(losses[start : start + step])
            for offset, gradients in enumerate(rows):
                yield int(self._samples.numbers[start + offset]), list(gradients)

    def sample_count(self) -> int:
        """Samples in an epoch; 1 where they are not known."""
        return 1 if self._samples is None else self._samples.count

    def set_next_order(self, order: Sequence[int]) -> None:
        """Hand the order to whoever draws the batches."""
        if self._samples is not None:
            self._samples.set_next_order(order)

    def _sample_rows(self, losses: Tensor) -> Tensor:
        """(S, N, n) gradients of S samples' losses (S, N), all in one batched backward pass."""
        flat = torch.where(torch.isfinite(losses), losses, 0.0).flatten()
        ones = torch.eye(len(flat), dtype=flat.dtype, device=flat.device)
        found = torch.autograd.grad(
            flat, self._shared, ones, retain_graph=True, allow_unused=True, is_grads_batched=True
        )
        parts = [
            parameter.new_zeros(len(flat), parameter.numel()) if part is None else part.flatten(1)
            for parameter, part in zip(self._shared, found, strict=True)
        ]
        return torch.cat(parts, dim=1).view(*losses.shape, -1)

    def _reached(self, task: int) -> Sequence[Tensor | None]:
        loss = self._losses[0][task]
        if not loss.requires_grad or not bool(torch.isfinite(loss)):
            return [None] * len(self._shared)
        return torch.autograd.grad(loss, self._shared, retain_graph=True, allow_unused=True)

    def _parts(self, weights: FloatArray, parameters: Sequence[nn.Parameter], batch: int) -> list[Tensor]:
        losses = self._on(batch)
        chosen = [
            loss * float(weight)
            for loss, weight in zip(losses, weights, strict=True)
            if weight and loss.requires_grad and bool(torch.isfinite(loss))
        ]
        if not chosen:
            return [torch.zeros_like(parameter) for parameter in parameters]
        total = torch.stack(chosen).sum()
        found = torch.autograd.grad(total, parameters, retain_graph=True, allow_unused=True)
        return [
            torch.zeros_like(parameter) if part is None else part.detach()
            for parameter, part in zip(parameters, found, strict=True)
        ]

    def _on(self, batch: int) -> list[Tensor]:
        if batch not in self._losses:
            self._losses[batch] = self._losses[0] if self._second is None else list(self._second())
        return self._losses[batch]

    def _flat(self, parts: Iterable[Tensor]) -> Tensor:
        return torch.cat([part.flatten() for part in parts])
