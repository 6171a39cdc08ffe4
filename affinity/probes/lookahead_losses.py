"""What each task's step on the shared part would do to every loss."""

from affinity.core.entry import Probe, ProbeAccess, Split
from affinity.core.types import FloatArray


def observe(access: ProbeAccess, split: Split) -> FloatArray:
    """(N, N) [source, affected] losses after the lookahead step; the heads stay fixed."""
    return access.lookahead_losses(split)


PROBE = Probe(
    key="lookahead_losses",
    title="Losses after a lookahead step",
    summary="Every task's loss after the shared part alone stepped along one task's gradient.",
    reference="Fifty et al., 2021, https://arxiv.org/abs/2109.04617",
    observe=observe,
    axes=("source", "affected"),
    cost="one backward and one forward pass a task, batched",
    sense="lower",
    held_out=True,
)
