"""All served sets of given networks whose reduced worth stays above a floor."""

import numpy as np

from affinity.core.types import AnyArray, FloatArray
from affinity.grouping._elements import Elements
from affinity.grouping._pricing import Columns, element_scores_in, joined, members, no_columns


def served_sets_above(
    elements: Elements, train: AnyArray, duals: FloatArray, floor: float, most: int
) -> Columns | None:
    """Every column with these networks whose reduced worth is at least the floor; None when too many.

    The best served set of a network holds the elements that score above their price. Serving one less, or
    one more, costs the distance between score and price; all cheap enough combinations are listed.
    """
    inside = members(train, elements.count)
    scores = element_scores_in(elements, inside, inside @ elements.sizes)
    margins = scores - duals
    charges = inside @ elements.prices + elements.price
    worth = np.where((inside > 0) & (margins > 0), margins, 0.0).sum(axis=1) - charges
    found, count = [no_columns()], 0
    for row in np.flatnonzero(worth >= floor):
        usable = np.flatnonzero((inside[row] > 0) & np.isfinite(margins[row]))
        best = int(sum(1 << int(index) for index in usable if margins[row, index] > 0))
        serve = _cheap_changes(margins[row], usable, best, worth[row] - floor, most - count)
        if serve is None:
            return None
        serve = serve[serve > 0]
        values = members(serve, elements.count)[:, usable] @ scores[row, usable] - charges[row]
        found.append(Columns(train=np.full(len(serve), train[row]), serve=serve, values=values))
        count += len(serve)
    return joined(*found)


def _cheap_changes(
    margins: FloatArray, usable: AnyArray, best: int, slack: float, most: int
) -> AnyArray | None:
    """Masks that differ from `best` by elements whose margins sum to at most the slack."""
    masks, costs = np.array([best], dtype=np.int64), np.zeros(1)
    for index in sorted(usable, key=lambda item: abs(margins[item])):
        cost = abs(float(margins[index]))
        cheap = costs + cost <= slack
        if not cheap.any():
            break
        masks = np.concatenate([masks, masks[cheap] ^ (1 << int(index))])
        costs = np.concatenate([costs, costs[cheap] + cost])
        if len(masks) > most:
            return None
    return masks
