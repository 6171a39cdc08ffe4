"""Views about which tasks to train together."""

from dataclasses import dataclass

from affinity.core.types import Grouping


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedGain:
    """What a grouping promises one task.

    Attributes:
        task: the task.
        group: position of the group that serves it.
        mates: the tasks it is trained with there.
        value: mean affinity of the mates onto the task; 0 for a task alone.
        low, high: bounds of the 95 % interval; NaN where unknown.
        n: number of mates whose affinity is known.
    """

    task: str
    group: int
    mates: tuple[str, ...]
    value: float
    low: float
    high: float
    n: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupsView:
    """A grouping and what it promises.

    Attributes:
        grouping: the grouping.
        gains: one per task, in the order of the tasks.
        score: mean predicted gain over the tasks.
        alternatives: score of all tasks together and of every task alone, by name.
        low, high: bounds of the 95 % interval of the score; NaN where unknown.
        agreement: adjusted Rand index with the planted grouping, or None where that is unknown.
        sentence: the answer in words.
        caveats: sentences the reader has to see beside the numbers.
    """

    grouping: Grouping
    gains: tuple[PredictedGain, ...]
    score: float
    alternatives: tuple[tuple[str, float], ...]
    agreement: float | None
    sentence: str
    caveats: tuple[str, ...] = ()
    low: float = float("nan")
    high: float = float("nan")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BudgetPoint:
    """The best grouping with at most so many networks.

    Attributes:
        groups: networks allowed.
        used: networks used.
        grouping: the grouping.
        score: its score.
        optimal: proven best for this budget.
        bound: no grouping scores above this; NaN where unknown.
    """

    groups: int
    used: int
    grouping: Grouping
    score: float
    optimal: bool
    bound: float = float("nan")
