"""Gains as CSV files: predicted by a grouping, real after a rerun, and runs side by side."""

from collections.abc import Iterable

import numpy as np

from affinity.analysis.grouping_compare import GroupingsComparison
from affinity.analysis.views import CompareView, GroupsView, RunsComparison
from affinity.export._csv import Cell, csv_text

NOT_IN_RUN = "not in this run"

# Column name in the file, and the field of a gain it shows.
_GAIN_COLUMNS = (
    ("task", "task"),
    ("against", "against"),
    ("gain", "value"),
    ("low", "low"),
    ("high", "high"),
    ("outcome", "outcome"),
    ("metric", "metric"),
    ("reference_metric", "reference_metric"),
    ("metric_gain", "metric_gain"),
    ("metric_low", "metric_low"),
    ("metric_high", "metric_high"),
    ("seeds", "n"),
)


def gains_csv(view: CompareView) -> str:
    """The real gain of every task against each reference."""
    rows: Iterable[list[Cell]] = ([getattr(gain, field) for _, field in _GAIN_COLUMNS] for gain in view.gains)
    notes = [
        "gain = 1 - validation loss / validation loss of the reference, mean over seeds; positive is better. "
        "Intervals are paired 95 % t intervals over seeds."
    ]
    return csv_text([name for name, _ in _GAIN_COLUMNS], rows, notes=notes)


def predicted_gains_csv(view: GroupsView) -> str:
    """What a grouping promises every task."""
    rows: Iterable[list[Cell]] = (
        [gain.task, gain.group + 1, gain.value, gain.low, gain.high, gain.n, "; ".join(gain.mates)]
        for gain in view.gains
    )
    notes = ["predicted gain = mean affinity of the mates onto the task; positive helps."]
    return csv_text(
        ["task", "network", "predicted_gain", "low", "high", "mates_known", "mates"], rows, notes=notes
    )


def compared_groupings_csv(answer: GroupingsComparison) -> str:
    """What each of several groupings promises every task."""
    rows: Iterable[list[Cell]] = (
        [item.name, gain.task, gain.group + 1, gain.value, gain.low, gain.high, "; ".join(gain.mates)]
        for item in answer.compared
        for gain in item.gains
    )
    notes = ["predicted gain = mean affinity of the mates onto the task; positive helps."]
    header = ["grouping", "task", "network", "predicted_gain", "low", "high", "mates"]
    return csv_text(header, rows, notes=notes)


def runs_csv(comparison: RunsComparison) -> str:
    """Final validation metric of every task in every run."""
    rows: list[list[Cell]] = []
    for column, task in enumerate(comparison.tasks):
        cells: list[Cell] = [task]
        for number in range(len(comparison.ids)):
            there = bool(np.asarray(comparison.present)[number, column])
            cells.append(float(comparison.metrics[number, column]) if there else NOT_IN_RUN)
        rows.append(cells)
    notes = ["final validation metric, larger is better; an empty cell was not validated."]
    return csv_text(["task", *comparison.labels], rows, notes=notes)
