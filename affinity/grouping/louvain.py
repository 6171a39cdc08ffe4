"""Louvain communities of the positive part of the symmetrised affinity."""

from dataclasses import dataclass

import numpy as np

from affinity.core.entry import Grouper
from affinity.core.grouping import GroupingProblem, GroupingSolution
from affinity.core.settings import Settings, setting
from affinity.grouping._clusterings import clustered, similarity
from affinity.grouping._limits import Watch
from affinity.grouping._scaled import scaled_elements


@dataclass(frozen=True, kw_only=True)
class LouvainSettings(Settings):
    """Size of the communities."""

    resolution: float = setting(
        1.0, low=0.01, high=100.0, help="Above 1: smaller communities; below: larger."
    )
    seed: int = setting(0, low=0, high=2**31 - 1, help="Seed of the order in which tasks are visited.")


def group(problem: GroupingProblem, settings: LouvainSettings) -> GroupingSolution:
    """Maximise modularity with networkx; a task without positive affinity is a community of its own.

    Modularity is not defined for negative weights, so negative pairs are left out: two tasks that harm each
    other can still meet through a third. Where harm matters, local search or the exact algorithm see it.

    Raises:
        GroupingError: the objective is `measured`, or no grouping was found that meets the constraints.
    """
    import networkx

    watch, elements = Watch(problem), scaled_elements(problem)
    graph = networkx.from_numpy_array(np.maximum(similarity(elements), 0.0))
    found = networkx.community.louvain_communities(graph, resolution=settings.resolution, seed=settings.seed)
    labels = np.zeros(elements.count, dtype=np.int64)
    for number, community in enumerate(found):
        labels[list(community)] = number
    note = "Negative pairs were left out: modularity is not defined for them."
    return clustered(problem, labels, watch, notes=(note,))


GROUPER = Grouper(
    key="louvain",
    title="Louvain communities",
    summary="Finds communities of tasks that help each other; harm is not seen, direction is averaged.",
    reference="Blondel et al., 2008, https://arxiv.org/abs/0803.0476; networkx louvain_communities",
    group=group,
    settings=LouvainSettings,
    exact=False,
    overlaps=True,
)
