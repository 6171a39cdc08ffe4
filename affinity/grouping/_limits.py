"""When a search has to stop: its time is used up, or somebody asked."""

import time

from affinity.core.grouping import GroupingProblem


class Watch:
    """Time limit and cancel callback of one search; both are remembered once they struck.

    Args:
        problem: the question with its limits; the clock starts now.
    """

    def __init__(self, problem: GroupingProblem) -> None:
        self._end = float("inf") if problem.time_limit is None else time.monotonic() + problem.time_limit
        self._cancel = problem.cancel
        self.reason = ""

    @property
    def left(self) -> float:
        """Seconds left; infinite without a limit, 0 once stopped."""
        return 0.0 if self.reason else max(0.0, self._end - time.monotonic())

    def stopped(self) -> bool:
        """Whether to stop now."""
        if not self.reason and self._cancel is not None and self._cancel():
            self.reason = "cancel"
        if not self.reason and time.monotonic() >= self._end:
            self.reason = "time"
        return bool(self.reason)
