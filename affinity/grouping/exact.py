"""The best grouping with its proof."""

from affinity.core.entry import Grouper
from affinity.core.errors import GroupingError
from affinity.core.grouping import GroupingProblem, GroupingSolution
from affinity.core.settings import NoSettings
from affinity.grouping._elements import Elements, elements_of, score_of, solution_groups
from affinity.grouping._limits import Watch
from affinity.grouping._subset_dp import best_partitions
from affinity.grouping._tables import overlapping_values, partition_values


def group(problem: GroupingProblem, settings: NoSettings) -> GroupingSolution:
    """The best grouping into at most `problem.groups` networks.

    Raises:
        GroupingError: no grouping meets the constraints.
    """
    elements = elements_of(problem)
    watch = Watch(problem)
    return _by_subsets(elements, watch)


def _by_subsets(elements: Elements, watch: Watch) -> GroupingSolution:
    problem = elements.problem
    if problem.overlap:
        values, networks = overlapping_values(elements)
    else:
        values = partition_values(elements)
    layers = best_partitions(values, min(problem.groups, elements.count), watch)
    if problem.objective == "density":
        layers = layers[problem.groups - 1 :]
    best, blocks = max(layers, key=lambda layer: layer[0])
    if best == float("-inf"):
        raise GroupingError(
            "no grouping meets the constraints.", hint="Allow more networks or relax a limit."
        )
    chosen = [(int(networks[block]) if problem.overlap else block, block) for block in blocks]
    score = score_of(elements, chosen)
    return GroupingSolution(
        groups=solution_groups(elements, chosen),
        score=score,
        bound=float("inf") if watch.reason else score,
        optimal=not watch.reason,
        stopped=watch.reason,
    )


GROUPER = Grouper(
    key="exact",
    title="Exact",
    summary="The best grouping there is, with the proof, or the best so far with its gap when stopped.",
    reference="Served-set reduction, subset dynamic programming and column generation; our own.",
    group=group,
    exact=True,
    overlaps=True,
)
