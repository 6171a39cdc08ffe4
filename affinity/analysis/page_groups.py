"""What the Groups page shows, from plain choices: so that one cached question answers the whole page."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from affinity.analysis.affinity import affinity_matrix
from affinity.analysis.collected import Collected, Reduce, collect
from affinity.analysis.grouping_evidence import gain_interval, held_out_gain
from affinity.analysis.grouping_limits import OBJECTIVE_WORDS, Limits, broken_limit
from affinity.analysis.grouping_search import Search
from affinity.analysis.grouping_trust import (
    NextBest,
    OtherMeasure,
    measures_sentence,
    next_best,
    other_measures,
    positions_of,
)
from affinity.analysis.groups import budget_curve, groups_view, redrawn
from affinity.analysis.page_text import from_text, to_text
from affinity.analysis.signals import signal_choices
from affinity.analysis.views import BudgetPoint, GroupsView
from affinity.analysis.wording import interval, number, percent
from affinity.core.errors import AffinityError
from affinity.core.types import AffinityMatrix, FloatArray, Grouping
from affinity.grouping import score
from affinity.runs.reader import Run

# A page should answer while somebody is looking at it; the search says how far it may be from the best.
SECONDS = 4.0
QUICK = "local_search"
LONGER = (4.0, 30.0, 120.0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupsPage:
    """The grouping on the page and the one it started from.

    Attributes:
        view: the grouping on the page and what it promises.
        suggested: what the algorithm found.
        suggested_score: mean predicted gain of the suggestion.
        value: what the grouping on the page scores by the objective, prices included.
        broken: the limit that the grouping on the page breaks, in words; empty when it keeps all.
        edited: the grouping on the page differs from the suggestion.
    """

    view: GroupsView
    suggested: Grouping
    suggested_score: float
    value: float
    broken: str
    edited: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What the user asked for; hashable, so that it can key a cache.

    Attributes:
        signal, split, reduce: the affinity that is used.
        networks: largest number of networks.
        algorithm: key of the grouping algorithm.
        overlap: a task may help in groups that do not serve it.
        seconds: how long may be searched.
        limits: objective, limits and prices.
        text: an edited grouping as `page_text` writes it; empty for the suggestion.
    """

    signal: str
    split: str
    reduce: Reduce
    networks: int
    algorithm: str
    overlap: bool
    seconds: float = SECONDS
    limits: Limits = field(default_factory=Limits)
    text: str = ""

    def search(self, seconds: float, cancel: Callable[[], bool] | None = None) -> Search:
        """The same as a search that stops after so long."""
        return Search(
            groups=self.networks,
            algorithm=self.algorithm,
            overlap=self.overlap,
            seconds=seconds,
            limits=self.limits,
            cancel=cancel,
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StabilityPage:
    """How much a suggestion depends on the steps that happened to be recorded.

    Attributes:
        together: (N, N) share of resampled trainings in which two tasks are served together.
        held_out: mean gain with its interval on steps that had no part in the choice; None for few steps.
        sentence: both in words.
    """

    together: FloatArray
    held_out: tuple[float, float, float] | None
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MeasuresPage:
    """What the run's other affinities would choose.

    Attributes:
        measures: one each.
        sentence: how far they agree.
    """

    measures: tuple[OtherMeasure, ...]
    sentence: str


def suggestion(
    run: Run, wish: Wish, matrix: AffinityMatrix, cancel: Callable[[], bool] | None = None
) -> Grouping:
    """What the algorithm finds within the wish's time; the wish's text does not matter.

    Args:
        run: the run.
        wish: the question.
        matrix: the affinities that the wish names.
        cancel: asked now and then; when it answers True the search ends with its best.

    Raises:
        GroupingError: the algorithm cannot answer, or no grouping keeps the limits.
    """
    provenance = {"run": run.id, "config_hash": run.info.config_hash}
    told = {key: text for key, text in provenance.items() if text}
    return wish.search(wish.seconds, cancel).grouping(matrix, told)


def groups_page(run: Run, wish: Wish, matrix: AffinityMatrix, suggested: Grouping) -> GroupsPage:
    """The suggestion, the edited grouping if there is one, and what each promises.

    Raises:
        GroupingError: the edited grouping does not fit the run.
    """
    collected = _collected(run, wish)
    shown = from_text(wish.text, run.tasks) if wish.text else suggested
    edited = bool(wish.text) and to_text(shown) != to_text(suggested)
    best = _view(run, wish, matrix, collected, suggested)
    shown = shown if edited else suggested
    return GroupsPage(
        view=_view(run, wish, matrix, collected, shown) if edited else best,
        suggested=suggested,
        suggested_score=best.score,
        value=score(wish.search(SECONDS).problem(matrix.values, matrix.tasks), positions_of(shown)),
        broken=broken_limit(positions_of(shown), wish.limits.options(run.tasks), run.tasks),
        edited=edited,
    )


def budget_page(run: Run, wish: Wish, matrix: AffinityMatrix, suggested: Grouping) -> tuple[BudgetPoint, ...]:
    """The best grouping for every number of networks of this run."""
    return budget_curve(
        matrix,
        algorithm=_affordable(wish, suggested),
        overlap=wish.overlap,
        seconds=2 * SECONDS,
        limits=wish.limits,
        most=min(len(run.tasks), max(10, wish.networks + 1)),
    )


def stability_page(run: Run, wish: Wish, suggested: Grouping) -> StabilityPage:
    """How often tasks stay together when steps are redrawn, and the gain on steps that did not choose."""
    algorithm = _affordable(wish, suggested)
    collected = _collected(run, wish)
    search = replace(wish.search(2 * SECONDS), algorithm=algorithm)
    together, count = redrawn(collected, search, run.tasks)
    held_out = held_out_gain(collected, replace(search, seconds=SECONDS / 2), suggested)
    return StabilityPage(
        together=together, held_out=held_out, sentence=_stability_words(together, count, held_out, suggested)
    )


def next_best_page(run: Run, wish: Wish, matrix: AffinityMatrix, suggested: Grouping) -> NextBest:
    """The best grouping of this run other than the suggested one."""
    assert run.tasks == matrix.tasks
    return next_best(matrix, wish.search(SECONDS), suggested)


def measures_page(run: Run, wish: Wish, suggested: Grouping, shown: Grouping) -> MeasuresPage:
    """What each affinity of the run would choose, with the same limits, beside the grouping that is shown."""
    matrices: list[tuple[str, AffinityMatrix | AffinityError]] = []
    for choice in signal_choices(run):
        split = wish.split if wish.split in choice.splits else choice.splits[0]
        try:
            matrices.append((choice.title, affinity_matrix(run, choice.key, split=split)))
        except AffinityError as error:
            matrices.append((choice.title, error))
    search = replace(wish.search(2 * SECONDS), algorithm=_affordable(wish, suggested))
    found = other_measures(matrices, search, shown)
    return MeasuresPage(measures=found, sentence=measures_sentence(found))


def _affordable(wish: Wish, suggested: Grouping) -> str:
    """The algorithm for many searches: a quick one where a single exact search ran into its time limit."""
    return QUICK if wish.algorithm == "exact" and not suggested.optimal else wish.algorithm


def proof(grouping: Grouping, wish: Wish) -> str:
    """What is known about how good a suggestion is, in words."""
    if grouping.score is None:
        return ""
    time = f" Found in {grouping.seconds:.2g} seconds." if grouping.seconds is not None else ""
    rest = " ".join([time, *grouping.notes])
    plain = wish.limits.objective == "mean_affinity" and not wish.limits.charges
    what = "mean predicted gain" if plain else f"score ({_objective_words(wish.limits)})"
    if grouping.optimal:
        return f"Proven best: no allowed grouping into this many networks has a higher {what}.{rest}"
    if grouping.bound is not None:
        return (
            f"The best grouping found so far. Its {what} is {number(grouping.score)}; none can have more "
            f"than {number(grouping.bound)}.{rest}"
        )
    return f"A good grouping without a proof; a better one may exist.{time}"


def _objective_words(limits: Limits) -> str:
    title = OBJECTIVE_WORDS[limits.objective][0]
    title = f"{title[0].lower()}{title[1:]}"
    return f"{title}, minus prices" if limits.charges else title


def _stability_words(
    together: FloatArray, count: int, held_out: tuple[float, float, float] | None, suggested: Grouping
) -> str:
    shares = [
        together[first, second]
        for _, serve in positions_of(suggested)
        for first in serve
        for second in serve
        if first < second
    ]
    said = []
    if shares:
        said.append(
            "Two tasks that the suggestion puts together stay together in "
            f"{percent(float(np.mean(shares)))} of {count} redrawn trainings, the least stable two in "
            f"{percent(float(min(shares)))}."
        )
    if held_out is not None:
        value, low, high = held_out
        sure = interval(low, high)
        between = f", 95 % interval {sure}" if sure else ""
        verdict = " That includes zero: no evidence that grouping helps." if low <= 0 <= high else ""
        said.append(
            f"Chosen on one half of the steps and judged by the other, the mean gain is {number(value)}"
            f"{between}.{verdict}"
        )
    return " ".join(said)


def _view(
    run: Run, wish: Wish, matrix: AffinityMatrix, collected: Collected, grouping: Grouping
) -> GroupsView:
    plain = groups_view(matrix, grouping, planted=run.info.planted)
    bounds = gain_interval(collected, wish.reduce, grouping, plain.score)
    return groups_view(matrix, grouping, planted=run.info.planted, bounds=bounds)


def _collected(run: Run, wish: Wish) -> Collected:
    return collect(run, wish.signal, split=wish.split)
