"""MGDA on the finest partition of the parameters that the losses' structure allows."""

from itertools import pairwise
from typing import Any

import numpy as np

from affinity.core.linalg import min_norm_of_nonzero
from affinity.core.method import MethodState, RuleAccess, StepRule, Vector
from affinity.core.settings import NoSettings
from affinity.core.types import AnyArray


def step(
    access: RuleAccess, state: MethodState, rng: np.random.Generator, settings: NoSettings
) -> tuple[Vector, MethodState]:
    """Every block of variables takes MGDA's step among the losses that depend on it.

    A block that one loss alone depends on takes its plain gradient.
    """
    uses = access.uses()
    memory: dict[str, Any] = state or {}
    if "uses" not in memory or not np.array_equal(np.array(memory["uses"], dtype=bool), uses):
        memory = {"uses": uses.tolist(), "blocks": [block.tolist() for block in partition(uses)]}
    grams = access.variable_grams()
    weights = np.zeros((uses.shape[1], uses.shape[0]))
    for block in memory["blocks"]:
        members = np.flatnonzero(uses[:, block].any(axis=1))
        if len(members) == 1:
            weights[np.ix_(block, members)] = 1.0
        elif len(members):
            inner = grams[block].sum(axis=0)[np.ix_(members, members)]
            weights[np.ix_(block, members)] = min_norm_of_nonzero(inner)
    return access.block_gradient(weights), memory


def partition(uses: AnyArray) -> list[AnyArray]:
    """Blocks of variables after which the graph of losses and blocks has no cycle.

    Losses and variables are the two sides of a graph. All variables on a cycle become one block, until no
    cycle is left. Two edges lie on a common cycle exactly when they are in one biconnected component, so the
    blocks are the components' variables, joined where components share a variable.

    Args:
        uses: (N, V) bool, which loss depends on which variable.

    Returns:
        Blocks as sorted positions of variables; each variable is in exactly one.
    """
    import networkx

    count = len(uses)
    columns, alike = np.unique(uses, axis=1, return_inverse=True)
    graph = networkx.Graph()
    joined = networkx.Graph()
    joined.add_nodes_from(range(uses.shape[1]))
    for kind in range(columns.shape[1]):
        same = np.flatnonzero(alike.ravel() == kind)
        if columns[:, kind].sum() > 1:  # two variables with two losses in common are a cycle of four
            joined.add_edges_from(pairwise(same.tolist()))
        graph.add_edges_from((int(loss), count + int(same[0])) for loss in np.flatnonzero(columns[:, kind]))
    for component in networkx.biconnected_components(graph):
        inside = sorted(node - count for node in component if node >= count)
        joined.add_edges_from(pairwise(inside))
    return [np.array(sorted(block)) for block in networkx.connected_components(joined)]


METHOD = StepRule(
    key="rp_mgda",
    title="RP-MGDA",
    summary="Finds which losses depend on which parameters, and takes MGDA's step in every block by itself.",
    reference="Hu and Yu, 2025, https://github.com/watml/RP-MGDA",
    step=step,
    needs="all tasks' gradients, and which loss depends on which parameter",
    cost="one backward pass a task, and one more a block, each step",
)
