"""The user's own table as a dataset: some columns are tasks, the others inputs, kinds are guessed."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from affinity.core.errors import DatasetError
from affinity.core.names import clean_name
from affinity.core.settings import setting
from affinity.core.types import DatasetArrays, IntArray, TaskKind
from affinity.datasets._columns import MAX_CLASSES, Column, as_inputs, read_column
from affinity.datasets._csv import RawTable, read_table
from affinity.datasets._split import SplitSettings
from affinity.datasets._tables import Target, assemble


@dataclass(frozen=True, kw_only=True)
class TableSettings(SplitSettings):
    """How the columns of a table are read."""

    where: ClassVar[str] = "own_table"

    ignore: tuple[str, ...] = setting(
        (), help="Columns that are neither input nor task, such as a row number."
    )
    classes: tuple[str, ...] = setting((), help="Tasks to read as classes although they look like amounts.")
    amounts: tuple[str, ...] = setting((), help="Tasks to read as amounts although they look like classes.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnSummary:
    """What was understood of a column, for the form that asks which ones are tasks.

    Attributes:
        name: the cleaned name, by which settings refer to the column.
        kind: what a task on it would be, or None where it cannot be one (a single value).
        distinct: number of different values.
        missing: number of rows without a value.
    """

    name: str
    kind: TaskKind | None
    distinct: int
    missing: int


def summarise_table(source: str | Path) -> tuple[ColumnSummary, ...]:
    """One summary a column.

    Args:
        source: CSV text, or the path of a CSV file.

    Raises:
        DatasetError: the table cannot be read; names file, line and reason.
    """
    table = read_table(source)
    columns = (read_column(table, position) for position in range(len(table.names)))
    return tuple(
        ColumnSummary(
            name=column.name,
            kind=column.guess if len(column.categories) > 1 else None,
            distinct=len(column.categories),
            missing=int((column.codes < 0).sum()),
        )
        for column in columns
    )


def load_table(
    source: str | Path, targets: Sequence[str], *, settings: TableSettings, seed: int
) -> DatasetArrays:
    """Read a table and make the named columns its tasks.

    Two different values make a binary task, words or few whole numbers a multiclass one, anything else a
    regression. Inputs are numbers, or one indicator a word. A missing input becomes the training mean, a
    missing target stays unlabelled, and a row without any label is left out. At least one row of every class
    is put into the training part.

    Args:
        source: CSV text, or the path of a CSV file.
        targets: names of the task columns, as in the header.
        settings: which columns to leave out and which guesses to overrule.
        seed: seed of the split.

    Raises:
        DatasetError: the table cannot be read, a column is unknown or unusable; names file, line, reason.
    """
    table = read_table(source)
    chosen = _positions(table, targets)
    ignored = _positions(table, settings.ignore)
    if not chosen:
        raise DatasetError("no column is a task.", table.label, _choice(table))
    both = [table.names[position] for position in chosen if position in ignored]
    if both:
        raise DatasetError(f"column '{both[0]}' is both a task and left out.", table.label)
    rest = [position for position in range(len(table.names)) if position not in {*chosen, *ignored}]
    if not rest:
        raise DatasetError("no column is left as an input.", table.label)
    tasks = [_target(read_column(table, position), table, settings) for position in chosen]
    inputs = np.hstack([as_inputs(read_column(table, position), table.label) for position in rest])
    kept = np.flatnonzero(np.any([~np.isnan(task.values) for task in tasks], axis=0))
    tasks = [_at(task, kept) for task in tasks]
    return assemble(inputs[kept], tasks, settings=settings, seed=seed, always_train=_first_of_classes(tasks))


def _positions(table: RawTable, names: Sequence[str]) -> list[int]:
    positions = []
    for name in names:
        cleaned = clean_name(str(name))
        if cleaned not in table.names:
            raise DatasetError(f"no column is called '{cleaned}'.", table.label, _choice(table))
        positions.append(table.names.index(cleaned))
    return list(dict.fromkeys(positions))


def _choice(table: RawTable) -> str:
    shown = ", ".join(f"'{name[:40]}'" for name in table.names[:12])
    return f"Columns: {shown}{', ...' if len(table.names) > 12 else ''}."


def _target(column: Column, table: RawTable, settings: TableSettings) -> Target:
    place = f"{table.label}, column '{column.name}'"
    if len(column.categories) < 2:
        shown = f"always '{column.categories[0][:40]}'" if column.categories else "empty"
        raise DatasetError(f"is {shown}: there is nothing to learn.", place)
    kind = _kind(column, table, settings)
    if kind == "regression":
        if column.numbers is None:
            raise DatasetError("holds words, which are not amounts.", place)
        text = f"The amount in column {column.name}."
        return Target(name=column.name, kind=kind, values=column.numbers, description=text)
    classes = len(column.categories)
    if classes > MAX_CLASSES:
        raise DatasetError(f"{classes} classes are more than the limit of {MAX_CLASSES}.", place)
    codes = np.where(column.codes < 0, np.nan, column.codes.astype(np.float64))
    text = _describe(column, kind)
    return Target(name=column.name, kind=kind, values=codes, classes=classes, description=text)


def _kind(column: Column, table: RawTable, settings: TableSettings) -> TaskKind:
    position = table.names.index(column.name)
    if position in _positions(table, settings.amounts):
        return "regression"
    if position in _positions(table, settings.classes):
        return "binary" if len(column.categories) == 2 else "multiclass"
    return column.guess


def _describe(column: Column, kind: TaskKind) -> str:
    values = [value[:40] for value in column.categories]
    if kind == "binary":
        return f"Is {column.name} '{values[1]}' rather than '{values[0]}'?"
    return f"Which of {len(values)} values has {column.name}?"


def _at(task: Target, rows: IntArray) -> Target:
    values = task.values[rows]
    return Target(
        name=task.name, kind=task.kind, values=values, description=task.description, classes=task.classes
    )


def _first_of_classes(tasks: Sequence[Target]) -> IntArray:
    """Rows that show each class for the first time, so that no class is met only in validation."""
    rows: set[int] = set()
    for task in tasks:
        if task.kind != "regression":
            labelled = np.flatnonzero(~np.isnan(task.values))
            rows.update(labelled[np.unique(task.values[labelled], return_index=True)[1]].tolist())
    return np.array(sorted(rows), dtype=np.int64)
