"""How well each task's gradient agrees with itself: what two tasks cannot agree beyond."""

from affinity.core.entry import Probe, ProbeAccess, Split
from affinity.core.types import FloatArray


def observe(access: ProbeAccess, split: Split) -> FloatArray:
    """(N,) cosines between each task's gradients on two halves of the batch, -1 to 1."""
    return access.half_cosines()


PROBE = Probe(
    key="gradient_noise",
    title="Noise of the gradients",
    summary="Each task's gradient on one half of the batch against the one on the other half.",
    observe=observe,
    axes=("affected",),
    sense="higher",
    cost="the gradients once more, on two half batches",
)
