"""Methods side by side on a problem whose answer is known: who arrives, who is stuck, who is hurt."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from affinity.analysis.try_method_view import EndPoint, Landscape, Outcome, TryView, Ways
from affinity.analysis.try_method_walk import Optimizer, Walker, walk
from affinity.analysis.try_method_words import answer, caveats
from affinity.core.errors import SettingsError
from affinity.core.method import Method, StepRule
from affinity.core.problem import Problem
from affinity.core.types import FloatArray, read_only
from affinity.methods import METHODS
from affinity.problems import PROBLEMS

MOST_METHODS = 4
MOST_STARTS = 50
MOST_STEPS = 20_000
# Beyond this many pieces a way looks the same on a screen.
KEPT_STEPS = 200
GRID = 81
# A walk whose moves in the last tenth of its steps are below this share of the distance left is stuck.
STILL = 0.02
NOISE = 1e-6


def problem_choices() -> dict[str, str]:
    """Every problem's title by key."""
    return {key: problem.title for key, problem in PROBLEMS.items()}


def method_choices() -> dict[str, str]:
    """Titles, by key, of the methods that can walk: all but those that only order samples."""
    return {
        key: method.title
        for key, method in METHODS.items()
        if not (isinstance(method, StepRule) and method.ordering)
    }


def try_methods(
    problem_key: str,
    method_keys: Sequence[str],
    *,
    steps: int | None = None,
    lr: float | None = None,
    optimizer: Optimizer | None = None,
    random_starts: int = 0,
    seed: int = 0,
) -> TryView:
    """What each method does on a problem.

    Args:
        problem_key: one of the problems.
        method_keys: up to 4 methods, with their default settings.
        steps: how many steps; the problem's own number when left out.
        lr: learning rate; the problem's own when left out.
        optimizer: what the directions are stepped with; the problem's own when left out. Momentum ConFIG
            always steps plainly, because its directions are scaled already.
        random_starts: so many uniform starts in the box instead of the problem's own.
        seed: seed of the random starts and of what methods draw.

    Raises:
        SettingsError: a key is unknown, or a number is out of range.
    """
    problem = PROBLEMS.find(problem_key)
    methods = _checked(method_keys)
    length, rate = problem.steps if steps is None else steps, problem.lr if lr is None else lr
    _within(length, 1, MOST_STEPS, "steps")
    _within(rate, 1e-8, 100.0, "learning rate")
    _within(random_starts, 0, MOST_STARTS, "starts")
    rng = np.random.default_rng(seed)
    starts = problem.random_starts(random_starts, rng) if random_starts else problem.starts
    kept = np.unique(np.linspace(0, length, min(length, KEPT_STEPS) + 1).round().astype(np.int64))
    rule: Optimizer = optimizer or problem.optimizer
    walkers = [
        Walker(method=method, settings=method.settings(), optimizer=_stepped(method, rule), lr=rate)
        for method in methods
    ]
    with np.errstate(over="ignore", invalid="ignore"):
        places, updates = walk(problem, walkers, starts, steps=length, keep=kept.tolist(), seed=seed)
        losses = problem.losses(places)
        ends = [
            end
            for method, way, update in zip(methods, places, updates, strict=True)
            for end in _ends(problem, method, way, update)
        ]
    ways = tuple(
        Ways(key=method.key, title=method.title, theta=read_only(way), losses=read_only(values))
        for method, way, values in zip(methods, places, losses, strict=True)
    )
    return TryView(
        landscape=landscape(problem, places),
        tasks=problem.tasks,
        steps=read_only(kept, np.int64),
        ways=ways,
        ends=tuple(ends),
        sentence=answer([method.title for method in methods], ends, tasks=problem.tasks),
        caveats=caveats(
            problem,
            _coinciding(ways),
            optimizer=rule,
            lr=rate,
            exceptions=[one.method.title for one in walkers if one.optimizer != rule],
        ),
    )


def landscape(problem: Problem, places: FloatArray) -> Landscape:
    """The sum of the losses over two parameters, with room for every place that was visited.

    Args:
        problem: the problem; its other parameters are held in the middle of the Pareto set.
        places: (..., n) what has to fit into the picture.
    """
    axes = list(problem.axes)
    front = problem.front(257)
    seen = places[np.isfinite(places).all(axis=-1)][:, axes]
    room = np.concatenate([seen, front[:, axes], problem.low[None, axes], problem.high[None, axes]])
    width = problem.high[axes] - problem.low[axes]
    # A walk that runs away may leave the picture.
    low = np.maximum(room.min(axis=0), problem.low[axes] - width) - 0.04 * width
    high = np.minimum(room.max(axis=0), problem.high[axes] + width) + 0.04 * width
    if problem.bounded:
        low, high = problem.low[axes], problem.high[axes]
    first, second = (np.linspace(low[axis], high[axis], GRID) for axis in range(2))
    held = front[len(front) // 2]
    grid = np.broadcast_to(held, (GRID, GRID, len(held))).copy()
    grid[..., axes[0]], grid[..., axes[1]] = np.meshgrid(first, second)
    others = [
        f"{name} = {held[place]:.2g}" for place, name in enumerate(problem.parameters) if place not in axes
    ]
    return Landscape(
        title=problem.title,
        names=(problem.parameters[axes[0]], problem.parameters[axes[1]]),
        axes=(axes[0], axes[1]),
        first=read_only(first),
        second=read_only(second),
        height=read_only(problem.losses(grid).sum(axis=-1)),
        held=", ".join(others),
        front=read_only(front[:, axes]),
        front_losses=read_only(problem.losses(front)),
    )


def _checked(keys: Sequence[str]) -> list[Method]:
    known = method_choices()
    if not 1 <= len(set(keys)) <= MOST_METHODS:
        raise SettingsError(
            f"{len(set(keys))} methods are chosen.", "methods", f"Choose 1 to {MOST_METHODS} methods."
        )
    for key in keys:
        if METHODS.find(key).key not in known:
            raise SettingsError(
                f"{METHODS[key].title} only orders samples, and these losses have none.",
                "methods",
                "Choose another method, or train with it.",
            )
    return [METHODS[key] for key in dict.fromkeys(keys)]


def _within(value: float, low: float, high: float, name: str) -> None:
    if not low <= value <= high:
        raise SettingsError(f"{value:g} is outside {low:g} to {high:g}.", name)


def _stepped(method: Method, optimizer: Optimizer) -> Optimizer:
    return "sgd" if method.key == "momentum_config" else optimizer


def _ends(problem: Problem, method: Method, way: FloatArray, update: FloatArray) -> list[EndPoint]:
    """One entry a start, from (T, S, n) places and the (S, n) next updates."""
    last, earlier = way[-1], way[-1 - max(1, len(way) // 10)]
    distance = problem.distance(last)
    moved = np.linalg.norm(last - earlier, axis=-1)
    losses, rows = problem.losses(last), problem.gradients(last)
    lengths = np.linalg.norm(rows, axis=-1)
    # Against the largest gradient: where a method has arrived, its update is float noise and hurts nobody.
    hurt = np.einsum("sin,sn->si", rows, update) < -NOISE * lengths * lengths.max(axis=1, keepdims=True)
    return [
        EndPoint(
            method=method.title,
            start=number + 1,
            theta=tuple(last[number].tolist()),
            losses=tuple(losses[number].tolist()),
            distance=float(distance[number]),
            outcome=_outcome(distance[number], moved[number], problem.near),
            hurt=tuple(task for task, one in zip(problem.tasks, hurt[number], strict=True) if one),
        )
        for number in range(len(last))
    ]


def _outcome(distance: float, moved: float, near: float) -> Outcome:
    if not np.isfinite(distance):
        return "diverged"
    if distance <= near:
        return "front"
    return "stuck" if moved < STILL * distance else "under way"


def _coinciding(ways: Sequence[Ways]) -> list[tuple[str, str]]:
    """Pairs of methods that took the same way from every start."""
    return [
        (one.title, other.title)
        for one, other in combinations(ways, 2)
        if np.allclose(one.theta, other.theta, rtol=1e-9, atol=1e-9, equal_nan=True)
    ]
