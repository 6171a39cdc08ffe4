"""What each task's own real step would do to every loss: the shared part and the task's head move."""

from affinity.core.entry import Probe, ProbeAccess, Split
from affinity.core.types import FloatArray


def observe(access: ProbeAccess, split: Split) -> FloatArray:
    """(N, N) [source, affected] losses after source's own optimiser step."""
    return access.proximal_losses(split)


PROBE = Probe(
    key="proximal_losses",
    title="Losses after a task's own step",
    summary="Every task's loss after one task's own optimiser step of shared part and head.",
    reference="Jeong and Yoon, 2025, https://arxiv.org/abs/2502.11986",
    observe=observe,
    axes=("source", "affected"),
    cost="one forward pass a task beyond the lookahead, batched",
    sense="lower",
    held_out=True,
)
