"""Merging groups from the bottom up by the objective itself."""

import numpy as np

from affinity.core.entry import Grouper
from affinity.core.grouping import GroupingProblem, GroupingSolution
from affinity.core.settings import NoSettings
from affinity.grouping._heuristics import bounded, finished
from affinity.grouping._limits import Watch
from affinity.grouping._scaled import scaled_elements
from affinity.grouping._starts import merged, random_starts, usable_groups


def group(problem: GroupingProblem, settings: NoSettings) -> GroupingSolution:
    """Merge the two groups that gain most, while there are too many groups or something to gain.

    Where limits leave no merge although there are too many groups, a random filling that keeps to the limits
    is the answer, and a note says so.

    Raises:
        GroupingError: the objective is `measured`, or no grouping was found that meets the constraints.
    """
    watch, elements = Watch(problem), scaled_elements(problem)
    groups = usable_groups(elements)
    labels, notes = merged(elements, groups), tuple[str, ...]()
    if labels.max() >= groups:
        labels = random_starts(elements, groups, 1, np.random.default_rng(0))[0]
        notes = ("The limits left nothing to merge; this grouping only keeps to them.",)
    return bounded(problem, finished(elements, [labels], watch, notes=notes), watch)


GROUPER = Grouper(
    key="greedy_merge",
    title="Greedy merge",
    summary="Starts with every task alone and merges the two groups that gain most.",
    group=group,
    exact=False,
    overlaps=True,
)
