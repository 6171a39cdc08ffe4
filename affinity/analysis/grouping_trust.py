"""How far a suggestion can be trusted: how close the next one is, and what other measures would choose."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from affinity.analysis.grouping_gains import labels_of, mean_gain, partition_agreement, predicted_gains
from affinity.analysis.grouping_limits import broken_limit
from affinity.analysis.grouping_search import Search, named_groups
from affinity.analysis.wording import listing, number, percent, plural
from affinity.core.errors import AffinityError
from affinity.core.grouping import GroupingProblem, GroupPositions
from affinity.core.types import AffinityMatrix, Grouping
from affinity.grouping import score, second_best_grouping

NEIGHBOUR_SECONDS: Final = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class NextBest:
    """The best other grouping.

    Attributes:
        grouping: the grouping; None where there is no other that keeps the limits.
        lost: what it scores less, in units of the objective.
        share: the same as a share of the score; NaN where that is 0.
        moves: tasks that another network serves than before.
        exact: every other grouping scores no more; else only those that move one task were tried.
        sentence: all that in words.
    """

    grouping: Grouping | None
    lost: float
    share: float
    moves: tuple[str, ...]
    exact: bool
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherMeasure:
    """What another affinity of the same run would choose.

    Attributes:
        title: the measure.
        grouping: what it would choose.
        agreement: adjusted Rand index with the shown grouping.
        own: mean predicted gain of its own choice under this measure.
        shown: mean predicted gain of the shown grouping under this measure.
        problem: why it has no answer; empty where it has one.
    """

    title: str
    grouping: Grouping | None
    agreement: float
    own: float
    shown: float
    problem: str = ""

    @property
    def regret(self) -> float:
        """What the shown grouping loses under this measure."""
        return self.own - self.shown


def next_best(matrix: AffinityMatrix, search: Search, suggested: Grouping) -> NextBest:
    """The best grouping other than the suggested one, exact for at most ten tasks.

    Beyond that, only groupings are tried that move one task, for two seconds at most.
    """
    problem = search.problem(matrix.values, matrix.tasks)
    groups = positions_of(suggested)
    found = second_best_grouping(problem, groups)
    best = score(problem, groups)
    if found is not None:
        other, value, exact = found.groups, found.score, True
    else:
        other, value = _best_neighbour(problem, groups, search, matrix.tasks)
        exact = False
    if not other:
        return NextBest(
            grouping=None,
            lost=float("nan"),
            share=float("nan"),
            moves=(),
            exact=exact,
            sentence="No other grouping keeps the limits." if problem.size <= 10 else "",
        )
    named = named_groups(other, matrix.tasks)
    lost = best - value
    share = lost / abs(best) if best else float("nan")
    moves = moved_tasks(suggested, named)
    return NextBest(
        grouping=named,
        lost=lost,
        share=share,
        moves=moves,
        exact=exact,
        sentence=_next_words(lost, share, moves, exact=exact),
    )


def moved_tasks(before: Grouping, after: Grouping) -> tuple[str, ...]:
    """Tasks that change their network, when networks are matched so that as few as possible do."""
    from scipy.optimize import linear_sum_assignment

    old, new = labels_of(before), labels_of(after)
    shared = np.zeros((max(old) + 1, max(new) + 1))
    np.add.at(shared, (old, new), 1.0)
    rows, columns = linear_sum_assignment(-shared)
    match = dict(zip(columns.tolist(), rows.tolist(), strict=True))
    moved = (match.get(late) != early for early, late in zip(old, new, strict=True))
    return tuple(task for task, changed in zip(before.tasks, moved, strict=True) if changed)


def other_measures(
    matrices: Sequence[tuple[str, AffinityMatrix | AffinityError]], search: Search, shown: Grouping
) -> tuple[OtherMeasure, ...]:
    """What each affinity of a run would choose, and what the shown grouping loses under it.

    Args:
        matrices: title and matrix of each, or why there is none.
        search: the question, with its time limit for all of them together.
        shown: the grouping on the page.
    """
    each = replace(search, seconds=search.seconds / max(1, len(matrices)))
    return tuple(_other(title, matrix, each, shown) for title, matrix in matrices)


def measures_sentence(measures: Sequence[OtherMeasure]) -> str:
    """How far the measures agree, in words."""
    told = [item for item in measures if item.grouping is not None]
    if len(told) < 2:
        return "This run has no second measure to compare with."
    same = [item for item in told if item.agreement > 1 - 1e-9]
    others = min(told, key=lambda item: item.agreement)
    if len(same) == len(told):
        return f"All {len(told)} measures choose these networks."
    return (
        f"{len(same)} of {plural(len(told), 'measure')} choose exactly these networks. {others.title} "
        f"disagrees most (adjusted Rand index {others.agreement:.2f}; 1 is the same, 0 as by chance)."
    )


def positions_of(grouping: Grouping) -> tuple[GroupPositions, ...]:
    """The groups by position of their tasks."""
    place = {task: at for at, task in enumerate(grouping.tasks)}
    return tuple(
        (tuple(place[task] for task in group.train), tuple(place[task] for task in group.serve))
        for group in grouping.groups
    )


def _other(
    title: str, matrix: AffinityMatrix | AffinityError, search: Search, shown: Grouping
) -> OtherMeasure:
    nan = float("nan")
    if isinstance(matrix, AffinityError):
        return OtherMeasure(
            title=title, grouping=None, agreement=nan, own=nan, shown=nan, problem=matrix.what
        )
    value = mean_gain(predicted_gains(matrix, shown))
    try:
        found = search.grouping(matrix)
    except AffinityError as error:
        return OtherMeasure(
            title=title, grouping=None, agreement=nan, own=nan, shown=value, problem=error.what
        )
    return OtherMeasure(
        title=title,
        grouping=found,
        agreement=partition_agreement(shown, found),
        own=mean_gain(predicted_gains(matrix, found)),
        shown=value,
    )


def _best_neighbour(
    problem: GroupingProblem, groups: tuple[GroupPositions, ...], search: Search, tasks: Sequence[str]
) -> tuple[tuple[GroupPositions, ...], float]:
    """The best grouping that moves one task, as far as two seconds allow."""
    options, end = search.limits.options(tasks), time.monotonic() + NEIGHBOUR_SECONDS
    best: tuple[GroupPositions, ...] = ()
    value = -np.inf
    for moved in _neighbours(groups, problem.groups):
        if time.monotonic() > end:
            break
        if broken_limit(moved, options, tasks):
            continue
        found = score(problem, moved)
        if found > value:
            best, value = moved, found
    return best, value


def _neighbours(groups: tuple[GroupPositions, ...], most: int) -> Iterator[tuple[GroupPositions, ...]]:
    """Every grouping in which another network, or a new one, trains and serves one task."""
    for home, (train, serve) in enumerate(groups):
        for task in serve:
            left = (
                tuple(item for item in train if item != task),
                tuple(item for item in serve if item != task),
            )
            rest = [group if at != home else left for at, group in enumerate(groups)]
            for target in range(len(groups)):
                if target != home:
                    joined = [_with(group, task) if at == target else group for at, group in enumerate(rest)]
                    yield tuple(group for group in joined if group[1])
            if len(groups) < most and len(serve) > 1:
                yield (*rest, ((task,), (task,)))


def _without(tasks: tuple[int, ...], task: int) -> tuple[int, ...]:
    return tuple(item for item in tasks if item != task)


def _with(group: GroupPositions, task: int) -> GroupPositions:
    return tuple(sorted({*group[0], task})), tuple(sorted({*group[1], task}))


def _next_words(lost: float, share: float, moves: tuple[str, ...], *, exact: bool) -> str:
    which = f"It moves {listing(moves, most=6)}." if moves else "It changes only who helps."
    size = number(lost).lstrip("+")
    part = "" if np.isnan(share) else f" ({percent(share)})"
    if lost <= 1e-12:
        return f"Another grouping scores the same: {which[0].lower()}{which[1:]}"
    if exact:
        return f"The second-best grouping scores {size} less{part}. {which}"
    return f"Of all groupings that move one task, the best scores {size} less{part}. {which}"
