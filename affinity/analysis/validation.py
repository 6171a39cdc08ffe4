"""Does pairwise affinity pick the right groups? A prediction against a table that measured the networks."""

import math
from collections.abc import Sequence

import numpy as np

from affinity.analysis.truth_table import TruthTable
from affinity.analysis.views.validation import BudgetRow, PredictedNetwork, ValidationView
from affinity.analysis.wording import interval, listing, number, percent, plural
from affinity.core.errors import NotEnoughData, SettingsError
from affinity.core.grouping import GroupTable
from affinity.core.types import FloatArray
from affinity.grouping import (
    BudgetOutcome,
    RankAgreement,
    alone_in,
    gains_over_alone,
    higher_order_table,
    validate,
)

PAIRS = "pairs"
MOST_BUDGETS = 12
MANY_NETWORKS = 500
SECONDS = 60.0


def validation_view(
    table: TruthTable,
    *,
    prediction: str = PAIRS,
    budgets: Sequence[float] | None = None,
    seconds: float = SECONDS,
) -> ValidationView:
    """Predict, choose by the prediction, and read the truth.

    Args:
        table: the measured networks.
        prediction: `pairs`, the mean of what a task scored in the pairs with its mates (Standley et al.,
            2020, section 4), or the name of a prediction that the table holds.
        budgets: total costs to try; from one network to one a task, at most 12 of them, when None.
        seconds: time for all choices together; one that runs out of its share is not proven best.

    Raises:
        SettingsError: no such prediction, or a budget that is not above 0.
        NotEnoughData: a pair that the prediction needs was not measured.
        GroupingError: no budget can be met by the measured networks.
    """
    if prediction != PAIRS and prediction not in table.predictions:
        known = ", ".join((PAIRS, *table.predictions))
        raise SettingsError(
            f"the table has no prediction '{prediction[:60]}'.", "prediction", f"Known: {known}."
        )
    wanted = possible_budgets(table) if budgets is None else tuple(budgets)
    if not wanted or not all(math.isfinite(budget) and budget > 0 for budget in wanted):
        raise SettingsError("every budget has to be a number above 0.", "budgets")
    predicted = higher_order_table(table.choice) if prediction == PAIRS else table.predictions[prediction]
    each = seconds / (2 * len(wanted))
    found = validate(table.truth, predicted, choice=table.choice, budgets=wanted, seconds=each)
    guessed, measured, unit = _gains(table, predicted, published=prediction != PAIRS)
    rows = tuple(_row(table, outcome) for outcome in found.outcomes)
    return ValidationView(
        tasks=table.tasks,
        networks=len(table.truth.groups),
        part=table.name,
        parts=table.others,
        prediction=prediction,
        predictions=(PAIRS, *table.predictions),
        lower_is_better=table.lower_is_better,
        unit=unit,
        rows=rows,
        points=_points(table, guessed, measured),
        over_tasks=found.tasks,
        over_networks=found.networks,
        sizes=found.sizes,
        sentence=_sentence(table, found.tasks, rows),
        caveats=_caveats(table, rows, wanted),
    )


def possible_budgets(table: TruthTable) -> tuple[float, ...]:
    """1, 2, ... networks of full size, in half steps where the table has networks of half the cost."""
    size = len(table.tasks)
    step = 0.5 if np.any(table.choice.costs < 1) else 1.0
    every = [1.0 + step * at for at in range(round((size - 1) / step) + 1)]
    # A table of thousands of networks takes seconds for each budget, so fewer are tried.
    return tuple(every[: MOST_BUDGETS if len(table.choice.groups) <= MANY_NETWORKS else MOST_BUDGETS // 2])


def _row(table: TruthTable, outcome: BudgetOutcome) -> BudgetRow:
    sign = -1.0 if table.lower_is_better else 1.0
    return BudgetRow(
        budget=outcome.budget,
        chosen=sign * outcome.chosen,
        best=sign * outcome.best,
        regret=outcome.regret,
        share=outcome.regret / abs(outcome.best) if outcome.best else float("nan"),
        chosen_groups=_names(table, outcome.chosen_networks),
        best_groups=_names(table, outcome.best_networks),
        proven=outcome.proven,
    )


def _names(table: TruthTable, networks: Sequence[int]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(table.tasks[task] for task in table.truth.groups[row]) for row in networks)


def _gains(
    table: TruthTable, predicted: GroupTable, *, published: bool
) -> tuple[FloatArray, FloatArray, str]:
    """Predicted and measured values on one scale where there is one, and what they are."""
    try:
        measured = gains_over_alone(table.truth).scores
        guessed = predicted if published else gains_over_alone(predicted, alone_in(table.choice))
    except NotEnoughData:
        return predicted.scores, table.truth.scores, "score"
    unit = "gain as the table gives it" if table.holds_gains else "gain over a network of its own, as a share"
    return guessed.scores, measured, unit


def _points(table: TruthTable, guessed: FloatArray, measured: FloatArray) -> tuple[PredictedNetwork, ...]:
    return tuple(
        PredictedNetwork(
            task=table.tasks[task],
            network=tuple(table.tasks[member] for member in group),
            predicted=float(guessed[row, task]),
            measured=float(measured[row, task]),
        )
        for row, group in enumerate(table.truth.groups)
        if len(group) > 2
        for task in group
    )


def _sentence(table: TruthTable, found: RankAgreement, rows: Sequence[BudgetRow]) -> str:
    return f"{_agreement(found)} {_regret(table, rows)}"


def _agreement(found: RankAgreement) -> str:
    if math.isnan(found.spearman):
        return "No network of three or more tasks can be compared."
    bounds = interval(found.spearman_low, found.spearman_high)
    said = f"Spearman {number(found.spearman, digits=2)}" + (f", 95 % interval {bounds}" if bounds else "")
    about = (
        f"over {plural(found.compared, 'gain')} in {plural(found.networks, 'network')} of three or more tasks"
    )
    if bounds and found.spearman_low <= 0 <= found.spearman_high:
        return f"No evidence that the prediction ranks larger networks rightly ({said}, {about})."
    if found.spearman < 0:
        return f"The prediction ranks larger networks the wrong way round ({said}, {about})."
    how = "well" if found.spearman >= 0.7 else "partly" if found.spearman >= 0.3 else "hardly"
    return f"The prediction ranks larger networks {how} ({said}, {about})."


def _regret(table: TruthTable, rows: Sequence[BudgetRow]) -> str:
    right = [row for row in rows if row.regret <= 1e-9 * max(1.0, abs(row.best))]
    if len(right) == len(rows):
        return "At every budget it chooses networks as good as the best."
    worst = max(rows, key=lambda row: row.regret)
    word = "loss" if table.lower_is_better else "score"
    where = f"at a budget of {worst.budget:g}"
    share = "" if math.isnan(worst.share) else f", {percent(worst.share)} of the best"
    size = number(worst.regret).lstrip("+")
    lost = f"At worst, {where}, the total {word} is {size} worse than possible{share}."
    as_good = f" It is as good as the best at {len(right)} of {plural(len(rows), 'budget')}." if right else ""
    return lost + as_good


def _caveats(table: TruthTable, rows: Sequence[BudgetRow], wanted: Sequence[float]) -> tuple[str, ...]:
    said = ["Networks of one or two tasks are inputs of the prediction, so only larger ones are compared."]
    if table.truth is not table.choice and not np.array_equal(
        table.truth.scores, table.choice.scores, equal_nan=True
    ):
        said.append(
            "Networks are chosen by their validation scores and judged by their test scores, so even the "
            "best choice is not the best in hindsight, and a regret can be negative."
        )
    met = {row.budget for row in rows}
    unmet = [f"{budget:g}" for budget in wanted if budget not in met]
    if unmet:
        said.append(f"No choice of networks that covers all tasks was found at a budget of {listing(unmet)}.")
    if not all(row.proven for row in rows):
        said.append("Some choices ran into the time limit and are not proven best.")
    return tuple(said)
