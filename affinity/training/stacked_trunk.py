"""A trunk evaluated for all tasks at once: one forward, N gradients, N copies with weights of their own."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from affinity.training.layers import flat_layers, layer_of
from affinity.training.layers.base import Layer


class StackedTrunk:
    """Per-task gradients of a trunk, and copies of it that differ in their trainable parameters.

    Args:
        trunk: any module from (B, ...) to (B, width); sequential trunks run layer by layer.
        shared: its trainable parameters, the order of every list of tensors here.
    """

    def __init__(self, trunk: nn.Module, shared: Sequence[nn.Parameter]) -> None:
        self._shared = list(shared)
        position = {id(parameter): index for index, parameter in enumerate(self._shared)}
        self._layers: list[tuple[Layer, dict[str, int]]] = []
        for module in flat_layers(trunk):
            own = {
                name: position[id(parameter)]
                for name, parameter in module.named_parameters()
                if parameter.requires_grad
            }
            self._layers.append((layer_of(module), own))

    def forward(self, inputs: Tensor) -> Tensor:
        """(B, width) features of the trunk as it is; `gradients` refers to this pass."""
        value = inputs
        for layer, _ in self._layers:
            value = layer.forward(value)
        return value

    def gradients(self, cotangents: Tensor) -> list[Tensor]:
        """Gradients of N scalars with respect to the shared parameters.

        Args:
            cotangents: (N, B, width), their gradients with respect to the features of `forward`.

        Returns:
            Per shared parameter (N, *shape).
        """
        found: list[Tensor | None] = [None] * len(self._shared)
        first = next((index for index, (_, own) in enumerate(self._layers) if own), len(self._layers))
        for index in range(len(self._layers) - 1, first - 1, -1):
            layer, own = self._layers[index]
            gradients, below = layer.pull_back(cotangents, inputs_too=index > first)
            for name, place in own.items():
                before = found[place]  # a layer that is used twice adds up
                found[place] = gradients[name] if before is None else before + gradients[name]
            if below is not None:
                cotangents = below
        return [
            parameter.new_zeros(len(cotangents), *parameter.shape) if gradient is None else gradient
            for parameter, gradient in zip(self._shared, found, strict=True)
        ]

    def stacked(self, parameters: Sequence[Tensor], inputs: Tensor, *, count: int) -> Tensor:
        """(M, B, width) features of M copies.

        Args:
            parameters: per shared parameter (M, *shape).
            inputs: (B, ...), the same for all copies.
            count: M, which no parameter tells where all of them are frozen.
        """
        value, common = inputs, True
        with torch.no_grad():
            for layer, own in self._layers:
                if common and not own:  # nothing differs yet, as in front of the first trainable layer
                    value = layer.module(value)
                    continue
                chosen = {name: parameters[place] for name, place in own.items()}
                value = layer.stacked(value, chosen, common=common)
                common = False
        return value.expand(count, *value.shape) if common else value
