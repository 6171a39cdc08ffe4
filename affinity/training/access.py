"""What a probe may look at in one step: each quantity is computed once and leaves no trace.

`LoopAccess` works with anything that can compute its losses again; `affinity.training.stacked` does the same
for our own networks with all tasks at once.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import numpy as np
import torch
from torch import Tensor, nn, optim

from affinity.core.entry import Split
from affinity.core.types import FloatArray
from affinity.training.frozen import replaced, without_trace
from affinity.training.lookahead import lookahead

LossesFunction = Callable[[], Tensor | Sequence[Tensor]]
Reduce = Callable[[Tensor], Tensor]


class StepAccess(ABC):
    """The quantities of one step; the abstract half is how losses and gradients are obtained.

    Args:
        tasks: task names, the order of every axis.
        shared: the shared trainable parameters.
        optimizer: gives learning rate, state and rule of the lookahead.
        layers: names of layers with the positions of their parameters in `shared`.
        plain: look ahead along the plain gradient whatever the optimiser is.
        reduce: averages a tensor over the processes of a distributed training.
    """

    def __init__(
        self,
        tasks: Sequence[str],
        shared: Sequence[nn.Parameter],
        optimizer: optim.Optimizer,
        *,
        layers: Sequence[tuple[str, tuple[int, ...]]] = (),
        plain: bool = False,
        reduce: Reduce = lambda values: values,
    ) -> None:
        self._reduce = reduce
        self._known_steps: dict[bool, list[Tensor]] = {}
        self._known_after: dict[tuple[Split, bool], FloatArray] = {}
        self._tasks = tuple(tasks)
        self._shared = list(shared)
        self._optimizer = optimizer
        self._plain = plain
        self.layers = tuple(layers) or (("shared", tuple(range(len(self._shared)))),)

    @property
    def tasks(self) -> tuple[str, ...]:
        """Task names, the order of every axis."""
        return self._tasks

    @property
    def learning_rate(self) -> float:
        """The optimiser's current learning rate."""
        return float(self._optimizer.param_groups[0]["lr"])

    @abstractmethod
    def losses(self, split: Split = "train") -> FloatArray:
        """(N,) losses before the step; NaN = the task is absent from the batch."""

    @abstractmethod
    def _gradients(self) -> list[Tensor]:
        """Per shared parameter (N, *shape): the gradient of each task's loss; NaN rows for absent tasks."""

    @abstractmethod
    def _losses_after(self, stepped: Sequence[Tensor], split: Split) -> FloatArray:
        """(M, N) losses with the shared parameters replaced by each of (M, *shape) in turn."""

    @abstractmethod
    def _own_losses_after(self, stepped: Sequence[Tensor], split: Split) -> FloatArray:
        """(N,) each task's own loss with shared parameters and its own head after its optimiser step."""

    @cached_property
    def gradients(self) -> list[Tensor]:
        """Per shared parameter (N, *shape): the gradient of each task's loss, computed once a step."""
        return [self._reduce(gradient) for gradient in self._gradients()]

    @cached_property
    def _layer_grams(self) -> FloatArray:
        grams = []
        for _, positions in self.layers:
            # float64 before the product: squares of small float32 gradients would underflow.
            rows = [self.gradients[index].flatten(1).double() for index in positions]
            joined = torch.cat(rows, dim=1) if rows else torch.zeros(len(self._tasks), 0).double()
            grams.append((joined @ joined.T).cpu().numpy())
        return np.stack(grams)

    def gram(self) -> FloatArray:
        """(N, N) inner products of the tasks' gradients with respect to the shared parameters."""
        return np.asarray(self._layer_grams.sum(axis=0))

    def layer_gram(self) -> FloatArray:
        """(L, N, N) the same, one layer of the shared part at a time."""
        return self._layer_grams

    def lookahead_losses(self, split: Split = "train") -> FloatArray:
        """(N, N) [source, affected] losses after a step of the shared part alone, heads fixed."""
        return self._after(split, plain=self._plain)

    def proximal_losses(self, split: Split = "train") -> FloatArray:
        """(N, N) [source, affected] losses after source's own optimiser step: shared part and its head."""
        after = self._after(split, plain=False).copy()
        own = self._own_losses_after(self._stepped(plain=False), split)
        np.fill_diagonal(after, own)
        return after

    def half_cosines(self) -> FloatArray:
        """(N,) cosine between each task's gradients on two halves of the batch.

        NaN where a half has no label of the task, where a gradient is zero, and where the batch cannot be
        split: a loop hands over losses, not samples.
        """
        return np.full(len(self._tasks), np.nan)

    def curvature(self) -> FloatArray:
        """() 2 (L(t + s) - L(t) - g . s) / |s|² with L the sum of the losses and s the joint step.

        Heads stay fixed. NaN where the step is zero.
        """
        total = [gradient.nan_to_num(nan=0.0).sum(dim=0, keepdim=True) for gradient in self.gradients]
        with torch.no_grad():
            stepped = lookahead(self._shared, total, self._optimizer, plain=self._plain)
            moves = [
                (moved[0] - parameter).double().flatten()
                for moved, parameter in zip(stepped, self._shared, strict=True)
            ]
            slope = sum(float(g.double().flatten() @ s) for g, s in zip(total, moves, strict=True))
            square = sum(float(s @ s) for s in moves)
        if square <= 0:
            return np.array(np.nan)
        change = self._losses_after(stepped, "train")[0] - self.losses()
        return np.array(2 * (float(change[np.isfinite(change)].sum()) - slope) / square)

    def _stepped(self, *, plain: bool) -> list[Tensor]:
        """Where each task's step leads, computed once for each rule."""
        if plain not in self._known_steps:
            gradients = self.gradients  # their graph needs gradients to be on
            with torch.no_grad():
                stepped = lookahead(self._shared, gradients, self._optimizer, plain=plain)
            self._known_steps[plain] = stepped
        return self._known_steps[plain]

    def _after(self, split: Split, *, plain: bool) -> FloatArray:
        """Losses after each task's step of the shared part, computed once for each split and rule."""
        if (split, plain) not in self._known_after:
            after = self._losses_after(self._stepped(plain=plain), split)
            after[~np.isfinite(self.losses())] = np.nan  # an absent source took no step
            self._known_after[split, plain] = after
        return self._known_after[split, plain]


class LoopAccess(StepAccess):
    """One task after the other, for any model.

    Args:
        tasks: task names.
        shared: the shared trainable parameters.
        optimizer: gives learning rate, state and rule of the lookahead.
        losses_functions: per split, a function that computes all losses on the batch again: (N,), or better N
            scalars, because in one tensor an infinite loss reaches the gradients of the others.
        heads: per task its own parameters; without them a proximal step moves the shared part alone.
        modules: modules whose buffers stay as they are although they may run without being called.
        layers: names of layers with the positions of their parameters in `shared`.
        plain: look ahead along the plain gradient.
        reduce: averages a tensor over the processes of a distributed training.
    """

    def __init__(
        self,
        tasks: Sequence[str],
        shared: Sequence[nn.Parameter],
        optimizer: optim.Optimizer,
        *,
        losses_functions: Mapping[Split, LossesFunction],
        heads: Sequence[Sequence[nn.Parameter]] = (),
        modules: Sequence[nn.Module] = (),
        layers: Sequence[tuple[str, tuple[int, ...]]] = (),
        plain: bool = False,
        reduce: Reduce = lambda values: values,
    ) -> None:
        super().__init__(tasks, shared, optimizer, layers=layers, plain=plain, reduce=reduce)
        self._functions = losses_functions
        self._heads = heads
        self._modules = modules
        self._values: dict[Split, FloatArray] = {}

    def losses(self, split: Split = "train") -> FloatArray:
        """(N,) losses before the step; NaN = the task is absent from the batch."""
        if split not in self._values:
            with torch.no_grad():
                self._values[split] = self._numpy(self._forward(split))
        return self._values[split]

    def _numpy(self, losses: Tensor | Sequence[Tensor]) -> FloatArray:
        values = (
            losses.detach() if isinstance(losses, Tensor) else torch.stack([one.detach() for one in losses])
        )
        return self._reduce(values).cpu().double().numpy()

    def _forward(self, split: Split) -> Tensor | Sequence[Tensor]:
        with without_trace(self._modules):
            return self._functions[split]()

    @cached_property
    def _all_gradients(self) -> tuple[list[Tensor], list[list[Tensor]]]:
        """Gradients of the shared parameters, and per task those of its own head, from one forward pass."""
        own: list[Sequence[nn.Parameter]] = list(self._heads) or [()] * len(self._tasks)
        # The backward passes are inside too: they may read buffers that are put back afterwards.
        with torch.enable_grad(), without_trace(self._modules):
            losses = self._functions["train"]()
            self._values.setdefault("train", self._numpy(losses))
            rows = [
                task_gradient(loss, [*self._shared, *head]) for loss, head in zip(losses, own, strict=True)
            ]
        count = len(self._shared)
        shared = [torch.stack([row[index] for row in rows]) for index in range(count)]
        return shared, [row[count:] for row in rows]

    def _gradients(self) -> list[Tensor]:
        return self._all_gradients[0]

    def _losses_after(self, stepped: Sequence[Tensor], split: Split) -> FloatArray:
        rows = []
        for source in range(len(stepped[0]) if stepped else len(self._tasks)):
            with replaced(self._shared, [value[source] for value in stepped]), torch.no_grad():
                rows.append(self._numpy(self._forward(split)))
        return np.stack(rows)

    def _own_losses_after(self, stepped: Sequence[Tensor], split: Split) -> FloatArray:
        own = np.full(len(self._tasks), np.nan)
        heads = list(self._heads) or [()] * len(self._tasks)
        for task, head in enumerate(heads):
            gradients = [self._reduce(gradient).unsqueeze(0) for gradient in self._all_gradients[1][task]]
            moved = [value[0] for value in lookahead(head, gradients, self._optimizer)]
            values = [value[task] for value in stepped]
            with replaced([*self._shared, *head], [*values, *moved]), torch.no_grad():
                own[task] = self._numpy(self._forward(split))[task]
        return own


def task_gradient(loss: Tensor, parameters: Sequence[nn.Parameter]) -> list[Tensor]:
    """Gradient of one loss; zeros where it does not reach, NaN when the loss is not finite.

    Parameters another task uses and this one does not are part of its gradient as zeros, so that all
    gradients have one length.
    """
    if not bool(torch.isfinite(loss)):
        return [torch.full_like(parameter, torch.nan) for parameter in parameters]
    if not loss.requires_grad:
        return [torch.zeros_like(parameter) for parameter in parameters]
    found = torch.autograd.grad(loss, parameters, retain_graph=True, allow_unused=True)
    return [
        torch.zeros_like(parameter) if gradient is None else gradient.detach()
        for parameter, gradient in zip(parameters, found, strict=True)
    ]
