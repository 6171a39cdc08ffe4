"""Inner products of the tasks' gradients: cosines, conflicts and most methods need only this."""

from affinity.core.entry import Probe, ProbeAccess, Split
from affinity.core.types import FloatArray


def observe(access: ProbeAccess, split: Split) -> FloatArray:
    """(N, N) inner products of shared-parameter gradients, float64."""
    return access.gram()


PROBE = Probe(
    key="gram",
    title="Gram matrix of shared gradients",
    summary="Inner products of the tasks' gradients with respect to the shared parameters.",
    reference="Yu et al., 2020, https://arxiv.org/abs/2001.06782",
    observe=observe,
    axes=("source", "affected"),
    cost="one backward pass a task, batched",
)
