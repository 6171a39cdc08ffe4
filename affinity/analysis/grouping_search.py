"""One search for a grouping: from affinities to the solver and back to names."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from affinity.analysis.grouping_limits import Limits
from affinity.core.grouping import GroupingProblem, GroupingSolution, GroupPositions
from affinity.core.types import AffinityMatrix, FloatArray, Group, Grouping

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
        limits: what the grouping has to respect and what it is charged for.
        cancel: asked now and then; when it answers True the search stops with its best answer and a bound.
    """

    groups: int
    algorithm: str = "exact"
    overlap: bool = False
    seconds: float = SECONDS
    limits: Limits = field(default_factory=Limits)
    cancel: Callable[[], bool] | None = None

    def problem(self, values: FloatArray, tasks: Sequence[str]) -> GroupingProblem:
        """The question about (N, N) affinities `[source, affected]` of these tasks.

        Raises:
            GroupingError: the limits contradict each other or name no task.
        """
        finite = np.where(np.isfinite(values), values, np.nan)
        return GroupingProblem(
            affinity=finite,
            groups=self.groups,
            overlap=self.overlap,
            time_limit=self.seconds,
            cancel=self.cancel,
            **self.limits.options(tasks),
        )

    def solve(self, values: FloatArray, tasks: Sequence[str]) -> GroupingSolution:
        """The algorithm's answer, by position.

        Raises:
            GroupingError: the algorithm cannot answer this question.
            SettingsError: no such algorithm.
        """
        from affinity.grouping import solve

        return solve(self.problem(values, tasks), self.algorithm)

    def named(self, values: FloatArray, tasks: Sequence[str]) -> Grouping:
        """The algorithm's answer to bare affinities, by name; errors as in `solve`."""
        return named_groups(self.solve(values, tasks).groups, tasks)

    def grouping(self, matrix: AffinityMatrix, provenance: Mapping[str, str] | None = None) -> Grouping:
        """The algorithm's answer, by name; errors as in `solve`."""
        from affinity.grouping import to_grouping

        started = time.monotonic()
        solution = self.solve(matrix.values, matrix.tasks)
        return to_grouping(
            solution,
            matrix.tasks,
            problem=self.problem(matrix.values, matrix.tasks),
            algorithm=self.algorithm,
            signal=matrix.signal,
            reduce=matrix.reduce,
            seconds=time.monotonic() - started,
            provenance=provenance,
        )


def named_groups(groups: Sequence[GroupPositions], tasks: Sequence[str]) -> Grouping:
    """Groups by position as a grouping of these tasks."""
    return Grouping(
        tasks=tuple(tasks),
        groups=tuple(
            Group(train=tuple(tasks[at] for at in train), serve=tuple(tasks[at] for at in serve))
            for train, serve in groups
        ),
    )
