"""Networks that are probably worth their price, found in milliseconds, before a complete search is asked."""

import numpy as np

from affinity.core.types import AnyArray, FloatArray, IntArray
from affinity.grouping._elements import Elements
from affinity.grouping._pricing import Columns, evaluated, joined, no_columns

# Networks of each size that a beam grows further.
WIDTH = 60


def neighbours(elements: Elements, masks: IntArray, duals: FloatArray) -> Columns:
    """Networks that differ from these in one element, or in one that was exchanged, and all single elements.

    Args:
        elements: at most 62 elements.
        masks: (C,) networks to start from.
        duals: (M,) price of serving each element.
    """
    singles = _singles(elements)
    inside: AnyArray = (masks[:, None] & singles) != 0
    moved = [(masks[:, None] ^ singles).ravel(), singles]
    for mask, row in zip(masks, inside, strict=True):
        moved.append((mask ^ singles[row][:, None] ^ singles[~row]).ravel())
    found = np.unique(np.concatenate(moved))
    return evaluated(elements, found[found > 0], duals)


def beam(elements: Elements, duals: FloatArray, floor: float) -> Columns:
    """Networks of every size whose reduced worth exceeds the floor, grown one element at a time.

    Args:
        elements: at most 62 elements.
        duals: (M,) price of serving each element.
        floor: networks at or below this reduced worth are left out.
    """
    singles = _singles(elements)
    grown, found = singles, [no_columns()]
    while len(grown):
        larger = grown[:, None] | singles
        columns = evaluated(elements, np.unique(larger[larger != grown[:, None]]), duals)
        worth = columns.reduced(duals)
        best = np.argsort(-worth, kind="stable")[:WIDTH]
        found.append(columns.take(best[worth[best] > floor]))
        grown = columns.train[best]
    return joined(*found)


def _singles(elements: Elements) -> IntArray:
    return 1 << np.arange(elements.count, dtype=np.int64)
