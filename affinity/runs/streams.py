"""Signal files, batch by batch: whatever they hold is checked before it is believed."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from affinity.core.errors import Unreadable
from affinity.core.names import clean_name
from affinity.core.strict_json import Json, loads
from affinity.core.types import AnyArray, FloatArray, IntArray

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


def read_info(path: Path, name: str) -> SignalInfo | None:
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


def whole_batches(path: Path, info: SignalInfo) -> Iterator[Any]:
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


def rows_of(
    batch: Any,  # noqa: ANN401 - pyarrow has no types
    info: SignalInfo,
    *,
    split: str,
    first: int | None,
    last: int | None,
) -> tuple[IntArray, FloatArray]:
    """The steps and values of a batch that belong to a split and lie in a range of steps."""
    if batch.column("step").null_count or batch.column("values").null_count:
        # A row without a step or without values says nothing; our writer never leaves one out.
        batch = pa.RecordBatch.from_struct_array(batch.to_struct_array().filter(_whole_rows(batch)))
    steps, chosen = steps_of(batch, split)
    if first is not None:
        chosen &= steps >= first
    if last is not None:
        chosen &= steps <= last
    if not chosen.any():
        return steps[:0], np.empty((0, *info.shape))
    values = batch.column("values").flatten().to_numpy(zero_copy_only=False)
    return steps[chosen], values.reshape(len(steps), *info.shape)[chosen]


def steps_of(batch: Any, split: str) -> tuple[IntArray, AnyArray]:  # noqa: ANN401 - pyarrow has no types
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


def later_write_wins(
    steps: list[IntArray], values: list[FloatArray], shape: tuple[int, ...]
) -> tuple[IntArray, FloatArray]:
    """All rows in order of their steps; of two rows for one step, the one written later."""
    if not steps:
        return np.empty(0, np.int64), np.empty((0, *shape))
    all_steps, all_values = np.concatenate(steps), np.concatenate(values)
    if (all_steps[1:] > all_steps[:-1]).all():  # a difference of extreme steps would overflow
        return all_steps, all_values
    backwards = all_steps[::-1]
    unique, position = np.unique(backwards, return_index=True)
    return unique, all_values[len(all_steps) - 1 - position]
