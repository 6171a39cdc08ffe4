"""What a comparison says in words."""

from collections.abc import Sequence

import numpy as np

from affinity.analysis.trainings import TITLES
from affinity.analysis.views import ArmCost, DeltaM, TaskGain
from affinity.analysis.wording import listing, percent, plural, signed_percent


def compare_sentence(
    totals: Sequence[DeltaM], gains: Sequence[TaskGain], costs: Sequence[ArmCost], seeds: Sequence[int]
) -> str:
    """The mean gain against each reference, who won and who lost, and what it costs."""
    if not totals:
        return "The baselines are not trained yet, so nothing can be compared."
    said = [f"Over {plural(len(seeds), 'seed')}.", *(_total(total, gains) for total in totals)]
    cost = {one.arm: one for one in costs}
    if "group" in cost and "single" in cost and cost["single"].parameters:
        share = percent(cost["group"].parameters / cost["single"].parameters)
        networks = plural(cost["group"].networks, "network")
        said.append(f"The grouping's {networks} hold {share} of the parameters of one network a task.")
    return " ".join(said)


def compare_caveats(
    seeds: Sequence[int], gains: Sequence[TaskGain], *, live: bool, known_grouping: bool
) -> tuple[str, ...]:
    """Everything a reader has to know before trusting a comparison; no sentence that does not apply."""
    said = []
    if len(seeds) == 1:
        said.append("No interval with one seed: another seed may turn the sign. Rerun with three or more.")
    elif len(seeds) < 5:
        said.append(f"Intervals from {len(seeds)} seeds are wide; more seeds make them narrower.")
    missing = sorted({gain.task for gain in gains if gain.outcome == "missing"})
    if missing:
        said.append(f"Without a finite loss in both arms: {listing(missing)}.")
    if not known_grouping:
        said.append("The run does not say which grouping was retrained.")
    if live:
        said.append("The rerun is still going; these numbers will change.")
    return tuple(said)


def prediction_sentence(signal: str, correlation: float, same: int, count: int) -> str:
    """Whether predicted and real gains agree."""
    if not count:
        return "No task has both a predicted and a real gain."
    rank = "" if np.isnan(correlation) else f"; rank correlation {correlation:+.2f}"
    return f"'{signal}' foretold the sign of the real gain for {same} of {plural(count, 'task')}{rank}."


def _total(total: DeltaM, gains: Sequence[TaskGain]) -> str:
    against = f"Against {TITLES[total.against]}"
    if np.isnan(total.value):
        return f"{against}, no seed has every task yet."
    gain = signed_percent(total.value)
    if not np.isnan(total.low):
        gain += f" (95 % interval {signed_percent(total.low)} to {signed_percent(total.high)})"
    lost = [gain.task for gain in gains if gain.against == total.against and gain.outcome == "loss"]
    worse = f"{total.losses} worse ({listing(lost)})" if lost else "none worse"
    tasks = f"{plural(total.wins, 'task')} better, {total.ties} unclear, {worse}"
    return f"{against}, the mean relative gain in validation loss is {gain}: {tasks}."
