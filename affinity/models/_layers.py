"""Building blocks the trunks share; torch is imported when a trunk is built, never before."""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from torch import nn

ACTIVATIONS: Final = ("relu", "tanh", "gelu", "silu")


def activation(name: str) -> "nn.Module":
    """A fresh activation layer; `name` is one of `ACTIVATIONS`."""
    from torch import nn

    layers: dict[str, type[nn.Module]] = {
        "relu": nn.ReLU,
        "tanh": nn.Tanh,
        "gelu": nn.GELU,
        "silu": nn.SiLU,
    }
    return layers[name]()
