"""What somebody's loop hands to the Recorder, checked and put in the order of the tasks."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from affinity.core.errors import SettingsError, Unreadable
from affinity.core.names import clean_name
from affinity.core.strict_json import Json, dumps, loads
from affinity.core.types import FloatArray
from affinity.training.processes import averaged

Losses = Mapping[str, Tensor]


def in_order(given: Mapping[str, Any], tasks: Sequence[str]) -> list[Any]:
    """One value a task, NaN where none is given.

    Raises:
        SettingsError: a value belongs to no task.
    """
    unknown = sorted(str(name) for name in set(given) - set(tasks))
    if unknown:
        known = ", ".join(clean_name(name) for name in tasks)
        raise SettingsError(
            f"'{clean_name(unknown[0])}' is not one of the tasks.", "Recorder", f"Known: {known}."
        )
    return [given.get(name, float("nan")) for name in tasks]


def scalar_losses(losses: Losses, tasks: Sequence[str]) -> list[Tensor]:
    """N scalar losses, each with its own graph, NaN for a task that is left out.

    Half precision is widened to float32, float64 stays; losses of several devices meet on the first one's.

    Raises:
        SettingsError: a loss belongs to no task or is not a scalar.
    """
    ordered = in_order(losses, tasks)
    given = [loss for loss in ordered if isinstance(loss, Tensor)]
    some = given[0] if given else torch.zeros(())
    dtype = torch.float64 if any(loss.dtype == torch.float64 for loss in given) else torch.float32
    scalars = []
    for name, loss in zip(tasks, ordered, strict=True):
        value = loss if isinstance(loss, Tensor) else torch.tensor(float(loss))
        if value.numel() != 1:
            raise SettingsError(
                f"the loss of '{clean_name(name)}' has shape {tuple(value.shape)}.",
                "Recorder",
                "Give one number a task, for example loss.mean().",
            )
        scalars.append(value.reshape(()).to(some.device, dtype))
    return scalars


def loss_values(losses: Losses, tasks: Sequence[str]) -> FloatArray:
    """(N,) float64 values of the losses, averaged over the processes of a distributed training."""
    scalars = torch.stack([loss.detach() for loss in scalar_losses(losses, tasks)])
    return averaged(scalars).cpu().double().numpy()


def trainable(parameters: Iterable[nn.Parameter]) -> list[nn.Parameter]:
    """The trainable ones of the shared parameters, each once.

    Raises:
        SettingsError: there is none.
    """
    found = list({id(parameter): parameter for parameter in parameters if parameter.requires_grad}.values())
    if not found:
        raise SettingsError(
            "no shared parameter is trainable.", "Recorder", "Pass the parameters that all tasks share."
        )
    return found


def plain_settings(settings: Mapping[str, object]) -> dict[str, Json]:
    """Settings as JSON; what has no JSON form, or none that can be read back, is kept as text."""
    plain: dict[str, Json] = {}
    for name, value in settings.items():
        try:
            plain[clean_name(name)] = loads(dumps(value), "settings")
        except (TypeError, ValueError, RecursionError, Unreadable):
            plain[clean_name(name)] = clean_name(str(value))
    return plain
