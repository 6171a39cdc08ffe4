"""CSV text: numbers as they are, missing ones empty, text made harmless."""

import csv
import io
import math
from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np

Cell: TypeAlias = str | float | int | bool | None

# A spreadsheet takes a cell that starts like this for a formula and may run it.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def safe_text(text: str) -> str:
    """Text that a spreadsheet shows and does not run: a leading apostrophe where it looks like a formula."""
    bare = text.lstrip(" \u00a0\n")
    return f"'{text}" if bare.startswith(_FORMULA_STARTS) else text


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Cell]], *, notes: Sequence[str] = ()) -> str:
    """A CSV file: comment lines, a header, and the rows.

    Args:
        header: column names.
        rows: cells; NaN and None become empty, text is made harmless, numbers stay numbers.
        notes: sentences for comment lines at the top, such as the direction of a matrix.
    """
    stream = io.StringIO()
    for note in notes:
        stream.write(f"# {' '.join(note.split())}\n")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([safe_text(name) for name in header])
    writer.writerows([_cell(value) for value in row] for row in rows)
    return stream.getvalue()


def _cell(value: Cell) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return safe_text(value)
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, int | np.integer):
        return str(int(value))
    return repr(float(value)) if math.isfinite(value) else ""
