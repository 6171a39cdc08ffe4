"""A small shared convolutional trunk for images of 8 x 8 pixels and more."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from affinity.core.entry import Model
from affinity.core.errors import SettingsError
from affinity.core.settings import Settings, setting
from affinity.models._layers import ACTIVATIONS, activation

if TYPE_CHECKING:
    from torch import nn


@dataclass(frozen=True, kw_only=True)
class CnnSettings(Settings):
    """Size and kind of the blocks."""

    where: ClassVar[str] = "cnn"

    channels: int = setting(16, low=1, high=512, help="Channels of the first block; doubled by each next.")
    blocks: int = setting(2, low=1, high=5, help="Convolution blocks; each halves height and width.")
    width: int = setting(64, low=1, high=8192, help="Units of the last shared layer.")
    activation: str = setting("relu", choices=ACTIVATIONS, help="What follows each layer.")
    dropout: float = setting(0.0, low=0.0, high=0.9, help="Share of the last units dropped; 0 = none.")
    batch_norm: bool = setting(False, help="Normalise each block over the batch.")


def build(settings: CnnSettings, input_shape: tuple[int, ...]) -> "tuple[nn.Module, int]":
    """A trunk of 3 x 3 convolutions with max pooling, then one linear layer.

    Args:
        settings: size and kind of the blocks.
        input_shape: (channels, height, width) of one image.

    Returns:
        A module from (batch, channels, height, width) to (batch, width), and the width.

    Raises:
        SettingsError: the inputs are not images, or are too small for so many blocks.
    """
    from torch import nn

    incoming, height, width = _image_shape(input_shape, settings)
    layers: list[nn.Module] = []
    for block in range(settings.blocks):
        outgoing = settings.channels * 2**block
        layers += _block(incoming, outgoing, settings)
        incoming, height, width = outgoing, height // 2, width // 2
    layers += [nn.Flatten(), nn.Linear(incoming * height * width, settings.width)]
    layers.append(activation(settings.activation))
    if settings.dropout > 0:
        layers.append(nn.Dropout(settings.dropout))
    return nn.Sequential(*layers), settings.width


def _image_shape(input_shape: tuple[int, ...], settings: CnnSettings) -> tuple[int, int, int]:
    if len(input_shape) != 3:
        raise SettingsError(
            f"the inputs have shape {input_shape}, not (channels, height, width).",
            CnnSettings.where,
            "Use the mlp model, or a dataset of images.",
        )
    channels, height, width = input_shape
    if min(height, width) < 2**settings.blocks:
        raise SettingsError(
            f"{settings.blocks} blocks need at least {2**settings.blocks} pixels a side; the images have "
            f"{height} x {width}.",
            f"{CnnSettings.where}.blocks",
            "Use fewer blocks.",
        )
    return channels, height, width


def _block(incoming: int, outgoing: int, settings: CnnSettings) -> "list[nn.Module]":
    from torch import nn

    # The normalisation has its own shift, which makes the convolution's bias redundant.
    layers: list[nn.Module] = [nn.Conv2d(incoming, outgoing, 3, padding=1, bias=not settings.batch_norm)]
    if settings.batch_norm:
        layers.append(nn.BatchNorm2d(outgoing))
    return [*layers, activation(settings.activation), nn.MaxPool2d(2)]


MODEL = Model(
    key="cnn",
    title="Small convolutional network",
    summary="Blocks of 3 x 3 convolutions and pooling shared by all tasks; for images only.",
    reference="LeCun, Bottou, Bengio & Haffner, 1998, https://doi.org/10.1109/5.726791",
    build=build,
    settings=CnnSettings,
    wants_images=True,
)
