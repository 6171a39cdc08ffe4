"""Linear layers as batched matrix products, and layers that work element by element."""

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
        gradients = {}
        if "weight" in self.names:
            shared = self._inputs.expand(count, *self._inputs.shape)
            gradients["weight"] = torch.bmm(cotangents.transpose(1, 2), shared)
        if "bias" in self.names:
            gradients["bias"] = cotangents.sum(dim=1)
        if not inputs_too:
            return gradients, None
        flat = cotangents.reshape(count * samples, outputs) @ self.module.weight.detach()
        return gradients, flat.view(count, samples, -1)

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
        copies = inputs.expand(len(weight), *inputs.shape) if common else inputs
        if bias is None:
            return torch.bmm(copies, weight.transpose(1, 2))
        return torch.baddbmm(_beside(bias, "bias" in parameters), copies, weight.transpose(1, 2))


@dataclass(slots=True)
class ElementwiseLayer(Layer):
    """A layer without parameters whose every output depends on one input."""

    _slope: Tensor | None = None

    def forward(self, inputs: Tensor) -> Tensor:
        # Cloned because an in-place activation would overwrite what the layer before remembers.
        start = inputs.detach().clone().requires_grad_()
        with torch.enable_grad():
            output: Tensor = self.module(start.clone())
        self._slope = torch.autograd.grad(output.sum(), start)[0]
        return output.detach()

    def pull_back(self, cotangents: Tensor, *, inputs_too: bool) -> tuple[Parameters, Tensor | None]:
        assert self._slope is not None
        return {}, cotangents * self._slope if inputs_too else None

    def stacked(self, inputs: Tensor, parameters: Parameters, *, common: bool) -> Tensor:
        output: Tensor = self.module(inputs)
        return output


@dataclass(slots=True)
class DropoutLayer(ElementwiseLayer):
    """Elementwise, and every copy drops the units that the single layer would drop."""

    def stacked(self, inputs: Tensor, parameters: Parameters, *, common: bool) -> Tensor:
        one = inputs if common else inputs[0]
        mask: Tensor = self.module(torch.ones_like(one))
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
