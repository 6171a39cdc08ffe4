"""The semidefinite relaxation of density clustering, solved by operator splitting.

maximise <T, X> with X positive semidefinite, X >= 0, trace X = k, X 1 = 1 (Li et al., 2024). The splitting
(consensus form of the alternating direction method of multipliers) stops at a residual, so its X is
approximate; the bound is computed from dual values in a way that is valid for any of them.
"""

import numpy as np

from affinity.core.types import FloatArray
from affinity.grouping._limits import Watch

ROUNDS = 400
RESIDUAL = 1e-4
PENALTY = 1.0


def relaxed_density(matrix: FloatArray, groups: int, watch: Watch) -> tuple[FloatArray, float]:
    """An approximate solution X, and an upper bound on the density of any `groups` groups.

    Args:
        matrix: (N, N) symmetric, N > 1, of size about one.
        groups: number of groups, k.
        watch: stops the iteration early.
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    # Several threads on matrices this small cost more than they bring.
    with threadpool_limits(1):
        return _iterated(matrix, groups, watch)


def _iterated(matrix: FloatArray, groups: int, watch: Watch) -> tuple[FloatArray, float]:
    mean = np.full(matrix.shape, 1.0 / len(matrix))
    duals = [np.zeros_like(matrix) for _ in range(3)]
    for _ in range(ROUNDS):
        copies = [
            _semidefinite(mean - duals[0]),
            np.maximum(mean - duals[1], 0.0),
            _affine(mean - duals[2] + matrix / PENALTY, groups),
        ]
        lifted = [copy + dual for copy, dual in zip(copies, duals, strict=True)]
        previous, mean = mean, (lifted[0] + lifted[1] + lifted[2]) / 3
        duals = [dual + copy - mean for copy, dual in zip(copies, duals, strict=True)]
        apart = max(float(np.abs(copy - mean).max()) for copy in copies)
        if max(apart, float(np.abs(mean - previous).max())) < RESIDUAL or watch.stopped():
            break
    return mean, _bound(matrix, groups, PENALTY * duals[1])


def _semidefinite(matrix: FloatArray) -> FloatArray:
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)


def _affine(matrix: FloatArray, groups: int) -> FloatArray:
    """The closest symmetric matrix with row sums 1 and trace k: a rank-two and a diagonal correction."""
    shift, diagonal = _corrections(matrix, np.ones(len(matrix)), float(groups))
    return np.asarray(matrix + shift[:, None] + shift + diagonal * np.eye(len(matrix)))


def _corrections(matrix: FloatArray, rows: FloatArray, trace: float) -> tuple[FloatArray, float]:
    count = len(matrix)
    missing = rows - matrix.sum(axis=1)
    total = (trace - float(np.trace(matrix)) - float(missing.sum())) / (2 - 2 * count)
    diagonal = float(missing.sum()) / count - 2 * total
    return (missing - diagonal - total) / count, diagonal


def _bound(matrix: FloatArray, groups: int, multipliers: FloatArray) -> float:
    # Weak duality: every feasible X has eigenvalues in [0, 1], so its inner product with a symmetric matrix
    # is at most the sum of that matrix's k largest eigenvalues.
    bounds = []
    for nonnegative in (np.maximum(multipliers, 0.0), np.maximum(-multipliers, 0.0), 0.0 * multipliers):
        lifted = matrix + (nonnegative + nonnegative.T) / 2
        # Row sums are 1, so any z may be taken out of the matrix and paid as sum(z).
        shift, _ = _corrections(-lifted, np.zeros(len(matrix)), 0.0)
        for rows in (shift, np.zeros(len(matrix))):
            values = np.linalg.eigvalsh(lifted - rows[:, None] - rows)
            bounds.append(2 * float(rows.sum()) + float(values[-groups:].sum()))
    return min(bounds)
