"""Leave no trace: random state, parameters and buffers are as they were when a probe is done."""

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn


@contextmanager
def same_randomness() -> Iterator[None]:
    """Every entry starts from the random state the caller had, and puts it back.

    So each forward pass of a probe draws the dropout masks that the training's own pass will draw.
    """
    devices = list(range(torch.cuda.device_count())) if torch.cuda.is_available() else []
    with torch.random.fork_rng(devices=devices):
        yield


def random_state() -> list[Tensor]:
    """Torch's random states, of the CPU and of every GPU."""
    devices = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []
    return [torch.get_rng_state(), *devices]


def set_random_state(state: Sequence[Tensor]) -> None:
    """Go back to what `random_state` gave."""
    torch.set_rng_state(state[0])
    if len(state) > 1:
        torch.cuda.set_rng_state_all(list(state[1:]))


@contextmanager
def frozen_statistics(modules: Sequence[nn.Module]) -> Iterator[None]:
    """Batch normalisation normalises by the batch as in training but leaves its running statistics alone."""
    tracking = [
        module
        for root in modules
        for module in root.modules()
        if isinstance(module, nn.modules.batchnorm._NormBase)
        and module.training
        and module.track_running_stats
    ]
    try:
        for module in tracking:
            module.track_running_stats = False
        yield
    finally:
        for module in tracking:
            module.track_running_stats = True


@contextmanager
def without_trace(modules: Sequence[nn.Module] = ()) -> Iterator[None]:
    """A pass through somebody else's code, after which nothing of it is left.

    Random states (torch, NumPy and Python) and the buffers of every module that runs are put back. A
    distributed module neither waits for a backward pass nor announces one. Autocast caches nothing: a cached
    copy of a weight would outlive the values that `replaced` lends to it, and one made without a graph would
    reach the training's own pass.

    Args:
        modules: modules whose buffers are kept although they may run without being called, as compiled ones.
    """
    kept: dict[int, _Kept] = {}

    def keep(module: nn.Module, inputs: object = None) -> None:
        inside = module.modules() if isinstance(module, nn.parallel.DistributedDataParallel) else (module,)
        for one in inside:
            if id(one) not in kept:
                kept[id(one)] = _Kept.of(one)

    for root in modules:
        for module in root.modules():
            keep(module)
    hook = nn.modules.module.register_module_forward_pre_hook(keep)
    numbers, python = np.random.get_state(), random.getstate()  # noqa: NPY002 - the caller may use it
    cache = torch.is_autocast_cache_enabled()
    torch.set_autocast_cache_enabled(False)
    try:
        with same_randomness():
            yield
    finally:
        hook.remove()
        torch.set_autocast_cache_enabled(cache)
        np.random.set_state(numbers)  # noqa: NPY002
        random.setstate(python)
        for one in kept.values():
            one.restore()


@dataclass(slots=True)
class _Kept:
    """A module's buffers, and whether a distributed one synchronises."""

    module: nn.Module
    buffers: list[tuple[str, Tensor, Tensor]]
    synchronises: tuple[bool, bool] | None = None

    @classmethod
    def of(cls, module: nn.Module) -> "_Kept":
        owned = module._buffers if isinstance(module._buffers, dict) else {}
        buffers = [
            (name, value, value.detach().clone()) for name, value in owned.items() if value is not None
        ]
        if not isinstance(module, nn.parallel.DistributedDataParallel):
            return cls(module, buffers)
        found = (module.require_backward_grad_sync, module.require_forward_param_sync)
        module.require_backward_grad_sync = False
        return cls(module, buffers, found)

    def restore(self) -> None:
        for name, buffer, value in self.buffers:
            buffer.data.copy_(value)
            self.module._buffers[name] = buffer  # a module may have put another tensor in its place
        if self.synchronises is not None:
            distributed: Any = self.module
            distributed.require_backward_grad_sync, distributed.require_forward_param_sync = self.synchronises


@contextmanager
def replaced(parameters: Sequence[Tensor], values: Sequence[Tensor]) -> Iterator[None]:
    """Parameters hold other values for a while; the originals come back bit by bit."""
    originals = [parameter.detach().clone() for parameter in parameters]
    try:
        _assign(parameters, values)
        yield
    finally:
        _assign(parameters, originals)


def _assign(parameters: Sequence[Tensor], values: Sequence[Tensor]) -> None:
    for parameter, value in zip(parameters, values, strict=True):
        # Through .data, so that a graph built before the probe can still run its backward pass.
        parameter.data.copy_(value)
