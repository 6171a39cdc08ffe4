"""Does a prediction from pairs choose good networks? Asked of a published table that measured all of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from affinity.core.errors import GroupingError, NotEnoughData
from affinity.core.grouping import GroupingProblem, GroupTable
from affinity.core.types import FloatArray
from affinity.grouping._agreement import RankAgreement, rank_agreement
from affinity.grouping._limits import Watch
from affinity.grouping._measured import best_networks_of_table

# One budget's integer program stops after so long; its answer is then not proven best.
SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetOutcome:
    """One budget.

    Attributes:
        budget: largest total cost.
        chosen: true total score of the networks chosen by the prediction.
        best: true total score of the best networks.
        chosen_networks: rows of the table that the prediction chooses.
        best_networks: rows of the table that are best.
        proven: both choices are proven best for their own table.
    """

    budget: float
    chosen: float
    best: float
    chosen_networks: tuple[int, ...] = ()
    best_networks: tuple[int, ...] = ()
    proven: bool = True

    @property
    def regret(self) -> float:
        """What the prediction loses against the best choice, in the table's unit; 0 is perfect."""
        return self.best - self.chosen


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """How well a prediction agrees with measured truth.

    Attributes:
        outcomes: regret for each budget that can be met.
        tasks: agreement of predicted and true gains over (task, network) with three or more tasks.
        networks: the same over networks, each with the mean gain of its tasks.
        sizes: agreement over (task, network) for each number of tasks in a network, from three on;
            without intervals.
    """

    outcomes: tuple[BudgetOutcome, ...]
    tasks: RankAgreement
    networks: RankAgreement
    sizes: tuple[tuple[int, RankAgreement], ...]

    @property
    def spearman(self) -> float:
        """Rank correlation over (task, network); NaN where a side is constant."""
        return self.tasks.spearman

    @property
    def kendall(self) -> float:
        """Kendall's tau-b over (task, network); NaN where a side is constant."""
        return self.tasks.kendall

    @property
    def compared(self) -> int:
        """Number of (task, network) pairs that entered."""
        return self.tasks.compared


def higher_order_table(truth: GroupTable) -> GroupTable:
    """Networks of three or more tasks predicted from the measured pairs, the rest as measured.

    The higher-order approximation of Standley et al., 2020, section 4: a task scores in a network the mean
    over its mates of what it scored in the pair. Where a pair was measured twice, its mean counts.

    Raises:
        NotEnoughData: a pair that is needed was not measured.
    """
    count = truth.scores.shape[1]
    sums, seen = np.zeros((count, count)), np.zeros((count, count))
    for group, scores in zip(truth.groups, truth.scores, strict=True):
        if len(group) == 2:
            sums[group, group[::-1]] += scores[list(group[::-1])]
            seen[group, group[::-1]] += 1
    with np.errstate(invalid="ignore"):
        pairs = sums / np.where(seen > 0, seen, np.nan)
    predicted = truth.scores.copy()
    for row, group in enumerate(truth.groups):
        if len(group) < 3:
            continue
        members = list(group)
        block = pairs[np.ix_(members, members)].copy()
        missing = np.isnan(block) & ~np.eye(len(members), dtype=bool)
        if missing.any():
            raise NotEnoughData(f"network {row + 1} needs all pairs of its tasks; some were not measured.")
        predicted[row, members] = np.nansum(block, axis=0) / (len(members) - 1)
    return GroupTable(groups=truth.groups, scores=predicted, costs=truth.costs)


def gains_over_alone(table: GroupTable, alone: FloatArray | None = None) -> GroupTable:
    """The relative gain of each task over its network of its own, `(score - alone) / |alone|`.

    Losses of different tasks have different sizes, so their ranks can be compared only as gains. A table
    whose tasks score 0 alone holds gains already and stays as it is.

    Args:
        table: scores, larger is better.
        alone: (N,) score of each task alone; from the table's dearest network of that one task when None.

    Raises:
        NotEnoughData: a task was not measured alone, or some but not all tasks score 0 alone.
    """
    alone = alone_in(table) if alone is None else alone
    if np.isnan(alone).any():
        raise NotEnoughData(f"task {int(np.argmax(np.isnan(alone))) + 1} was not measured alone.")
    if not alone.any():
        return table
    if (alone == 0).any():
        raise NotEnoughData(f"task {int(np.argmax(alone == 0)) + 1} scores 0 alone, so no share can be said.")
    return replace(table, scores=(table.scores - alone) / np.abs(alone))


def alone_in(table: GroupTable) -> FloatArray:
    """(N,) score of each task in a network of its own, the dearest one; NaN where none was measured."""
    alone, cost = np.full(table.scores.shape[1], np.nan), np.zeros(table.scores.shape[1])
    for row, group in enumerate(table.groups):
        if len(group) == 1 and table.costs[row] > cost[group[0]]:
            alone[group[0]], cost[group[0]] = table.scores[row, group[0]], table.costs[row]
    return alone


def validate(
    truth: GroupTable,
    predicted: GroupTable | None = None,
    *,
    choice: GroupTable | None = None,
    budgets: Sequence[float] | None = None,
    seconds: float = SECONDS,
) -> Validation:
    """Choose networks by prediction, and compare their true score with the best possible one.

    Args:
        truth: measured scores, larger is better; the outcome is read from them.
        predicted: the same networks with predicted scores; the higher-order approximation when None.
        choice: the measured scores from which the best networks are chosen, when those differ from
            `truth` (validation against test); each task may then use the best of the chosen networks.
        budgets: total costs to try; 1, 2, ... up to the number of tasks when None. One that no choice of
            networks meets is left out.
        seconds: time limit of each of the searches.

    Raises:
        NotEnoughData: no prediction can be made from the table.
        GroupingError: no budget can be met.
    """
    base = truth if choice is None else choice
    predicted = higher_order_table(base) if predicted is None else predicted
    wanted = range(1, truth.scores.shape[1] + 1) if budgets is None else budgets
    found = [_outcome(truth, predicted, base, float(budget), seconds) for budget in wanted]
    outcomes = tuple(outcome for outcome in found if outcome is not None)
    if not outcomes:
        raise GroupingError("no choice of networks covers all tasks.", hint="Measure more networks.")
    guessed, measured = _as_gains(predicted, base), _as_gains(truth, truth)
    rows = [row for row, group in enumerate(truth.groups) if len(group) > 2]
    sizes = sorted({len(truth.groups[row]) for row in rows})
    by_task = [_pairs(truth, guessed, measured, row) for row in rows]
    means = [(left.mean(keepdims=True), right.mean(keepdims=True)) for left, right in by_task]
    return Validation(
        outcomes=outcomes,
        tasks=rank_agreement(by_task),
        networks=rank_agreement(means),
        sizes=tuple(
            (size, rank_agreement([pair for pair in by_task if len(pair[0]) == size], resamples=0))
            for size in sizes
        ),
    )


def _as_gains(table: GroupTable, alone_from: GroupTable) -> FloatArray:
    """Scores as gains where the table allows it, else as they are."""
    try:
        return gains_over_alone(table, alone_in(alone_from)).scores
    except NotEnoughData:
        return table.scores


def _pairs(
    truth: GroupTable, guessed: FloatArray, measured: FloatArray, row: int
) -> tuple[FloatArray, FloatArray]:
    members = list(truth.groups[row])
    return guessed[row, members], measured[row, members]


def _outcome(
    truth: GroupTable, predicted: GroupTable, base: GroupTable, budget: float, seconds: float
) -> BudgetOutcome | None:
    try:
        chosen, sure = _networks(predicted, budget, seconds)
        best, proven = _networks(base, budget, seconds)
    except GroupingError:
        return None
    return BudgetOutcome(
        budget=budget,
        chosen=_true_score(truth, chosen),
        best=_true_score(truth, best),
        chosen_networks=chosen,
        best_networks=best,
        proven=sure and proven,
    )


def _networks(table: GroupTable, budget: float, seconds: float) -> tuple[tuple[int, ...], bool]:
    count = table.scores.shape[1]
    problem = GroupingProblem(
        affinity=np.zeros((count, count)),
        groups=max(1, len(table.groups)),
        overlap=True,
        objective="measured",
        table=table,
        budget=budget,
        time_limit=seconds,
    )
    solution = best_networks_of_table(problem, Watch(problem))
    return solution.networks, solution.optimal


def _true_score(truth: GroupTable, networks: tuple[int, ...]) -> float:
    # Each task may use the best of the chosen networks once the truth is known.
    return float(np.nanmax(truth.scores[list(networks)], axis=0).sum())
