"""A trunk evaluated for all tasks at once: one forward, N gradients, N copies with weights of their own."""

from collections import Counter
from collections.abc import Iterator, Sequence

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
        found = dict(self._by_parameter(cotangents))
        return [
            found[place] if place in found else parameter.new_zeros(len(cotangents), *parameter.shape)
            for place, parameter in enumerate(self._shared)
        ]

    def gram(self, cotangents: Tensor) -> Tensor:
        """(N, N) float64 inner products of the same gradients; only one layer's are kept at a time."""
        count = len(cotangents)
        total = torch.zeros(count, count, dtype=torch.float64, device=cotangents.device)
        for _, gradient in self._by_parameter(cotangents):
            rows = gradient.flatten(1).double()
            total += rows @ rows.T
        return total

    def _by_parameter(self, cotangents: Tensor) -> Iterator[tuple[int, Tensor]]:
        """(position, (N, *shape)) of every parameter that is reached, from the last layer to the first."""
        waiting = Counter(place for _, own in self._layers for place in own.values())
        partial: dict[int, Tensor] = {}
        first = next((index for index, (_, own) in enumerate(self._layers) if own), len(self._layers))
        for index in range(len(self._layers) - 1, first - 1, -1):
            layer, own = self._layers[index]
            gradients, below = layer.pull_back(cotangents, inputs_too=index > first)
            for name, place in own.items():
                gradient = gradients[name]
                waiting[place] -= 1  # a layer that is used twice adds up
                gradient = partial.pop(place) + gradient if place in partial else gradient
                if waiting[place]:
                    partial[place] = gradient
                else:
                    yield place, gradient
            if below is not None:
                cotangents = below

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
