"""One search for a grouping: from affinities to the solver and back to names."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from affinity.core.grouping import GroupingProblem, GroupingSolution
from affinity.core.types import AffinityMatrix, FloatArray, Grouping

# A search inside the dashboard answers within this time, with a bound on what it may have missed.
SECONDS: Final = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What is searched for.

    Attributes:
        groups: largest number of networks.
        algorithm: key of a grouping algorithm.
        overlap: a task may also help in networks that do not serve it.
        seconds: the search stops after so long with its best answer and a bound.
    """

    groups: int
    algorithm: str = "exact"
    overlap: bool = False
    seconds: float = SECONDS

    def problem(self, values: FloatArray) -> GroupingProblem:
        """The question about (N, N) affinities `[source, affected]`."""
        finite = np.where(np.isfinite(values), values, np.nan)
        return GroupingProblem(
            affinity=finite, groups=self.groups, overlap=self.overlap, time_limit=self.seconds
        )

    def solve(self, values: FloatArray) -> GroupingSolution:
        """The algorithm's answer, by position.

        Raises:
            GroupingError: the algorithm cannot answer this question.
            SettingsError: no such algorithm.
        """
        from affinity.grouping import solve

        return solve(self.problem(values), self.algorithm)

    def grouping(self, matrix: AffinityMatrix, provenance: Mapping[str, str] | None = None) -> Grouping:
        """The algorithm's answer, by name; errors as in `solve`."""
        from affinity.grouping import to_grouping

        started = time.monotonic()
        solution = self.solve(matrix.values)
        return to_grouping(
            solution,
            matrix.tasks,
            problem=self.problem(matrix.values),
            algorithm=self.algorithm,
            signal=matrix.signal,
            reduce=matrix.reduce,
            seconds=time.monotonic() - started,
            provenance=provenance,
        )
