"""Run folders of a few rows, written with the real writer."""

from pathlib import Path

import numpy as np

from affinity.core.types import TaskSpec
from affinity.runs.format import RunInfo
from affinity.runs.library import Library
from affinity.runs.reader import Run
from affinity.runs.status import Status, own_process, write_status
from affinity.runs.writer import RunWriter

TASKS = ("a", "b", "c")


def described(folder: Path, *, tasks: tuple[str, ...] = TASKS, **changes: object) -> RunInfo:
    """A description of a run of regression tasks."""
    specs = tuple(TaskSpec(name=name, kind="regression") for name in tasks)
    return RunInfo(**{"id": folder.name, "label": "a run", "kind": "recorded", "tasks": specs} | changes)


def small_run(library: Library, *, steps: int = 5, state: str = "finished", **changes: object) -> Run:
    """A run with `losses` at every step and `gram` at every second, in the library."""
    folder = library.new_folder()
    with RunWriter(folder) as writer:
        writer.describe(described(folder, **changes))
        for step in range(steps):
            writer.append("losses", step, losses_at(step), axes=("affected",), sense="lower")
            if step % 2 == 0:
                writer.append("gram", step, np.eye(3) * step, axes=("source", "affected"))
    pid, started = own_process()
    write_status(folder, Status(state=state, step=steps, total=steps, pid=pid, pid_started=started))
    return Run(folder)


def losses_at(step: int) -> np.ndarray:
    """Three numbers that tell steps and tasks apart."""
    return np.array([step, step + 0.25, step + 0.5])
