"""Does a prediction from pairs choose good networks? Asked of a published table that measured all of them."""

from dataclasses import dataclass

import numpy as np

from affinity.core.errors import NotEnoughData
from affinity.core.grouping import GroupingProblem, GroupTable
from affinity.core.types import FloatArray
from affinity.grouping._limits import Watch
from affinity.grouping._measured import best_networks_of_table


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetOutcome:
    """One budget.

    Attributes:
        budget: largest total cost.
        chosen: true total score of the networks chosen by the prediction.
        best: true total score of the best networks.
    """

    budget: float
    chosen: float
    best: float

    @property
    def regret(self) -> float:
        """What the prediction loses against the best choice, in the table's unit; 0 is perfect."""
        return self.best - self.chosen


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """How well a prediction agrees with measured truth.

    Attributes:
        outcomes: regret for each budget.
        spearman: rank correlation of predicted and true scores over (task, network) with three or more
            tasks; NaN where either is constant.
        kendall: the same with Kendall's tau-b.
        compared: number of (task, network) pairs that entered.
    """

    outcomes: tuple[BudgetOutcome, ...]
    spearman: float
    kendall: float
    compared: int


def higher_order_table(truth: GroupTable) -> GroupTable:
    """Networks of three or more tasks predicted from the measured pairs, the rest as measured.

    The higher-order approximation of Standley et al., 2020, section 4: a task scores in a network the mean
    over its mates of what it scored in the pair.

    Raises:
        NotEnoughData: a pair that is needed was not measured.
    """
    count = truth.scores.shape[1]
    pairs = np.full((count, count), np.nan)
    for group, scores in zip(truth.groups, truth.scores, strict=True):
        if len(group) == 2:
            pairs[group[0], group[1]], pairs[group[1], group[0]] = scores[group[1]], scores[group[0]]
    predicted = truth.scores.copy()
    for row, group in enumerate(truth.groups):
        if len(group) < 3:
            continue
        members = list(group)
        block = pairs[np.ix_(members, members)].copy()
        missing = np.isnan(block) & ~np.eye(len(members), dtype=bool)
        if missing.any():
            raise NotEnoughData(f"network {row} needs all pairs of its tasks; some were not measured.")
        predicted[row, members] = np.nansum(block, axis=0) / (len(members) - 1)
    return GroupTable(groups=truth.groups, scores=predicted, costs=truth.costs)


def validate(
    truth: GroupTable,
    predicted: GroupTable | None = None,
    *,
    choice: GroupTable | None = None,
    budgets: tuple[float, ...] | None = None,
) -> Validation:
    """Choose networks by prediction, and compare their true score with the best possible one.

    Args:
        truth: measured scores, larger is better; the outcome is read from them.
        predicted: the same networks with predicted scores; the higher-order approximation when None.
        choice: the measured scores from which the best networks are chosen, when those differ from
            `truth` (validation against test); each task is then served by the network chosen for it.
        budgets: total costs to try; 1, 2, ... up to the number of tasks when None.

    Raises:
        NotEnoughData: no prediction can be made from the table.
    """
    base = truth if choice is None else choice
    predicted = higher_order_table(base) if predicted is None else predicted
    count = truth.scores.shape[1]
    budgets = tuple(float(budget) for budget in range(1, count + 1)) if budgets is None else budgets
    outcomes = tuple(
        BudgetOutcome(
            budget=budget,
            chosen=_true_score(truth, predicted, budget),
            best=_true_score(truth, base, budget),
        )
        for budget in budgets
    )
    guessed, measured = _compared(truth.scores, predicted)
    spearman, kendall = _rank_correlations(guessed, measured)
    return Validation(outcomes=outcomes, spearman=spearman, kendall=kendall, compared=len(guessed))


def _true_score(truth: GroupTable, choice: GroupTable, budget: float) -> float:
    count = truth.scores.shape[1]
    problem = GroupingProblem(
        affinity=np.zeros((count, count)),
        groups=max(1, len(choice.groups)),
        overlap=True,
        objective="measured",
        table=choice,
        budget=budget,
    )
    solution = best_networks_of_table(problem, Watch(problem))
    # Each task may use the best of the chosen networks once the truth is known.
    return float(np.nanmax(truth.scores[list(solution.networks)], axis=0).sum())


def _compared(truth: FloatArray, predicted: GroupTable) -> tuple[FloatArray, FloatArray]:
    rows = [(row, task) for row, group in enumerate(predicted.groups) if len(group) > 2 for task in group]
    guessed = np.array([predicted.scores[row, task] for row, task in rows])
    return guessed, np.array([truth[row, task] for row, task in rows])


def _rank_correlations(guessed: FloatArray, measured: FloatArray) -> tuple[float, float]:
    if len(guessed) < 3 or np.ptp(guessed) == 0 or np.ptp(measured) == 0:
        return float("nan"), float("nan")
    from scipy.stats import kendalltau, spearmanr

    return float(spearmanr(guessed, measured).statistic), float(kendalltau(guessed, measured).statistic)
