"""A [source, affected] matrix from a file: JSON `{"tasks", "matrix"}` or CSV with a header."""

import csv
import math
from pathlib import Path
from typing import Any

from affinity.core.errors import AffinityError, Unreadable
from affinity.core.names import MAX_TASKS, unique_names
from affinity.core.strict_json import read_object
from affinity.core.types import AffinityMatrix

MAX_BYTES = 20_000_000


def read_matrix(path: Path) -> AffinityMatrix:
    """The matrix in a file.

    Args:
        path: `.csv` with the affected tasks as header and, optionally, the sources as first column; anything
            else is read as JSON. Empty cells and null are missing.

    Raises:
        Unreadable: the file cannot be read as a matrix; names the line and the reason.
    """
    if not path.is_file():
        raise Unreadable("there is no such file.", path.name, "Give a run's id or a matrix file.")
    if path.stat().st_size > MAX_BYTES:
        raise Unreadable(f"the file has more than {MAX_BYTES:,} bytes.", path.name)
    tasks, rows = _from_csv(path) if path.suffix.lower() == ".csv" else _from_json(path)
    try:
        return AffinityMatrix(tasks=tasks, values=rows, signal=path.stem)  # type: ignore[arg-type]
    except (AffinityError, ValueError) as error:
        raise Unreadable(f"not a square matrix ({error})", path.name) from error


def _from_json(path: Path) -> tuple[tuple[str, ...], list[list[float]]]:
    content = read_object(path)
    tasks, matrix = content.get("tasks"), content.get("matrix")
    if not isinstance(tasks, list) or not isinstance(matrix, list):
        raise Unreadable('expected {"tasks": [...], "matrix": [[...]]}', path.name)
    rows = []
    for number, row in enumerate(matrix, start=1):
        if not isinstance(row, list):
            raise Unreadable("expected a list of numbers", f"{path.name}, matrix row {number}")
        rows.append([_number(cell, f"{path.name}, matrix row {number}") for cell in row])
    return unique_names(str(task) for task in tasks), rows


def _from_csv(path: Path) -> tuple[tuple[str, ...], list[list[float]]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable("not UTF-8 text", path.name) from error
    # A comment line is where our own export states the direction.
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    table = list(csv.reader(lines[: MAX_TASKS + 2]))
    if len(table) < 2:
        raise Unreadable("expected a header and one row a task", path.name)
    header, body = table[0], table[1:]
    named = len(header) == len(body) + 1
    tasks = unique_names(header[1:] if named else header)
    rows = []
    for number, row in enumerate(body, start=2):
        cells = row[1:] if named else row
        rows.append([_number(cell, f"{path.name}, line {number}") for cell in cells])
    return tasks, _in_header_order(tasks, unique_names(row[0] for row in body), rows, path) if named else rows


def _in_header_order(
    tasks: tuple[str, ...], sources: tuple[str, ...], rows: list[list[float]], path: Path
) -> list[list[float]]:
    """Rows are aligned by name, never by position."""
    if set(sources) != set(tasks):
        strange = sorted(set(sources) ^ set(tasks))
        raise Unreadable(f"'{strange[0]}' names a row or a column but not both", path.name)
    return [rows[sources.index(task)] for task in tasks]


def _number(cell: Any, where: str) -> float:  # noqa: ANN401 - a cell of an untrusted file
    if cell is None or (isinstance(cell, str) and not cell.strip()):
        return math.nan
    try:
        value = float(cell)
    except (TypeError, ValueError) as error:
        raise Unreadable(f"{str(cell)[:40]!r} is not a number", where) from error
    return value if math.isfinite(value) else math.nan
