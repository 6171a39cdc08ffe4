"""Reads a user's CSV text into named columns of cells; says which line is wrong and why. No numbers yet."""

import codecs
import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from affinity.core.errors import DatasetError
from affinity.core.names import unique_names

MAX_BYTES: Final = 64 * 2**20
MAX_COLUMNS: Final = 2000
MISSING: Final = frozenset({"", "na", "n/a", "nan", "null", "none", "?"})

_DELIMITERS: Final = (",", ";", "\t", "|")
_SAMPLE: Final = 2**18
_SAMPLE_ROWS: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class RawTable:
    """The cells of a table.

    Attributes:
        label: the file's name, for messages.
        names: cleaned column names, each its own.
        columns: the cells of each column without surrounding blanks; None = missing.
        lines: the line of the file each row ends on, counted from 1.
        decimal_comma: whether `1,5` may mean one and a half, because cells are not separated by commas.
    """

    label: str
    names: tuple[str, ...]
    columns: tuple[tuple[str | None, ...], ...]
    lines: tuple[int, ...]
    decimal_comma: bool


def read_table(source: str | Path) -> RawTable:
    """Read a CSV with a header line; the separator is a comma, semicolon, tab or bar.

    Args:
        source: the text itself, or the path of a file in UTF-8 (or UTF-16 with its mark).

    Raises:
        DatasetError: the file cannot be read, is no text, is larger than 64 MiB, or a line does not have as
            many cells as the header; names the file and the line.
    """
    label = source.name if isinstance(source, Path) else "table"
    text = _decode(source) if isinstance(source, Path) else source.removeprefix("\ufeff")
    if "\0" in text:
        raise DatasetError("holds zero bytes: this is not a text file.", label)
    if len(text) > MAX_BYTES:
        raise DatasetError(f"is larger than {MAX_BYTES // 2**20} MiB.", label)
    delimiter = _delimiter(text, label)
    header, rows, lines = _rows(text, delimiter, label)
    columns = tuple(zip(*rows, strict=True))
    return RawTable(
        label=label,
        names=unique_names(header),
        columns=columns,
        lines=tuple(lines),
        decimal_comma=delimiter != ",",
    )


def _decode(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise DatasetError(f"is larger than {MAX_BYTES // 2**20} MiB.", path.name)
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DatasetError(f"cannot be read ({reason}).", path.name or "table") from error
    marked = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return data.decode("utf-16" if marked else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DatasetError("is not UTF-8 text.", f"{path.name}, line {line}", "Save it as UTF-8.") from error


def _delimiter(text: str, label: str) -> str:
    """The separator that gives header and first rows the same number of cells, the more the better."""
    shapes = [_first_widths(text, delimiter) for delimiter in _DELIMITERS]
    # A name may hold other separators: the header alone would then be cut into too many cells.
    ranks = [(len(set(widths)) == 1 and widths[0] > 1, widths[0]) for widths in shapes]
    if max(widths[0] for widths in shapes) < 2:
        raise DatasetError(
            "has no header with at least two columns.",
            f"{label}, line 1",
            "The first line names the columns, separated by commas, semicolons, tabs or bars.",
        )
    return _DELIMITERS[ranks.index(max(ranks))]


def _first_widths(text: str, delimiter: str) -> list[int]:
    """Number of cells in the first rows that are not blank; [0] if there are none or they cannot be read."""
    reader = csv.reader(io.StringIO(text[:_SAMPLE], newline=""), delimiter=delimiter)
    widths = []
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                widths.append(len(cells))
            if len(widths) == _SAMPLE_ROWS:
                break
    except csv.Error:
        pass
    # The last row may be cut off by the end of the sample.
    return (widths[:-1] if len(widths) > 1 and len(text) > _SAMPLE else widths) or [0]


def _rows(text: str, delimiter: str, label: str) -> tuple[list[str], list[list[str | None]], list[int]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    header: list[str] = []
    rows: list[list[str | None]] = []
    lines: list[int] = []
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if not header:
                header = _header(cells, label)
                continue
            _same_width(cells, header, f"{label}, line {reader.line_num}")
            rows.append([_cell(cell) for cell in cells])
            lines.append(reader.line_num)
    except csv.Error as error:
        raise DatasetError(f"cannot be read as CSV: {error}.", f"{label}, line {reader.line_num}") from error
    if len(rows) < 2:
        raise DatasetError(f"has {len(rows)} rows below the header; at least 2 are needed.", label)
    return header, rows, lines


def _header(cells: list[str], label: str) -> list[str]:
    if len(cells) > MAX_COLUMNS:
        raise DatasetError(
            f"{len(cells)} columns are more than the limit of {MAX_COLUMNS}.", f"{label}, line 1"
        )
    return [cell.strip() or f"column {position}" for position, cell in enumerate(cells, start=1)]


def _same_width(cells: list[str], header: list[str], where: str) -> None:
    if len(cells) != len(header):
        raise DatasetError(f"{len(cells)} cells, but the header has {len(header)}.", where)


def _cell(text: str) -> str | None:
    stripped = text.strip()
    return None if stripped.casefold() in MISSING else stripped
