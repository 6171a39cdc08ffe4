"""The Gram matrix one shared layer at a time: where in the network do tasks fight?"""

from affinity.core.entry import Probe, ProbeAccess, Split
from affinity.core.types import FloatArray


def observe(access: ProbeAccess, split: Split) -> FloatArray:
    """(L, N, N) inner products of gradients, one shared layer at a time, float64."""
    return access.layer_gram()


PROBE = Probe(
    key="layer_gram",
    title="Gram matrix by layer",
    summary="Inner products of the tasks' gradients, one shared layer at a time.",
    reference="Shi et al., 2023, https://openreview.net/forum?id=ivwZO-HnzG_",
    observe=observe,
    axes=("layer", "source", "affected"),
    cost="nothing beyond the Gram matrix but L times its space",
)
