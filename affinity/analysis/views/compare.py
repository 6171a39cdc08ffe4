"""Views about whether a grouping helped, and about several runs side by side."""

from dataclasses import dataclass
from typing import Literal

from affinity.core.types import AnyArray, FloatArray, Grouping


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskGain:
    """The real gain of one task under the grouping, against a reference.

    Attributes:
        task: the task.
        against: `joint` (all tasks in one network) or `single` (a network of its own).
        value: mean over seeds of 1 - loss / reference loss; positive = better.
        low, high: paired 95 % t interval over seeds; NaN with one seed.
        metric: the validation metric under the grouping, mean over seeds; larger is better.
        reference_metric: the reference's.
        metric_gain: mean over seeds of metric - reference metric.
        metric_low, metric_high: paired 95 % t interval over seeds; NaN with one seed.
        n: number of seeds with both values.
        outcome: `win`, `tie` or `loss` by the interval of the loss; by the sign alone with one seed.
    """

    task: str
    against: Literal["joint", "single"]
    value: float
    low: float
    high: float
    metric: float
    reference_metric: float
    metric_gain: float
    metric_low: float
    metric_high: float
    n: int
    outcome: Literal["win", "tie", "loss", "missing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeltaM:
    """Mean relative improvement over all tasks, against a reference.

    Attributes:
        against: `joint` or `single`.
        value: mean over tasks, then over seeds; positive = better.
        low, high: 95 % t interval over seeds; NaN with one seed.
        n: number of seeds.
        wins, ties, losses: tasks by outcome.
    """

    against: Literal["joint", "single"]
    value: float
    low: float
    high: float
    n: int
    wins: int
    ties: int
    losses: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmCost:
    """What one way of training costs, mean over seeds.

    Attributes:
        arm: `joint`, `single` or `group`.
        title: the arm in words.
        networks: networks trained.
        parameters: their parameters together.
        passes: forward-backward passes.
        seconds: training time; networks one after the other.
    """

    arm: Literal["joint", "single", "group"]
    title: str
    networks: int
    parameters: int
    passes: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CompareView:
    """Did the grouping help?

    Attributes:
        tasks: the order of the gains.
        grouping: what was retrained, or None when the run does not say.
        seeds: seeds that finished.
        gains: per reference, then per task.
        totals: per reference.
        costs: per arm that was trained.
        sentence: the answer in words.
        caveats: sentences the reader has to see beside the numbers.
    """

    tasks: tuple[str, ...]
    grouping: Grouping | None
    seeds: tuple[int, ...]
    gains: tuple[TaskGain, ...]
    totals: tuple[DeltaM, ...]
    costs: tuple[ArmCost, ...]
    sentence: str
    caveats: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PredictionCheck:
    """Predicted against real gain of each task under one grouping.

    Attributes:
        title: the affinity that predicted.
        against: the reference of the real gain.
        tasks: tasks with both values.
        predicted: (n,) mean affinity of the task's mates onto it.
        real: (n,) real relative gain.
        low, high: (n,) interval of the real gain; NaN with one seed.
        correlation: Spearman's rank correlation; NaN below 3 tasks.
        same_sign: tasks whose predicted and real gain have the same sign.
        sentence: the check in words.
    """

    title: str
    against: Literal["joint", "single"]
    tasks: tuple[str, ...]
    predicted: FloatArray
    real: FloatArray
    low: FloatArray
    high: FloatArray
    correlation: float
    same_sign: int
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingDifference:
    """A setting that is not the same in all compared runs; values as text, in the order of the runs."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RunsComparison:
    """Several runs side by side.

    Attributes:
        ids, labels: the runs; labels are unique on screen because they carry the id's end.
        tasks: union of the runs' tasks.
        metrics: (runs, tasks) final validation metric; NaN where missing.
        losses: (runs, tasks) final validation loss; NaN where missing.
        present: (runs, tasks) bool: the run has the task. Where False, say "not in this run".
        shared: tasks that all runs have.
        differences: settings that differ.
        sentence: the comparison in words.
        caveats: sentences the reader has to see beside the numbers.
    """

    ids: tuple[str, ...]
    labels: tuple[str, ...]
    tasks: tuple[str, ...]
    metrics: FloatArray
    losses: FloatArray
    present: AnyArray
    shared: tuple[str, ...]
    differences: tuple[SettingDifference, ...]
    sentence: str
    caveats: tuple[str, ...] = ()
