"""Cells of a table of measured networks: numbers, masks, names, each refused with its place in the file."""

import math
import re
from collections.abc import Sequence
from typing import Any, Final

from affinity.core.errors import DatasetError, Unreadable
from affinity.core.names import MAX_TASKS, unique_names

LARGEST: Final = 1e100
MISSING: Final = ("", "nan", "na", "none", "null", "-")


def number(cell: Any, where: str) -> float:  # noqa: ANN401 - a cell of an untrusted file
    """A finite number; NaN for an empty cell.

    Raises:
        Unreadable: anything else, or beyond 1e100.
    """
    if cell is None or (isinstance(cell, str) and cell.strip().lower() in MISSING):
        return math.nan
    try:
        value = math.nan if isinstance(cell, bool) else float(cell)
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not math.isfinite(value):
        raise Unreadable(f"{str(cell)[:40]!r} is not a finite number.", where)
    if abs(value) > LARGEST:
        raise Unreadable(f"{value:g} is beyond {LARGEST:g}, too large to be added up.", where)
    return value


def is_number(cell: str) -> bool:
    """Whether the cell holds a number."""
    try:
        return math.isfinite(float(cell))
    except ValueError:
        return False


def cost(cell: Any, where: str) -> float:  # noqa: ANN401 - a cell of an untrusted file
    """A cost above 0; 1 for an empty cell.

    Raises:
        Unreadable: not a number, or not above 0.
    """
    value = number(cell, where)
    if value <= 0:
        raise Unreadable(f"a cost of {value:g}; every network costs more than 0.", where)
    return 1.0 if math.isnan(value) else value


def mask(cell: str, tasks: int, where: str) -> tuple[int, ...]:
    """`11000` as positions; separators between the digits are allowed.

    Raises:
        Unreadable: other characters, another length, or no task at all.
    """
    bits = re.sub(r"[\s,;]", "", cell)
    if set(bits) - {"0", "1"} or len(bits) != tasks or "1" not in bits:
        raise Unreadable(f"{cell[:60]!r} is not a mask of {tasks} tasks with at least one of them.", where)
    return tuple(at for at, bit in enumerate(bits) if bit == "1")


def group(cell: str, tasks: Sequence[str], where: str) -> tuple[int, ...]:
    """`depth|normals` as positions.

    Raises:
        Unreadable: a name is no column, stands twice, or there is none.
    """
    names = [name.strip() for name in cell.split("|") if name.strip()]
    strangers = [name for name in names if name not in tasks]
    if strangers:
        raise Unreadable(f"'{strangers[0][:60]}' is not one of the columns.", where)
    if not names or len(set(names)) != len(names):
        raise Unreadable("a network has to name each of its tasks once.", where)
    return tuple(sorted(tasks.index(name) for name in names))


def task_names(raw: Sequence[str], where: str) -> tuple[str, ...]:
    """Clean, unique names; a bare number becomes `task 1`.

    Raises:
        Unreadable: too many, none, or two that are equal.
    """
    if not raw or len(raw) > MAX_TASKS:
        raise Unreadable(f"{len(raw)} task columns; expected 1 to {MAX_TASKS}.", where)
    doubled = next((name for name in raw if list(raw).count(name) > 1), None)
    if doubled is not None:
        raise Unreadable(f"two columns are called '{doubled[:60]}'.", where)
    try:
        return unique_names(f"task {name}" if name.isdigit() else name for name in raw)
    except DatasetError as error:
        raise Unreadable(error.what, where) from error
