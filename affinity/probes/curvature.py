"""How curved the sum of the losses is along the joint step: conflict harms most where it is."""

from affinity.core.entry import Probe, ProbeAccess, Split
from affinity.core.types import FloatArray


def observe(access: ProbeAccess, split: Split) -> FloatArray:
    """() from the losses before and after the joint step of the shared part, on one batch."""
    return access.curvature()


PROBE = Probe(
    key="curvature",
    title="Curvature along the step",
    summary="Mean curvature of the sum of the losses along the step that all tasks take together.",
    reference="Yu et al., 2020, https://arxiv.org/abs/2001.06782",
    observe=observe,
    axes=(),
    unit="loss per squared length",
    cost="one more forward pass",
    default=False,
)
