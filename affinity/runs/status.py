"""What a run is doing now, worked out from its status file and its worker process."""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import psutil

from affinity.core.errors import AffinityError
from affinity.core.strict_json import read_object, write_atomic
from affinity.runs.format import STATUS_FILE, STOP_FILE

State: TypeAlias = Literal["queued", "running", "finished", "failed", "cancelled", "lost"]

LIVE: frozenset[State] = frozenset({"queued", "running"})

# A worker writes its heartbeat every second; starting Python and torch may take this long without one.
GRACE_SECONDS = 30.0

MAX_TEXT = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """State of a run.

    Attributes:
        state: `lost` means that the worker died without saying so.
        step, total: optimiser updates done and planned; for a rerun, trainings done and planned.
        pid, pid_started: the worker process and its `process_start`, which together survive pid reuse.
        started, heartbeat: seconds since the epoch.
        error: why it failed, in words.
        note: what the worker is waiting for or doing.
    """

    state: State
    step: int = 0
    total: int = 0
    pid: int | None = None
    pid_started: float | None = None
    started: float | None = None
    heartbeat: float = 0.0
    error: str | None = None
    note: str = ""

    @property
    def live(self) -> bool:
        """The run may still change."""
        return self.state in LIVE

    @property
    def fraction(self) -> float:
        """Share of the planned work that is done, 0 to 1."""
        return min(1.0, max(0.0, self.step / self.total)) if self.total > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Time left at the pace so far, or None while nothing can be said."""
        if self.state != "running" or self.step <= 0 or self.started is None:
            return None
        return max(0.0, (self.heartbeat - self.started) / self.step * (self.total - self.step))


def read_status(folder: Path) -> Status:
    """The run's status; a live one whose worker is gone is reported as lost.

    A folder without a readable status file is a finished run: an import, or one copied without it.
    """
    try:
        status = _parse(read_object(folder / STATUS_FILE))
    except AffinityError:
        return Status(state="finished")
    if status.live and not _worker_alive(status):
        return replace(status, state="lost", error="The worker process ended without saying why.")
    return status


def write_status(folder: Path, status: Status) -> None:
    """Replace the status file, stamped with the current time."""
    write_atomic(folder / STATUS_FILE, replace(status, heartbeat=time.time()))


def own_process() -> tuple[int, float]:
    """This process's pid and when it started; see `process_start`."""
    return os.getpid(), process_start(psutil.Process())


def process_start(process: psutil.Process) -> float:
    """Seconds from the machine's start to the process's, which no change of the clock moves.

    The time of day a process started moves whenever the clock is set, by the network or after a sleep, and a
    living worker would look like a stranger that got its pid.
    """
    while True:
        boot = psutil.boot_time()
        started = process.create_time() - boot
        if psutil.boot_time() == boot:  # else the clock was set between the two
            return float(started)


def request_stop(folder: Path) -> None:
    """Ask the worker to stop at its next step; what it recorded is kept."""
    (folder / STOP_FILE).touch()


def stop_requested(folder: Path) -> bool:
    """Whether somebody asked the worker to stop."""
    return (folder / STOP_FILE).exists()


def _worker_alive(status: Status) -> bool:
    if status.pid is None or status.pid_started is None:
        return abs(time.time() - status.heartbeat) < GRACE_SECONDS
    try:
        process = psutil.Process(status.pid)
        same = abs(process_start(process) - status.pid_started) < 1.0
        return same and bool(process.status() != psutil.STATUS_ZOMBIE)
    except (psutil.Error, ValueError, OverflowError):  # the last two: a number that is no pid
        return False


def _parse(values: Mapping[str, object]) -> Status:
    state = values.get("state")
    if state not in get_args(State):
        raise AffinityError(f"unknown state {state!r}", STATUS_FILE)
    error, note = values.get("error"), values.get("note")
    return Status(
        state=state,  # type: ignore[arg-type]
        step=int(_number(values, "step") or 0),
        total=int(_number(values, "total") or 0),
        pid=None if (pid := _number(values, "pid")) is None else int(pid),
        pid_started=_number(values, "pid_started"),
        started=_number(values, "started"),
        heartbeat=_number(values, "heartbeat") or 0.0,
        error=_one_line(error) or None,
        note=_one_line(note),
    )


def _number(values: Mapping[str, object], name: str) -> float | None:
    value = values.get(name)
    try:
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
    except OverflowError:
        return None


def _one_line(text: object) -> str:
    """Text of a status file, which may come from an upload, without control characters."""
    shown = "".join(character if character.isprintable() else " " for character in str(text or ""))
    return " ".join(shown.split())[:MAX_TEXT]
