"""Start and stop workers; they outlive the page that started them."""

import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from affinity.core.config import TrainConfig
from affinity.core.errors import RunError
from affinity.core.types import Grouping
from affinity.jobs.prepare import prepare_rerun, prepare_training
from affinity.runs.format import LOG_FILE
from affinity.runs.library import Library
from affinity.runs.status import request_stop


def start_training(
    library: Library, config: TrainConfig, *, label: str = "", seeds: Sequence[int] = (0,)
) -> tuple[str, ...]:
    """Prepare one run a seed and start a worker for each; see `prepare_training`."""
    ids = prepare_training(library, config, label=label, seeds=seeds)
    for run_id in ids:
        _start_worker(library.home / run_id)
    return ids


def start_rerun(
    library: Library,
    run_id: str,
    grouping: Grouping,
    *,
    seeds: Sequence[int] = (0, 1, 2),
    steps: int | None = None,
    label: str = "",
) -> str:
    """Prepare a rerun of a run's tasks in groups and start its worker; see `prepare_rerun`."""
    run = library.open(run_id)
    rerun_id = prepare_rerun(library, run, grouping, seeds=seeds, steps=steps, label=label)
    _start_worker(library.home / rerun_id)
    return rerun_id


def cancel(library: Library, run_id: str) -> None:
    """Ask a run's worker to stop at its next step; what it recorded is kept.

    Raises:
        RunError: the run is not being trained.
    """
    run = library.open(run_id)
    if not run.status.live or run.folder.parent != library.home:
        raise RunError("this run is not being trained.", run_id)
    request_stop(run.folder)


def _start_worker(folder: Path) -> None:
    """A process group of its own: it has no terminal, no pipe to the server, and survives both."""
    with (folder / LOG_FILE).open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "affinity.jobs.worker", str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=Path(__file__).resolve().parents[2],
            start_new_session=True,
        )
    # Somebody has to collect the exit status, or the ended worker stays in the process table.
    threading.Thread(target=process.wait, daemon=True).start()
