"""Do two measures name the same helpers? Compared by rank within each affected task, scales put aside."""

import numpy as np

from affinity.analysis.collected import collect, estimate
from affinity.analysis.signals import find_choice
from affinity.analysis.views import RankAgreement, RankAgreementRow
from affinity.analysis.wording import plural
from affinity.core.types import FloatArray
from affinity.runs.reader import Run

# Two sources are always in the same or in the opposite order; that says nothing.
_LEAST_SOURCES = 3


def rank_agreement(
    run: Run,
    signal_a: str,
    signal_b: str,
    *,
    first: int | None = None,
    last: int | None = None,
    split: str = "train",
) -> RankAgreement:
    """Spearman's rank correlation of two measures over the sources of each affected task.

    Raises:
        NotRecorded: the run cannot show one of the signals on this part of the data.
        NotEnoughData: no step of the range was recorded.
    """
    choices = find_choice(run, signal_a), find_choice(run, signal_b)
    values = [
        estimate(collect(run, choice.key, split=split, first=first, last=last), choice.default_reduce).value
        for choice in choices
    ]
    rows = tuple(_row(run.tasks, position, values[0], values[1]) for position in range(len(run.tasks)))
    known = [row.correlation for row in rows if not np.isnan(row.correlation)]
    mean = float(np.mean(known)) if known else float("nan")
    titles = choices[0].title, choices[1].title
    return RankAgreement(
        title_a=titles[0], title_b=titles[1], rows=rows, mean=mean, sentence=_sentence(titles, rows, mean)
    )


def spearman(left: FloatArray, right: FloatArray) -> float:
    """Rank correlation of two (n,) arrays without missing values, ties sharing a rank; NaN if constant."""
    ranks = [_centred_ranks(values) for values in (left, right)]
    size = np.sqrt((ranks[0] ** 2).sum() * (ranks[1] ** 2).sum())
    return float((ranks[0] * ranks[1]).sum() / size) if size else float("nan")


def _centred_ranks(values: FloatArray) -> FloatArray:
    """Ranks minus their mean; equal values share the mean of their ranks."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[inverse] - (len(values) + 1) / 2)


def _row(
    tasks: tuple[str, ...], affected: int, values_a: FloatArray, values_b: FloatArray
) -> RankAgreementRow:
    column_a, column_b = values_a[:, affected].copy(), values_b[:, affected].copy()
    column_a[affected] = column_b[affected] = np.nan
    both = np.isfinite(column_a) & np.isfinite(column_b)
    enough = both.sum() >= _LEAST_SOURCES
    return RankAgreementRow(
        affected=tasks[affected],
        correlation=spearman(column_a[both], column_b[both]) if enough else float("nan"),
        n=int(both.sum()),
        best_a=_best(tasks, column_a),
        best_b=_best(tasks, column_b),
    )


def _best(tasks: tuple[str, ...], column: FloatArray) -> str:
    return tasks[int(np.nanargmax(column))] if np.isfinite(column).any() else ""


def _sentence(titles: tuple[str, str], rows: tuple[RankAgreementRow, ...], mean: float) -> str:
    if np.isnan(mean):
        return "Too few tasks to compare rankings: every affected task needs at least 3 sources."
    same = sum(bool(row.best_a) and row.best_a == row.best_b for row in rows)
    strength = "alike" if mean > 0.7 else "partly alike" if mean > 0.3 else "differently"
    ranking = f"{titles[0]} and {titles[1].lower()} rank the sources {strength}"
    shared = f"they name the same best helper for {same} of {plural(len(rows), 'affected task')}"
    return f"{ranking}: mean rank correlation {mean:+.2f}; {shared}."
