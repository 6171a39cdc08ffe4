"""Views about who helps whom."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from affinity.core.types import AffinityMatrix, AnyArray, FloatArray, IntArray

Verdict: TypeAlias = Literal["helps", "hurts", "not distinguishable from zero", "missing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalChoice:
    """An affinity that a run can show.

    Attributes:
        key: what the services are asked for.
        title: a few words for a picker.
        meaning: one sentence that says what a value means and what it is taken of.
        formula: the formula in plain text; empty for a matrix that was recorded as it is.
        caveat: a sentence to show beside the numbers; empty if none is due.
        splits: parts of the data it exists for: `train`, `validation`.
        default_reduce: how steps are reduced unless the user says otherwise.
        symmetric: both directions are equal by definition.
        reference: where the definition comes from.
        unit: unit of the values; empty for a pure number.
        recorded: it was recorded as a matrix, not computed from recorded quantities.
    """

    key: str
    title: str
    meaning: str
    formula: str
    caveat: str
    splits: tuple[str, ...]
    default_reduce: Literal["mean", "last", "ema"] = "mean"
    symmetric: bool = False
    reference: str = ""
    unit: str = ""
    recorded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRow:
    """One directed pair.

    Attributes:
        source: the task whose step was taken.
        affected: the task whose loss moved.
        value: the affinity; positive = helps. NaN = missing.
        low, high: bounds of the 95 % interval; NaN where there are too few samples.
        n: number of steps that entered.
        sign_confidence: confidence that a typical step has the sign of the value, 0 to 1; NaN = unknown.
            Below 0.5 a few huge steps make the value, against what most steps do.
        verdict: what may be said: the interval excludes zero and the sign confidence is above 0.975.
    """

    source: str
    affected: str
    value: float
    low: float
    high: float
    n: int
    sign_confidence: float
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AffinityView:
    """Who helps whom, with how sure that is.

    Attributes:
        matrix: the values with their intervals, `[source, affected]`.
        choice: what the numbers are.
        split: part of the data they were measured on.
        sentence: the answer in words.
        rows: every pair of different tasks, sorted by lower bound, the surest help first.
        order: tasks so that similar ones stand side by side.
        limit: colours run from -limit to +limit; the diagonal does not count.
        confidence: (N, N) confidence that a typical step has the sign of the value, 0 to 1, NaN = unknown.
        distinguishable: (N, N) bool, the interval excludes zero and the confidence is above 0.975.
        correlated_steps: how many neighbouring recorded steps tell as much as one independent one.
        interval_method: how the intervals were made, in words.
        runs: number of runs (seeds) that entered.
        caveats: sentences the reader has to see beside the numbers.
    """

    matrix: AffinityMatrix
    choice: SignalChoice
    split: str
    sentence: str
    rows: tuple[PairRow, ...]
    order: tuple[str, ...]
    limit: float
    confidence: FloatArray
    distinguishable: AnyArray
    correlated_steps: float
    interval_method: str
    runs: int = 1
    caveats: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairCurve:
    """One directed pair over steps.

    Attributes:
        steps: (T,) recorded steps.
        values: (T,) the affinity at each; NaN = missing.
        smooth: (T,) centred moving average over the values that are there.
        mean, low, high: mean over the steps and its 95 % interval.
        missing: number of recorded steps without a value.
        sentence: the curve in words.
    """

    source: str
    affected: str
    title: str
    unit: str
    steps: IntArray
    values: FloatArray
    smooth: FloatArray
    mean: float
    low: float
    high: float
    missing: int
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RankAgreementRow:
    """Do two measures rank the sources of one affected task alike?

    Attributes:
        affected: the task whose helpers are ranked.
        correlation: Spearman's rank correlation over sources, -1 to 1; NaN with fewer than 3 sources.
        n: number of sources that both measures value.
        best_a, best_b: the source each measure ranks first; empty when there is none.
    """

    affected: str
    correlation: float
    n: int
    best_a: str
    best_b: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RankAgreement:
    """Two measures compared by rank within each affected task.

    Attributes:
        title_a, title_b: the measures.
        rows: one per affected task.
        mean: mean correlation over the affected tasks where it exists; NaN if none.
        sentence: the answer in words.
    """

    title_a: str
    title_b: str
    rows: tuple[RankAgreementRow, ...]
    mean: float
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """The answer before any chart.

    Attributes:
        sentences: who helps whom most, who hurts whom most, how sure.
        next_step: what to do now.
        choice: the affinity the answer is taken from, or None when the run has none.
        view: the whole affinity the answer is taken from, or None when there is none.
        helps, hurts: the surest helping and the surest hurting pair, or None.
        caveats: sentences the reader has to see beside the answer.
    """

    sentences: tuple[str, ...]
    next_step: str
    choice: SignalChoice | None = None
    view: AffinityView | None = None
    helps: PairRow | None = None
    hurts: PairRow | None = None
    caveats: tuple[str, ...] = ()
