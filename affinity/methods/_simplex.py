"""Weights on the simplex that take one step a time, among the tasks that have a gradient at the moment."""

import numpy as np

from affinity.core.linalg import projected_onto_simplex
from affinity.core.types import AnyArray, FloatArray


def descended(weights: FloatArray, slope: FloatArray, rate: float) -> FloatArray:
    """Weights after a step against their slope.

    A task without a slope keeps its weight: one that has no gradient for a while would otherwise draw all
    weight, as nothing is shorter than a zero gradient, and the training would stop.

    Args:
        weights: (N,) on the simplex.
        slope: (N,) NaN = the task has no gradient now.
        rate: length of the step.

    Returns:
        (N,) on the simplex.
    """
    moved = np.array(weights)
    known = np.isfinite(slope)
    mass = float(moved[known].sum())
    if mass > 0:
        moved[known] = mass * projected_onto_simplex(moved[known] / mass - rate * slope[known])
    return moved


def among(weights: FloatArray, known: AnyArray) -> FloatArray:
    """(N,) the weights of the known tasks alone, scaled to sum 1; equal where they have none."""
    kept = np.where(known, weights, 0.0)
    total = float(kept.sum())
    return kept / total if total > 0 else np.asarray(known / max(1, int(np.sum(known))))
