"""The best partition of a small set by dynamic programming over subsets: proof included, no tolerance.

f_k[S] = max over T in S with the lowest element of S of value[T] + f_(k-1)[S without T]; O(3^M) a layer.
"""

import numpy as np

from affinity.core.types import AnyArray, FloatArray
from affinity.grouping._elements import bits
from affinity.grouping._limits import Watch


def best_partitions(values: FloatArray, layers: int, watch: Watch) -> list[tuple[float, list[int]]]:
    """The best partition of the full set into exactly 1, 2, ... `layers` blocks.

    Args:
        values: (2**M,) worth of a block; minus infinity where it is not allowed.
        layers: largest number of blocks.
        watch: asked between layers; the layers finished so far are returned.

    Returns:
        Per number of blocks its best total, minus infinity where there is none, and the block masks.
    """
    full = len(values) - 1
    best, choices = values, [np.arange(len(values))]
    answers = [(float(values[full]), [full])]
    for _ in range(1, layers):
        if watch.stopped():
            break
        best, choice = _next_layer(values, best)
        choices.append(choice)
        answers.append((float(best[full]), _blocks(choices, full)))
    return answers


def _next_layer(values: FloatArray, previous: FloatArray) -> tuple[FloatArray, AnyArray]:
    best, choice = np.full(len(values), -np.inf), np.zeros(len(values), dtype=np.int64)
    for whole in range(1, len(values)):
        lowest = whole & -whole
        rest = np.zeros(1, dtype=np.int64)
        for index in bits(whole ^ lowest):
            rest = np.concatenate([rest, rest | 1 << index])
        # The last one would leave nothing for the remaining blocks.
        blocks = rest[:-1] | lowest
        if len(blocks):
            totals = values[blocks] + previous[whole ^ blocks]
            chosen = int(np.argmax(totals))
            best[whole], choice[whole] = totals[chosen], blocks[chosen]
    return best, choice


def _blocks(choices: list[AnyArray], full: int) -> list[int]:
    blocks, whole = [], full
    for choice in reversed(choices):
        block = int(choice[whole])
        blocks.append(block)
        whole ^= block
    return blocks
