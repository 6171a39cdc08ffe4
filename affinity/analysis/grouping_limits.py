"""What a grouping has to respect and what it is charged for, by task names; also as text for a link."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any, Final

import numpy as np

from affinity.core.errors import GroupingError
from affinity.core.grouping import GroupPositions, Objective
from affinity.core.types import FloatArray

NameSets = tuple[tuple[str, ...], ...]

# key of an objective -> its title and what it means, in plain words
OBJECTIVE_WORDS: Final[dict[Objective, tuple[str, str]]] = {
    "mean_affinity": (
        "Mean gain, alone scores 0",
        "The mean over the tasks of what its mates do for each; a task alone gains nothing.",
    ),
    "tag": (
        "Mean gain, nobody alone",
        "The same, but a task alone scores minus a million (Fifty et al., 2021): forbidden in practice.",
    ),
    "higher_order": (
        "Mean gain, alone scores its own effect",
        "The same, but a task alone scores what a step on it does for itself, the matrix's diagonal "
        "(Standley et al., 2020). A task's own step often helps it most, so this often leaves all alone.",
    ),
    "correlation": (
        "Sum of helpful minus harmful pairs",
        "Every pair in a network counts with both directions, positive or negative (correlation clustering). "
        "Large networks are not punished, and the signs decide how many there are.",
    ),
    "density": (
        "Density, exactly so many networks",
        "The sum over the networks of the mean row sum inside, own effects included (Li et al., 2024). It "
        "uses exactly the number of networks that is allowed.",
    ),
}
PAIR_OBJECTIVES: Final = ("correlation", "density")

_RULE = re.compile(r"[ta]\d{1,3}(\.\d{1,3})+")
MAX_RULES: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits and prices of a search; hashable, so that it can key a cache.

    Attributes:
        objective: what is maximised.
        smallest, largest: allowed number of tasks in a network; no upper limit when None.
        together: sets of tasks that always share their networks.
        apart: sets of tasks of which no two may share a network.
        price: subtracted from the objective for every network.
        task_price: subtracted for every task that a network trains.
        task_prices: (task, price) where a task has another price.
        minimum_gain: a task shares a network only if it gains at least this there; no such limit when None.
        threshold: affinity a pair must exceed to be worth grouping, for `correlation` only.
    """

    objective: Objective = "mean_affinity"
    smallest: int = 1
    largest: int | None = None
    together: NameSets = ()
    apart: NameSets = ()
    price: float = 0.0
    task_price: float = 0.0
    task_prices: tuple[tuple[str, float], ...] = ()
    minimum_gain: float | None = None
    threshold: float = 0.0

    @property
    def charges(self) -> bool:
        """Something is subtracted from the gains."""
        return bool(self.price or self.task_price or self.task_prices)

    def options(self, tasks: Sequence[str]) -> dict[str, Any]:
        """The named arguments of a grouping problem about these tasks.

        Raises:
            GroupingError: a name is not one of the tasks, or two limits contradict each other.
        """
        together, apart = _positions(self.together, tasks), _positions(self.apart, tasks)
        _check_contradictions(together, apart, tasks)
        return {
            "objective": self.objective,
            "smallest": self.smallest,
            "largest": self.largest,
            "together": tuple(pair for group in together for pair in pairwise(group)),
            "apart": tuple(pair for group in apart for pair in combinations(group, 2)),
            "price": self.price,
            "task_prices": self._prices(tasks),
            "minimum_gain": self.minimum_gain,
            "threshold": self.threshold,
        }

    def _prices(self, tasks: Sequence[str]) -> FloatArray | None:
        if not self.task_price and not self.task_prices:
            return None
        own = dict(self.task_prices)
        _positions((tuple(own),) if own else (), tasks)
        return np.array([own.get(task, self.task_price) for task in tasks])


def rules_text(limits: Limits, tasks: Sequence[str]) -> str:
    """The sets of tasks as `t0.1_a2.3`: together 0 and 1, apart 2 and 3."""
    words = [
        f"{letter}{'.'.join(str(at) for at in group)}"
        for letter, sets in (("t", limits.together), ("a", limits.apart))
        for group in _positions(sets, tasks)
    ]
    return "_".join(words)


def rules_from_text(text: str, tasks: Sequence[str]) -> tuple[NameSets, NameSets]:
    """The sets that `rules_text` wrote: those together and those apart.

    Raises:
        GroupingError: the text is not such a list, or does not fit the tasks.
    """
    words = text.split("_") if text else []
    if len(words) > MAX_RULES or not all(_RULE.fullmatch(word) for word in words):
        raise GroupingError("the link's limits cannot be read.", hint="Set them again under “Limits”.")
    sets: dict[str, list[tuple[str, ...]]] = {"t": [], "a": []}
    for word in words:
        numbers = list(dict.fromkeys(int(number) for number in word[1:].split(".")))
        if max(numbers) >= len(tasks) or len(numbers) < 2:
            raise GroupingError(
                "the link's limits name tasks that this run does not have.",
                hint="Set them again under “Limits”.",
            )
        sets[word[0]].append(tuple(tasks[number] for number in numbers))
    return tuple(sets["t"]), tuple(sets["a"])


def broken_limit(groups: Iterable[GroupPositions], options: dict[str, Any], tasks: Sequence[str]) -> str:
    """The first limit that a grouping breaks, in words; empty when it keeps all of them.

    Args:
        groups: per network the positions it trains and those it serves.
        options: what `Limits.options` answered for the same tasks.
        tasks: the names.
    """
    for number, (train, _) in enumerate(groups, start=1):
        inside, largest = set(train), options["largest"] or math.inf
        if not options["smallest"] <= len(train) <= largest:
            return f"network {number} has {len(train)} tasks."
        for first, second in options["together"]:
            if (first in inside) != (second in inside):
                return f"{tasks[first]} and {tasks[second]} do not share network {number}."
        for first, second in options["apart"]:
            if first in inside and second in inside:
                return f"{tasks[first]} and {tasks[second]} share network {number}."
    return ""


def _positions(sets: NameSets, tasks: Sequence[str]) -> list[list[int]]:
    known = {task: at for at, task in enumerate(tasks)}
    for names in sets:
        for name in names:
            if name not in known:
                raise GroupingError(f"'{name[:60]}' is not one of the tasks.", "limits")
    return [[known[name] for name in dict.fromkeys(names)] for names in sets]


def _check_contradictions(together: list[list[int]], apart: list[list[int]], tasks: Sequence[str]) -> None:
    """Tasks that must share their networks, directly or through others, may not be kept apart."""
    label = list(range(len(tasks)))
    for group in together:
        joined = {label[at] for at in group}
        label = [min(joined) if item in joined else item for item in label]
    for group in apart:
        for first, second in combinations(group, 2):
            if label[first] == label[second]:
                raise GroupingError(
                    f"{tasks[first]} and {tasks[second]} have to stay together and apart at once.",
                    "limits",
                    "Remove one of the two rules.",
                )
