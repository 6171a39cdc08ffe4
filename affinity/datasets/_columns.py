"""What a column of cells means: a number, a class, or text that cannot be used. One rule, stated once."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from affinity.core.errors import DatasetError
from affinity.core.types import FloatArray, IntArray, TaskKind
from affinity.datasets._csv import RawTable

# Whole numbers with at most so many different values read as classes.
FEW_VALUES: Final = 10
# A text column with more values would become as many inputs.
MAX_CATEGORIES: Final = 50
MAX_CLASSES: Final = 1000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Column:
    """A column as numbers or as categories.

    Attributes:
        name: its cleaned name.
        numbers: (n,) values, NaN = missing; None if the cells are words.
        categories: the different values in order: by size for numbers, by alphabet for words.
        codes: (n,) position of each row's value in `categories`; -1 = missing.
    """

    name: str
    numbers: FloatArray | None
    categories: tuple[str, ...]
    codes: IntArray

    @property
    def guess(self) -> TaskKind:
        """What a task on this column would be, unless the user says otherwise."""
        if len(self.categories) == 2:
            return "binary"
        if self.numbers is None:
            return "multiclass"
        present = self.numbers[~np.isnan(self.numbers)]
        few = len(self.categories) <= min(FEW_VALUES, len(present) // 2)
        return "multiclass" if few and np.all(present == np.round(present)) else "regression"


def read_column(table: RawTable, position: int) -> Column:
    """Decide whether a column holds numbers or words.

    Numbers it is when at least half of its cells are numbers; then every cell has to be one.

    Args:
        table: the cells.
        position: which column, from 0.

    Raises:
        DatasetError: a word stands among numbers, or a number is not finite; names file, line and column.
    """
    cells, name = table.columns[position], table.names[position]
    parsed = [_number(cell, decimal_comma=table.decimal_comma) for cell in cells]
    present = sum(cell is not None for cell in cells)
    numeric = sum(value is not None for value in parsed)
    if not present or 2 * numeric < present:
        return _words(name, cells)
    for cell, value, line in zip(cells, parsed, table.lines, strict=True):
        if cell is not None and (value is None or not np.isfinite(value)):
            what = "not a finite number" if value is not None else "not a number, as the others are"
            raise DatasetError(
                f"'{cell[:40]}' is {what}.",
                f"{table.label}, line {line}, column '{name}'",
                "Correct the cell, or leave it empty if the value is missing.",
            )
    return _numbers(name, np.array([np.nan if value is None else value for value in parsed]))


def _number(cell: str | None, *, decimal_comma: bool) -> float | None:
    if cell is None or "_" in cell:  # Python would read 1_000 as a number, nobody else does
        return None
    try:
        return float(cell)
    except ValueError:
        pass
    if not decimal_comma or cell.count(",") != 1 or "." in cell:
        return None
    try:
        return float(cell.replace(",", "."))
    except ValueError:
        return None


def _numbers(name: str, numbers: FloatArray) -> Column:
    present = ~np.isnan(numbers)
    values, inverse = np.unique(numbers[present], return_inverse=True)
    codes = np.full(len(numbers), -1, dtype=np.int64)
    codes[present] = inverse
    return Column(name=name, numbers=numbers, categories=tuple(f"{v:g}" for v in values), codes=codes)


def _words(name: str, cells: tuple[str | None, ...]) -> Column:
    categories = sorted({cell for cell in cells if cell is not None})
    position = {value: at for at, value in enumerate(categories)}
    codes = np.array([-1 if cell is None else position[cell] for cell in cells], dtype=np.int64)
    return Column(name=name, numbers=None, categories=tuple(categories), codes=codes)


def as_inputs(column: Column, label: str) -> FloatArray:
    """(n, k) inputs: the number itself, or one indicator a category; NaN = missing.

    Raises:
        DatasetError: a column of words has more than 50 different ones.
    """
    if column.numbers is not None:
        return column.numbers[:, None]
    if len(column.categories) > MAX_CATEGORIES:
        raise DatasetError(
            f"{len(column.categories)} different words are too many for an input (limit {MAX_CATEGORIES}).",
            f"{label}, column '{column.name}'",
            "Leave the column out; a name or number of the row says nothing about new rows.",
        )
    indicators = (column.codes[:, None] == np.arange(len(column.categories))).astype(np.float64)
    indicators[column.codes < 0] = np.nan
    return np.asarray(indicators, dtype=np.float64)
