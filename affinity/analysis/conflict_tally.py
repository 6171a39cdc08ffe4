"""What adds up over steps and becomes a rate: numerators and denominators for pairs, layers and tasks."""

from dataclasses import dataclass

import numpy as np

from affinity.analysis.gram_statistics import (
    DEAD_ZONE,
    conflicts,
    gradient_norms,
    magnitude_similarity,
    over,
    pair_cosines,
    usable,
)
from affinity.analysis.views import HurtTask, PairConflict
from affinity.core.types import FloatArray


@dataclass(slots=True, kw_only=True, eq=False)
class PairTally:
    """Sums over steps for every pair of tasks; all (N, N).

    Attributes:
        conflicts: steps with a cosine below the threshold.
        defined: steps with a cosine.
        cosines: sum of the cosines.
        similarity: sum of the magnitude similarities.
        similar: steps with a magnitude similarity.
    """

    conflicts: FloatArray
    defined: FloatArray
    cosines: FloatArray
    similarity: FloatArray
    similar: FloatArray

    @classmethod
    def of(cls, gram: FloatArray, *, threshold: float = 0.0) -> "PairTally":
        """The tally of (T, N, N) Gram matrices."""
        cosines = pair_cosines(gram)
        similarity = magnitude_similarity(gradient_norms(gram))
        return cls(
            conflicts=conflicts(cosines, threshold=threshold).sum(axis=0).astype(np.float64),
            defined=np.isfinite(cosines).sum(axis=0).astype(np.float64),
            cosines=np.nansum(cosines, axis=0),
            similarity=np.nansum(similarity, axis=0),
            similar=np.isfinite(similarity).sum(axis=0).astype(np.float64),
        )

    def add(self, other: "PairTally") -> None:
        """Add the sums of more steps."""
        self.conflicts += other.conflicts
        self.defined += other.defined
        self.cosines += other.cosines
        self.similarity += other.similarity
        self.similar += other.similar

    @property
    def rate(self) -> FloatArray:
        """(N, N) conflict rate; NaN on the diagonal and where undefined."""
        return _off_diagonal(over(self.conflicts, self.defined))

    @property
    def mean_cosine(self) -> FloatArray:
        """(N, N) mean cosine; NaN on the diagonal and where undefined."""
        return _off_diagonal(over(self.cosines, self.defined))

    def pairs(self, tasks: tuple[str, ...]) -> tuple[PairConflict, ...]:
        """Every unordered pair, the most conflicting first, undefined ones last."""
        rate, cosine, similarity = self.rate, self.mean_cosine, over(self.similarity, self.similar)
        rows = [
            PairConflict(
                first=tasks[i],
                second=tasks[j],
                rate=float(rate[i, j]),
                conflicts=int(self.conflicts[i, j]),
                n=int(self.defined[i, j]),
                mean_cosine=float(cosine[i, j]),
                magnitude_similarity=float(similarity[i, j]),
            )
            for i in range(len(tasks))
            for j in range(i + 1, len(tasks))
        ]
        return tuple(sorted(rows, key=lambda row: (not row.n, -row.rate if row.n else 0.0, row.mean_cosine)))


@dataclass(slots=True, kw_only=True, eq=False)
class TaskTally:
    """Sums over steps for every task; all (N,).

    Attributes:
        hurt: steps in which the update goes against the task's gradient.
        defined: steps in which task and update have a direction.
        alignment: sum of the cosines between both.
        zero: steps with a zero gradient.
        not_finite: steps with a gradient that is missing or not finite.
    """

    hurt: FloatArray
    defined: FloatArray
    alignment: FloatArray
    zero: FloatArray
    not_finite: FloatArray

    @classmethod
    def of(cls, gram: FloatArray, alignment: FloatArray) -> "TaskTally":
        """The tally of (T, N, N) Gram matrices and the (T, N) cosines of their tasks with the update."""
        return cls(
            hurt=(alignment < -DEAD_ZONE).sum(axis=0).astype(np.float64),
            defined=np.isfinite(alignment).sum(axis=0).astype(np.float64),
            alignment=np.nansum(alignment, axis=0),
            zero=(gradient_norms(gram) == 0).sum(axis=0).astype(np.float64),
            not_finite=(~usable(gram)).sum(axis=0).astype(np.float64),
        )

    def add(self, other: "TaskTally") -> None:
        """Add the sums of more steps."""
        self.hurt += other.hurt
        self.defined += other.defined
        self.alignment += other.alignment
        self.zero += other.zero
        self.not_finite += other.not_finite

    def tasks(self, names: tuple[str, ...]) -> tuple[HurtTask, ...]:
        """Every task, the most often hurt first, undefined ones last."""
        rate, alignment = over(self.hurt, self.defined), over(self.alignment, self.defined)
        rows = [
            HurtTask(
                task=name,
                rate=float(rate[i]),
                hurt=int(self.hurt[i]),
                n=int(self.defined[i]),
                mean_alignment=float(alignment[i]),
            )
            for i, name in enumerate(names)
        ]
        return tuple(
            sorted(rows, key=lambda row: (not row.n, -row.rate if row.n else 0.0, row.mean_alignment))
        )


def _off_diagonal(values: FloatArray) -> FloatArray:
    np.fill_diagonal(values, np.nan)
    return values
