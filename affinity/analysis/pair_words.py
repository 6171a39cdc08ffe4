"""What an affinity matrix says in words: the answer, and the caveats that belong beside it."""

from collections.abc import Sequence

import numpy as np

from affinity.analysis.collected import Collected
from affinity.analysis.uncertainty import Estimate
from affinity.analysis.views import PairRow, SignalChoice
from affinity.analysis.wording import interval, listing, number, percent, plural
from affinity.measures import MEASURES
from affinity.runs.reader import Run

# With fewer pairs than this, chance findings are not worth a sentence.
_MANY_PAIRS = 20


def pair_sentence(rows: Sequence[PairRow], *, symmetric: bool = False) -> str:
    """The surest help, the surest harm, and how many pairs can be told from zero.

    Args:
        rows: every directed pair, the surest help first.
        symmetric: both directions are equal by definition, so that nobody can be called the giver.
    """
    known = [row for row in rows if row.verdict != "missing"]
    if not known:
        return "No pair of different tasks has a value."
    if all(np.isnan(row.low) for row in known):
        steps = plural(max(row.n for row in known), "recorded step")
        return f"{steps.capitalize()} cannot say how sure an effect is: look at the mean over more steps."
    helps = [row for row in known if row.verdict == "helps"]
    hurts = [row for row in known if row.verdict == "hurts"]
    said = [_best(helps[0], symmetric)] if helps else []
    if hurts:
        said.append(_worst(min(hurts, key=lambda row: row.high), symmetric))
    each = 2 if symmetric else 1
    pairs = plural(len(known) // each, "pair" if symmetric else "directed pair")
    agree, oppose = ("agree", "oppose each other") if symmetric else ("help", "hurt")
    unclear = len(known) - len(helps) - len(hurts)
    counts = f"{len(helps) // each} {agree}, {len(hurts) // each} {oppose} and {unclear // each}"
    return " ".join([*said, f"Of {pairs}, {counts} cannot be told from zero."])


def _best(row: PairRow, symmetric: bool) -> str:
    if symmetric:
        return f"{row.source} and {row.affected} agree most surely ({pair_figures(row)})."
    return f"A step on {row.source} helps {row.affected} most surely ({pair_figures(row)})."


def _worst(row: PairRow, symmetric: bool) -> str:
    if symmetric:
        return f"{row.source} and {row.affected} oppose each other most surely ({pair_figures(row)})."
    return f"A step on {row.source} hurts {row.affected} most surely ({pair_figures(row)})."


def pair_figures(row: PairRow) -> str:
    """Value, interval and number of steps of a pair."""
    return f"{number(row.value)}, 95 % interval {interval(row.low, row.high)}, {plural(row.n, 'step')}"


def pair_caveats(
    choice: SignalChoice, collected: Sequence[Collected], runs: Sequence[Run], found: Estimate, split: str
) -> tuple[str, ...]:
    """Everything a reader has to know before trusting a matrix; no sentence that does not apply."""
    flattering = split == "validation" and "held-out" in choice.caveat
    said = [] if flattering else list(filled(choice.caveat))
    said += _exclusions(collected, runs[0].tasks)
    said += _gaps(collected, choice)
    if np.isnan(found.error).all():
        said.append("Too few steps for an interval: record more of them to know how sure the signs are.")
    else:
        pairs = int(np.isfinite(found.error).sum() - np.isfinite(np.diagonal(found.error)).sum())
        if pairs >= _MANY_PAIRS:
            chance = f"about {round(0.05 * pairs):,} would look different from zero by chance alone"
            said.append(f"With {pairs:,} pairs, {chance}.")
    if any(one.truncated for one in collected):
        said.append("A file ends in the middle of a write; everything before it is used.")
    block = max(one.block for one in collected)
    if block > 1:
        said.append(f"To save memory, intervals are made from averages over {block} recorded steps each.")
    if any(run.status.live for run in runs):
        said.append("The run is still going; these numbers will change.")
    return tuple(said)


def _exclusions(collected: Sequence[Collected], tasks: Sequence[str]) -> list[str]:
    """Sentences about steps that could not enter, with their number."""
    said = []
    recorded = sum(one.recorded for one in collected)
    excluded = np.sum([one.excluded for one in collected], axis=0)
    worst = [f"{task} {int(n)} times" for task, n in zip(tasks, excluded, strict=True) if n]
    if worst:
        reason = "the loss was not positive or below a millionth of its largest value"
        said.append(f"Left out of {plural(recorded, 'step')} because {reason}: {listing(worst)}.")
    return said


def _gaps(collected: Sequence[Collected], choice: SignalChoice) -> list[str]:
    """A sentence about steps that hold nothing, and why."""
    empty, recorded = (sum(getattr(one, name) for one in collected) for name in ("empty", "recorded"))
    if not empty:
        return []
    reason = MEASURES[choice.key].undefined_when if choice.key in MEASURES else "nothing was logged there"
    gap = f"{plural(empty, 'step')} of {recorded:,} ({percent(empty / recorded)}) hold no value"
    return [f"{gap}. A value is missing when {reason}."]


def filled(text: str) -> tuple[str, ...]:
    """The sentence in a tuple; an empty tuple for an empty one."""
    return (text,) if text else ()
