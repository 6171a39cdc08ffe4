"""In which layers gradients fight. Reference: Shi et al., 2023, Recon, https://arxiv.org/abs/2302.11289."""

import numpy as np

from affinity.analysis.conflict_tally import PairTally
from affinity.analysis.gram_statistics import upper_pairs
from affinity.analysis.series import Span, read, spans
from affinity.analysis.views import LayerConflict
from affinity.runs.reader import Run

_AXES = ("layer", "source", "affected")


def layer_conflicts(run: Run, span: Span, *, threshold: float = 0.0) -> tuple[LayerConflict, ...]:
    """Layers by their conflict score, the number of (step, pair) cosines below the threshold, highest first.

    Args:
        run: the run.
        span: first and last step that count; None = open.
        threshold: conflicts are cosines below it, -1 to 0.

    Returns:
        One row a layer; empty when the run did not record Gram matrices by layer.
    """
    info = run.signals.get("layer_gram")
    size = len(run.tasks)
    if info is None or len(info.shape) != len(_AXES) or info.shape[1:] != (size, size):
        return ()
    tallies: list[PairTally] = []
    for part in spans(run, "train", span, matrices=info.shape[0]):
        grams = read(run, "layer_gram", "train", part).values
        found = [PairTally.of(grams[:, layer], threshold=threshold) for layer in range(info.shape[0])]
        if not tallies:
            tallies = found
        else:
            for tally, more in zip(tallies, found, strict=True):
                tally.add(more)
    names = layer_names(run, info.shape[0])
    rows = [_row(name, tally) for name, tally in zip(names, tallies, strict=True)]
    return tuple(sorted(rows, key=lambda row: (-row.score, row.mean_cosine if row.n else 0.0)))


def layer_names(run: Run, count: int) -> tuple[str, ...]:
    """The layers' names from the run, or `layer 1`, `layer 2` ... where they do not fit."""
    if len(run.info.layers) == count:
        return run.info.layers
    return tuple(f"layer {position + 1}" for position in range(count))


def _row(name: str, tally: PairTally) -> LayerConflict:
    defined = int(upper_pairs(tally.defined).sum())
    score = int(upper_pairs(tally.conflicts).sum())
    total = float(upper_pairs(tally.cosines).sum())
    return LayerConflict(
        layer=name,
        score=score,
        n=defined,
        rate=score / defined if defined else float("nan"),
        mean_cosine=total / defined if defined else float(np.nan),
    )
