"""Reading a run: names and shapes first, values on request, and everything before a break is kept."""

from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from affinity.core.errors import NotRecorded, RunNotFound, Unreadable
from affinity.core.strict_json import loads, read_object
from affinity.core.types import IntArray, Signal, read_only
from affinity.runs.format import (
    RUN_FILE,
    SEGMENT_PATTERN,
    STATUS_FILE,
    TRAININGS_FILE,
    RunInfo,
)
from affinity.runs.status import Status, read_status
from affinity.runs.streams import SignalInfo, later_write_wins, read_info, rows_of, steps_of, whole_batches


class Run:
    """A run folder, opened for reading.

    Args:
        folder: the run's folder.

    Raises:
        RunDamaged: `run.json` is missing or not a run description.
        RunTooNew: it was written by a newer version of the format.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.info = RunInfo.from_json(read_object(folder / RUN_FILE), folder.name)

    @property
    def id(self) -> str:
        """The run's id."""
        return self.info.id

    @property
    def tasks(self) -> tuple[str, ...]:
        """Task names, the order of every axis."""
        return self.info.task_names

    @property
    def status(self) -> Status:
        """What the run is doing now."""
        return read_status(self.folder)

    @property
    def revision(self) -> str:
        """Changes whenever a file of the run changes; the key of every cache."""
        parts = []
        for path in sorted(_files(self.folder)):
            if path.suffix in {".arrows", ".jsonl"} or path.name in {RUN_FILE, STATUS_FILE}:
                with suppress(FileNotFoundError):  # deleted a moment ago
                    stat = path.stat()
                    # The inode tells apart two replacements of one size within one tick of the clock.
                    parts.append(f"{path.name}:{stat.st_size}:{stat.st_mtime_ns}:{stat.st_ino}")
        return "|".join(parts)

    @cached_property
    def signals(self) -> Mapping[str, SignalInfo]:
        """The recorded signals by name; a file that cannot be read at all is left out."""
        found = {}
        for name, paths in sorted(self._segments().items()):
            for path in paths:
                info = read_info(path, name)
                if info is not None:
                    found[name] = info
                    break
        return found

    def signal(
        self, name: str, *, split: str = "train", first: int | None = None, last: int | None = None
    ) -> Signal:
        """The values of a signal on one split of the data.

        Args:
            name: the signal.
            split: `train` or `validation`.
            first: first step wanted; from the start when left out.
            last: last step wanted; to the end when left out.

        Returns:
            Steps in increasing order; where a resumed run wrote a step twice, the later write.

        Raises:
            NotRecorded: the run has no such signal.
        """
        info = self._known(name)
        steps, values, truncated = [], [], False
        for path in self._segments()[name]:
            for batch in whole_batches(path, info):
                if batch is None:
                    truncated = True
                    continue
                kept_steps, kept_values = rows_of(batch, info, split=split, first=first, last=last)
                steps.append(kept_steps)
                values.append(kept_values)
        order_steps, order_values = later_write_wins(steps, values, info.shape)
        return Signal(
            name=name,
            axes=info.axes,
            steps=read_only(order_steps, np.int64),
            values=order_values,
            unit=info.unit,
            sense=info.sense,
            truncated=truncated,
        )

    def steps(self, name: str, *, split: str = "train") -> IntArray:
        """The steps at which a signal was recorded, increasing; its values are not read.

        Raises:
            NotRecorded: the run has no such signal.
        """
        info = self._known(name)
        found = [
            steps[chosen]
            for path in self._segments()[name]
            for batch in whole_batches(path, info)
            if batch is not None and not batch.column("step").null_count
            for steps, chosen in [steps_of(batch, split)]
        ]
        return np.unique(np.concatenate(found)) if found else np.empty(0, np.int64)

    def trainings(self) -> tuple[dict[str, Any], ...]:
        """The finished trainings of a rerun; a line that cannot be read, such as one cut off, is left out."""
        path = self.folder / TRAININGS_FILE
        if not path.exists():
            return ()
        found = []
        for line in path.read_text(encoding="utf-8", errors="replace").split("\n")[:-1]:
            try:
                value = loads(line, TRAININGS_FILE)
            except Unreadable:
                continue
            if isinstance(value, dict):
                found.append(value)
        return tuple(found)

    def _known(self, name: str) -> SignalInfo:
        info = self.signals.get(name)
        if info is None:
            known = ", ".join(self.signals) or "nothing"
            raise NotRecorded(f"'{name}' was not recorded.", f"run {self.id}", f"Recorded: {known}.")
        return info

    def _segments(self) -> dict[str, list[Path]]:
        numbered: dict[str, list[tuple[int, Path]]] = {}
        for path in _files(self.folder):
            match = SEGMENT_PATTERN.fullmatch(path.name)
            if match:
                numbered.setdefault(match["signal"], []).append((int(match["segment"] or 1), path))
        return {name: [path for _, path in sorted(paths)] for name, paths in numbered.items()}


def _files(folder: Path) -> list[Path]:
    """The run's own files; a link could lead out of the library.

    Raises:
        RunNotFound: the folder is gone.
    """
    try:
        return [path for path in folder.iterdir() if path.is_file() and not path.is_symlink()]
    except FileNotFoundError as error:
        raise RunNotFound("this run was deleted.", folder.name) from error
