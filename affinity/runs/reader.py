"""Reading a run: names and shapes first, values on request, and everything before a break is kept."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from affinity.core.errors import NotRecorded
from affinity.core.strict_json import loads, read_object
from affinity.core.types import FloatArray, IntArray, Signal, read_only
from affinity.runs.format import (
    RUN_FILE,
    SEGMENT_PATTERN,
    STATUS_FILE,
    TRAININGS_FILE,
    RunInfo,
)
from affinity.runs.status import Status, read_status

MAX_VALUES_PER_ROW = 500 * 500 * 200


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalInfo:
    """What a signal is, without its values."""

    name: str
    title: str
    axes: tuple[str, ...]
    shape: tuple[int, ...]
    unit: str
    sense: str


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
        for path in sorted(self.folder.iterdir()):
            if path.suffix in {".arrows", ".jsonl"} or path.name in {RUN_FILE, STATUS_FILE}:
                stat = path.stat()
                parts.append(f"{path.name}:{stat.st_size}:{stat.st_mtime_ns}")
        return "|".join(parts)

    @cached_property
    def signals(self) -> Mapping[str, SignalInfo]:
        """The recorded signals by name; a file that cannot be read at all is left out."""
        found = {}
        for name, paths in sorted(self._segments().items()):
            for path in paths:
                info = _read_info(path, name)
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
        info = self.signals.get(name)
        if info is None:
            known = ", ".join(self.signals) or "nothing"
            raise NotRecorded(f"'{name}' was not recorded.", f"run {self.id}", f"Recorded: {known}.")
        steps, values, truncated = [], [], False
        for path in self._segments()[name]:
            for batch in _batches(path, info):
                if batch is None:
                    truncated = True
                    continue
                kept_steps, kept_values = _select(batch, info, split=split, first=first, last=last)
                steps.append(kept_steps)
                values.append(kept_values)
        order_steps, order_values = _later_write_wins(steps, values, info.shape)
        return Signal(
            name=name,
            axes=info.axes,
            steps=read_only(order_steps, np.int64),
            values=order_values,
            unit=info.unit,
            sense=info.sense,
            truncated=truncated,
        )

    def trainings(self) -> tuple[dict[str, Any], ...]:
        """The finished trainings of a rerun; a line cut off in the middle is left out."""
        path = self.folder / TRAININGS_FILE
        if not path.exists():
            return ()
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")[:-1]
        values = (loads(line, f"{TRAININGS_FILE}, line {row}") for row, line in enumerate(lines, 1))
        return tuple(value for value in values if isinstance(value, dict))

    def _segments(self) -> dict[str, list[Path]]:
        numbered: dict[str, list[tuple[int, Path]]] = {}
        for path in self.folder.iterdir():
            match = SEGMENT_PATTERN.fullmatch(path.name)
            if match:
                numbered.setdefault(match["signal"], []).append((int(match["segment"] or 1), path))
        return {name: [path for _, path in sorted(paths)] for name, paths in numbered.items()}


def _read_info(path: Path, name: str) -> SignalInfo | None:
    """A signal's description from its schema, or None when the file holds no usable one."""
    try:
        with pa.memory_map(str(path)) as source, pa.ipc.open_stream(source) as reader:
            schema = reader.schema
        metadata = {key.decode(): value.decode() for key, value in (schema.metadata or {}).items()}
        axes, shape = json.loads(metadata["axes"]), json.loads(metadata["shape"])
        width = max(1, int(np.prod(shape)))
        usable = len(axes) == len(shape) and all(isinstance(size, int) and size >= 0 for size in shape)
        if not usable or schema.field("values").type != pa.list_(pa.float64(), width):
            return None
        if schema.field("step").type != pa.int64() or width > MAX_VALUES_PER_ROW:
            return None
        if schema.field("split").type != pa.string():
            return None
    except (pa.ArrowException, OSError, KeyError, ValueError, TypeError):
        return None
    return SignalInfo(
        name=name,
        title=metadata.get("title") or name.replace("_", " "),
        axes=tuple(str(axis) for axis in axes),
        shape=tuple(shape),
        unit=metadata.get("unit", ""),
        sense=metadata.get("sense", "neither"),
    )


def _batches(path: Path, info: SignalInfo) -> Iterator[Any]:
    """The whole batches of one segment; a None at the end says that the file broke off."""
    try:
        with pa.memory_map(str(path)) as source, pa.ipc.open_stream(source) as reader:
            expected = pa.list_(pa.float64(), max(1, int(np.prod(info.shape))))
            if reader.schema.field("values").type != expected:
                yield None
                return
            while True:
                try:
                    batch = reader.read_next_batch()
                    batch.validate()
                except StopIteration:
                    return
                yield batch
    except (pa.ArrowException, OSError, KeyError):
        yield None


def _select(
    batch: Any,  # noqa: ANN401 - pyarrow has no types
    info: SignalInfo,
    *,
    split: str,
    first: int | None,
    last: int | None,
) -> tuple[IntArray, FloatArray]:
    steps = batch.column("step").to_numpy(zero_copy_only=False)
    chosen = np.array([value == split for value in batch.column("split").to_pylist()], dtype=bool)
    if first is not None:
        chosen &= steps >= first
    if last is not None:
        chosen &= steps <= last
    if not chosen.any():
        return steps[:0], np.empty((0, *info.shape))
    values = batch.column("values").flatten().to_numpy(zero_copy_only=False)
    return steps[chosen], values.reshape(len(steps), *info.shape)[chosen]


def _later_write_wins(
    steps: list[IntArray], values: list[FloatArray], shape: tuple[int, ...]
) -> tuple[IntArray, FloatArray]:
    if not steps:
        return np.empty(0, np.int64), np.empty((0, *shape))
    all_steps, all_values = np.concatenate(steps), np.concatenate(values)
    if (np.diff(all_steps) > 0).all():
        return all_steps, all_values
    backwards = all_steps[::-1]
    unique, position = np.unique(backwards, return_index=True)
    return unique, all_values[len(all_steps) - 1 - position]
