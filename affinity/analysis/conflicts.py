"""Where gradients fight: conflict statistics of a run, per step, per pair, per layer and per task."""

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

import numpy as np

from affinity.analysis.conflict_tally import PairTally, TaskTally
from affinity.analysis.conflict_words import conflict_caveats, conflict_sentence
from affinity.analysis.gram_statistics import (
    alignment,
    coherence,
    conflicts,
    dominance,
    gradient_norms,
    magnitude_similarity,
    over,
    pair_cosines,
    pareto_gap,
    spectrum,
    upper_pairs,
)
from affinity.analysis.layers import layer_conflicts
from affinity.analysis.series import Span, read, spans
from affinity.analysis.signals import usable
from affinity.analysis.views import ConflictsView, HurtTask
from affinity.core.errors import NotEnoughData, NotRecorded
from affinity.core.linalg import min_norm_weights
from affinity.core.types import AnyArray, FloatArray, Signal, read_only
from affinity.runs.reader import Run

Weigh: TypeAlias = Callable[[FloatArray], FloatArray]

# Rank, condition and Pareto gap need an eigenvalue problem a step; beyond this many rows of matrices a sample
# of evenly spaced steps stands for all.
SAMPLED_ROWS: Final = 10_000


def conflicts_view(
    run: Run, *, first: int | None = None, last: int | None = None, layer_threshold: float = 0.0
) -> ConflictsView:
    """Every conflict statistic of a run's recorded Gram matrices.

    Args:
        run: the run.
        first: first step that counts; from the start when left out.
        last: last step that counts; to the end when left out.
        layer_threshold: in the ranking of layers, conflicts are cosines below this, -1 to 0.

    Raises:
        NotRecorded: the run holds no Gram matrices.
        NotEnoughData: no step of the range was recorded.
    """
    found = _collected(run, (first, last))
    pair_tally, task_tally, series, truncated = found
    pairs, hurt = pair_tally.pairs(run.tasks), task_tally.tasks(run.tasks)
    layers = layer_conflicts(run, (first, last), threshold=layer_threshold)
    noise = noise_floor(run, (first, last))
    compared, fighting = sum(pair.n for pair in pairs), sum(pair.conflicts for pair in pairs)
    sampled = int(np.isfinite(series["rank"]).sum())
    return ConflictsView(
        tasks=run.tasks,
        **{name: read_only(values, values.dtype.type) for name, values in series.items()},
        pair_rate=read_only(pair_tally.rate),
        pair_cosine=read_only(pair_tally.mean_cosine),
        pairs=pairs,
        layers=layers,
        hurt=hurt,
        noise_floor=noise,
        pooled_rate=fighting / compared if compared else float("nan"),
        conflicts=fighting,
        comparisons=compared,
        sentence=conflict_sentence(
            pairs, hurt, [row.layer for row in layers if row.score], len(series["steps"])
        ),
        caveats=conflict_caveats(
            run.tasks,
            task_tally,
            noise,
            truncated=truncated,
            sampled=(sampled, len(series["steps"])),
            live=run.status.live,
        ),
    )


def hurt_tasks(
    run: Run, weigh: Weigh, *, first: int | None = None, last: int | None = None
) -> tuple[HurtTask, ...]:
    """How often a method's update would go against each task, judged on the recorded Gram matrices.

    Args:
        run: the run.
        weigh: from a step's (N, N) Gram matrix to the method's (N,) weights of the gradients.
        first: first step that counts; from the start when left out.
        last: last step that counts; to the end when left out.

    Returns:
        Every task, the most often hurt first.

    Raises:
        NotRecorded: the run holds no Gram matrices.
        NotEnoughData: no step of the range was recorded.
    """
    tally: TaskTally | None = None
    for part in gram_parts(run, (first, last)):
        weights = np.stack([np.asarray(weigh(gram), dtype=np.float64) for gram in part.values])
        more = TaskTally.of(part.values, alignment(part.values, weights))
        if tally is None:
            tally = more
        else:
            tally.add(more)
    assert tally is not None  # gram_parts raises when there is nothing
    return tally.tasks(run.tasks)


def noise_floor(run: Run, span: Span = (None, None)) -> tuple[tuple[str, float], ...]:
    """Mean cosine between the gradients of two half batches of each task; empty when not recorded."""
    if "gradient_noise" not in run.signals or run.signals["gradient_noise"].shape != (len(run.tasks),):
        return ()
    values = read(run, "gradient_noise", "train", span).values
    known = np.isfinite(values)
    means = over(np.where(known, values, 0.0).sum(axis=0), known.sum(axis=0))
    return tuple((task, float(mean)) for task, mean in zip(run.tasks, means, strict=True))


def _collected(run: Run, span: Span) -> tuple[PairTally, TaskTally, dict[str, AnyArray], bool]:
    series: list[dict[str, AnyArray]] = []
    tallies: tuple[PairTally, TaskTally] | None = None
    truncated = False
    share = max(1, SAMPLED_ROWS // len(run.tasks) // len(spans(run, "train", span)))
    for part in gram_parts(run, span):
        grams = part.values
        more = PairTally.of(grams), TaskTally.of(grams, alignment(grams, np.ones(len(run.tasks))))
        if tallies is None:
            tallies = more
        else:
            tallies[0].add(more[0])
            tallies[1].add(more[1])
        series.append({"steps": part.steps, **_per_step(grams), **_sampled(grams, share)})
        truncated |= part.truncated
    assert tallies is not None  # gram_parts raises when there is nothing
    return (*tallies, {name: np.concatenate([one[name] for one in series]) for name in series[0]}, truncated)


def gram_parts(run: Run, span: Span) -> Iterator[Signal]:
    """The recorded Gram matrices, a stretch of steps at a time.

    Raises:
        NotRecorded: the run holds none.
        NotEnoughData: no step of the range was recorded.
    """
    if not usable(run, "gram"):
        raise NotRecorded(
            "gradients were not recorded.",
            f"run {run.id}",
            "Train with the probe gram, or give the shared parameters to the Recorder's step.",
        )
    nothing = True
    for part in spans(run, "train", span):
        found = read(run, "gram", "train", part)
        if len(found.steps):
            nothing = False
            yield found
    if nothing:
        raise NotEnoughData(
            "no gradients were recorded in this range.", f"run {run.id}", "Wait, or widen the range."
        )


def _per_step(grams: FloatArray) -> dict[str, AnyArray]:
    """Statistics of (T, N, N) Gram matrices, each (T, ...)."""
    norms, cosines = gradient_norms(grams), upper_pairs(pair_cosines(grams))
    defined = np.isfinite(cosines)
    lowest = np.min(cosines, axis=1, initial=np.inf, where=defined)
    return {
        "conflict_fraction": over(conflicts(cosines).sum(axis=1), defined.sum(axis=1)),
        "min_cosine": np.where(defined.any(axis=1), lowest, np.nan),
        "mean_cosine": _row_means(cosines),
        "magnitude_similarity": _row_means(upper_pairs(magnitude_similarity(norms))),
        "dominance": dominance(norms),
        "coherence": coherence(grams),
        "norms": norms,
    }


def _sampled(grams: FloatArray, most: int) -> dict[str, AnyArray]:
    """Statistics that are costly, at up to `most` evenly spaced steps and NaN at the others, each (T,)."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    names = ("condition_number", "condition_number_nonzero", "rank", "pareto_gap", "relative_gap")
    series = {name: np.full(len(grams), np.nan) for name in names}
    chosen = np.unique(np.linspace(0, len(grams) - 1, min(most, len(grams))).astype(np.int64))
    # On matrices this small, threads only wait for each other, the more so while a training runs beside.
    with threadpool_limits(1):
        _, rank, condition, nonzero = spectrum(grams[chosen])
        series["pareto_gap"][chosen] = [_gap(gram) for gram in grams[chosen]]
    series["rank"][chosen] = rank
    series["condition_number"][chosen] = condition
    series["condition_number_nonzero"][chosen] = nonzero
    series["relative_gap"] = over(series["pareto_gap"], _row_means(gradient_norms(grams)))
    return series


def _gap(gram: FloatArray) -> float:
    """The Pareto gap of the tasks with a usable gradient; NaN without one.

    One zero gradient would make every gap zero and hide how far the others are from a compromise.
    """
    members = np.flatnonzero(gradient_norms(gram) > 0)
    if not len(members):
        return float("nan")
    block = gram[np.ix_(members, members)]
    return pareto_gap(block, min_norm_weights(block))


def _row_means(values: FloatArray) -> FloatArray:
    known = np.isfinite(values)
    return over(np.where(known, values, 0.0).sum(axis=1), known.sum(axis=1))
