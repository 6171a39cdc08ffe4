"""One optimiser step by each kind of training method."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn, optim

from affinity.core.config import TrainConfig
from affinity.core.errors import NonFiniteLoss
from affinity.core.method import GramWeighting, LossWeighting, Method
from affinity.core.types import FloatArray
from affinity.methods import METHODS, weigh_gram
from affinity.training.access import task_gradient
from affinity.training.losses import TaskLosses
from affinity.training.network import MultiTaskNetwork


def make_optimizer(config: TrainConfig, parameters: list[nn.Parameter]) -> optim.Optimizer:
    """The optimiser of a config: `sgd`, `momentum` or `adam`."""
    if config.optimizer == "adam":
        return optim.Adam(parameters, lr=config.lr, weight_decay=config.weight_decay)
    momentum = config.momentum if config.optimizer == "momentum" else 0.0
    return optim.SGD(parameters, lr=config.lr, momentum=momentum, weight_decay=config.weight_decay)


@dataclass(slots=True)
class Stepper:
    """Takes optimiser steps with a training method and counts the forward-backward passes."""

    network: MultiTaskNetwork
    losses: TaskLosses
    optimizer: optim.Optimizer
    method: Method
    settings: Any
    rng: np.random.Generator
    state: Any = None
    passes: int = field(default=0)

    @classmethod
    def of(
        cls, config: TrainConfig, network: MultiTaskNetwork, losses: TaskLosses, optimizer: optim.Optimizer
    ) -> "Stepper":
        """The stepper of a config.

        Raises:
            SettingsError: the method is unknown, or its settings do not fit.
        """
        method = METHODS.find(config.method)
        settings = method.settings.from_json(dict(config.method_settings))
        rng = np.random.default_rng([config.seed, 2])
        return cls(network, losses, optimizer, method, settings, rng)

    def step(self, step: int, inputs: Tensor, targets: Tensor) -> FloatArray:
        """One update on a batch.

        A batch without any label changes nothing.

        Returns:
            (N,) losses before the update; NaN = absent from the batch, or not finite and left out.

        Raises:
            NonFiniteLoss: no labelled task has a finite loss.
        """
        features = self.network.trunk(inputs)
        losses = self.losses(self.network.apply_heads(features), targets)
        values = losses.detach().cpu().double().numpy()
        present = np.isfinite(values)
        if not present.all():
            labelled = (~targets.isnan()).any(dim=0).cpu().numpy()
            if not labelled.any():
                return values
            if not present.any():
                first = int(np.argmax(labelled))
                name = self.losses.tasks[first].name
                raise NonFiniteLoss(
                    f"no task has a finite loss; that of '{name}' is {values[first]}.",
                    f"step {step}",
                    "Lower the learning rate.",
                )
            losses = self._without_broken(features, targets, broken=labelled & ~present)
        self.optimizer.zero_grad(set_to_none=True)
        if isinstance(self.method, GramWeighting):
            self._gram_step(losses, present)
        else:
            self._loss_step(losses, values, present)
        self.optimizer.step()
        return values

    def _without_broken(self, features: Tensor, targets: Tensor, *, broken: np.ndarray[Any, Any]) -> Tensor:
        """The losses with broken tasks cut off: even at weight 0 their infinities flow back as NaN."""
        whole = torch.as_tensor(~broken, device=targets.device)
        columns = torch.repeat_interleave(
            whole, torch.tensor([task.outputs for task in self.losses.tasks], device=targets.device)
        )
        outputs = self.network.apply_heads(features, kept=columns)
        return self.losses(outputs, torch.where(whole, targets, 0.0))

    def _loss_step(self, losses: Tensor, values: FloatArray, present: np.ndarray[Any, Any]) -> None:
        assert isinstance(self.method, LossWeighting)
        weights, self.state = self.method.weigh(values, self.state, self.rng, self.settings)
        _weighted(losses, weights, present).backward()
        self.passes += 1

    def _gram_step(self, losses: Tensor, present: np.ndarray[Any, Any]) -> None:
        """Weights from the Gram matrix for the shared part; every head follows its own loss."""
        shared = self.network.shared_parameters()
        gram = self._gram(losses, present, shared)
        assert isinstance(self.method, GramWeighting)
        weights, self.state = weigh_gram(self.method, gram, self.state, self.rng, self.settings)
        heads = list(self.network.heads.parameters())
        plain = _weighted(losses, np.ones(len(weights)), present)
        own = torch.autograd.grad(plain, heads, retain_graph=True, allow_unused=True)
        joint = torch.autograd.grad(_weighted(losses, weights, present), shared, allow_unused=True)
        for parameter, gradient in zip([*heads, *shared], [*own, *joint], strict=True):
            parameter.grad = gradient
        self.passes += 1 + int(present.sum())

    def _gram(self, losses: Tensor, present: np.ndarray[Any, Any], shared: list[nn.Parameter]) -> FloatArray:
        """(N, N) float64; rows and columns of absent tasks are NaN."""
        rows = []
        for index in np.flatnonzero(present):
            parts = [gradient.flatten() for gradient in task_gradient(losses[index], shared)]
            rows.append(torch.cat(parts).double())
        matrix = torch.stack(rows)
        gram = np.full((len(present), len(present)), np.nan)
        gram[np.ix_(present, present)] = (matrix @ matrix.T).cpu().numpy()
        return gram


def _weighted(losses: Tensor, weights: FloatArray, present: np.ndarray[Any, Any]) -> Tensor:
    chosen = torch.as_tensor(np.where(present, weights, 0.0), dtype=losses.dtype, device=losses.device)
    return torch.where(chosen != 0, losses * chosen, 0.0).sum()
