"""An order of tasks that puts similar ones side by side, so that blocks show in a heatmap."""

import numpy as np

from affinity.core.types import FloatArray


def clustered_order(values: FloatArray) -> tuple[int, ...]:
    """Positions in the order of a dendrogram's leaves, neighbours as alike as possible.

    Args:
        values: (N, N) `[source, affected]`, larger = closer; NaN = missing and counted as 0.

    Returns:
        A permutation of 0 .. N-1; the given order for fewer than 3 tasks. Average linkage on how far both
        directions' mean affinity lies below the largest one.
    """
    size = len(values)
    if size < 3:
        return tuple(range(size))
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
    from scipy.spatial.distance import squareform

    filled = np.nan_to_num(values, nan=0.0)
    closeness = (filled + filled.T) / 2
    largest = np.abs(closeness[~np.eye(size, dtype=bool)]).max()
    if not largest:
        return tuple(range(size))
    # Scaled to 0 .. 2 so that tiny affinities do not drown in rounding.
    distance = 1.0 - closeness / largest
    np.fill_diagonal(distance, 0.0)
    condensed = squareform(distance, checks=False)
    tree = optimal_leaf_ordering(linkage(condensed, method="average"), condensed)
    return tuple(int(position) for position in leaves_list(tree))
