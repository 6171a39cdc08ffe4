"""Affinity propagation, as selective task group updates form their groups."""

import warnings
from dataclasses import dataclass

import numpy as np

from affinity.core.entry import Grouper
from affinity.core.grouping import GroupingProblem, GroupingSolution
from affinity.core.settings import Settings, setting
from affinity.core.types import FloatArray, IntArray
from affinity.grouping._clusterings import clustered
from affinity.grouping._limits import Watch
from affinity.grouping._scaled import scaled_elements

ATTEMPTS = 10
FIRST_PATIENCE = 50
MORE_PATIENCE = 100


@dataclass(frozen=True, kw_only=True)
class AffinityPropagationSettings(Settings):
    """How willing a task is to be the centre of a group."""

    preference: float | None = setting(
        None, low=-1e6, high=1e6, help="Willingness to be a centre; the median of the matrix when empty."
    )
    seed: int = setting(0, low=0, high=2**31 - 1, help="Seed of the jitter; small matrices depend on it.")


def group(problem: GroupingProblem, settings: AffinityPropagationSettings) -> GroupingSolution:
    """Normalise by the affected task's self-affinity, symmetrise, and let messages pick the groups.

    The number of groups comes from the algorithm. A self-affinity of 0 or below, or a missing one, cannot
    normalise: such a task's column is measured by the
    largest affinity instead, and a note names how many there were. When messages do
    not settle, patience is raised ten times; if they never do, all tasks are one group.

    Raises:
        GroupingError: the objective is `measured`, or no grouping was found that meets the constraints.
    """
    watch, elements = Watch(problem), scaled_elements(problem)
    matrix, left_out = normalised(elements.problem)
    belongs = elements.belongs / elements.sizes[:, None]
    labels = _labels(belongs @ matrix @ belongs.T, settings)
    notes = []
    if left_out:
        notes.append(f"{left_out} tasks have no positive self-affinity and were not normalised.")
    if labels is None:
        notes.append("The messages did not settle; all tasks are one group.")
        labels = np.zeros(elements.count, dtype=np.int64)
    return clustered(problem, labels, watch, notes=tuple(notes))


def normalised(problem: GroupingProblem) -> tuple[FloatArray, int]:
    """(N, N) symmetric similarity of a scaled problem, and how many columns could not be normalised."""
    affinity = np.nan_to_num(problem.affinity, nan=0.0)
    own = np.diagonal(affinity)
    usable = own > 0
    relative = affinity / np.where(usable, own, 1.0)
    return (relative + relative.T) / 2, int((~usable).sum())


def _labels(matrix: FloatArray, settings: AffinityPropagationSettings) -> IntArray | None:
    from sklearn.cluster import AffinityPropagation
    from sklearn.exceptions import ConvergenceWarning

    if len(matrix) == 1:
        return np.zeros(1, dtype=np.int64)
    for attempt in range(ATTEMPTS):
        patience = FIRST_PATIENCE + attempt * MORE_PATIENCE
        model = AffinityPropagation(
            affinity="precomputed",
            preference=settings.preference,
            convergence_iter=patience,
            max_iter=max(200, 2 * patience),
            random_state=settings.seed,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("error", ConvergenceWarning)
            warnings.filterwarnings("ignore", message="All samples have mutually equal similarities")
            try:
                labels = np.asarray(model.fit_predict(matrix))
            except ConvergenceWarning:
                continue
        if (labels >= 0).all():
            return labels
    return None


GROUPER = Grouper(
    key="affinity_propagation",
    title="Affinity propagation",
    summary="Lets tasks elect the centres of groups; decides the number of groups itself.",
    reference="Jeong & Yoon, 2025, https://arxiv.org/abs/2502.11986; scikit-learn AffinityPropagation",
    group=group,
    settings=AffinityPropagationSettings,
    exact=False,
    overlaps=True,
)
