"""Which way to a proof: subsets for few tasks, columns for more, a bound and the best found beyond."""

from dataclasses import replace

import numpy as np

from affinity.core.errors import GroupingError
from affinity.core.grouping import MEAN_OBJECTIVES, GroupingProblem, GroupingSolution
from affinity.grouping import _pricing_blocks, _pricing_search
from affinity.grouping._column_generation import Generation, generate
from affinity.grouping._elements import Elements, elements_of, score_of, solution_groups
from affinity.grouping._heuristics import BOUND_SECONDS, Chosen, climbed, finished
from affinity.grouping._limits import Watch
from affinity.grouping._objective import evaluate
from affinity.grouping._pricing import Columns, Pricing, evaluated, joined
from affinity.grouping._relaxed_bound import relaxed_bound
from affinity.grouping._scaled import scaled, unit_of
from affinity.grouping._small_groups import best_small_groups, small_groups_suffice
from affinity.grouping._starts import merged, random_starts, usable_groups
from affinity.grouping._subset_dp import best_partitions
from affinity.grouping._tables import overlapping_values, partition_values

MAX_SUBSET_ELEMENTS = 10
STARTS = 32
# Bits of a mask that NumPy can count with.
MAX_MASK_ELEMENTS = 62


def by_subsets(elements: Elements, watch: Watch) -> GroupingSolution:
    """Dynamic programming over all subsets of at most about twelve elements.

    Raises:
        GroupingError: no grouping meets the constraints.
    """
    problem = elements.problem
    values, networks = overlapping_values(elements) if problem.overlap else (partition_values(elements), None)
    layers = best_partitions(values, min(problem.groups, elements.count), watch)
    if problem.objective == "density":
        layers = layers[problem.groups - 1 :]
    best, blocks = max(layers, key=lambda layer: layer[0], default=(-np.inf, []))
    if best == -np.inf:
        raise infeasible()
    chosen = [(block if networks is None else int(networks[block]), block) for block in blocks]
    score = score_of(elements, chosen)
    return GroupingSolution(
        groups=solution_groups(elements, chosen),
        score=score,
        bound=np.inf if watch.reason else score,
        optimal=not watch.reason,
        stopped=watch.reason,
    )


def infeasible() -> GroupingError:
    """The constraints leave nothing."""
    return GroupingError("no grouping meets the constraints.", hint="Allow more networks or relax a limit.")


def by_columns(problem: GroupingProblem, watch: Watch, *, seed: int = 0) -> GroupingSolution:
    """Column generation where its pricing fits, else the best found and a bound.

    Raises:
        GroupingError: no grouping meets the constraints, or none was found.
    """
    unit = unit_of(problem)
    small = scaled(problem, unit)
    elements = elements_of(small)
    start = _start(elements, seed, watch)
    pricing = _pricing(elements)
    chosen, bound, proven = start, np.inf, False
    notes: tuple[str, ...] = ()
    if elements.count <= MAX_MASK_ELEMENTS:
        run = _generation(elements, pricing, start, watch)
        generate(run)
        chosen, proven = run.chosen or start, run.proven
        count = small.size if problem.objective in MEAN_OBJECTIVES else 1
        bound, notes = run.bound / count, _likely(run, unit / count)
    if not chosen:
        if proven or (np.isfinite(bound) and not watch.reason):
            raise infeasible()
        raise GroupingError("no grouping was found that meets the constraints.", hint="Relax a limit.")
    groups = solution_groups(elements, chosen)
    score = evaluate(problem, groups)
    if not proven:
        moment = Watch(replace(small, time_limit=BOUND_SECONDS, cancel=None))
        bound = min(bound, relaxed_bound(small, evaluate(small, groups), moment))
    return GroupingSolution(
        groups=groups,
        score=score,
        bound=score if proven else max(score, bound * unit),
        optimal=proven,
        stopped=watch.reason,
        notes=notes,
    )


def _likely(run: Generation, unit: float) -> tuple[str, ...]:
    """What guesses say where there is no proof."""
    if run.proven or run.guessed is None:
        return ()
    return (
        f"The limit is likely a score of {run.guessed * unit:.4g}: guesses at networks of every size found "
        "none that would allow more. That is no proof.",
    )


def without_budget(problem: GroupingProblem, watch: Watch) -> GroupingSolution | None:
    """Pairs and triples, when they fit the budget: then the budget does not bind and this is the proof."""
    if not small_groups_suffice(problem):
        return None
    found = best_small_groups(problem, watch.left)
    if found is None or len(found[0]) > problem.groups or not found[1]:
        return None
    groups = tuple((group, group) for group in sorted(found[0]))
    score = evaluate(problem, groups)
    note = "The number of networks does not bind, so pairs and triples are as good as any larger group."
    return GroupingSolution(groups=groups, score=score, bound=score, optimal=True, notes=(note,))


def _start(elements: Elements, seed: int, watch: Watch) -> Chosen:
    """A good selection to begin with, or nothing where none was found."""
    rng, groups = np.random.default_rng(seed), usable_groups(elements)
    starts = random_starts(elements, groups, STARTS, rng)
    greedy = merged(elements, groups)
    if greedy.max() < groups:
        starts = np.concatenate([starts, greedy[None]])
    labels = climbed(elements, starts, 2, rng, watch)
    try:
        solution = finished(elements, labels[:3], watch)
    except GroupingError:
        return []
    owner = {task: index for index, tasks in enumerate(elements.tasks) for task in tasks}
    return [
        (
            sum(1 << item for item in {owner[task] for task in train}),
            sum(1 << item for item in {owner[task] for task in serve}),
        )
        for train, serve in solution.groups
    ]


def _pricing(elements: Elements) -> Pricing | None:
    if elements.count <= _pricing_blocks.MAX_ELEMENTS:
        if elements.problem.overlap:
            return _pricing_blocks.OverlapBlocks(elements)
        return _pricing_blocks.PartitionBlocks(elements)
    plain = not elements.problem.overlap and elements.problem.minimum_gain is None
    single = bool((elements.sizes == 1).all()) and elements.problem.objective != "correlation"
    if plain and single and elements.count <= _pricing_search.MAX_ELEMENTS:
        return _pricing_search.SubsetSearch(elements)
    return None


def _generation(elements: Elements, pricing: Pricing | None, start: Chosen, watch: Watch) -> Generation:
    masks = np.array([1 << index for index in range(elements.count)], dtype=np.int64)
    pool = evaluated(elements, masks, np.full(elements.count, -np.inf))
    train = np.array([item[0] for item in start], dtype=np.int64)
    first = _served(elements, train, [item[1] for item in start]) if start else pool
    groups = min(elements.problem.groups, elements.count)
    run = Generation(elements=elements, pricing=pricing, groups=groups, watch=watch, pool=joined(pool, first))
    if start:
        run.offer(np.arange(len(first)), first)
    return run


def _served(elements: Elements, train: np.ndarray, serve: list[int]) -> Columns:
    """The start's networks as columns that serve exactly what they serve there."""
    parts = []
    for mask, served in zip(train, serve, strict=True):
        wanted = np.array([np.inf if not served >> index & 1 else -np.inf for index in range(elements.count)])
        parts.append(evaluated(elements, np.array([mask]), wanted))
    return joined(*parts)
