"""The worker process: `python -m affinity.jobs.worker RUN_FOLDER` does what a queued folder asks for.

It is the only module of the reading side's neighbourhood that leads to torch, and only once it runs.
"""

import logging
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType

from filelock import FileLock, Timeout

from affinity.core.errors import AffinityError, Cancelled
from affinity.jobs.tables import located
from affinity.runs.format import LOG_FILE, RunInfo
from affinity.runs.library import Library
from affinity.runs.reader import Run
from affinity.runs.status import Status, own_process, read_status, request_stop, stop_requested, write_status
from affinity.runs.writer import RunWriter

HEARTBEAT_SECONDS = 0.5
DEVICE_LOCK = ".device.lock"

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Progress:
    """Keeps a run's status file up to date, at most twice a second."""

    folder: Path
    status: Status
    written: float = field(default=0.0)

    def show(self, status: Status, *, now: bool = False) -> None:
        self.status = status
        if now or time.monotonic() - self.written > HEARTBEAT_SECONDS:
            write_status(self.folder, status)
            self.written = time.monotonic()

    def count(self, step: int, total: int) -> None:
        self.show(replace(self.status, step=step, total=total), now=step in (0, total))


def execute(folder: Path, *, backend: str = "local", queue: bool = True) -> Status:
    """Do what a queued run folder asks for, in this process.

    Args:
        folder: the run's folder.
        backend: where the networks of a rerun are trained.
        queue: wait for earlier jobs of the same home first.

    Returns:
        The final status: finished, cancelled or failed. The exception of a failure is logged, never raised.

    Raises:
        RunBusy: another process is working on this run.
    """
    # The writer comes first: whoever does not hold the run may not touch its status either.
    writer = RunWriter(folder)
    progress = _Progress(folder, claim(folder))
    try:
        with writer, _device(folder, progress) if queue else _no_queue():
            progress.show(replace(progress.status, state="running", started=time.time(), note=""), now=True)
            _work(folder, writer, progress, backend)
        final = replace(progress.status, state="finished", note="")
    except KeyboardInterrupt:
        progress.show(replace(progress.status, state="cancelled", note=""), now=True)
        raise
    except Cancelled:
        final = replace(progress.status, state="cancelled", note="")
    except AffinityError as error:
        _log.exception("the run failed")
        final = replace(progress.status, state="failed", error=str(error), note="")
    except MemoryError:
        _log.exception("out of memory")
        error_text = "Out of memory. Use a smaller batch or model, or fewer tasks."
        final = replace(progress.status, state="failed", error=error_text, note="")
    except OSError as error:
        _log.exception("the system refused")
        final = replace(progress.status, state="failed", error=f"{error.strerror or error}.", note="")
    except Exception as error:
        _log.exception("unexpected")
        text = f"Unexpected {type(error).__name__}; the log says more."
        final = replace(progress.status, state="failed", error=text, note="")
    progress.show(final, now=True)
    return final


def claim(folder: Path, *, note: str = "") -> Status:
    """Mark a queued run as this process's own, so that it counts as alive while it waits for its turn."""
    pid, started = own_process()
    claimed = replace(
        read_status(folder), state="queued", pid=pid, pid_started=started, started=None, error=None, note=note
    )
    write_status(folder, claimed)
    return claimed


def _work(folder: Path, writer: RunWriter, progress: _Progress, backend: str) -> None:
    info = Run(folder).info
    if info.kind == "rerun":
        from affinity.jobs.rerun import run_rerun

        run_rerun(folder, writer, backend=backend, on_training=progress.count)
    else:
        _train(folder, info, writer, progress)


def _train(folder: Path, info: RunInfo, writer: RunWriter, progress: _Progress) -> None:
    from affinity.training.trainer import Trainer, load_data, versions

    config = info.config
    if config is None:
        raise AffinityError("this run is not a training.", info.id)
    data = load_data(located(config, folder.parent))
    trainer = Trainer(config, data, sink=writer)
    described = replace(
        info,
        tasks=data.tasks,
        device=str(trainer.device),
        versions=versions(),
        planted=data.planted,
        layers=trainer.layers,
    )
    writer.describe(described)
    result = trainer.train(
        on_step=lambda step: progress.count(step, config.steps),
        should_stop=lambda: stop_requested(folder),
    )
    # An early stop is a whole run: its length is what it took.
    progress.count(result.steps, result.steps)


@contextmanager
def _device(folder: Path, progress: _Progress) -> Iterator[None]:
    """Hold the machine: one job at a time, earlier ones first."""
    lock = FileLock(folder.parent / DEVICE_LOCK)
    while True:
        if stop_requested(folder):
            raise Cancelled("cancelled while it waited.")
        ahead = _ahead(folder)
        try:
            if not ahead:
                lock.acquire(timeout=0)
                break
        except Timeout:
            pass
        waiting = f"waiting for {ahead or 1} earlier job{'s' if ahead > 1 else ''}"
        progress.show(replace(progress.status, note=waiting))
        time.sleep(HEARTBEAT_SECONDS / 2)
    try:
        yield
    finally:
        lock.release()


@contextmanager
def _no_queue() -> Iterator[None]:
    yield


def _ahead(folder: Path) -> int:
    """How many earlier jobs of this home are queued or running."""
    listed = Library(folder.parent, samples=folder.parent / "none").list()
    return sum(1 for entry in listed if entry.id < folder.name and entry.status.live)


def _stop_on_signal(folder: Path) -> Callable[[int, FrameType | None], None]:
    def stop(number: int, frame: FrameType | None) -> None:
        request_stop(folder)

    return stop


def main(arguments: list[str]) -> int:
    """Entry point of the process."""
    folder = Path(arguments[0])
    logging.basicConfig(
        filename=folder / LOG_FILE, level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s"
    )
    signal.signal(signal.SIGTERM, _stop_on_signal(folder))
    return 0 if execute(folder).state in {"finished", "cancelled"} else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
