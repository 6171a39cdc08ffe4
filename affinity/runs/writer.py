"""Append-only writing of a run: one writer a run, one stream a signal, nothing rewritten."""

import json
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import numpy as np
import pyarrow as pa
from filelock import FileLock, Timeout

from affinity.core.errors import AffinityError, RunBusy
from affinity.core.strict_json import dumps, write_atomic
from affinity.core.types import FloatArray
from affinity.runs.format import LOCK_FILE, RUN_FILE, SIGNAL_PATTERN, TRAININGS_FILE, RunInfo

FLUSH_ROWS = 64
FLUSH_BYTES = 4_000_000
FLUSH_SECONDS = 1.0


@dataclass(slots=True)
class _Stream:
    """An open signal file and the rows that wait for its next batch."""

    file: IO[bytes]
    writer: Any
    schema: Any
    shape: tuple[int, ...]
    steps: list[int] = field(default_factory=list)
    splits: list[str] = field(default_factory=list)
    rows: list[FloatArray] = field(default_factory=list)
    written: float = field(default_factory=time.monotonic)

    def due(self) -> bool:
        size = len(self.rows) * 8 * int(np.prod(self.shape))
        late = time.monotonic() - self.written > FLUSH_SECONDS
        return len(self.rows) >= FLUSH_ROWS or size >= FLUSH_BYTES or late

    def flush(self) -> None:
        if self.rows:
            flat = pa.array(np.concatenate(self.rows))
            width = int(np.prod(self.shape))
            values = pa.FixedSizeListArray.from_arrays(flat, width)
            columns = [pa.array(self.steps, pa.int64()), pa.array(self.splits, pa.string()), values]
            self.writer.write_batch(pa.record_batch(columns, schema=self.schema))
            self.file.flush()
            self.steps, self.splits, self.rows = [], [], []
        self.written = time.monotonic()

    def end(self) -> None:
        """Say that nothing follows, and close the file."""
        try:
            self.writer.close()
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Close the file as it is; nothing after half a batch could be read."""
        with suppress(OSError):
            self.file.close()


class RunWriter:
    """Writes one run folder.

    Args:
        folder: the run's folder; made when it does not exist.

    Raises:
        RunBusy: another writer holds this run.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._lock = FileLock(folder / LOCK_FILE)
        try:
            self._lock.acquire(timeout=0)
        except Timeout as error:
            raise RunBusy("another process is writing this run.", folder.name) from error
        self._streams: dict[str, _Stream] = {}

    def describe(self, info: RunInfo) -> None:
        """Write `run.json`."""
        write_atomic(self.folder / RUN_FILE, info.to_json())

    def append(
        self,
        name: str,
        step: int,
        values: FloatArray,
        *,
        axes: Sequence[str],
        split: str = "train",
        unit: str = "",
        sense: str = "neither",
        title: str = "",
    ) -> None:
        """Append one observation of a signal.

        Args:
            name: the signal, `[a-z][a-z0-9_]*`.
            step: optimiser updates done before the observation.
            values: shape of the axes; NaN = missing. The shape may not change within a run.
            axes: a name for each axis; every axis has at least one entry.
            split: which part of the data it was taken on.
            unit: unit of the values.
            sense: whether `higher`, `lower` or `neither` is better.
            title: the signal's name in words.

        Raises:
            AffinityError: the name is not allowed, or the shape differs from the first one.
        """
        values = np.asarray(values, dtype=np.float64)
        if not values.size:
            raise AffinityError(f"signal '{name}' has shape {values.shape} and so no values.")
        if len(axes) != values.ndim:
            raise AffinityError(f"signal '{name}' has {values.ndim} axes but {len(axes)} axis names.")
        stream = self._streams.get(name)
        if stream is None:
            labels = {"unit": unit, "sense": sense, "title": title}
            stream = self._streams[name] = self._open(name, values.shape, axes, labels)
        if values.shape != stream.shape:
            raise AffinityError(
                f"signal '{name}' changed its shape from {stream.shape} to {values.shape} at step {step}."
            )
        stream.steps.append(int(step))
        stream.splits.append(split)
        stream.rows.append(values.reshape(-1).copy())
        if stream.due():
            self._flush(name)

    def add_training(self, row: Mapping[str, object]) -> None:
        """Append one finished training to a rerun's `trainings.jsonl`."""
        with (self.folder / TRAININGS_FILE).open("ab+") as stream:
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, size - 1))
            # A line that a full disk cut off must not swallow this one.
            broken = size > 0 and stream.read(1) != b"\n"
            stream.write(b"\n" * broken + dumps(row).encode() + b"\n")

    def flush(self) -> None:
        """Write every waiting row, so that readers see all steps so far."""
        for name in list(self._streams):
            self._flush(name)

    def close(self) -> None:
        """Flush, end every stream and let the run go, also when one of them cannot be written.

        Raises:
            OSError: a stream could not be written; the first reason.
        """
        errors = []
        for name in list(self._streams):
            try:
                self._flush(name)
                self._streams[name].end()
            except OSError as error:
                errors.append(error)
        self._streams = {}
        self._lock.release()
        if errors:
            raise errors[0]

    def _flush(self, name: str) -> None:
        """Write a signal's waiting rows; a file that broke off goes on as a new segment."""
        stream = self._streams[name]
        try:
            stream.flush()
        except OSError:
            del self._streams[name]
            stream.abandon()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open(
        self, name: str, shape: tuple[int, ...], axes: Sequence[str], labels: dict[str, str]
    ) -> _Stream:
        if not SIGNAL_PATTERN.fullmatch(name):
            raise AffinityError(
                f"'{name}' cannot name a signal.", hint="Use small letters, digits and underscores."
            )
        metadata = {"name": name, "axes": json.dumps(list(axes)), "shape": json.dumps(list(shape)), **labels}
        width = int(np.prod(shape))
        fields = [
            pa.field("step", pa.int64()),
            pa.field("split", pa.string()),
            pa.field("values", pa.list_(pa.float64(), width)),
        ]
        schema = pa.schema(fields, metadata=metadata)
        file = self._next_segment(name).open("xb")
        return _Stream(file=file, writer=pa.ipc.new_stream(file, schema), schema=schema, shape=shape)

    def _next_segment(self, name: str) -> Path:
        segment, path = 1, self.folder / f"{name}.arrows"
        while path.exists():
            segment += 1
            path = self.folder / f"{name}.{segment}.arrows"
        return path
