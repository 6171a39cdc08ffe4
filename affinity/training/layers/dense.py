"""Linear layers as matrix products for all tasks, and layers that work element by element.

Values of (N, B, features) lie in memory with the features first, (features, N, B): then one plain matrix
product serves all tasks, forwards and backwards. Elementwise operations keep that order.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from affinity.training.layers.base import Layer, Parameters

ELEMENTWISE = (
    *(nn.ReLU, nn.ReLU6, nn.LeakyReLU, nn.ELU, nn.GELU, nn.SiLU, nn.Mish, nn.Softplus),
    *(nn.Tanh, nn.Hardtanh, nn.Sigmoid, nn.Identity),
)


@dataclass(slots=True)
class LinearLayer(Layer):
    """`y = x W' + b` on (B, in) inputs."""

    module: nn.Linear
    _inputs: Tensor | None = None

    def forward(self, inputs: Tensor) -> Tensor:
        self._inputs = inputs.detach()
        with torch.no_grad():
            output: Tensor = self.module(inputs)
        return output

    def pull_back(self, cotangents: Tensor, *, inputs_too: bool) -> tuple[Parameters, Tensor | None]:
        assert self._inputs is not None
        count, samples, outputs = cotangents.shape
        ordered = cotangents.permute(2, 0, 1)
        gradients = {}
        if "weight" in self.names:
            product = ordered.reshape(outputs * count, samples) @ self._inputs
            gradients["weight"] = product.view(outputs, count, -1).transpose(0, 1)
        if "bias" in self.names:
            gradients["bias"] = ordered.sum(dim=2).T
        if not inputs_too:
            return gradients, None
        flat = self.module.weight.detach().T @ ordered.reshape(outputs, count * samples)
        return gradients, flat.view(-1, count, samples).permute(1, 2, 0)

    def stacked(self, inputs: Tensor, parameters: Parameters, *, common: bool) -> Tensor:
        weight = parameters.get("weight")
        bias: Tensor | None = parameters.get("bias", self.module.bias)
        if not parameters:  # frozen, behind a layer that is not
            alike: Tensor = self.module(inputs)
            return alike
        if weight is None:
            flat = functional.linear(inputs, self.module.weight)
            product = flat.expand(len(next(iter(parameters.values()))), *flat.shape) if common else flat
            return product if bias is None else product + _beside(bias, "bias" in parameters)
        output = self._of_one_input(inputs, weight) if common else torch.bmm(weight, inputs.transpose(1, 2))
        if bias is not None:
            output += bias.unsqueeze(-1)
        return output.transpose(1, 2)

    def _of_one_input(self, inputs: Tensor, weight: Tensor) -> Tensor:
        """(M, out, B): the copies' weights one above the other are one matrix."""
        count, outputs = weight.shape[:2]
        rows = weight.transpose(0, 1).reshape(outputs * count, -1) @ inputs.T
        return rows.view(outputs, count, -1).transpose(0, 1)


@dataclass(slots=True)
class ElementwiseLayer(Layer):
    """A layer without parameters whose every output depends on one input."""

    _slope: Tensor | None = None

    def forward(self, inputs: Tensor) -> Tensor:
        # Cloned because an in-place activation would overwrite what the layer before remembers.
        start = inputs.detach().clone().requires_grad_()
        with torch.enable_grad():
            output: Tensor = self.module(start.clone())
        slope = torch.autograd.grad(output.sum(), start)[0]
        self._slope = slope.T.contiguous().T if slope.dim() == 2 else slope
        return output.detach()

    def pull_back(self, cotangents: Tensor, *, inputs_too: bool) -> tuple[Parameters, Tensor | None]:
        assert self._slope is not None
        # In place, because clearing fresh memory takes longer than the product.
        return {}, cotangents.mul_(self._slope) if inputs_too else None

    def stacked(self, inputs: Tensor, parameters: Parameters, *, common: bool) -> Tensor:
        if isinstance(self.module, nn.ReLU) and not common:
            return inputs.relu_()
        output: Tensor = self.module(inputs)
        return output


@dataclass(slots=True)
class DropoutLayer(ElementwiseLayer):
    """Elementwise, and every copy drops the units that the single layer would drop."""

    def stacked(self, inputs: Tensor, parameters: Parameters, *, common: bool) -> Tensor:
        one = inputs if common else inputs[0]
        # In plain order, because random numbers are drawn in the order of memory.
        mask: Tensor = self.module(torch.ones_like(one, memory_format=torch.contiguous_format))
        return inputs * mask


@dataclass(slots=True)
class FlattenLayer(Layer):
    """(B, ...) to (B, features)."""

    module: nn.Flatten
    _shape: torch.Size | None = None

    def forward(self, inputs: Tensor) -> Tensor:
        self._shape = inputs.shape
        return inputs.flatten(1)

    def pull_back(self, cotangents: Tensor, *, inputs_too: bool) -> tuple[Parameters, Tensor | None]:
        assert self._shape is not None
        return {}, cotangents.reshape(len(cotangents), *self._shape) if inputs_too else None

    def stacked(self, inputs: Tensor, parameters: Parameters, *, common: bool) -> Tensor:
        return inputs.flatten(1 if common else 2)


def _beside(bias: Tensor, stacked: bool) -> Tensor:
    return bias.unsqueeze(1) if stacked else bias
