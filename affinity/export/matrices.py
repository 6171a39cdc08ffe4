"""Affinities as files: JSON and CSV that the command line reads back, and a long table of pairs."""

from collections.abc import Iterable

from affinity.analysis.views import AffinityView
from affinity.core.strict_json import Json, dumps, to_json
from affinity.core.types import DIRECTION, AffinityMatrix
from affinity.export._csv import Cell, csv_text

CORNER = "a step on (row) to effect on (column)"


def matrix_json(matrix: AffinityMatrix) -> dict[str, Json]:
    """The matrix as plain JSON values; missing = null, never NaN.

    Returns:
        `tasks`, `matrix`, `low`, `high`, `n` as `[source][affected]`, `direction`, and how it came about.
    """
    return {
        "tasks": to_json(matrix.tasks),
        "direction": DIRECTION,
        "matrix": to_json(matrix.values),
        "low": to_json(matrix.low),
        "high": to_json(matrix.high),
        "n": to_json(matrix.count),
        "signal": matrix.signal,
        "reduce": matrix.reduce,
        "span": to_json(matrix.span),
        "unit": matrix.unit,
        "caveats": to_json(matrix.caveats),
    }


def matrix_json_text(matrix: AffinityMatrix) -> str:
    """The matrix as a strict JSON file."""
    return dumps(matrix_json(matrix), indent=1) + "\n"


def matrix_csv(matrix: AffinityMatrix) -> str:
    """The values as a CSV file: one row a source, one column an affected task, the direction on top."""
    rows: Iterable[list[Cell]] = (
        [task, *(float(value) for value in line)]
        for task, line in zip(matrix.tasks, matrix.values, strict=True)
    )
    return csv_text([CORNER, *matrix.tasks], rows, notes=_notes(matrix))


def pairs_csv(view: AffinityView) -> str:
    """Every pair of different tasks in a row of its own, the surest help first."""
    header = ["source", "affected", "value", "low", "high", "n", "sign_confidence", "verdict"]
    rows: Iterable[list[Cell]] = (
        [row.source, row.affected, row.value, row.low, row.high, row.n, row.sign_confidence, row.verdict]
        for row in view.rows
    )
    return csv_text(header, rows, notes=_notes(view.matrix))


def _notes(matrix: AffinityMatrix) -> list[str]:
    span = f", steps {matrix.span[0]} to {matrix.span[1]}" if matrix.span else ""
    return [f"{matrix.signal}, {matrix.reduce} over steps{span}. Direction: {DIRECTION}."]
