"""A gradient matrix from a file: JSON with one task's gradient a row, and what else may stand beside it."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from affinity.core.errors import Unreadable
from affinity.core.names import unique_names
from affinity.core.strict_json import Json, read_object
from affinity.core.types import FloatArray

EXPECTED = 'Expected {"tasks": ["a", ...], "matrix": [[1.0, ...], ...]}: one gradient a row.'
PAIRS = "For example [[0, 2], [2, 5]]."


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GradientFile:
    """Gradients of some tasks at one point.

    Attributes:
        tasks: (N,) names of the rows; `t0`, `t1` ... where the file has none.
        matrix: (N, n) one gradient a row; NaN where the file has null.
        losses: (N,) the tasks' losses there, or None.
        losses_after: (N,) the losses after a plain gradient step on their sum, or None.
        learning_rate: length of that step over that of the summed gradient, or None.
        blocks: name, first and end column of layers, for statistics of each.
    """

    tasks: tuple[str, ...]
    matrix: FloatArray
    losses: FloatArray | None = None
    losses_after: FloatArray | None = None
    learning_rate: float | None = None
    blocks: tuple[tuple[str, int, int], ...] = ()


def read_gradients(path: Path) -> GradientFile:
    """The gradients in a JSON file.

    `tasks`, `losses`, `losses_after`, `learning_rate` and `blocks` (pairs of first and end column) may be
    left out; null stands for a number that is not finite.

    Raises:
        Unreadable: the file does not have that form; names the row and the reason.
    """
    content = read_object(path)
    matrix = _matrix(content.get("matrix"), path.name)
    return GradientFile(
        tasks=_tasks(content.get("tasks"), len(matrix), path.name),
        matrix=matrix,
        losses=_row(content, "losses", len(matrix), path.name),
        losses_after=_row(content, "losses_after", len(matrix), path.name),
        learning_rate=_positive(content.get("learning_rate"), path.name),
        blocks=_blocks(content.get("blocks"), matrix.shape[1], path.name),
    )


def _matrix(value: Json, name: str) -> FloatArray:
    if not isinstance(value, list) or not value:
        raise Unreadable("there is no matrix.", name, EXPECTED)
    rows = [_numbers(row, f"{name}, matrix row {number}") for number, row in enumerate(value, start=1)]
    for number, row in enumerate(rows, start=1):
        if len(row) != len(rows[0]) or not row:
            raise Unreadable(
                f"{len(row)} numbers, and {len(rows[0])} in the first row.",
                f"{name}, matrix row {number}",
                "Every task's gradient has one number for each shared parameter, 0 where it is not used.",
            )
    return np.array(rows, dtype=np.float64)


def _numbers(row: Json, where: str) -> list[float]:
    if not isinstance(row, list):
        raise Unreadable("expected a list of numbers.", where, EXPECTED)
    found = []
    for cell in row:
        if cell is None:
            found.append(np.nan)
        elif isinstance(cell, bool) or not isinstance(cell, int | float):
            raise Unreadable(f"{str(cell)[:40]!r} is not a number.", where)
        else:
            found.append(_float(cell, where))
    return found


def _float(cell: float, where: str) -> float:
    try:
        return float(cell)
    except OverflowError as error:
        raise Unreadable("a number is too large.", where) from error


def _tasks(value: Json, count: int, name: str) -> tuple[str, ...]:
    if value is None:
        return tuple(f"t{position}" for position in range(count))
    if not isinstance(value, list) or len(value) != count:
        found = f"{len(value)} names" if isinstance(value, list) else "no list of names"
        raise Unreadable(f"{found} for {count} rows.", f"{name}, tasks", EXPECTED)
    return unique_names(str(task) for task in value)


def _row(content: dict[str, Json], key: str, count: int, name: str) -> FloatArray | None:
    value = content.get(key)
    if value is None:
        return None
    found = _numbers(value, f"{name}, {key}")
    if len(found) != count:
        raise Unreadable(f"{len(found)} numbers for {count} tasks.", f"{name}, {key}")
    return np.array(found)


def _positive(value: Json, name: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        raise Unreadable(f"{str(value)[:40]!r} is not a number above 0.", f"{name}, learning_rate")
    return _float(value, f"{name}, learning_rate")


def _blocks(value: Json, columns: int, name: str) -> tuple[tuple[str, int, int], ...]:
    if value is None:
        return ()
    where = f"{name}, blocks"
    if not isinstance(value, list):
        raise Unreadable("expected pairs of first and end column.", where, PAIRS)
    found = []
    for position, pair in enumerate(value):
        if not isinstance(pair, list) or len(pair) != 2 or not all(type(end) is int for end in pair):
            raise Unreadable("expected pairs of first and end column.", where, PAIRS)
        first, end = int(pair[0]), int(pair[1])  # type: ignore[arg-type]
        if not 0 <= first < end <= columns:
            raise Unreadable(f"{first} to {end} is no range of {columns} columns.", where)
        found.append((f"block {position + 1}", first, end))
    return tuple(found)
