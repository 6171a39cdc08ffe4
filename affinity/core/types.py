"""What travels between the layers: frozen records with read-only arrays and named directions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from affinity.core.errors import AffinityError, DatasetError, GroupingError

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
AnyArray: TypeAlias = NDArray[Any]

DIRECTION = "[source, affected], positive helps affected"

TaskKind: TypeAlias = Literal["regression", "binary", "multiclass", "other"]


def read_only(values: Any, dtype: type = np.float64) -> AnyArray:  # noqa: ANN401 - anything array-like
    """A copy of `values` that nobody can write to."""
    array: AnyArray = np.array(values, dtype=dtype)
    array.setflags(write=False)
    return array


def _protect(record: object, name: str) -> None:
    """Give a record a view of its array that nobody can write to; large arrays are not copied."""
    view = getattr(record, name).view()
    view.setflags(write=False)
    object.__setattr__(record, name, view)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSpec:
    """One task of a dataset.

    Attributes:
        name: the task's name, unique in its dataset.
        kind: `regression` (mean squared error), `binary` or `multiclass` (cross-entropy); `other` for a task
            of somebody else's loop, whose loss is unknown here.
        classes: number of classes; 1 for regression, 2 for binary.
        description: one sentence for the reader.
    """

    name: str
    kind: TaskKind
    classes: int = 1
    description: str = ""

    @property
    def outputs(self) -> int:
        """Width of the task's head."""
        return self.classes if self.kind == "multiclass" else 1

    @property
    def metric(self) -> str:
        """The validation metric, larger is better: accuracy, or R² for regression."""
        return {"regression": "R²", "other": "metric"}.get(self.kind, "accuracy")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DatasetArrays:
    """A loaded dataset.

    Attributes:
        inputs: (n, ...) float32; the first axis counts samples.
        targets: per task (n,): float for regression, 0/1 or class index otherwise; NaN = not labelled.
        tasks: what each target is.
        train: indices of training samples.
        validation: indices of validation samples, disjoint from `train`.
        planted: the true grouping where it is known, else None.
    """

    inputs: NDArray[np.float32]
    targets: Mapping[str, FloatArray]
    tasks: tuple[TaskSpec, ...]
    train: IntArray
    validation: IntArray
    planted: tuple[tuple[str, ...], ...] | None = None

    def __post_init__(self) -> None:
        count = len(self.inputs)
        names = [task.name for task in self.tasks]
        if not names or set(names) != set(self.targets) or len(set(names)) != len(names):
            raise DatasetError("every task needs exactly one target column and a name of its own.")
        for name, target in self.targets.items():
            if target.shape != (count,):
                raise DatasetError(f"target '{name}' has shape {target.shape}, expected ({count},).")
        if not len(self.train) or not len(self.validation):
            raise DatasetError(f"{count} samples are too few for a training and a validation part.")
        for name in ("inputs", "train", "validation"):
            _protect(self, name)
        targets = {name: read_only(target) for name, target in self.targets.items()}
        object.__setattr__(self, "targets", targets)

    def only(self, names: Iterable[str]) -> "DatasetArrays":
        """The same samples and split with a subset of the tasks, in the dataset's order.

        Raises:
            DatasetError: a name is not a task of this dataset, or none is left.
        """
        wanted = set(names)
        unknown = sorted(wanted - {task.name for task in self.tasks})
        if unknown:
            raise DatasetError(f"no task is called '{unknown[0]}'.")
        tasks = tuple(task for task in self.tasks if task.name in wanted)
        targets = {task.name: self.targets[task.name] for task in tasks}
        return DatasetArrays(
            inputs=self.inputs,
            targets=targets,
            tasks=tasks,
            train=self.train,
            validation=self.validation,
            planted=self.planted,
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Signal:
    """A recorded quantity over steps.

    Attributes:
        name: the signal's name.
        axes: names of the value axes, such as `("source", "affected")`.
        steps: (T,) optimiser updates, increasing.
        values: (T, *axes), NaN = missing.
        unit: unit of the values; empty for a pure number.
        sense: `higher`, `lower` or `neither` is better.
        truncated: the file ended in the middle of a batch; everything before it is here.
    """

    name: str
    axes: tuple[str, ...]
    steps: IntArray
    values: FloatArray
    unit: str = ""
    sense: str = "neither"
    truncated: bool = False

    def __post_init__(self) -> None:
        for name in ("steps", "values"):
            _protect(self, name)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AffinityMatrix:
    """Who helps whom: `values[source, affected]`, positive = a step on source helps affected.

    Attributes:
        tasks: names, the order of both axes.
        values: (N, N); NaN = missing. The diagonal is a task's effect on itself.
        signal: the measure or recorded signal the values come from.
        reduce: how steps were reduced: `mean`, `last` or `ema`.
        low, high: (N, N) bounds of the interval; NaN where there are too few samples.
        count: (N, N) number of steps that entered each value.
        span: first and last step that entered, or None for an imported matrix.
        unit: unit of the values.
        caveats: sentences the reader has to see beside the numbers.
    """

    tasks: tuple[str, ...]
    values: FloatArray
    signal: str = "matrix"
    reduce: str = "mean"
    low: FloatArray | None = None
    high: FloatArray | None = None
    count: IntArray | None = None
    span: tuple[int, int] | None = None
    unit: str = ""
    caveats: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        size = len(self.tasks)
        if not size or len(set(self.tasks)) != size:
            raise AffinityError("a matrix needs tasks with names of their own.")
        for name in ("values", "low", "high", "count"):
            array = getattr(self, name)
            if array is None:
                continue
            if np.shape(array) != (size, size):
                raise AffinityError(
                    f"the matrix has shape {np.shape(array)}, expected {size} x {size} for {size} tasks."
                )
            dtype = np.int64 if name == "count" else np.float64
            object.__setattr__(self, name, read_only(array, dtype))

    def effect(self, *, source: str, affected: str) -> float:
        """What a step on `source` does to `affected`."""
        return float(self.values[self.tasks.index(source), self.tasks.index(affected)])

    def off_diagonal(self) -> FloatArray:
        """A copy with the diagonal missing: a task's effect on itself is not about grouping."""
        values = self.values.copy()
        np.fill_diagonal(values, np.nan)
        return values


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """One network: the tasks it trains and, among them, the tasks it serves."""

    train: tuple[str, ...]
    serve: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.train or len(set(self.train)) != len(self.train):
            raise GroupingError("a group needs at least one task, each once.")
        if len(set(self.serve)) != len(self.serve) or not set(self.serve) <= set(self.train):
            raise GroupingError("a group can serve only tasks that it trains, each once.")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Grouping:
    """Which tasks share a network. Every task is served by exactly one group; groups may overlap.

    Attributes:
        tasks: all tasks, in the run's order.
        groups: the networks.
        score: value of the objective, or None where nothing was predicted (a grouping by hand).
        bound: no grouping can score above this, or None where unknown.
        optimal: the score is proven best.
        objective, algorithm, signal, reduce: how it came about.
        seconds: search time.
        stability: (N, N) share of bootstrap samples in which two tasks are grouped together, or None.
        label: the user's name for it.
        notes: sentences of the search that a reader has to see beside the score.
    """

    tasks: tuple[str, ...]
    groups: tuple[Group, ...]
    score: float | None = None
    bound: float | None = None
    optimal: bool = False
    objective: str = ""
    algorithm: str = "by hand"
    signal: str | None = None
    reduce: str | None = None
    seconds: float | None = None
    stability: FloatArray | None = None
    label: str = ""
    provenance: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        known, served = set(self.tasks), [task for group in self.groups for task in group.serve]
        if not known or len(known) != len(self.tasks):
            raise GroupingError("a grouping needs tasks with names of their own.")
        for group in self.groups:
            strangers = sorted(set(group.train) - known)
            if strangers:
                raise GroupingError(f"'{strangers[0]}' is in a group but is not a task of this run.")
        for task in self.tasks:
            if served.count(task) != 1:
                times = "no group" if not served.count(task) else f"{served.count(task)} groups"
                raise GroupingError(
                    f"'{task}' is served by {times}.", hint="Every task needs exactly one serving group."
                )
        if self.stability is not None:
            size = len(self.tasks)
            if np.shape(self.stability) != (size, size):
                raise GroupingError(
                    f"the stability has shape {np.shape(self.stability)}, not {size} x {size}."
                )
            object.__setattr__(self, "stability", read_only(self.stability))

    @classmethod
    def partition(cls, tasks: Iterable[str], groups: Iterable[Iterable[str]], **details: Any) -> "Grouping":  # noqa: ANN401
        """A grouping without overlap: every group serves what it trains."""
        made = tuple(Group(train=tuple(group), serve=tuple(group)) for group in groups)
        return cls(tasks=tuple(tasks), groups=made, **details)

    def serving(self, task: str) -> Group:
        """The group that serves `task`."""
        return next(group for group in self.groups if task in group.serve)
