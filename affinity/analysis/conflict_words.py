"""What the conflict statistics say in words."""

from collections.abc import Sequence

import numpy as np

from affinity.analysis.conflict_tally import TaskTally
from affinity.analysis.views import HurtTask, PairConflict
from affinity.analysis.wording import listing, number, percent, plural


def conflict_sentence(
    pairs: Sequence[PairConflict], hurt: Sequence[HurtTask], layers: Sequence[str], steps: int
) -> str:
    """How often gradients conflict, which pair fights most, where, and whom the joint update hurts most."""
    compared = sum(pair.n for pair in pairs)
    if not compared:
        return "No two tasks have gradients that can be compared."
    fighting = sum(pair.conflicts for pair in pairs)
    said = [
        f"Gradients conflict in {percent(fighting / compared)} of {compared:,} comparisons "
        f"({plural(len(pairs), 'pair')}, {plural(steps, 'step')})."
    ]
    worst = pairs[0]
    if worst.conflicts:
        said.append(
            f"{worst.first} and {worst.second} fight most: at {percent(worst.rate)} of their steps, "
            f"mean cosine {number(worst.mean_cosine)}."
        )
    if hurt and hurt[0].hurt:
        said.append(
            f"The joint update goes against {hurt[0].task} at {percent(hurt[0].rate)} of the steps, "
            "the most of any task."
        )
    if layers:
        said.append(f"Most conflicts lie in {layers[0]}.")
    return " ".join(said)


def conflict_caveats(
    tasks: Sequence[str],
    tally: TaskTally,
    noise: Sequence[tuple[str, float]],
    *,
    truncated: bool,
    sampled: tuple[int, int],
    live: bool,
) -> tuple[str, ...]:
    """Everything a reader has to know before trusting the statistics; no sentence that does not apply."""
    said = [_stochastic(noise)]
    for counts, what in (
        (tally.zero, "a zero gradient"),
        (tally.not_finite, "a gradient that is not finite"),
    ):
        found = [f"{task} at {plural(int(n), 'step')}" for task, n in zip(tasks, counts, strict=True) if n]
        if found:
            said.append(f"Pairs are left out where a task has {what}: {listing(found)}.")
    computed, steps = sampled
    if computed < steps:
        said.append(f"Rank, condition and Pareto gap are computed at {computed:,} of {steps:,} steps.")
    if truncated:
        said.append("A file ends in the middle of a write; everything before it is used.")
    if live:
        said.append("The run is still going; these numbers will change.")
    return tuple(said)


def _stochastic(noise: Sequence[tuple[str, float]]) -> str:
    known = [value for _, value in noise if not np.isnan(value)]
    if not known:
        return (
            "Mini-batch gradients are noisy: two batches of one task can have a low or negative cosine too. "
            "This run did not record how low."
        )
    return (
        "Mini-batch gradients are noisy: two half batches of one task have a mean cosine of "
        f"{min(known):.2f} to {max(known):.2f} here, so cosines near zero are no evidence of a conflict."
    )
