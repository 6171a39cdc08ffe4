"""Spectral clustering of the symmetrised affinity."""

from dataclasses import dataclass

import numpy as np

from affinity.core.entry import Grouper
from affinity.core.grouping import GroupingProblem, GroupingSolution
from affinity.core.settings import Settings, setting
from affinity.core.types import FloatArray, IntArray
from affinity.grouping._clusterings import best_of, similarity
from affinity.grouping._limits import Watch
from affinity.grouping._scaled import scaled_elements
from affinity.grouping._starts import usable_groups


@dataclass(frozen=True, kw_only=True)
class SpectralSettings(Settings):
    """How affinities become weights of a graph, and how many numbers of groups are tried."""

    temperature: float = setting(
        1.0, low=0.01, high=100.0, help="Affinities are divided by this share of the largest before exp."
    )
    fewer: bool = setting(True, help="Also try every smaller number of groups and keep the best.")
    seed: int = setting(0, low=0, high=2**31 - 1, help="Seed of k-means.")


def group(problem: GroupingProblem, settings: SpectralSettings) -> GroupingSolution:
    """Cluster exp(similarity) with scikit-learn's spectral clustering.

    The exponential keeps negative affinities as small positive weights, as in Li et al., 2024.

    Raises:
        GroupingError: the objective is `measured`, or no grouping was found that meets the constraints.
    """
    watch, elements = Watch(problem), scaled_elements(problem)
    weights = np.exp(similarity(elements) / settings.temperature)
    most = usable_groups(elements)
    fewest = 1 if settings.fewer and problem.objective != "density" else most
    candidates = [
        _labels(weights, count, settings.seed) for count in range(fewest, most + 1) if not watch.stopped()
    ]
    return best_of(problem, candidates or [np.zeros(elements.count, dtype=np.int64)], watch)


def _labels(weights: FloatArray, count: int, seed: int) -> IntArray:
    if count == 1:
        return np.zeros(len(weights), dtype=np.int64)
    if count >= len(weights) - 1:
        # As many groups as tasks, or one less: the eigenvector solver needs more room than that.
        return np.minimum(np.arange(len(weights)), count - 1)
    from sklearn.cluster import SpectralClustering

    model = SpectralClustering(n_clusters=count, affinity="precomputed", random_state=seed)
    return np.asarray(model.fit_predict(weights))


GROUPER = Grouper(
    key="spectral",
    title="Spectral clustering",
    summary="Cuts the graph of mutual affinity where it is weakest; direction is averaged away.",
    reference="Li et al., 2024, https://arxiv.org/abs/2409.06091; scikit-learn SpectralClustering",
    group=group,
    settings=SpectralSettings,
    exact=False,
    overlaps=True,
)
