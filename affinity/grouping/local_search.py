"""Hill climbing from many random starts, all at once."""

from dataclasses import dataclass

import numpy as np

from affinity.core.entry import Grouper
from affinity.core.grouping import GroupingProblem, GroupingSolution
from affinity.core.settings import Settings, setting
from affinity.grouping._heuristics import bounded, climbed, finished
from affinity.grouping._limits import Watch
from affinity.grouping._scaled import scaled_elements
from affinity.grouping._starts import merged, random_starts, usable_groups


@dataclass(frozen=True, kw_only=True)
class LocalSearchSettings(Settings):
    """Effort of the search."""

    starts: int = setting(48, low=1, high=2000, help="Random groupings to climb from.")
    shakes: int = setting(4, low=0, high=1000, help="Rounds of shaking the best ones and climbing again.")
    seed: int = setting(0, low=0, high=2**31 - 1, help="Seed of the starts and the shaking.")


def group(problem: GroupingProblem, settings: LocalSearchSettings) -> GroupingSolution:
    """Move one task, or exchange two, as long as that gains; the best of all starts, with a valid bound.

    Raises:
        GroupingError: the objective is `measured`, or no grouping was found that meets the constraints.
    """
    watch = Watch(problem)
    elements = scaled_elements(problem)
    groups, rng = usable_groups(elements), np.random.default_rng(settings.seed)
    starts = random_starts(elements, groups, settings.starts, rng)
    greedy = merged(elements, groups)
    if greedy.max() < groups:
        starts = np.concatenate([greedy[None], starts])
    labels = climbed(elements, starts, settings.shakes, rng, watch)
    distinct = np.unique(labels[:8], axis=0, return_index=True)[1]
    return bounded(problem, finished(elements, labels[np.sort(distinct)], watch), watch)


GROUPER = Grouper(
    key="local_search",
    title="Local search",
    summary="Improves many random groupings move by move; usually best or close, without proof.",
    group=group,
    settings=LocalSearchSettings,
    exact=False,
    overlaps=True,
)
