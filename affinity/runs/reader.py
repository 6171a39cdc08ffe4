"""Reading a run: names and shapes first, values on request, and everything before a break is kept."""

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from affinity.core.errors import NotRecorded, RunNotFound, Unreadable
from affinity.core.names import clean_name
from affinity.core.strict_json import Json, loads, read_object
from affinity.core.types import AnyArray, FloatArray, IntArray, Signal, read_only
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
        info = self._known(name)
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

    def steps(self, name: str, *, split: str = "train") -> IntArray:
        """The steps at which a signal was recorded, increasing; its values are not read.

        Raises:
            NotRecorded: the run has no such signal.
        """
        info = self._known(name)
        found = [
            steps[chosen]
            for path in self._segments()[name]
            for batch in _batches(path, info)
            if batch is not None and not batch.column("step").null_count
            for steps, chosen in [_steps_of(batch, split)]
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


def _read_info(path: Path, name: str) -> SignalInfo | None:
    """A signal's description from its schema, or None when the file holds no usable one."""
    try:
        with pa.memory_map(str(path)) as source, pa.ipc.open_stream(source) as reader:
            schema = reader.schema
        metadata = {key.decode(): value.decode() for key, value in (schema.metadata or {}).items()}
        axes, shape = loads(metadata["axes"], path.name), loads(metadata["shape"], path.name)
    except (pa.ArrowException, OSError, KeyError, ValueError, Unreadable):
        return None
    if not isinstance(axes, list) or not _is_shape(shape) or len(axes) != len(shape):
        return None
    width = math.prod(shape)
    if width > MAX_VALUES_PER_ROW or not _has_columns(schema, width):
        return None
    sense = metadata.get("sense", "neither")
    return SignalInfo(
        name=name,
        title=clean_name(metadata.get("title") or name.replace("_", " ")),
        axes=tuple(clean_name(str(axis)) for axis in axes),
        shape=tuple(shape),
        unit=clean_name(metadata["unit"]) if metadata.get("unit") else "",
        sense=clean_name(sense),
    )


def _is_shape(value: Json) -> TypeGuard[list[int]]:
    """Sizes of at least one; `True` is no size."""
    return isinstance(value, list) and all(type(size) is int and size >= 1 for size in value)


def _has_columns(schema: Any, width: int) -> bool:  # noqa: ANN401 - pyarrow has no types
    """Exactly the columns that the writer writes; their names may not be given twice."""
    wanted = {"step": pa.int64(), "split": pa.string(), "values": pa.list_(pa.float64(), width)}
    try:
        names = list(schema.names)
    except UnicodeDecodeError:
        return False
    return {name: schema.field(name).type for name in wanted if names.count(name) == 1} == wanted


def _batches(path: Path, info: SignalInfo) -> Iterator[Any]:
    """The whole batches of one segment; a None at the end says that the file broke off."""
    try:
        with pa.memory_map(str(path)) as source, pa.ipc.open_stream(source) as reader:
            if not _has_columns(reader.schema, math.prod(info.shape)):
                yield None
                return
            while True:
                try:
                    batch = reader.read_next_batch()
                except StopIteration:
                    return
                # In full, because an offset that points outside its buffer would be followed.
                batch.validate(full=True)
                yield batch
    except (pa.ArrowException, OSError):
        yield None


def _select(
    batch: Any,  # noqa: ANN401 - pyarrow has no types
    info: SignalInfo,
    *,
    split: str,
    first: int | None,
    last: int | None,
) -> tuple[IntArray, FloatArray]:
    if batch.column("step").null_count or batch.column("values").null_count:
        # A row without a step or without values says nothing; our writer never leaves one out.
        batch = pa.RecordBatch.from_struct_array(batch.to_struct_array().filter(_whole_rows(batch)))
    steps, chosen = _steps_of(batch, split)
    if first is not None:
        chosen &= steps >= first
    if last is not None:
        chosen &= steps <= last
    if not chosen.any():
        return steps[:0], np.empty((0, *info.shape))
    values = batch.column("values").flatten().to_numpy(zero_copy_only=False)
    return steps[chosen], values.reshape(len(steps), *info.shape)[chosen]


def _steps_of(batch: Any, split: str) -> tuple[IntArray, AnyArray]:  # noqa: ANN401 - pyarrow has no types
    """The steps of a batch, and which of them were taken on `split`."""
    of_split = pc.fill_null(pc.equal(batch.column("split"), split), False)
    steps = batch.column("step").to_numpy(zero_copy_only=False)
    return steps, of_split.to_numpy(zero_copy_only=False).astype(bool)


def _whole_rows(batch: Any) -> Any:  # noqa: ANN401 - pyarrow has no types
    return pa.array(
        [
            step.is_valid and values.is_valid
            for step, values in zip(batch.column("step"), batch.column("values"), strict=True)
        ]
    )


def _later_write_wins(
    steps: list[IntArray], values: list[FloatArray], shape: tuple[int, ...]
) -> tuple[IntArray, FloatArray]:
    if not steps:
        return np.empty(0, np.int64), np.empty((0, *shape))
    all_steps, all_values = np.concatenate(steps), np.concatenate(values)
    if (all_steps[1:] > all_steps[:-1]).all():  # a difference of extreme steps would overflow
        return all_steps, all_values
    backwards = all_steps[::-1]
    unique, position = np.unique(backwards, return_index=True)
    return unique, all_values[len(all_steps) - 1 - position]
