"""A shared multi-layer perceptron: the default trunk, for tables and for small images."""

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, ClassVar

from affinity.core.entry import Model
from affinity.core.settings import Settings, setting
from affinity.models._layers import ACTIVATIONS, activation

if TYPE_CHECKING:
    from torch import nn


@dataclass(frozen=True, kw_only=True)
class MlpSettings(Settings):
    """Size and kind of the layers."""

    where: ClassVar[str] = "mlp"

    width: int = setting(64, low=1, high=8192, help="Units in each hidden layer.")
    depth: int = setting(2, low=1, high=16, help="Number of hidden layers, all shared.")
    activation: str = setting("relu", choices=ACTIVATIONS, help="What follows each linear layer.")
    dropout: float = setting(0.0, low=0.0, high=0.9, help="Share of units dropped in training; 0 = none.")
    batch_norm: bool = setting(False, help="Normalise each hidden layer over the batch.")


def build(settings: MlpSettings, input_shape: tuple[int, ...]) -> "tuple[nn.Module, int]":
    """A trunk that flattens its input and applies `depth` layers.

    Args:
        settings: size and kind of the layers.
        input_shape: shape of one input without the batch axis; images are flattened.

    Returns:
        A module from (batch, *input_shape) to (batch, width), and the width.
    """
    from torch import nn

    layers: list[nn.Module] = [nn.Flatten()]
    size = prod(input_shape)
    for _ in range(settings.depth):
        # The normalisation has its own shift, which makes the linear layer's bias redundant.
        layers.append(nn.Linear(size, settings.width, bias=not settings.batch_norm))
        if settings.batch_norm:
            layers.append(nn.BatchNorm1d(settings.width))
        layers.append(activation(settings.activation))
        if settings.dropout > 0:
            layers.append(nn.Dropout(settings.dropout))
        size = settings.width
    return nn.Sequential(*layers), settings.width


MODEL = Model(
    key="mlp",
    title="Multi-layer perceptron",
    summary="Hidden layers shared by all tasks; reads any input, images are flattened.",
    reference="Caruana, 1997, https://doi.org/10.1023/A:1007379606734",
    build=build,
    settings=MlpSettings,
)
