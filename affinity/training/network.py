"""A shared trunk with one linear head a task."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from affinity.core.config import TrainConfig
from affinity.core.errors import SettingsError
from affinity.core.types import TaskSpec
from affinity.models import MODELS


class MultiTaskNetwork(nn.Module):
    """Trunk and heads; the heads are separate parameters but are evaluated as one matrix product.

    Args:
        trunk: the shared part, from a batch of inputs to (batch, width).
        width: size of the trunk's output.
        tasks: the tasks; one linear head each.
    """

    def __init__(self, trunk: nn.Module, width: int, tasks: Sequence[TaskSpec]) -> None:
        super().__init__()
        self.trunk = trunk
        self.heads = nn.ModuleList(nn.Linear(width, task.outputs) for task in tasks)

    def forward(self, inputs: Tensor) -> Tensor:
        """Head outputs side by side, (batch, total outputs), in task order."""
        return self.apply_heads(self.trunk(inputs))

    def apply_heads(self, features: Tensor, *, kept: Tensor | None = None) -> Tensor:
        """All heads on features of shape (..., width).

        Args:
            features: output of the trunk.
            kept: (total outputs,) bool; the other outputs are 0, and nothing flows back from them.
        """
        weight, bias = self.stacked_heads()
        if kept is not None:
            weight, bias = torch.where(kept.unsqueeze(1), weight, 0.0), torch.where(kept, bias, 0.0)
        return nn.functional.linear(features, weight, bias)

    def stacked_heads(self) -> tuple[Tensor, Tensor]:
        """Weights (total outputs, width) and biases (total outputs,) of all heads."""
        heads: Any = self.heads
        return torch.cat([head.weight for head in heads]), torch.cat([head.bias for head in heads])

    def shared_parameters(self) -> list[nn.Parameter]:
        """The trainable parameters of the trunk: what all tasks share."""
        return [parameter for parameter in self.trunk.parameters() if parameter.requires_grad]


def build_network(
    config: TrainConfig, input_shape: tuple[int, ...], tasks: Sequence[TaskSpec]
) -> MultiTaskNetwork:
    """The network of a config, with fresh weights from torch's current random state.

    Raises:
        SettingsError: the model is unknown, or does not fit the inputs.
    """
    model = MODELS.find(config.model)
    if model.wants_images and len(input_shape) != 3:
        raise SettingsError(
            f"the model '{config.model}' needs images, and the dataset '{config.dataset}' has none.",
            "train.model",
            "Choose the mlp.",
        )
    trunk, width = model.build(model.settings.from_json(dict(config.model_settings)), input_shape)
    return MultiTaskNetwork(trunk, width, tasks)


def layers_of(trunk: nn.Module) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """The trunk's layers as (name, positions in its list of trainable parameters).

    A layer is one module with the parameters it owns itself, weight and bias together.
    Reference: Shi et al., Recon, 2023 (https://openreview.net/forum?id=ivwZO-HnzG_).
    """
    position = {
        id(parameter): index
        for index, parameter in enumerate(p for p in trunk.parameters() if p.requires_grad)
    }
    layers, seen = [], set()
    for name, module in trunk.named_modules():
        own = [
            position[id(p)]
            for p in module.parameters(recurse=False)
            if p.requires_grad and position[id(p)] not in seen
        ]
        if own:
            seen.update(own)
            layers.append((f"{type(module).__name__} {name}".strip(), tuple(own)))
    return tuple(layers)
