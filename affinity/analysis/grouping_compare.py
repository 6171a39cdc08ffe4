"""Several groupings side by side: what each promises every task, and how far they agree."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from affinity.analysis.collected import Collected, Reduce, collect
from affinity.analysis.grouping_evidence import difference_interval, gain_interval
from affinity.analysis.grouping_gains import mean_gain, partition_agreement, predicted_gains
from affinity.analysis.views import PredictedGain
from affinity.analysis.wording import interval, listing, number
from affinity.core.types import AffinityMatrix, Grouping
from affinity.runs.reader import Run

MOST_COMPARED = 4


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Compared:
    """One grouping among others.

    Attributes:
        name: what the user calls it.
        grouping: the grouping.
        gains: one per task.
        score: mean predicted gain.
        low, high: bounds of its 95 % interval; NaN where unknown.
    """

    name: str
    grouping: Grouping
    gains: tuple[PredictedGain, ...]
    score: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupingsComparison:
    """Groupings side by side.

    Attributes:
        compared: the groupings in the order they were chosen.
        agreements: name, name and adjusted Rand index of each two of them.
        sentence: the answer in words.
    """

    compared: tuple[Compared, ...]
    agreements: tuple[tuple[str, str, float], ...]
    sentence: str


def compare_groupings(
    run: Run,
    matrix: AffinityMatrix,
    groupings: Sequence[tuple[str, Grouping]],
    *,
    signal: str,
    split: str,
    reduce: Reduce,
) -> GroupingsComparison:
    """What two to four groupings promise by the same affinity.

    Args:
        run: the run.
        matrix: its affinities.
        groupings: name and grouping of each.
        signal: the affinity's key.
        split: part of the data.
        reduce: how the steps are reduced.

    Raises:
        GroupingError: a grouping is about other tasks.
    """
    collected = collect(run, signal, split=split)
    compared = []
    for name, grouping in groupings[:MOST_COMPARED]:
        gains = predicted_gains(matrix, grouping)
        score = mean_gain(gains)
        low, high = gain_interval(collected, reduce, grouping, score)
        compared.append(Compared(name=name, grouping=grouping, gains=gains, score=score, low=low, high=high))
    return GroupingsComparison(
        compared=tuple(compared),
        agreements=tuple(
            (one.name, other.name, partition_agreement(one.grouping, other.grouping))
            for one, other in combinations(compared, 2)
        ),
        sentence=_sentence(compared, collected, reduce),
    )


def _sentence(compared: Sequence[Compared], collected: Collected, reduce: Reduce) -> str:
    ordered = sorted(compared, key=lambda item: item.score, reverse=True)
    best, rest = ordered[0], ordered[1:]
    against = listing([f"{number(item.score)} of {item.name}" for item in rest])
    told = f"{best.name} promises most: {number(best.score)}, against {against}."
    if not rest:
        return told
    value, low, high = difference_interval(collected, reduce, best.grouping, rest[0].grouping)
    bounds = interval(low, high)
    if not bounds:
        return told
    apart = f"Its lead over {rest[0].name} is {number(value)} (95 % interval {bounds})"
    return f"{told} {apart}{'; these two cannot be told apart.' if low <= 0 else '.'}"
