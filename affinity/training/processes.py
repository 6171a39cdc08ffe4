"""Distributed training: one process writes, and what is recorded is the mean over all of them."""

from torch import Tensor, distributed


def rank() -> int:
    """This process's rank; 0 when the training is not distributed."""
    together = distributed.is_available() and distributed.is_initialized()
    return distributed.get_rank() if together else 0


def averaged(values: Tensor) -> Tensor:
    """The mean over the processes of a distributed training; the values themselves otherwise."""
    if not (distributed.is_available() and distributed.is_initialized()):
        return values
    total = values.detach().clone()
    distributed.all_reduce(total)
    return total / distributed.get_world_size()
