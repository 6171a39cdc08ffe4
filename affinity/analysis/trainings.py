"""The finished trainings of a rerun as arrays: seeds x tasks for each way of training."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from affinity.analysis.views import ArmCost
from affinity.core.types import FloatArray

Arm: TypeAlias = Literal["joint", "single", "group"]

ARMS: Final[tuple[Arm, ...]] = ("group", "joint", "single")
TITLES: Final[Mapping[Arm, str]] = {
    "group": "the grouping",
    "joint": "all tasks in one network",
    "single": "one network a task",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ArmResults:
    """What one way of training reached.

    Attributes:
        loss: (seeds, tasks) validation loss; NaN = not trained or not finite.
        metric: (seeds, tasks) validation metric, larger is better; NaN likewise.
    """

    loss: FloatArray
    metric: FloatArray


def arm_results(
    rows: Sequence[Mapping[str, Any]], arm: Arm, seeds: Sequence[int], tasks: Sequence[str]
) -> ArmResults:
    """Collect the results of the tasks that each network of an arm serves."""
    loss, metric = (np.full((len(seeds), len(tasks)), np.nan) for _ in range(2))
    for row in rows:
        if row.get("arm") != arm or row.get("seed") not in seeds:
            continue
        seed = list(seeds).index(row["seed"])
        for task in served(row):
            if task in tasks:
                column = list(tasks).index(task)
                loss[seed, column] = _value(row, "loss", task)
                metric[seed, column] = _value(row, "metric", task)
    return ArmResults(loss=loss, metric=metric)


def arm_cost(rows: Sequence[Mapping[str, Any]], arm: Arm) -> ArmCost | None:
    """What an arm costs, averaged over the seeds that finished all of its networks; None if none did."""
    by_seed: dict[int, list[Mapping[str, Any]]] = {}
    for row in rows:
        if row.get("arm") == arm and isinstance(row.get("seed"), int):
            by_seed.setdefault(row["seed"], []).append(row)
    networks = max((len(found) for found in by_seed.values()), default=0)
    complete = [found for found in by_seed.values() if len(found) == networks]
    if not networks:
        return None
    parameters, passes, seconds = (
        float(np.mean([sum(number(row.get(name)) for row in found) for found in complete]))
        for name in ("parameters", "passes", "seconds")
    )
    return ArmCost(
        arm=arm,
        title=TITLES[arm],
        networks=networks,
        parameters=_whole(parameters),
        passes=_whole(passes),
        seconds=seconds,
    )


def served(row: Mapping[str, Any]) -> list[str]:
    """Tasks that a network serves; all it trains where the line does not say."""
    names = row.get("serve") or row.get("tasks")
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def number(value: object) -> float:
    """A number from a line of a log; NaN for anything else."""
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if plain and math.isfinite(value) else math.nan  # type: ignore[arg-type]


def _value(row: Mapping[str, Any], name: str, task: str) -> float:
    values = row.get(name)
    return number(values.get(task)) if isinstance(values, Mapping) else math.nan


def _whole(value: float) -> int:
    return round(value) if math.isfinite(value) else 0
