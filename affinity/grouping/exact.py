"""The best grouping with its proof, or the best so far with its bound when it is stopped."""

from affinity.core.entry import Grouper
from affinity.core.grouping import GroupingProblem, GroupingSolution
from affinity.core.settings import NoSettings
from affinity.grouping._elements import elements_of
from affinity.grouping._limits import Watch
from affinity.grouping._measured import best_networks_of_table
from affinity.grouping._proof import MAX_SUBSET_ELEMENTS, by_columns, by_subsets, without_budget


def group(problem: GroupingProblem, settings: NoSettings) -> GroupingSolution:
    """The best grouping into at most `problem.groups` networks.

    Up to ten tasks: dynamic programming over subsets. Up to 28: column generation whose pricing looks at
    every subset. Up to 62 without overlap: the same with a branch-and-bound pricing. Without a binding
    budget: pairs and triples, to 150 tasks. Beyond: the best found and a bound, never called optimal.

    Raises:
        GroupingError: no grouping meets the constraints.
    """
    watch = Watch(problem)
    if problem.table is not None:
        return best_networks_of_table(problem, watch)
    elements = elements_of(problem)
    if elements.count <= MAX_SUBSET_ELEMENTS:
        return by_subsets(elements, watch)
    if elements.count > 20 or problem.groups >= problem.size // 2:
        unbudgeted = without_budget(problem, watch)
        if unbudgeted is not None:
            return unbudgeted
    return by_columns(problem, watch)


GROUPER = Grouper(
    key="exact",
    title="Exact",
    summary="The best grouping there is, with the proof, or the best so far with its gap when stopped.",
    reference="Served-set reduction, subset dynamic programming and column generation; our own.",
    group=group,
    exact=True,
    overlaps=True,
)
