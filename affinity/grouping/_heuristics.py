"""The search shared by the heuristic algorithms: climb from starts, shake the best, finish with helpers."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from affinity.core.errors import GroupingError
from affinity.core.grouping import GroupingProblem, GroupingSolution
from affinity.core.types import AnyArray, FloatArray, IntArray
from affinity.grouping._elements import Elements, mask_of, score_of, solution_groups
from affinity.grouping._limits import Watch
from affinity.grouping._moves import LEAST_GAIN, Climber
from affinity.grouping._networks import best_networks
from affinity.grouping._objective import evaluate
from affinity.grouping._pricing import element_scores_in
from affinity.grouping._relaxed_bound import relaxed_bound
from affinity.grouping._starts import usable_groups

# One number in this many elements is changed when a grouping is shaken.
SHAKEN_SHARE = 5
BOUND_SECONDS = 1.0
# Helpers are searched only for so many of the candidates, those that are best without.
CANDIDATES_WITH_HELPERS = 3

Chosen = list[tuple[int, int]]


def climbed(
    elements: Elements, starts: IntArray, shakes: int, rng: np.random.Generator, watch: Watch
) -> IntArray:
    """(S, M) groupings without overlap, best first: every start climbed, then the best ones shaken.

    Args:
        elements: the problem.
        starts: (S, M) labels below the number of usable groups.
        shakes: rounds of shaking and climbing again.
        rng: randomness of the shaking.
        watch: when to stop.
    """
    groups = max(usable_groups(elements), int(starts.max()) + 1)
    climber = Climber(elements, groups)
    labels = climber.climb(starts, watch)
    for _ in range(shakes):
        if watch.stopped():
            break
        order = np.argsort(-climber.totals(labels), kind="stable")[: len(starts)]
        kept = labels[order]
        shaken = np.where(rng.random(kept.shape) < 1 / SHAKEN_SHARE, rng.permuted(kept, axis=1), kept)
        labels = np.concatenate([kept, climber.climb(shaken, watch)])
    return labels[np.argsort(-climber.totals(labels), kind="stable")]


def chosen_of(labels: IntArray) -> Chosen:
    """(train, serve) masks of the groups of one labelling."""
    masks = [mask_of(np.flatnonzero(labels == label)) for label in np.unique(labels)]
    return [(mask, mask) for mask in masks]


def finished(
    elements: Elements,
    candidates: Sequence[IntArray] | IntArray,
    watch: Watch,
    *,
    notes: tuple[str, ...] = (),
) -> GroupingSolution:
    """The best of some labellings as a solution, with helpers where groups may overlap.

    Raises:
        GroupingError: none of them meets the constraints, even after moving tasks that gain too little.
    """
    best: Chosen | None = None
    value = -np.inf
    repaired = [chosen for labels in candidates if (chosen := _repaired(elements, np.asarray(labels)))]
    if elements.problem.overlap:
        repaired.sort(key=lambda chosen: -score_of(elements, chosen))
        repaired = [climb_overlapping(elements, item, watch) for item in repaired[:CANDIDATES_WITH_HELPERS]]
    for chosen in repaired:
        if score_of(elements, chosen) > value:
            best, value = chosen, score_of(elements, chosen)
    if best is None:
        raise GroupingError(
            "no grouping was found that meets the constraints.",
            hint="Try the exact algorithm or relax a limit.",
        )
    return GroupingSolution(
        groups=solution_groups(elements, best), score=value, stopped=watch.reason, notes=notes
    )


def bounded(problem: GroupingProblem, solution: GroupingSolution, watch: Watch) -> GroupingSolution:
    """The solution in the problem's own unit, with a valid bound: how far off it is at most."""
    score = evaluate(problem, solution.groups)
    # The bound gets a moment of its own, also after the search was stopped.
    bound = relaxed_bound(problem, score, Watch(replace(problem, time_limit=BOUND_SECONDS, cancel=None)))
    return replace(solution, score=score, bound=max(bound, score), stopped=watch.reason)


def _repaired(elements: Elements, labels: IntArray) -> Chosen | None:
    """The groups if they meet the constraints, after isolating tasks below the minimum gain."""
    groups, problem = usable_groups(elements), elements.problem
    while True:
        used = len(np.unique(labels))
        climber = Climber(elements, int(labels.max()) + 1)
        broken = np.isneginf(climber.totals(labels[None])[0])
        if used > problem.groups or broken or (problem.objective == "density" and used != problem.groups):
            return None
        below = _below_minimum(elements, labels)
        if not below.any():
            return chosen_of(labels)
        if used >= groups:
            return None
        labels = labels.copy()
        labels[int(np.argmax(below))] = int(labels.max()) + 1


def _below_minimum(elements: Elements, labels: IntArray) -> AnyArray:
    if elements.problem.minimum_gain is None:
        return np.zeros(elements.count, dtype=bool)
    inside = (labels[:, None] == labels).astype(np.float64)
    scores = element_scores_in(elements, inside, inside @ elements.sizes)
    own = np.diagonal(scores)
    # Of several, the one that others help least is isolated first.
    worst = np.where(np.isneginf(own), inside @ elements.pairs.sum(axis=0), np.inf)
    return np.asarray(np.isneginf(own) & (worst == worst.min()))


def climb_overlapping(elements: Elements, chosen: Chosen, watch: Watch) -> Chosen:
    """Move served elements between networks, each network with its best helpers, until nothing gains."""
    groups = min(elements.problem.groups, elements.count)
    served = np.zeros((groups, elements.count), dtype=bool)
    for row, (_, serve) in enumerate(chosen):
        served[row] = np.array([serve >> index & 1 for index in range(elements.count)])
    values, training = _values(elements, served)
    for _ in range(20 * elements.count):
        if watch.stopped():
            break
        changed = served[:, None, :] ^ np.eye(elements.count, dtype=bool)
        after, _ = _values(elements, changed.reshape(-1, elements.count))
        after = after.reshape(groups, elements.count)
        home = served.argmax(axis=0)
        columns = np.arange(elements.count)
        with np.errstate(invalid="ignore"):  # from one impossible state to another there is no gain
            gains = after - values[:, None] + (after[home, columns] - values[home])
        gains[home, columns] = -np.inf
        gains = np.nan_to_num(gains, nan=-np.inf, posinf=np.inf, neginf=-np.inf)
        target, element = np.unravel_index(int(gains.argmax()), gains.shape)
        if not gains[target, element] > LEAST_GAIN:
            break
        served[home[element], element], served[target, element] = False, True
        values, training = _values(elements, served)
    rows = np.flatnonzero(served.any(axis=1))
    return [(mask_of(np.flatnonzero(training[row])), mask_of(np.flatnonzero(served[row]))) for row in rows]


def _values(elements: Elements, served: AnyArray) -> tuple[FloatArray, AnyArray]:
    """Worth and training of the best network of each served set; an empty set is worth nothing."""
    values, training = np.zeros(len(served)), np.zeros_like(served)
    used = served.any(axis=1)
    if used.any():
        values[used], training[used] = best_networks(elements, served[used])
    return values, training
