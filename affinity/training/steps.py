"""One optimiser step of our own networks by any training method."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn, optim

from affinity.core.config import TrainConfig
from affinity.core.errors import NonFiniteLoss
from affinity.core.method import GramWeighting
from affinity.core.types import FloatArray
from affinity.training.combining import Combiner
from affinity.training.frozen import frozen_statistics, random_state, same_randomness, set_random_state
from affinity.training.losses import TaskLosses
from affinity.training.network import MultiTaskNetwork
from affinity.training.rule_access import Samples
from affinity.training.stacked import Batch, StackedAccess


def make_optimizer(config: TrainConfig, parameters: list[nn.Parameter]) -> optim.Optimizer:
    """The optimiser of a config: `sgd`, `momentum` or `adam`."""
    if config.optimizer == "adam":
        return optim.Adam(parameters, lr=config.lr, weight_decay=config.weight_decay)
    momentum = config.momentum if config.optimizer == "momentum" else 0.0
    return optim.SGD(parameters, lr=config.lr, momentum=momentum, weight_decay=config.weight_decay)


@dataclass(frozen=True, slots=True)
class Order:
    """What a method that orders the samples needs to know about a batch.

    Attributes:
        positions: places of the batch's samples in the training part.
        samples: how many samples an epoch has.
        set_next: takes the order of the next epoch.
    """

    positions: Sequence[int]
    samples: int
    set_next: Callable[[Sequence[int]], None]


@dataclass(slots=True)
class Stepper:
    """Takes optimiser steps with a training method and counts the forward-backward passes.

    Attributes:
        network, losses, optimizer: what is trained.
        combiner: the method with its memory.
        weights: (N,) the method's weights in the last step, or None where it has none.
        passes: forward-backward passes so far.
    """

    network: MultiTaskNetwork
    losses: TaskLosses
    optimizer: optim.Optimizer
    combiner: Combiner
    weights: FloatArray | None = None
    passes: int = field(default=0)

    @classmethod
    def of(
        cls, config: TrainConfig, network: MultiTaskNetwork, losses: TaskLosses, optimizer: optim.Optimizer
    ) -> "Stepper":
        """The stepper of a config.

        Raises:
            SettingsError: the method is unknown, or its settings do not fit.
        """
        combiner = Combiner(
            config.method,
            tasks=[task.name for task in losses.tasks],
            settings=dict(config.method_settings),
            seed=[config.seed, 2],
        )
        return cls(network, losses, optimizer, combiner)

    def step(
        self,
        step: int,
        inputs: Tensor,
        targets: Tensor,
        *,
        second: Callable[[], tuple[Tensor, Tensor]] | None = None,
        order: Order | None = None,
    ) -> FloatArray:
        """One update on a batch.

        A batch without any label changes nothing.

        Args:
            step: updates done so far.
            inputs: the batch.
            targets: its labels; NaN = not labelled.
            second: draws another batch, for methods that need two.
            order: the batch's place in the epoch, for methods that order the samples.

        Returns:
            (N,) losses before the update; NaN = absent from the batch, or not finite and left out.

        Raises:
            NonFiniteLoss: no labelled task has a finite loss.
        """
        drawn = random_state()
        batch = Batch(inputs, targets)
        features = self.network.trunk(inputs)
        losses = self.losses(self.network.apply_heads(features), targets)
        values = losses.detach().cpu().double().numpy()
        present = np.isfinite(values)
        if not present.all():
            labelled = (~targets.isnan()).any(dim=0).cpu().numpy()
            if not labelled.any():
                return values
            if not present.any():
                raise _nothing_finite(step, values, labelled, self.combiner.tasks)
            losses = self._without_broken(features, targets, broken=labelled & ~present)
        self.optimizer.zero_grad(set_to_none=True)
        self.weights = self.combiner.backward(
            losses,
            self.network.shared_parameters(),
            heads=list(self.network.heads.parameters()),
            second=None if second is None else lambda: self._losses_on(*second()),
            samples=None if order is None else self._samples(batch, order),
            gram=lambda: self._gram(batch, drawn),
        )
        self.passes += 1 + (int(present.sum()) if isinstance(self.combiner.method, GramWeighting) else 0)
        self.optimizer.step()
        rate = float(self.optimizer.param_groups[0]["lr"])
        self.combiner.after_step(lambda: self._losses_again(batch, drawn), rate)
        return values

    def _without_broken(self, features: Tensor, targets: Tensor, *, broken: np.ndarray[Any, Any]) -> Tensor:
        """The losses with broken tasks cut off: even at weight 0 their infinities flow back as NaN."""
        whole = torch.as_tensor(~broken, device=targets.device)
        columns = torch.repeat_interleave(
            whole, torch.tensor([task.outputs for task in self.losses.tasks], device=targets.device)
        )
        outputs = self.network.apply_heads(features, kept=columns)
        losses = self.losses(outputs, torch.where(whole, targets, 0.0))
        return torch.where(whole, losses, torch.nan)

    def _losses_on(self, inputs: Tensor, targets: Tensor) -> Tensor:
        return self.losses(self.network(inputs), targets)

    def _losses_again(self, batch: Batch, drawn: list[Tensor]) -> FloatArray:
        """(N,) losses with the parameters as they are now and the dropout masks of the step."""
        with torch.no_grad(), same_randomness(), frozen_statistics([self.network]):
            set_random_state(drawn)
            return self._losses_on(batch.inputs, batch.targets).cpu().double().numpy()

    def _gram(self, batch: Batch, drawn: list[Tensor]) -> FloatArray:
        """(N, N) layer by layer with all tasks at once; rows and columns of absent tasks are NaN."""
        with same_randomness():
            set_random_state(drawn)
            access = StackedAccess(self.network, self.losses, self.optimizer, batches={"train": batch})
            return access.gram_by_layers()

    def _samples(self, batch: Batch, order: Order) -> Samples:
        def losses() -> Tensor:
            outputs = self.network(batch.inputs)
            labelled = ~batch.targets.isnan()
            each = self.losses.per_sample(outputs, torch.where(labelled, batch.targets, 0.0))
            return torch.where(labelled, each, torch.nan)

        return Samples(order.samples, order.positions, losses, order.set_next)


def _nothing_finite(
    step: int, values: FloatArray, labelled: np.ndarray[Any, Any], tasks: Sequence[str]
) -> NonFiniteLoss:
    first = int(np.argmax(labelled))
    return NonFiniteLoss(
        f"no task has a finite loss; that of '{tasks[first]}' is {values[first]}.",
        f"step {step}",
        "Lower the learning rate.",
    )
