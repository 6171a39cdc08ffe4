"""What a grouping promises each task, and how far two groupings agree."""

from collections.abc import Sequence

import numpy as np

from affinity.analysis.views import PredictedGain
from affinity.core.errors import GroupingError
from affinity.core.types import AffinityMatrix, FloatArray, Grouping


def predicted_gains(matrix: AffinityMatrix, grouping: Grouping) -> tuple[PredictedGain, ...]:
    """What each task gains in the network that serves it: the mean affinity onto it from its mates there.

    The interval is the mean of the mates' intervals, which is wide enough however the pairs are correlated.

    Returns:
        One per task, in the matrix's order; 0 for a task alone.

    Raises:
        GroupingError: matrix and grouping have different tasks.
    """
    if set(matrix.tasks) != set(grouping.tasks):
        raise GroupingError("the grouping and the affinities are about different tasks.")
    position = {task: number for number, task in enumerate(matrix.tasks)}
    return tuple(_gain(matrix, grouping, task, position) for task in matrix.tasks)


def planted_agreement(grouping: Grouping, planted: Sequence[Sequence[str]] | None) -> float | None:
    """Adjusted Rand index with the true grouping; None where that is unknown or about other tasks."""
    if planted is None or sorted(task for group in planted for task in group) != sorted(grouping.tasks):
        return None
    return adjusted_rand(_labels(grouping.tasks, planted), labels_of(grouping))


def partition_agreement(left: Grouping, right: Grouping) -> float:
    """Adjusted Rand index of who is served with whom, for two groupings of the same tasks."""
    served = [group.serve for group in right.groups]
    return adjusted_rand(labels_of(left), _labels(left.tasks, served))


def labels_of(grouping: Grouping) -> list[int]:
    """(N,) number of the network that serves each task."""
    return _labels(grouping.tasks, [group.serve for group in grouping.groups])


def adjusted_rand(left: Sequence[int], right: Sequence[int]) -> float:
    """Agreement of two partitions, 1 = equal, 0 = as by chance. Reference: Hubert & Arabie, 1985.

    Args:
        left: (N,) group number of each task.
        right: (N,) group number of each task.
    """
    table = np.zeros((max(left) + 1, max(right) + 1))
    np.add.at(table, (np.asarray(left), np.asarray(right)), 1)
    both, rows, columns = (_pairs(counts) for counts in (table, table.sum(axis=1), table.sum(axis=0)))
    expected = rows * columns / max(1.0, _pairs(np.array([float(len(left))])))
    largest = (rows + columns) / 2
    # Both partitions put all tasks together, or every task alone: they are the same.
    return 1.0 if largest == expected else (both - expected) / (largest - expected)


def mean_gain(gains: Sequence[PredictedGain]) -> float:
    """Mean over the tasks whose gain is known; NaN if none is."""
    return _mean(np.array([gain.value for gain in gains]))


def _gain(matrix: AffinityMatrix, grouping: Grouping, task: str, position: dict[str, int]) -> PredictedGain:
    number = next(number for number, group in enumerate(grouping.groups) if task in group.serve)
    mates = tuple(name for name in grouping.groups[number].train if name != task)
    rows, column = [position[name] for name in mates], position[task]
    values = matrix.values[rows, column]
    known = np.isfinite(values)
    unknown = np.full(len(rows), np.nan)
    bounds = [unknown if bound is None else bound[rows, column] for bound in (matrix.low, matrix.high)]
    return PredictedGain(
        task=task,
        group=number,
        mates=mates,
        value=0.0 if not mates else _mean(values[known]),
        low=0.0 if not mates else float(np.mean(bounds[0][known])) if known.any() else float("nan"),
        high=0.0 if not mates else float(np.mean(bounds[1][known])) if known.any() else float("nan"),
        n=int(known.sum()),
    )


def _mean(values: FloatArray) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else float("nan")


def _labels(tasks: Sequence[str], groups: Sequence[Sequence[str]]) -> list[int]:
    return [next(number for number, members in enumerate(groups) if task in members) for task in tasks]


def _pairs(counts: FloatArray) -> float:
    return float((counts * (counts - 1) / 2).sum())
