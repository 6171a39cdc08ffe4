"""How each kind of layer runs for many gradients, or many copies of its weights, at once.

Linear and convolution layers become matrix products, because per-task weight gradients and per-task weights
share everything but one leading axis. Elementwise layers multiply by their derivative. Whatever else a trunk
holds goes through torch.func.
"""

from collections.abc import Sequence

from torch import nn

from affinity.training.layers.base import Layer
from affinity.training.layers.dense import (
    ELEMENTWISE,
    DropoutLayer,
    ElementwiseLayer,
    FlattenLayer,
    LinearLayer,
)
from affinity.training.layers.images import ConvolutionLayer, MaxPoolLayer, is_plain
from affinity.training.layers.other import OtherLayer


def layer_of(module: nn.Module) -> Layer:
    """The rule for one module."""
    names = tuple(name for name, parameter in module.named_parameters() if parameter.requires_grad)
    if type(module) is nn.Linear:
        return LinearLayer(module, names)
    if type(module) is nn.Conv2d and is_plain(module):
        return ConvolutionLayer(module, names)
    if isinstance(module, ELEMENTWISE):
        return ElementwiseLayer(module, names)
    if type(module) is nn.Dropout:
        return DropoutLayer(module, names)
    if type(module) is nn.MaxPool2d and not module.return_indices:
        return MaxPoolLayer(module, names)
    if type(module) is nn.Flatten and (module.start_dim, module.end_dim) == (1, -1):
        return FlattenLayer(module, names)
    return OtherLayer(module, names)


def flat_layers(trunk: nn.Module) -> Sequence[nn.Module]:
    """The layers of nested sequential modules, in order; any other module is one layer."""
    if type(trunk) is nn.Sequential:
        return [layer for child in trunk for layer in flat_layers(child)]
    return [trunk]
