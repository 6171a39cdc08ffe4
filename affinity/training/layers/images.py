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
        self._patches, self._shape = self._patches_of(inputs.detach()), inputs.shape
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
            gradients["weight"] = (rows @ self._patches.T).view(count, *self.module.weight.shape)
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
        count = len(next(iter(parameters.values()))) if parameters else len(inputs)
        weight = parameters.get("weight", self.module.weight.expand(count, *self.module.weight.shape))
        bias: Tensor | None = parameters.get("bias", self.module.bias)
        biases = None if bias is None else bias.expand(count, len(bias)) if bias.dim() == 1 else bias
        if common:
            return self._of_one_input(inputs, weight, biases)
        # Copies with inputs of their own share nothing, and the library's convolution beats patches here.
        return torch.stack(
            [
                self._convolve(inputs[copy], weight[copy], None if biases is None else biases[copy])
                for copy in range(count)
            ]
        )

    def _of_one_input(self, images: Tensor, weight: Tensor, biases: Tensor | None) -> Tensor:
        """All copies' kernels side by side are one convolution with M times the channels."""
        count, channels = weight.shape[:2]
        joined = self._convolve(images, weight.flatten(0, 1), None if biases is None else biases.flatten())
        split: Tensor = joined.unflatten(1, (count, channels))
        return split.transpose(0, 1)

    def _convolve(self, images: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        output: Tensor = functional.conv2d(images, weight, bias, self.module.stride, self.module.padding)
        return output

    def _patches_of(self, images: Tensor) -> Tensor:
        """(in * kernel, B * places): what each output place sees, as one matrix."""
        down, across = int(self.module.padding[0]), int(self.module.padding[1])
        padded = functional.pad(images, (across, across, down, down))
        kernel, stride = self.module.kernel_size, self.module.stride
        windows: Tensor = padded.unfold(2, kernel[0], stride[0]).unfold(3, kernel[1], stride[1])
        ordered = windows.permute(1, 4, 5, 0, 2, 3)
        return ordered.reshape(images.shape[1] * kernel[0] * kernel[1], -1)


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
    return (
        module.groups == 1
        and module.dilation == (1, 1)
        and module.padding_mode == "zeros"
        and not isinstance(module.padding, str)
    )
