"""Leave no trace: random state, parameters and buffers are as they were when a probe is done."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

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
def buffers_kept(model: nn.Module | None) -> Iterator[None]:
    """Every buffer holds the same values afterwards, whatever the passes between did to it."""
    saved = [] if model is None else [(buffer, buffer.detach().clone()) for buffer in model.buffers()]
    try:
        yield
    finally:
        for buffer, value in saved:
            buffer.data.copy_(value)


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
