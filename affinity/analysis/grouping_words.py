"""What a grouping promises, in words."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from affinity.analysis.views import PredictedGain
from affinity.analysis.wording import interval, listing, number, plural
from affinity.core.types import AffinityMatrix, Grouping

# With more tasks a sentence that names them all is not read.
MOST_NAMED: Final = 40
UNKNOWN: Final = (float("nan"), float("nan"))


def group_sentence(
    grouping: Grouping,
    gains: Sequence[PredictedGain],
    score: float,
    alternatives: Sequence[tuple[str, float]],
    agreement: float | None,
    *,
    bounds: tuple[float, float] = UNKNOWN,
) -> str:
    """The networks, what they promise on average, who gains and who loses, and whether that is proven."""
    said = [_networks(grouping), *_evidence(grouping, score, bounds)]
    beside = " and ".join(f"{number(value)} for {name}" for name, value in alternatives)
    range_ = interval(*bounds)
    between = f" (95 % interval {range_})" if range_ else ""
    said.append(f"The mean predicted gain is {number(score)}{between}, against {beside}.")
    losers = [gain for gain in gains if gain.value < 0]
    if losers:
        worst = min(losers, key=lambda gain: gain.value)
        of_worst = interval(worst.low, worst.high)
        sure = f", 95 % interval {of_worst}" if of_worst else ""
        said.append(f"{worst.task} is predicted to lose ({number(worst.value)}{sure}).")
    if grouping.optimal:
        said.append("No allowed grouping with at most as many networks scores higher; that is proven.")
    elif grouping.bound is not None and grouping.score is not None:
        said.append(f"No grouping can score above {number(grouping.bound)}; this one is not proven best.")
    if agreement is not None:
        exactly = "exactly " if agreement > 1 - 1e-9 else ""
        said.append(f"It matches the planted grouping {exactly}(adjusted Rand index {agreement:.2f}).")
    return " ".join(said)


def group_caveats(
    matrix: AffinityMatrix, grouping: Grouping, *, bounds: tuple[float, float] = UNKNOWN
) -> tuple[str, ...]:
    """Everything a reader has to know before retraining by a grouping; no sentence that does not apply."""
    said = [
        "Affinities say what one step does; how a whole network gains is only settled by training it. "
        "Retrain the grouping to see."
    ]
    if interval(*bounds):
        said.append(
            "The interval does not know that this grouping was picked as the best of many; “How stable is "
            "the suggestion?” judges by steps that had no part in the choice."
        )
    missing = int(np.isnan(matrix.off_diagonal()).sum()) - len(matrix.tasks)
    if missing:
        said.append(f"{plural(missing, 'pair')} without a value count as neither help nor harm.")
    helping = [task for group in grouping.groups for task in group.train if task not in group.serve]
    if helping:
        said.append(f"Trained in more than one network: {listing(sorted(set(helping)))}.")
    if grouping.signal and grouping.signal != matrix.signal:
        said.append(
            f"The grouping was found with '{grouping.signal}', the gains shown are by '{matrix.signal}'."
        )
    return tuple(said)


def _evidence(grouping: Grouping, score: float, bounds: tuple[float, float]) -> list[str]:
    """Whether grouping helps at all, where that can be doubted."""
    if all(len(group.train) == 1 for group in grouping.groups) and len(grouping.groups) > 1:
        return ["Alone is better: no network that is shared promises more than every task on its own."]
    if score < 0:
        return ["Alone is better: this grouping is predicted to cost more than it brings."]
    if bounds[0] <= 0 <= bounds[1]:
        return ["There is no evidence that grouping helps: the interval of the mean gain includes zero."]
    return []


def _networks(grouping: Grouping) -> str:
    groups = [group.train for group in grouping.groups]
    if len(groups) == 1:
        return "One network trains all tasks."
    alone = [group[0] for group in groups if len(group) == 1]
    if len(grouping.tasks) > MOST_NAMED:
        sizes = [len(group) for group in groups if len(group) > 1]
        parts = [f"{plural(len(sizes), 'network')} of {_span(sizes)} tasks"] if sizes else []
        parts += [f"{plural(len(alone), 'task')} alone"] if alone else []
        return f"{' and '.join(parts)}; the table below names them."
    shared = [listing(group, most=6) for group in groups if len(group) > 1]
    parts = [f"train together: {'; '.join(shared)}"] if shared else []
    parts += [f"alone: {listing(alone)}"] if alone else []
    return f"{plural(len(groups), 'network')}, {', '.join(parts)}."


def _span(sizes: Sequence[int]) -> str:
    low, high = min(sizes), max(sizes)
    return f"{low}" if low == high else f"{low} to {high}"
