"""What the Groups page shows, from plain choices: so that one cached question answers the whole page."""

from dataclasses import dataclass

from affinity.analysis.affinity import affinity_matrix
from affinity.analysis.collected import Reduce
from affinity.analysis.groups import budget_curve, groups_view, stability, suggest
from affinity.analysis.page_text import from_text, to_text
from affinity.analysis.views import BudgetPoint, GroupsView
from affinity.analysis.wording import number
from affinity.core.types import AffinityMatrix, FloatArray, Grouping
from affinity.runs.reader import Run

# A page should answer while somebody is looking at it; the search says how far it may be from the best.
SECONDS = 4.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupsPage:
    """The grouping on the page and the one it started from.

    Attributes:
        view: the grouping on the page and what it promises.
        suggested: what the algorithm found.
        suggested_score: mean predicted gain of the suggestion.
        edited: the grouping on the page differs from the suggestion.
    """

    view: GroupsView
    suggested: Grouping
    suggested_score: float
    edited: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What the user asked for; hashable, so that it can key a cache.

    Attributes:
        signal, split, reduce: the affinity that is used.
        networks: largest number of networks.
        algorithm: key of the grouping algorithm.
        overlap: a task may help in groups that do not serve it.
        text: an edited grouping as `page_text` writes it; empty for the suggestion.
    """

    signal: str
    split: str
    reduce: Reduce
    networks: int
    algorithm: str
    overlap: bool
    text: str = ""


def groups_page(run: Run, wish: Wish) -> GroupsPage:
    """The suggestion, the edited grouping if there is one, and what each promises.

    Raises:
        GroupingError: the edited grouping does not fit the run, or the algorithm cannot answer.
    """
    matrix = _matrix(run, wish)
    suggested = suggest(
        matrix, wish.networks, algorithm=wish.algorithm, overlap=wish.overlap, seconds=SECONDS
    )
    shown = from_text(wish.text, run.tasks) if wish.text else suggested
    edited = bool(wish.text) and to_text(shown) != to_text(suggested)
    best = groups_view(matrix, suggested, planted=run.info.planted)
    return GroupsPage(
        view=groups_view(matrix, shown, planted=run.info.planted) if edited else best,
        suggested=suggested,
        suggested_score=best.score,
        edited=edited,
    )


def budget_page(run: Run, wish: Wish) -> tuple[BudgetPoint, ...]:
    """The best grouping for every number of networks."""
    return budget_curve(
        _matrix(run, wish), algorithm=wish.algorithm, overlap=wish.overlap, seconds=2 * SECONDS
    )


def stability_page(run: Run, wish: Wish) -> FloatArray:
    """(N, N) share of resampled trainings in which two tasks are served together."""
    return stability(
        run,
        wish.networks,
        signal=wish.signal,
        algorithm=wish.algorithm,
        overlap=wish.overlap,
        split=wish.split,
        seconds=2 * SECONDS,
    )


def proof(grouping: Grouping) -> str:
    """What is known about how good a suggestion is, in words."""
    if grouping.score is None:
        return ""
    time = f" Found in {grouping.seconds:.2g} seconds." if grouping.seconds is not None else ""
    if grouping.optimal:
        return f"Proven best: no grouping into this many networks has a higher mean predicted gain.{time}"
    if grouping.bound is not None:
        return (
            f"The best grouping found so far. It scores {number(grouping.score)}; none can score more than "
            f"{number(grouping.bound)}.{time}"
        )
    return f"A good grouping without a proof; a better one may exist.{time}"


def _matrix(run: Run, wish: Wish) -> AffinityMatrix:
    return affinity_matrix(run, wish.signal, reduce=wish.reduce, split=wish.split)
