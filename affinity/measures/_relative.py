"""Relative changes of losses, and which losses are too small to be divided by."""

from typing import Final

import numpy as np

from affinity.core.types import AnyArray, FloatArray

# A loss that has shrunk to a millionth of its largest value is rounding in float32 arithmetic: dividing by
# it would turn noise into huge affinities. The rule is relative because tasks differ in scale.
NEAR_ZERO: Final = 1e-6

NEAR_ZERO_IN_WORDS: Final = (
    "the affected task's loss is missing, not positive, or below a millionth of its largest recorded value"
)


def too_small(losses: FloatArray) -> AnyArray:
    """Where a finite loss cannot be divided by.

    Args:
        losses: (T, N) losses of the tasks over steps; NaN = missing.

    Returns:
        (T, N) bool: not positive, or below `NEAR_ZERO` times the task's largest finite loss.
    """
    finite = np.isfinite(losses)
    largest = np.max(np.where(finite, losses, 0.0), axis=0, initial=0.0)
    return np.asarray(finite & ((losses <= 0) | (losses < NEAR_ZERO * largest)))


def divisible(losses: FloatArray) -> FloatArray:
    """(T, N) the losses, missing where they are not finite or too small to be divided by."""
    return np.where(np.isfinite(losses) & ~too_small(losses), losses, np.nan)


def relative_drop(before: FloatArray, after: FloatArray) -> FloatArray:
    """1 - after / before: the share of its loss that the affected task was spared.

    Args:
        before: (T, N) losses before the step.
        after: (T, N, N) losses `[source, affected]` after the source's step; NaN or infinite = missing.

    Returns:
        (T, N, N), NaN where undefined.
    """
    known = np.where(np.isfinite(after), after, np.nan)
    # 1 - after / before and (before - after) / before agree, but the second keeps small changes exact.
    start = divisible(before)[:, None, :]
    return np.asarray((start - known) / start)
