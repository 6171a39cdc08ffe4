"""What a grouping algorithm is asked and what it answers; positions, not names, because solvers count."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from affinity.core.errors import GroupingError
from affinity.core.types import FloatArray, read_only

Objective: TypeAlias = Literal["mean_affinity", "tag", "higher_order", "correlation", "density", "measured"]
GroupPositions: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]

OBJECTIVES: tuple[str, ...] = get_args(Objective)
MEAN_OBJECTIVES = ("mean_affinity", "tag", "higher_order")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupTable:
    """Scores of tasks in networks that somebody trained, or whose scores somebody predicted.

    Attributes:
        groups: per network the positions it trains.
        scores: (networks, N), larger is better; NaN where the network does not train the task.
        costs: (networks,) what a network takes of the budget.

    Raises:
        GroupingError: shapes differ, or a network lacks the score of a task that it trains.
    """

    groups: tuple[tuple[int, ...], ...]
    scores: FloatArray
    costs: FloatArray

    def __post_init__(self) -> None:
        scores, costs = read_only(self.scores), read_only(self.costs)
        if scores.ndim != 2 or len(scores) != len(self.groups) or costs.shape != (len(self.groups),):
            raise GroupingError(
                f"{len(self.groups)} networks need as many rows of scores and costs; "
                f"found shapes {scores.shape} and {costs.shape}."
            )
        if not np.all(costs > 0):
            raise GroupingError("every network needs a cost above 0.")
        for row, group in enumerate(self.groups):
            inside = all(0 <= task < scores.shape[1] for task in group)
            if not group or not inside or not np.isfinite(scores[row, list(group)]).all():
                raise GroupingError(f"network {row} needs a finite score for each task that it trains.")
        object.__setattr__(self, "scores", scores)
        object.__setattr__(self, "costs", costs)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupingProblem:
    """Which tasks share a network, when at most `groups` networks are allowed?

    Attributes:
        affinity: (N, N) `[source, affected]`, positive helps affected. The diagonal is used only by
            `higher_order` (a task's performance alone) and `density`. Missing pairs count as 0.
        groups: largest number of networks; `density` uses exactly this number.
        overlap: a task may help in groups that do not serve it.
        objective: what is maximised.
            `mean_affinity`: mean over tasks of the mean affinity onto the task from its group mates, a
            task alone scoring 0. `tag`: the same with -1,000,000 for a task alone, so that it is
            forbidden in practice (Fifty et al., 2021). `higher_order`: the same with the diagonal for a
            task alone; the matrix holds pair performances (Standley et al., 2020). `correlation`: sum
            over pairs in a group of both directions' affinity minus `threshold`. `density`: sum over
            groups of the mean row sum inside the group, diagonal included (Li et al., 2024). `measured`:
            sum over tasks of the best score among the chosen networks of `table` (Standley et al., 2020).
        table: scores of whole networks, for `measured` only.
        budget: largest total cost of the networks, for `measured` only; `groups` also holds.
        threshold: affinity that a pair must exceed to be worth grouping, for `correlation` only.
        smallest, largest: allowed number of tasks in a network.
        together: pairs that are always trained and served by the same networks.
        apart: pairs that never share a network.
        price: subtracted from the objective for every network.
        task_prices: (N,) subtracted for every network that trains the task, or None.
        minimum_gain: a task shares a serving network only if it scores at least this there.
        time_limit: seconds after which the best grouping so far is returned with its bound, or None.
        cancel: asked now and then; when it answers True the search stops the same way.

    Raises:
        GroupingError: not square, infinite, a budget below one, or constraints that contradict each other.
    """

    affinity: FloatArray
    groups: int
    overlap: bool = False
    objective: Objective = "mean_affinity"
    table: GroupTable | None = None
    budget: float | None = None
    threshold: float = 0.0
    smallest: int = 1
    largest: int | None = None
    together: tuple[tuple[int, int], ...] = ()
    apart: tuple[tuple[int, int], ...] = ()
    price: float = 0.0
    task_prices: FloatArray | None = None
    minimum_gain: float | None = None
    time_limit: float | None = None
    cancel: Callable[[], bool] | None = None

    def __post_init__(self) -> None:
        values = read_only(self.affinity)
        if values.ndim != 2 or values.shape[0] != values.shape[1] or not len(values):
            raise GroupingError(f"the affinity has shape {values.shape}, expected tasks x tasks.")
        if np.isinf(values).any():
            raise GroupingError(
                "the affinity holds an infinite value.", hint="Replace it or leave it missing."
            )
        if self.groups < 1:
            raise GroupingError(f"{self.groups} groups cannot hold any task.", hint="Allow at least 1.")
        object.__setattr__(self, "affinity", values)
        self._check_objective()
        self._check_limits()
        self._check_prices()

    @property
    def size(self) -> int:
        """Number of tasks."""
        return len(self.affinity)

    def _check_objective(self) -> None:
        if self.objective not in OBJECTIVES:
            raise GroupingError(
                f"'{self.objective}' is no objective.", hint=f"Known: {', '.join(OBJECTIVES)}."
            )
        measured = self.objective == "measured"
        if measured != (self.table is not None):
            raise GroupingError("the objective 'measured' and a table of networks belong together.")
        if self.table is not None and self.table.scores.shape[1] != self.size:
            raise GroupingError(f"the table scores {self.table.scores.shape[1]} tasks, not {self.size}.")
        if self.objective in ("correlation", "density"):
            if self.overlap:
                raise GroupingError(
                    f"the objective '{self.objective}' is defined for groups without overlap."
                )
            if self.minimum_gain is not None:
                raise GroupingError(f"the objective '{self.objective}' predicts no gain of a task.")
        if self.objective == "density" and self.groups > self.size:
            raise GroupingError(f"{self.size} tasks cannot fill exactly {self.groups} groups.")
        if self.budget is not None and not (measured and self.budget > 0):
            raise GroupingError("a cost budget needs the objective 'measured' and a value above 0.")

    def _check_limits(self) -> None:
        largest = self.size if self.largest is None else self.largest
        if not 1 <= self.smallest <= largest:
            raise GroupingError(f"group sizes from {self.smallest} to {largest} allow no group.")
        if self.smallest > self.size or largest * self.groups < self.size:
            raise GroupingError(
                f"{self.groups} groups of {self.smallest} to {largest} tasks cannot hold {self.size} tasks.",
                hint="Allow more or larger groups.",
            )
        for pair in (*self.together, *self.apart):
            if len(pair) != 2 or pair[0] == pair[1] or not all(0 <= task < self.size for task in pair):
                raise GroupingError(f"{pair} is not a pair of different tasks.")

    def _check_prices(self) -> None:
        for name in ("price", "threshold"):
            if not math.isfinite(getattr(self, name)):
                raise GroupingError(f"the {name} has to be a finite number.")
        if self.price < 0:
            raise GroupingError(f"a price of {self.price:g} would reward empty networks.")
        if self.task_prices is not None:
            prices = read_only(self.task_prices)
            if prices.shape != (self.size,) or not np.isfinite(prices).all() or (prices < 0).any():
                raise GroupingError(f"every one of {self.size} tasks needs a price of at least 0.")
            object.__setattr__(self, "task_prices", prices)
        if self.minimum_gain is not None and not math.isfinite(self.minimum_gain):
            raise GroupingError("the minimum gain has to be a finite number.")


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupingSolution:
    """A grouping by position.

    Attributes:
        groups: per network the positions it trains and, among them, those it serves.
        score: value of the objective.
        bound: no grouping scores above this; infinite where nothing is known.
        optimal: the score is proven best.
        networks: for `measured`, the rows of the problem's table that were chosen, in the order of `groups`.
        stopped: `time` or `cancel` where the search ended early, else empty.
        notes: sentences the reader has to see beside the numbers.
    """

    groups: tuple[GroupPositions, ...]
    score: float
    bound: float = float("inf")
    optimal: bool = False
    networks: tuple[int, ...] = ()
    stopped: str = ""
    notes: tuple[str, ...] = ()

    @property
    def gap(self) -> float:
        """How far the score may be below the best, in units of the objective; 0 when proven."""
        return 0.0 if self.optimal else max(0.0, self.bound - self.score)
