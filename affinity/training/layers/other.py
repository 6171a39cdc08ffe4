"""Any other layer, by torch.func; where that fails, one task after the other."""

import logging
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.func import functional_call, vmap

from affinity.training.frozen import same_randomness
from affinity.training.layers.base import Layer, Parameters

_log = logging.getLogger(__name__)
_GIVEN_UP: set[str] = set()
"""Kinds of layers that were already reported, so that each is named once in a process."""


@dataclass(slots=True)
class OtherLayer(Layer):
    """Anything else: batched automatic differentiation and vmap, or one after the other where they fail."""

    batched: bool = True
    _inputs: Tensor | None = None
    _output: Tensor | None = None

    def forward(self, inputs: Tensor) -> Tensor:
        self._inputs = inputs.detach().requires_grad_()
        with torch.enable_grad():
            self._output = self.module(self._inputs)
        assert self._output is not None
        return self._output.detach()

    def pull_back(self, cotangents: Tensor, *, inputs_too: bool) -> tuple[Parameters, Tensor | None]:
        assert self._inputs is not None
        own = dict(self.module.named_parameters())
        wanted = [own[name] for name in self.names]
        targets = [*wanted, self._inputs] if inputs_too else wanted
        if not targets:
            return {}, None
        found = self._gradients(targets, cotangents)
        filled = [
            target.new_zeros(len(cotangents), *target.shape) if gradient is None else gradient
            for target, gradient in zip(targets, found, strict=True)
        ]
        return dict(zip(self.names, filled, strict=False)), filled[-1] if inputs_too else None

    def stacked(self, inputs: Tensor, parameters: Parameters, *, common: bool) -> Tensor:
        if common and not parameters:
            output: Tensor = self.module(inputs)
            return output
        if self.batched:
            axes = (dict.fromkeys(parameters, 0), None if common else 0)
            state = torch.get_rng_state()
            try:
                result: Tensor = vmap(self._one, axes, randomness="same")(dict(parameters), inputs)
            except RuntimeError as error:
                torch.set_rng_state(state)
                self._give_up(error)
            else:
                return result
        return self._in_turn(inputs, parameters, common=common)

    def _one(self, parameters: Parameters, inputs: Tensor) -> Tensor:
        result: Tensor = functional_call(self.module, dict(parameters), (inputs,))
        return result

    def _in_turn(self, inputs: Tensor, parameters: Parameters, *, common: bool) -> Tensor:
        count = len(inputs) if not common else len(next(iter(parameters.values())))
        outputs = []
        for index in range(count):
            own = {name: values[index] for name, values in parameters.items()}
            last = index == count - 1  # the random state moves on once, as for a single layer
            with nullcontext() if last else same_randomness():
                outputs.append(self._one(own, inputs if common else inputs[index]))
        return torch.stack(outputs)

    def _gradients(self, targets: Sequence[Tensor], cotangents: Tensor) -> Sequence[Tensor | None]:
        if self.batched:
            try:
                return self._gradient(targets, cotangents, batched=True)
            except RuntimeError as error:
                self._give_up(error)
        rows = [self._gradient(targets, cotangent, batched=False) for cotangent in cotangents]
        return [None if column[0] is None else torch.stack(column) for column in zip(*rows, strict=True)]

    def _gradient(self, targets: Sequence[Tensor], cotangent: Tensor, *, batched: bool) -> tuple[Tensor, ...]:
        assert self._output is not None
        return torch.autograd.grad(
            self._output,
            targets,
            cotangent,
            is_grads_batched=batched,
            allow_unused=True,
            retain_graph=True,
        )

    def _give_up(self, error: RuntimeError) -> None:
        self.batched = False
        name, reason = type(self.module).__name__, str(error).splitlines()[0]
        if name not in _GIVEN_UP:
            _GIVEN_UP.add(name)
            _log.warning("%s cannot be batched (%s); its tasks run one after the other.", name, reason)
