"""What a layer has to offer to run for many gradients, or many copies of its weights, at once."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor, nn

Parameters = Mapping[str, Tensor]


@dataclass(slots=True)
class Layer(ABC):
    """One layer of a trunk, with its trainable parameters by name.

    Attributes:
        module: the layer.
        names: names of its trainable parameters.
    """

    module: nn.Module
    names: tuple[str, ...]

    @abstractmethod
    def forward(self, inputs: Tensor) -> Tensor:
        """The layer's output; remembers what `pull_back` needs."""

    @abstractmethod
    def pull_back(self, cotangents: Tensor, *, inputs_too: bool) -> tuple[Parameters, Tensor | None]:
        """Gradients of N scalars from their gradients with respect to the output of the last `forward`.

        Args:
            cotangents: (N, *output shape); may be overwritten.
            inputs_too: the gradient with respect to the input is wanted as well.

        Returns:
            Per trainable parameter (N, *shape), and (N, *input shape) or None.
        """

    @abstractmethod
    def stacked(self, inputs: Tensor, parameters: Parameters, *, common: bool) -> Tensor:
        """The outputs of M copies of the layer, (M, *output shape).

        Args:
            inputs: (*input shape) when `common`, the same for all copies; otherwise (M, *input shape), which
                may be overwritten.
            parameters: (M, *shape) for every trainable parameter.
            common: the copies share their input.
        """
