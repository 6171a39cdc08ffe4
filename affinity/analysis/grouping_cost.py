"""What a search may take, said before it starts."""

from typing import Final

from affinity.analysis.grouping_limits import PAIR_OBJECTIVES, Limits
from affinity.analysis.wording import number, plural
from affinity.core.types import Grouping

# Values of all sets of tasks are kept for up to so many tasks, 8 bytes each, and computed again beyond.
KEPT_TASKS: Final = 23
SMALL_TASKS: Final = 12


def search_cost(tasks: int, networks: int, *, overlap: bool, seconds: float) -> str:
    """Memory and time of a search, as an upper bound in words; empty where neither is worth a word.

    Memory is a table of all sets of tasks where it is kept, the pool of networks that are compared, and the
    library that does the linear programming. Measured with 20 to 100 tasks, searches stay below it.

    Args:
        tasks: number of tasks.
        networks: largest number of networks.
        overlap: a task may help in several networks.
        seconds: time limit.
    """
    if tasks <= SMALL_TASKS:
        return ""
    kind = "overlapping networks" if overlap else "networks"
    megabytes = memory_megabytes(tasks)
    return (
        f"{tasks} tasks into at most {networks} {kind}: up to {megabytes:.0f} MB and up to {seconds:g} s; "
        "then the best so far is shown with a bound."
    )


def longer_result(quick: Grouping, longer: Grouping) -> str:
    """What a longer search brought, in words."""
    took = "" if longer.seconds is None else f" in {longer.seconds:.0f} s"
    if longer.optimal:
        return f"The longer search proved its answer{took}."
    if quick.score is None or longer.score is None:
        return ""
    gained = longer.score - quick.score
    better = f"a score {number(gained).lstrip('+')} higher" if gained > 1e-12 else "no better grouping"
    if quick.bound is None or longer.bound is None or longer.bound >= quick.bound - 1e-12:
        return f"The longer search found {better}{took}, and no lower bound."
    return f"The longer search found {better}{took}, and that none can score above {number(longer.bound)}."


def memory_megabytes(tasks: int) -> float:
    """Upper bound of the memory of a search for a grouping of so many tasks."""
    table = 8 * 2 ** min(tasks, KEPT_TASKS) / 1e6
    return float(20 + table + 0.005 * tasks**2)


def budget_hint(grouping: Grouping, networks: int, limits: Limits) -> str:
    """Why a mean without a budget falls into pairs and triples; empty where a budget or a price decides.

    A group of an even number of tasks is matched or beaten by its best division into pairs, one of an odd
    number by pairs and a triple: averaged over all such divisions, every pair counts as much as in the group.
    """
    free = networks * 2 >= len(grouping.tasks) and not limits.charges
    if not free or len(grouping.tasks) < 4 or limits.objective in PAIR_OBJECTIVES:
        return ""
    allowed = plural(networks, "network")
    return (
        f"With up to {allowed} for {len(grouping.tasks)} tasks the budget hardly decides. A mean then falls "
        "into pairs and triples: any larger network is matched or beaten by its best division into them, "
        "because each task keeps its best mates and loses the others. Allow fewer networks, or set a price "
        "per network under “Limits and prices”, to say what another network is worth to you."
    )
