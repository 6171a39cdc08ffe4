"""Who helps whom: matrices, rankings and curves of a run, each with how sure it is.

Wherever `run` may be several runs, they are the seeds of one sweep: same tasks, averaged with equal weight.
"""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from affinity.analysis.agreement import rank_agreement
from affinity.analysis.collected import Reduce, collect, estimate
from affinity.analysis.curves import pair_curve
from affinity.analysis.ordering import clustered_order
from affinity.analysis.pair_words import filled, pair_caveats, pair_sentence
from affinity.analysis.series import nearest_step, recorded_steps, values_at
from affinity.analysis.signals import find_choice, signal_choices, usable
from affinity.analysis.uncertainty import METHOD, METHOD_SEEDS, SURE, Estimate, mean_over_seeds
from affinity.analysis.views import AffinityView, PairRow, SignalChoice, Verdict
from affinity.analysis.wording import percent
from affinity.core.errors import AffinityError, NotEnoughData
from affinity.core.types import AffinityMatrix, AnyArray, FloatArray, read_only
from affinity.runs.reader import Run

__all__ = [
    "affinity_matrix",
    "affinity_view",
    "matrix_at",
    "pair_curve",
    "rank_agreement",
    "recorded_steps",
    "signal_choices",
]

RunOrSeeds: TypeAlias = Run | Sequence[Run]

# A heatmap with more tasks than this keeps its colours for the bulk of the pairs.
_CLIP_ABOVE = 25
_CLIP_SHARE = 99.0


def affinity_matrix(
    run: RunOrSeeds,
    signal: str,
    *,
    reduce: Reduce | None = None,
    first: int | None = None,
    last: int | None = None,
    split: str = "train",
) -> AffinityMatrix:
    """The affinities of a run, reduced over steps, with 95 % intervals.

    Args:
        run: a run, or the seeds of one sweep.
        signal: key of a choice, see `signal_choices`.
        reduce: `mean` over the steps, `last` value, or `ema`; the signal's own default when left out.
        first: first step that counts; from the start when left out.
        last: last step that counts; to the end when left out.
        split: part of the data, `train` or `validation`.

    Raises:
        NotRecorded: the run cannot show this signal on this part of the data.
        NotEnoughData: no step of the range was recorded.
        AffinityError: several runs with different tasks.
    """
    return _reduced(run, signal, reduce, (first, last), split)[0]


def affinity_view(
    run: RunOrSeeds,
    signal: str,
    *,
    reduce: Reduce | None = None,
    first: int | None = None,
    last: int | None = None,
    split: str = "train",
) -> AffinityView:
    """The answer to "who helps whom": matrix, ranking, sentence and caveats.

    Arguments and errors are those of `affinity_matrix`.
    """
    matrix, found, choice, count = _reduced(run, signal, reduce, (first, last), split)
    rows = pair_rows(matrix, found.confidence)
    correlated = found.correlated[~np.eye(len(matrix.tasks), dtype=bool)]
    known = correlated[np.isfinite(correlated)]
    return AffinityView(
        matrix=matrix,
        choice=choice,
        split=split,
        sentence=pair_sentence(rows, symmetric=choice.symmetric),
        rows=rows,
        order=tuple(matrix.tasks[position] for position in clustered_order(matrix.off_diagonal())),
        limit=colour_limit(matrix.off_diagonal()),
        confidence=read_only(found.confidence),
        distinguishable=read_only(distinguishable(*_bounds(matrix), found.confidence), bool),
        correlated_steps=float(np.median(known)) if len(known) else float("nan"),
        interval_method=METHOD_SEEDS if count > 1 else METHOD,
        runs=count,
        caveats=(*matrix.caveats, *_approximation(run, choice, matrix, (first, last), split)),
    )


def matrix_at(run: Run, signal: str, step: int, *, split: str = "train") -> AffinityMatrix:
    """The affinities at the recorded step nearest to `step`; one step has no interval.

    Raises:
        NotRecorded: the run cannot show this signal on this part of the data.
        NotEnoughData: no step was recorded.
    """
    choice = find_choice(run, signal)
    try:
        nearest, values = step, values_at(run, signal, step, split=split)
    except NotEnoughData:
        nearest = nearest_step(run, signal, step, split=split)
        values = values_at(run, signal, nearest, split=split)
    return AffinityMatrix(
        tasks=run.tasks,
        values=values,
        signal=signal,
        reduce="last",
        count=np.isfinite(values).astype(np.int64),
        span=(nearest, nearest),
        unit=choice.unit,
        caveats=("One step is one noisy sample; the mean over steps says more.", *filled(choice.caveat)),
    )


def pair_rows(matrix: AffinityMatrix, confidence: FloatArray) -> tuple[PairRow, ...]:
    """Every pair of different tasks, sorted by the lower bound of its interval, missing ones last."""
    low, high = _bounds(matrix)
    count = matrix.count if matrix.count is not None else np.isfinite(matrix.values).astype(np.int64)
    rows = [
        PairRow(
            source=source,
            affected=affected,
            value=float(matrix.values[i, j]),
            low=float(low[i, j]),
            high=float(high[i, j]),
            n=int(count[i, j]),
            sign_confidence=float(confidence[i, j]),
            verdict=verdict(
                float(matrix.values[i, j]), float(low[i, j]), float(high[i, j]), float(confidence[i, j])
            ),
        )
        for i, source in enumerate(matrix.tasks)
        for j, affected in enumerate(matrix.tasks)
        if i != j
    ]
    return tuple(sorted(rows, key=_surest_help_first))


def distinguishable(
    low: FloatArray | float, high: FloatArray | float, confidence: FloatArray | float
) -> AnyArray:
    """Whether a pair can be told from zero: its interval excludes zero and a typical step is sure."""
    away = np.greater(low, 0) | np.less(high, 0)
    return np.asarray(np.greater(confidence, SURE) & away)


def verdict(value: float, low: float, high: float, confidence: float) -> Verdict:
    """What may be said of a pair: its mean's interval and its typical step have to agree on the sign."""
    if np.isnan(value):
        return "missing"
    if not distinguishable(low, high, confidence):
        return "not distinguishable from zero"
    return "helps" if value > 0 else "hurts"


def colour_limit(values: FloatArray) -> float:
    """The a of a colour range -a .. +a: the largest size, of the bulk where there are many tasks."""
    sizes = np.abs(values[np.isfinite(values)])
    if not len(sizes) or not sizes.max():
        return 1.0
    clipped = float(np.percentile(sizes, _CLIP_SHARE)) if len(values) > _CLIP_ABOVE else 0.0
    return clipped or float(sizes.max())


def _reduced(
    run: RunOrSeeds, signal: str, reduce: Reduce | None, span: tuple[int | None, int | None], split: str
) -> tuple[AffinityMatrix, Estimate, SignalChoice, int]:
    runs = [run] if isinstance(run, Run) else list(run)
    if not runs or any(other.tasks != runs[0].tasks for other in runs):
        raise AffinityError("only runs with the same tasks in the same order can be averaged.")
    choice = find_choice(runs[0], signal)
    how: Reduce = reduce or choice.default_reduce
    collected = [collect(one, signal, split=split, first=span[0], last=span[1]) for one in runs]
    found = mean_over_seeds([estimate(one, how) for one in collected])
    matrix = AffinityMatrix(
        tasks=runs[0].tasks,
        values=found.value,
        signal=signal,
        reduce=how,
        low=found.low,
        high=found.high,
        count=found.count,
        span=(min(int(one.steps[0]) for one in collected), max(int(one.steps[-1]) for one in collected)),
        unit=choice.unit,
        caveats=pair_caveats(choice, collected, runs, found, split),
    )
    return matrix, found, choice, len(runs)


def _approximation(
    run: RunOrSeeds,
    choice: SignalChoice,
    matrix: AffinityMatrix,
    span: tuple[int | None, int | None],
    split: str,
) -> tuple[str, ...]:
    """How far the first-order affinity is off, where the same run tells."""
    one = run if isinstance(run, Run) else run[0]
    if choice.key != "first_order" or not usable(one, "lookahead_losses"):
        return ()
    try:
        exact = affinity_matrix(run, "lookahead", reduce="mean", first=span[0], last=span[1], split=split)
    except AffinityError:
        return ()
    sizes, errors = np.abs(exact.off_diagonal()), np.abs(exact.off_diagonal() - matrix.off_diagonal())
    known = np.isfinite(errors)
    if not known.any() or not sizes[known].mean():
        return ()
    share = percent(float(errors[known].mean() / sizes[known].mean()))
    return (f"Against the lookahead affinity of the same steps it is off by {share} of its mean size.",)


def _bounds(matrix: AffinityMatrix) -> tuple[FloatArray, FloatArray]:
    unknown = np.full(matrix.values.shape, np.nan)
    return (
        unknown if matrix.low is None else matrix.low,
        unknown if matrix.high is None else matrix.high,
    )


def _surest_help_first(row: PairRow) -> tuple[bool, bool, float, str, str]:
    sure = row.low if not np.isnan(row.low) else row.value
    return (
        np.isnan(row.value),
        np.isnan(row.low),
        -sure if not np.isnan(sure) else 0.0,
        row.source,
        row.affected,
    )
