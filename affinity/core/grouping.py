"""What a grouping algorithm is asked and what it answers; positions, not names, because solvers count."""

from dataclasses import dataclass

import numpy as np

from affinity.core.errors import GroupingError
from affinity.core.types import FloatArray, read_only


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupingProblem:
    """Which tasks share a network, when at most `groups` networks are allowed?

    Attributes:
        affinity: (N, N) `[source, affected]`, positive helps affected. The diagonal is never used.
        groups: largest number of networks.
        overlap: a task may help in groups that do not serve it.

    Raises:
        GroupingError: not square, infinite, or a budget below one.
    """

    affinity: FloatArray
    groups: int
    overlap: bool = False

    def __post_init__(self) -> None:
        values = read_only(self.affinity)
        if values.ndim != 2 or values.shape[0] != values.shape[1] or not len(values):
            raise GroupingError(f"the affinity has shape {values.shape}, expected tasks x tasks.")
        if np.isinf(values).any():
            raise GroupingError(
                "the affinity holds an infinite value.", hint="Replace it or leave it missing."
            )
        if self.groups < 1:
            raise GroupingError(f"{self.groups} groups cannot hold any task.", hint="Allow at least 1.")
        object.__setattr__(self, "affinity", values)

    @property
    def size(self) -> int:
        """Number of tasks."""
        return len(self.affinity)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupingSolution:
    """A grouping by position.

    Attributes:
        groups: per network the positions it trains and, among them, those it serves.
        score: value of the objective.
        bound: no grouping scores above this; infinite where nothing is known.
        optimal: the score is proven best.
    """

    groups: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
    score: float
    bound: float = float("inf")
    optimal: bool = False
