"""Which tasks should train together: suggestions, what they promise, and how stable they are."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from affinity.analysis.affinity import RunOrSeeds, affinity_matrix
from affinity.analysis.collected import Collected, Reduce, collect, estimate
from affinity.analysis.grouping_gains import adjusted_rand, mean_gain, planted_agreement, predicted_gains
from affinity.analysis.grouping_limits import Limits
from affinity.analysis.grouping_search import SECONDS, Search
from affinity.analysis.grouping_words import UNKNOWN, group_caveats, group_sentence
from affinity.analysis.resampling import resampled_means
from affinity.analysis.signals import find_choice, signal_choices
from affinity.analysis.views import BudgetPoint, GroupsView
from affinity.core.errors import GroupingError, NotRecorded
from affinity.core.types import AffinityMatrix, FloatArray, Grouping
from affinity.runs.reader import Run

__all__ = [
    "adjusted_rand",
    "budget_curve",
    "first_signal",
    "group",
    "groups_view",
    "predicted_gains",
    "stability",
    "suggest",
]

RESAMPLES: Final = 100
LEAST_RESAMPLES: Final = 20


def suggest(
    run_or_matrix: RunOrSeeds | AffinityMatrix,
    groups: int,
    *,
    signal: str | None = None,
    algorithm: str = "exact",
    overlap: bool = False,
    reduce: Reduce | None = None,
    first: int | None = None,
    last: int | None = None,
    split: str = "train",
    seconds: float = SECONDS,
    limits: Limits | None = None,
    cancel: Callable[[], bool] | None = None,
) -> Grouping:
    """The best grouping into at most `groups` networks, by the mean affinity onto each task from its mates.

    Args:
        run_or_matrix: a run, the seeds of one sweep, or a finished matrix.
        groups: largest number of networks.
        signal: which affinity of the run to use; its first choice when left out.
        algorithm: key of a grouping algorithm.
        overlap: a task may also help in networks that do not serve it.
        reduce: how steps are reduced; the signal's own default when left out.
        first: first step that counts; from the start when left out.
        last: last step that counts; to the end when left out.
        split: part of the data, `train` or `validation`.
        seconds: the search stops after so long with its best answer and a bound.
        limits: another objective, limits and prices.
        cancel: asked now and then; when it answers True the search stops with its best answer and a bound.

    Raises:
        NotRecorded: the run recorded nothing that says who helps whom.
        NotEnoughData: no step of the range was recorded.
        GroupingError: the algorithm cannot answer this question, or no grouping keeps the limits.
        SettingsError: no such algorithm.
    """
    search = Search(
        groups=groups,
        algorithm=algorithm,
        overlap=overlap,
        seconds=seconds,
        limits=limits or Limits(),
        cancel=cancel,
    )
    if isinstance(run_or_matrix, AffinityMatrix):
        return search.grouping(run_or_matrix)
    one = run_or_matrix if isinstance(run_or_matrix, Run) else run_or_matrix[0]
    matrix = affinity_matrix(
        run_or_matrix, signal or first_signal(one), reduce=reduce, first=first, last=last, split=split
    )
    provenance = {"run": one.id, "config_hash": one.info.config_hash}
    return search.grouping(matrix, {key: text for key, text in provenance.items() if text})


group = suggest


def first_signal(run: Run) -> str:
    """The affinity that answers "who helps whom" best among those that the run recorded.

    Raises:
        NotRecorded: there is none.
    """
    choices = signal_choices(run)
    if not choices:
        raise NotRecorded(
            "this run recorded nothing that says who helps whom.",
            f"run {run.id}",
            "Log at least the tasks' losses, better the probes lookahead_losses or gram.",
        )
    return choices[0].key


def groups_view(
    matrix: AffinityMatrix,
    grouping: Grouping,
    *,
    planted: Sequence[Sequence[str]] | None = None,
    bounds: tuple[float, float] = UNKNOWN,
) -> GroupsView:
    """A grouping and what it promises beside the two obvious alternatives.

    Args:
        matrix: the affinities.
        grouping: the grouping, suggested or by hand.
        planted: the true grouping where the dataset knows it.
        bounds: 95 % interval of the mean predicted gain.

    Raises:
        GroupingError: matrix and grouping have different tasks.
    """
    gains = predicted_gains(matrix, grouping)
    together = Grouping.partition(matrix.tasks, [matrix.tasks])
    score = mean_gain(gains)
    alternatives = (
        ("all tasks together", mean_gain(predicted_gains(matrix, together))),
        ("every task alone", 0.0),
    )
    agreement = planted_agreement(grouping, planted)
    return GroupsView(
        grouping=grouping,
        gains=gains,
        score=score,
        alternatives=alternatives,
        agreement=agreement,
        low=bounds[0],
        high=bounds[1],
        sentence=group_sentence(grouping, gains, score, alternatives, agreement, bounds=bounds),
        caveats=group_caveats(matrix, grouping, bounds=bounds),
    )


def budget_curve(
    matrix: AffinityMatrix,
    *,
    algorithm: str = "exact",
    overlap: bool = False,
    most: int | None = None,
    seconds: float = SECONDS,
    limits: Limits | None = None,
) -> tuple[BudgetPoint, ...]:
    """The best grouping for every number of networks from 1 on: where does another network stop paying?

    Args:
        matrix: the affinities.
        algorithm: key of a grouping algorithm.
        overlap: a task may also help in networks that do not serve it.
        most: largest number of networks; the number of tasks, at most 10, when left out.
        seconds: time for all searches together.
        limits: another objective, limits and prices.

    Raises:
        GroupingError: the algorithm cannot answer this question, or no number of networks keeps the limits.
    """
    budgets = range(1, (most or min(10, len(matrix.tasks))) + 1)
    share = seconds / len(budgets)
    search = Search(groups=1, algorithm=algorithm, overlap=overlap, seconds=share, limits=limits or Limits())
    points, refused = list[BudgetPoint](), None
    for groups in budgets:
        try:
            found = replace(search, groups=groups).grouping(matrix)
        except GroupingError as error:  # so few networks cannot keep the limits
            refused = error
            continue
        points.append(
            BudgetPoint(
                groups=groups,
                used=len(found.groups),
                grouping=found,
                score=float(found.score if found.score is not None else np.nan),
                optimal=found.optimal,
                bound=found.bound if found.bound is not None else float("nan"),
            )
        )
    if not points and refused is not None:
        raise refused
    return tuple(points)


def stability(
    run: Run,
    groups: int,
    *,
    signal: str | None = None,
    algorithm: str = "exact",
    overlap: bool = False,
    first: int | None = None,
    last: int | None = None,
    split: str = "train",
    resamples: int = RESAMPLES,
    seed: int = 0,
    seconds: float = SECONDS,
    limits: Limits | None = None,
) -> FloatArray:
    """How often two tasks end up served together when the steps of the training are resampled.

    Args:
        run: the run.
        groups: largest number of networks.
        signal: which affinity to use; the run's first choice when left out.
        algorithm: key of a grouping algorithm.
        overlap: a task may also help in networks that do not serve it.
        first: first step that counts; from the start when left out.
        last: last step that counts; to the end when left out.
        split: part of the data, `train` or `validation`.
        resamples: how many resampled trainings.
        seed: seed of the draws.
        seconds: no further resample is searched after so long.
        limits: another objective, limits and prices.

    Returns:
        (N, N) shares, 1 on the diagonal.

    Raises:
        NotRecorded: the run recorded nothing that says who helps whom.
        NotEnoughData: no step of the range was recorded.
        GroupingError: the algorithm cannot answer this question.
    """
    search = Search(
        groups=groups, algorithm=algorithm, overlap=overlap, seconds=seconds, limits=limits or Limits()
    )
    choice = find_choice(run, signal or first_signal(run))
    collected = collect(run, choice.key, split=split, first=first, last=last)
    return redrawn(collected, search, run.tasks, resamples=resamples, seed=seed)[0]


def redrawn(
    collected: Collected,
    search: Search,
    tasks: Sequence[str],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> tuple[FloatArray, int]:
    """The shares of `stability`, and how many resampled trainings they come from.

    Args:
        collected: the affinities over steps.
        search: the question; its time limit is for all resamples together.
        tasks: the tasks in the order of the affinities.
        resamples: how many resampled trainings at most.
        seed: seed of the draws.
    """
    drawn = resampled_means(
        collected, estimate(collected, "mean"), resamples=resamples, rng=np.random.default_rng(seed)
    )
    # A search that cannot be proven in its share of the time answers with the best it found.
    each = replace(search, seconds=search.seconds / LEAST_RESAMPLES)
    together = np.zeros(drawn.shape[1:])
    started, done = time.monotonic(), 0
    for values in drawn:
        for _, serve in each.solve(values, tasks).groups:
            together[np.ix_(serve, serve)] += 1
        done += 1
        if time.monotonic() - started > search.seconds:
            break
    return together / done, done
