"""Convolutions as matrix products over patches, and max pooling."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.grad import conv2d_input

from affinity.training.layers.base import Layer, Parameters


@dataclass(slots=True)
class ConvolutionLayer(Layer):
    """A plain 2-d convolution as a matrix product over its patches."""

    module: nn.Conv2d
    _patches: Tensor | None = None
    _shape: torch.Size | None = None

    def forward(self, inputs: Tensor) -> Tensor:
        self._patches, self._shape = self._unfold(inputs.detach()), inputs.shape
        with torch.no_grad():
            output: Tensor = self.module(inputs)
        return output

    def pull_back(self, cotangents: Tensor, *, inputs_too: bool) -> tuple[Parameters, Tensor | None]:
        assert self._patches is not None
        assert self._shape is not None
        count, samples, channels = cotangents.shape[:3]
        gradients: dict[str, Tensor] = {}
        if "weight" in self.names:
            # (N * out, B * places) @ (B * places, in * kernel): one product for all tasks.
            rows = cotangents.flatten(3).transpose(1, 2).reshape(count * channels, -1)
            patches = self._patches.transpose(0, 1).flatten(1)
            gradients["weight"] = (rows @ patches.T).view(count, *self.module.weight.shape)
        if "bias" in self.names:
            gradients["bias"] = cotangents.sum(dim=(1, 3, 4))
        if not inputs_too:
            return gradients, None
        shape = (count * samples, *self._shape[1:])
        weight = self.module.weight.detach()
        flat = conv2d_input(
            shape,
            weight,
            cotangents.flatten(0, 1),
            self.module.stride,
            self.module.padding,
            self.module.dilation,
        )
        return gradients, flat.view(count, *self._shape)

    def stacked(self, inputs: Tensor, parameters: Parameters, *, common: bool) -> Tensor:
        weight = parameters.get("weight")
        count = len(next(iter(parameters.values())))
        kernel = self.module.weight.expand(count, *self.module.weight.shape) if weight is None else weight
        images = inputs if common else inputs.flatten(0, 1)
        height, width = self._places(images)
        patches = self._unfold(images)  # (B, in * kernel, places), or (M * B, ...)
        rows = kernel.flatten(2)
        if common:
            joined = rows.flatten(0, 1) @ patches.transpose(0, 1).flatten(1)
            output = joined.view(*rows.shape[:2], len(images), -1).transpose(1, 2)
        else:
            by_copy = patches.view(count, -1, *patches.shape[1:])
            output = rows.unsqueeze(1) @ by_copy
        bias = parameters.get("bias", self.module.bias)
        output = output.reshape(count, -1, rows.shape[1], height, width)
        return output if bias is None else output + bias.view(-1, 1, rows.shape[1], 1, 1)

    def _unfold(self, images: Tensor) -> Tensor:
        patches: Tensor = functional.unfold(
            images,
            self.module.kernel_size,
            dilation=self.module.dilation,
            padding=self.module.padding,  # type: ignore[arg-type]
            stride=self.module.stride,
        )
        return patches

    def _places(self, images: Tensor) -> tuple[int, int]:
        sizes = []
        for axis in range(2):
            padded = images.shape[2 + axis] + 2 * int(self.module.padding[axis])
            reach = self.module.dilation[axis] * (self.module.kernel_size[axis] - 1) + 1
            sizes.append((padded - reach) // self.module.stride[axis] + 1)
        return sizes[0], sizes[1]


@dataclass(slots=True)
class MaxPoolLayer(Layer):
    """2-d max pooling: a gradient goes to the place that won."""

    module: nn.MaxPool2d
    _winners: Tensor | None = None
    _shape: torch.Size | None = None

    def forward(self, inputs: Tensor) -> Tensor:
        self._shape = inputs.shape
        output, self._winners = functional.max_pool2d(
            inputs.detach(),
            self.module.kernel_size,
            self.module.stride,
            self.module.padding,
            self.module.dilation,
            self.module.ceil_mode,
            return_indices=True,
        )
        return output

    def pull_back(self, cotangents: Tensor, *, inputs_too: bool) -> tuple[Parameters, Tensor | None]:
        assert self._winners is not None
        assert self._shape is not None
        if not inputs_too:
            return {}, None
        spread = cotangents.new_zeros(len(cotangents), *self._shape).flatten(3)
        winners = self._winners.flatten(2).expand(len(cotangents), *self._winners.flatten(2).shape)
        spread.scatter_add_(3, winners, cotangents.flatten(3))
        return {}, spread.view(len(cotangents), *self._shape)

    def stacked(self, inputs: Tensor, parameters: Parameters, *, common: bool) -> Tensor:
        output: Tensor = self.module(inputs if common else inputs.flatten(0, 1))
        return output if common else output.view(*inputs.shape[:2], *output.shape[1:])


def is_plain(module: nn.Conv2d) -> bool:
    """Whether the convolution is a single matrix product over patches."""
    return module.groups == 1 and module.padding_mode == "zeros" and not isinstance(module.padding, str)
