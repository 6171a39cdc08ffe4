"""What several commands need: the run or matrix they were given, and text in columns."""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from affinity.analysis.affinity import affinity_matrix
from affinity.analysis.matrix_file import read_matrix
from affinity.analysis.signals import signal_choices
from affinity.core.errors import NotRecorded, RunNotFound, SettingsError
from affinity.core.types import AffinityMatrix
from affinity.runs.library import open_run
from affinity.runs.reader import Run

Options: TypeAlias = argparse.Namespace

Answer: TypeAlias = tuple[Mapping[str, Any], str]
"""What a command answers: the JSON object, and the same for human eyes."""


def open_given(options: Options) -> Run:
    """The run that an id, a unique prefix or a path, names."""
    return open_run(options.run, home=options.home)


def run_or_matrix(options: Options) -> AffinityMatrix:
    """The matrix of a run, or the one in a file."""
    path = Path(options.run)
    if path.suffix.lower() in {".json", ".csv"}:
        return read_matrix(path)
    try:
        return matrix_of(options, open_given(options))
    except RunNotFound:
        if path.is_file():
            return read_matrix(path)
        raise


def matrix_of(options: Options, run: Run) -> AffinityMatrix:
    """The affinity the options ask for; the run's first signal when they name none."""
    signal = options.signal or next((choice.key for choice in signal_choices(run)), None)
    if signal is None:
        raise NotRecorded("this run recorded nothing that an affinity can be made from.", run.id)
    return affinity_matrix(
        run, signal, reduce=options.reduce, first=options.first, last=options.last, split=options.split
    )


def read_text(path: str) -> str:
    """A small text file the user named."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise SettingsError(f"the file cannot be read ({error.strerror}).", path) from error
    except UnicodeDecodeError as error:
        raise SettingsError("the file is not UTF-8 text.", path) from error


def write_text(path: str, text: str) -> None:
    """Write what a command made to the file the user named."""
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise SettingsError(f"the file cannot be written ({error.strerror}).", path) from error


def whole_numbers(text: str, where: str) -> tuple[int, ...]:
    """`0,1,2` as numbers."""
    try:
        return tuple(int(part) for part in text.split(",") if part.strip())
    except ValueError as error:
        raise SettingsError(
            f"'{text}' is not a list of whole numbers.", where, "For example 0,1,2"
        ) from error


def table(rows: Sequence[Sequence[object]]) -> str:
    """Columns padded to their widest cell."""
    if not rows:
        return ""
    widths = [max(len(str(row[index])) for row in rows) for index in range(len(rows[0]))]
    lines = (
        "  ".join(str(cell).ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)
