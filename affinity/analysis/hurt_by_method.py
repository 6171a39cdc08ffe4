"""Who would still be hurt if another method had combined the recorded gradients?"""

from typing import Final

import numpy as np

from affinity.analysis.conflict_tally import TaskTally
from affinity.analysis.conflicts import gram_parts
from affinity.analysis.gram_statistics import DEAD_ZONE, alignment
from affinity.analysis.method_statistics import coinciding, gram_methods, guarantees, method_weights
from affinity.analysis.series import Span
from affinity.analysis.views import MethodHurt, MethodsHurt
from affinity.analysis.wording import listing, plural
from affinity.core.types import FloatArray
from affinity.methods import METHODS
from affinity.runs.reader import Run

JOINT: Final = "joint"
# Rows of Gram matrices that are looked at: 100 steps of 20 tasks, 20 of 100.
MOST_ROWS: Final = 2_000


def hurt_by_method(run: Run, *, first: int | None = None, last: int | None = None) -> MethodsHurt:
    """Every method's update at evenly spaced recorded steps, and whom it goes against.

    Methods that remember earlier steps are judged by their first step, all by their default settings.

    Args:
        run: the run.
        first: first step that counts; from the start when left out.
        last: last step that counts; to the end when left out.

    Raises:
        NotRecorded: the run holds no Gram matrices.
        NotEnoughData: no step of the range was recorded.
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    grams, recorded = _sampled(run, (first, last))
    # On matrices this small, threads only wait for each other.
    with threadpool_limits(1):
        weights = {key: np.stack([method_weights(gram, key) for gram in grams]) for key in gram_methods()}
        promises = [guarantees(gram)["never_hurts"] for gram in grams]
    weights[JOINT] = np.ones(grams.shape[:2])
    methods = [
        _judged(key, grams, given, promises, run.tasks)
        for key, given in sorted(weights.items(), key=lambda item: item[0] != JOINT)
    ]
    ordered = [methods[0], *sorted(methods[1:], key=lambda row: (row.mean_hurt, row.title))]
    return MethodsHurt(
        methods=tuple(ordered),
        steps=len(grams),
        recorded=recorded,
        sentence=_sentence(ordered, len(grams)),
        caveats=_caveats(weights, len(grams), recorded),
    )


def _sampled(run: Run, span: Span) -> tuple[FloatArray, int]:
    """(T, N, N) matrices of evenly spaced steps, and how many steps were recorded."""
    parts = [part.values for part in gram_parts(run, span)]
    recorded = sum(len(part) for part in parts)
    most = max(2, MOST_ROWS // len(run.tasks))
    wanted = np.unique(np.linspace(0, recorded - 1, min(most, recorded)).astype(np.int64))
    starts = np.cumsum([0, *(len(part) for part in parts)])
    chosen = [
        part[wanted[(wanted >= start) & (wanted < start + len(part))] - start]
        for part, start in zip(parts, starts, strict=False)
    ]
    return np.concatenate(chosen), recorded


def _judged(
    key: str, grams: FloatArray, weights: FloatArray, promises: list[object], tasks: tuple[str, ...]
) -> MethodHurt:
    cosines = alignment(grams, weights)
    known = np.isfinite(cosines).any(axis=1)
    hurt = (cosines[known] < -DEAD_ZONE).sum(axis=1)
    given = [one.get(key) for one in promises if isinstance(one, dict)]
    kept = [bool(promise) for promise in given if promise is not None]
    return MethodHurt(
        key=key,
        title=METHODS[key].title,
        rate=float((hurt > 0).mean()) if len(hurt) else float("nan"),
        mean_hurt=float(hurt.mean()) if len(hurt) else float("nan"),
        promised=float(np.mean(kept)) if kept else float("nan"),
        tasks=TaskTally.of(grams, cosines).tasks(tasks),
    )


def _sentence(methods: list[MethodHurt], steps: int) -> str:
    joint, others = methods[0], methods[1:]
    if np.isnan(joint.rate):
        return "No step has a gradient to judge by."
    looked = f"at {plural(steps, 'step')} that were looked at"
    if joint.rate == 0:
        return f"The joint sum hurts nobody {looked}: no method is needed to protect a task."
    harmless = [row.title for row in others if row.rate == 0]
    said = f"The joint sum hurts somebody in {joint.rate:.0%} of the steps, {looked}"
    if harmless:
        named = listing(harmless) if len(harmless) <= 4 else f"{len(harmless)} methods"
        return f"{said}; {named} would have hurt nobody."
    return f"{said}; {others[0].title} least often ({others[0].rate:.0%})."


def _caveats(weights: dict[str, FloatArray], steps: int, recorded: int) -> tuple[str, ...]:
    said = [
        "Hurt = to first order the update raises the task's loss on the same batch, heads aside. Judged on "
        "the gradients of this run: with another method the training would have gone elsewhere."
    ]
    if steps < recorded:
        said.append(f"Computed at {steps:,} evenly spaced steps of {recorded:,} recorded ones.")
    alike = coinciding({key: {"weights": given.ravel()} for key, given in weights.items()})
    said += [
        f"{listing([METHODS[key].title for key in keys])} give the same direction at every one of them."
        for keys in alike
    ]
    return tuple(said)
