"""Conflict statistics as CSV files."""

from collections.abc import Iterable

from affinity.analysis.views import ConflictsView
from affinity.export._csv import Cell, csv_text

_PER_STEP = (
    "conflict_fraction",
    "min_cosine",
    "mean_cosine",
    "magnitude_similarity",
    "dominance",
    "condition_number",
    "rank",
    "pareto_gap",
    "relative_gap",
    "coherence",
)


def conflict_pairs_csv(view: ConflictsView) -> str:
    """Every unordered pair in a row, the most conflicting first."""
    header = ["first", "second", "conflict_rate", "conflicts", "n", "mean_cosine", "magnitude_similarity"]
    rows: Iterable[list[Cell]] = (
        [
            pair.first,
            pair.second,
            pair.rate,
            pair.conflicts,
            pair.n,
            pair.mean_cosine,
            pair.magnitude_similarity,
        ]
        for pair in view.pairs
    )
    return csv_text(
        header, rows, notes=["conflict = negative cosine of the gradients of the shared parameters."]
    )


def conflict_steps_csv(view: ConflictsView) -> str:
    """Every recorded step in a row."""
    series = [getattr(view, name) for name in _PER_STEP]
    rows: Iterable[list[Cell]] = (
        [int(step), *(float(values[number]) for values in series)] for number, step in enumerate(view.steps)
    )
    return csv_text(["step", *_PER_STEP], rows)
