"""Inner products of flat vectors in float64, without a float64 copy of them all."""

from collections.abc import Sequence

import torch
from torch import Tensor

from affinity.core.types import FloatArray

# Values a piece may hold in float64: 32 MB.
PIECE = 4_000_000


def gram_of(rows: Sequence[Tensor]) -> FloatArray:
    """(N, N) float64 inner products of N flat vectors.

    Squares of small float32 gradients would underflow, and norms of 1e20 overflow: a piece of all rows at a
    time is made float64 and multiplied.
    """
    size, count = rows[0].numel(), len(rows)
    gram = torch.zeros(count, count, dtype=torch.float64, device=rows[0].device)
    step = max(1, PIECE // count)
    for start in range(0, size, step):
        piece = torch.stack([row[start : start + step] for row in rows]).double()
        gram += piece @ piece.T
    return gram.cpu().numpy()


def products_with(rows: Sequence[Tensor], direction: Tensor) -> FloatArray:
    """(N,) float64 inner products with one vector."""
    wanted = direction.double()
    return torch.stack([row.double() @ wanted for row in rows]).cpu().numpy()
