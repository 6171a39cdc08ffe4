"""A tight bound on the best group of m members: each pair's affinity is shared out between the two.

The bound lets every member bring the best partners it could have, counting its share of each pair. With
equal shares it is loose for large groups. The shares are moved by subgradient steps, away from members that
choose a partner which does not choose them (Caprara, Pisinger & Toth, 1999, for the quadratic knapsack).
"""

import numpy as np

from affinity.core.types import FloatArray


def shared_out(
    weights: FloatArray, shares: FloatArray, members: int, *, divisor: float, floor: float, rounds: int
) -> tuple[float, FloatArray]:
    """The bound, and the shares that give it; stops as soon as the bound is at the floor or below.

    Args:
        weights: (M,) what a member adds by itself.
        shares: (M, M) shares to start from: row = the member that counts it.
            Opposite entries sum to the pair.
        members: number of members, at least 2 and at most M.
        divisor: shares are divided by it.
        floor: groups at or below are of no interest.
        rounds: number of steps.
    """
    shares = shares.copy()
    np.fill_diagonal(shares, -np.inf)
    best, kept, pace = np.inf, shares, 1.0
    for _ in range(rounds):
        bound, chosen = _optimistic(weights, shares / divisor, members)
        if bound < best:
            best, kept = bound, shares
        else:
            pace *= 0.9
        slope = chosen - chosen.T
        length = float((slope * slope).sum())
        if best <= floor or length == 0:
            break
        shares = shares - pace * divisor * (bound - floor) / length * slope
    kept = kept.copy()
    np.fill_diagonal(kept, 0.0)
    return best, kept


def _optimistic(weights: FloatArray, shares: FloatArray, members: int) -> tuple[float, FloatArray]:
    """The bound under these shares, and (M, M) which partners the best members would choose."""
    ranked = np.argpartition(-shares, members - 2, axis=1)[:, : members - 1]
    hopes = weights + np.take_along_axis(shares, ranked, axis=1).sum(axis=1)
    users = np.argpartition(-hopes, members - 1)[:members]
    chosen = np.zeros_like(shares)
    chosen[users[:, None], ranked[users]] = 1.0
    return float(hopes[users].sum()), chosen


def partner_sums(shares: FloatArray, first: int, most: int) -> FloatArray:
    """(M, M, most + 1) at [i, v, k] the best k shares that v can count among elements after position i.

    Args:
        shares: (M, M), row = the member that counts.
        first: positions before it are left out.
        most: largest number of partners.
    """
    count = len(shares)
    sums = np.full((count, count, most + 1), -np.inf)
    sums[:, :, 0] = 0.0
    for position in range(first, count - 1):
        later = shares[:, position + 1 :].copy()
        diagonal = np.arange(position + 1, count)
        later[diagonal, diagonal - position - 1] = -np.inf
        width = min(most, later.shape[1])
        ranked = -np.sort(-later, axis=1)[:, :width]
        # Where there are too few partners minus infinity stays: the group cannot be filled.
        sums[position, :, 1 : width + 1] = np.cumsum(ranked, axis=1)
    return sums
