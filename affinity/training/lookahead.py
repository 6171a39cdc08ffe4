"""Where an optimiser would go: its next step for many gradients at once, without taking it."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn, optim


def lookahead(
    parameters: Sequence[nn.Parameter],
    gradients: Sequence[Tensor],
    optimizer: optim.Optimizer,
    *,
    plain: bool = False,
) -> list[Tensor]:
    """The parameters after one step along each gradient, heads and optimiser state untouched.

    SGD with momentum mu and weight decay wd gives `S - lr (mu buffer + g + wd S)`, Adam its
    bias-corrected step from its current moments; both as torch's own optimisers compute them.

    Args:
        parameters: the shared parameters.
        gradients: one tensor a parameter, (M, *shape): M gradients.
        optimizer: gives the learning rate and the state.
        plain: take `S - lr g` whatever the optimiser is.

    Returns:
        One tensor a parameter, (M, *shape).
        Reference: Fifty et al., 2021, section 3 (https://arxiv.org/abs/2109.04617).
    """
    groups = {id(p): group for group in optimizer.param_groups for p in group["params"]}
    fallback = optimizer.param_groups[0]
    stepped = []
    for parameter, given in zip(parameters, gradients, strict=True):
        group = groups.get(id(parameter), fallback)
        # As in torch, the sign is turned before momentum and weight decay join in.
        gradient = -given if group.get("maximize") else given
        if plain or not isinstance(optimizer, optim.SGD | optim.Adam):
            stepped.append(torch.sub(parameter.detach(), gradient, alpha=float(group["lr"])))
        elif isinstance(optimizer, optim.Adam):
            stepped.append(_adam(parameter, gradient, optimizer, group))
        else:
            stepped.append(_sgd(parameter, gradient, optimizer, group))
    return stepped


def follows(optimizer: optim.Optimizer) -> bool:
    """Whether `lookahead` knows the optimiser's own rule; otherwise it takes a plain gradient step."""
    return isinstance(optimizer, optim.SGD | optim.Adam)


def _sgd(parameter: nn.Parameter, gradient: Tensor, optimizer: optim.SGD, group: dict[str, Any]) -> Tensor:
    value = parameter.detach()
    direction = gradient + group["weight_decay"] * value if group["weight_decay"] else gradient
    if group["momentum"]:
        buffer = optimizer.state.get(parameter, {}).get("momentum_buffer")
        if buffer is None:  # torch starts the buffer with the first gradient itself, undamped
            velocity = direction
        else:
            velocity = group["momentum"] * buffer + (1 - group["dampening"]) * direction
        direction = direction + group["momentum"] * velocity if group["nesterov"] else velocity
    return torch.sub(value, direction, alpha=float(group["lr"]))


def _adam(parameter: nn.Parameter, gradient: Tensor, optimizer: optim.Adam, group: dict[str, Any]) -> Tensor:
    value, state = parameter.detach(), optimizer.state.get(parameter, {})
    rate, decay = float(group["lr"]), float(group["weight_decay"])
    decoupled = bool(group.get("decoupled_weight_decay")) or isinstance(optimizer, optim.AdamW)
    if decay and decoupled:
        value = value * (1 - rate * decay)
    elif decay:
        gradient = gradient + decay * value
    first_beta, second_beta = group["betas"]
    count = float(state["step"]) + 1 if "step" in state else 1.0
    zero = torch.zeros_like(value)
    first: Tensor = torch.lerp(gradient, state.get("exp_avg", zero).expand_as(gradient), first_beta)
    second: Tensor = second_beta * state.get("exp_avg_sq", zero) + (1 - second_beta) * gradient.square()
    if group.get("amsgrad"):
        second = torch.maximum(second, state.get("max_exp_avg_sq", zero))
    corrected: Tensor = (second / (1 - second_beta**count)).sqrt() + float(group["eps"])
    stepped: Tensor = value - rate / (1 - first_beta**count) * first / corrected
    return stepped
