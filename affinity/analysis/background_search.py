"""Long searches beside the dashboard: each in a thread of its own, shared by all who ask the same.

The solvers wait in compiled code most of the time, so other sessions are served meanwhile. A search that
nobody asks about any more is given up, so that closed tabs cost nothing.
"""

import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Final

from affinity.core.types import Grouping

ABANDONED_SECONDS: Final = 15.0
MOST_AT_ONCE: Final = 2
MOST_KEPT: Final = 64

Cancel = Callable[[], bool]


@dataclass(slots=True)
class _Job:
    """One search: what is known about it, by the thread that runs it and by those who ask."""

    asked: float
    stop: threading.Event = field(default_factory=threading.Event)
    started: float | None = None
    found: Grouping | None = None
    error: Exception | None = None
    finished: bool = False

    def cancelled(self) -> bool:
        """Somebody pressed stop, or nobody asks any more."""
        return self.stop.is_set() or self.abandoned

    @property
    def abandoned(self) -> bool:
        return time.monotonic() - self.asked > ABANDONED_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How a search stands.

    Attributes:
        found: the answer; None while it is searched for.
        seconds: how long it has been running; None while it waits for its turn.
    """

    found: Grouping | None
    seconds: float | None


class BackgroundSearches:
    """All long searches of this process."""

    def __init__(self) -> None:
        self._jobs: dict[Hashable, _Job] = {}
        self._lock = threading.Lock()
        self._turn = threading.Semaphore(MOST_AT_ONCE)

    def ask(self, key: Hashable, search: Callable[[Cancel], Grouping]) -> Progress:
        """How the search called `key` stands; it is started when it is not known yet.

        Args:
            key: what is searched for.
            search: finds it; asks the callback it is given now and then, and ends with its best answer when
                that says True.

        Raises:
            Exception: whatever the search raised; the next question starts it again.
        """
        now = time.monotonic()
        with self._lock:
            job = self._jobs.get(key)
            if job is None or (job.finished and job.found is None and job.error is None):
                job = self._jobs[key] = _Job(asked=now)
                self._forget()
                threading.Thread(target=self._run, args=(job, search), daemon=True).start()
            job.asked = now
            if job.error is not None:
                del self._jobs[key]
                raise job.error
        return Progress(found=job.found, seconds=None if job.started is None else now - job.started)

    def stop(self, key: Hashable) -> None:
        """End a search; its best answer so far becomes its answer."""
        with self._lock:
            job = self._jobs.get(key)
        if job is not None:
            job.stop.set()

    def _run(self, job: _Job, search: Callable[[Cancel], Grouping]) -> None:
        with self._turn:
            job.started = time.monotonic()
            try:
                found = None if job.abandoned else search(job.cancelled)
                # What nobody waited for ended early and must not pass for the answer of the whole time.
                job.found = None if job.abandoned and not job.stop.is_set() else found
            except Exception as error:
                job.error = error
            job.finished = True

    def _forget(self) -> None:
        """Drop the oldest finished searches."""
        finished = [key for key, job in self._jobs.items() if job.finished]
        for key in finished[: max(0, len(self._jobs) - MOST_KEPT)]:
            del self._jobs[key]
