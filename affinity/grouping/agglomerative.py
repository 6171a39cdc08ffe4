"""Agglomerative clustering of the symmetrised affinity."""

from dataclasses import dataclass

import numpy as np

from affinity.core.entry import Grouper
from affinity.core.grouping import GroupingProblem, GroupingSolution
from affinity.core.settings import Settings, setting
from affinity.grouping._clusterings import best_of, similarity
from affinity.grouping._limits import Watch
from affinity.grouping._scaled import scaled_elements
from affinity.grouping._starts import usable_groups


@dataclass(frozen=True, kw_only=True)
class AgglomerativeSettings(Settings):
    """Which distance joins two clusters."""

    linkage: str = setting(
        "average", choices=("average", "complete", "single"), help="How far two clusters are apart."
    )
    fewer: bool = setting(True, help="Also try every smaller number of groups and keep the best.")


def group(problem: GroupingProblem, settings: AgglomerativeSettings) -> GroupingSolution:
    """Cut SciPy's linkage tree, with distance = largest similarity - similarity, at the number of groups.

    Raises:
        GroupingError: the objective is `measured`, or no grouping was found that meets the constraints.
    """
    watch, elements = Watch(problem), scaled_elements(problem)
    if elements.count == 1:
        return best_of(problem, [np.zeros(1, dtype=np.int64)], watch)
    from scipy.cluster.hierarchy import fcluster, linkage

    near = similarity(elements)
    upper = near[np.triu_indices(elements.count, 1)]
    tree = linkage(upper.max() - upper, method=settings.linkage)
    most = usable_groups(elements)
    fewest = 1 if settings.fewer and problem.objective != "density" else most
    cuts = [fcluster(tree, count, criterion="maxclust") for count in range(fewest, most + 1)]
    return best_of(problem, cuts, watch)


GROUPER = Grouper(
    key="agglomerative",
    title="Agglomerative clustering",
    summary="Joins the closest clusters step by step; direction is averaged away.",
    reference="SciPy hierarchical clustering",
    group=group,
    settings=AgglomerativeSettings,
    exact=False,
    overlaps=True,
)
