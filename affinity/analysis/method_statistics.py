"""What the training methods would do with a Gram matrix: whom they still hurt, and what is certain."""

from collections.abc import Mapping, Sequence

import numpy as np

from affinity.analysis.gram_statistics import (
    DEAD_ZONE,
    alignment,
    finite_part,
    gradient_norms,
    inner_products,
    over,
)
from affinity.core.linalg import combined_length, min_norm_of_nonzero
from affinity.core.method import GramWeighting
from affinity.core.types import AnyArray, FloatArray
from affinity.methods import METHODS, weigh_gram


def gram_methods() -> dict[str, GramWeighting]:
    """The methods that a Gram matrix is enough for, by name."""
    return {name: method for name, method in METHODS.items() if isinstance(method, GramWeighting)}


def method_weights(gram: FloatArray, name: str, *, seed: int = 0) -> FloatArray:
    """(N,) a method's weights for one Gram matrix, in its first step with its default settings."""
    method = gram_methods()[name]
    return weigh_gram(method, gram, None, np.random.default_rng(seed), method.settings())[0]


def still_hurt(gram: FloatArray, weights: FloatArray) -> AnyArray:
    """(N,) bool: to first order the update sum_j w_j g_j raises the task's loss, beyond float noise."""
    return np.asarray(alignment(gram, weights) < -DEAD_ZONE)


def methods_on(gram: FloatArray, tasks: Sequence[str], *, unit: float = 1.0) -> dict[str, dict[str, object]]:
    """Every method's update beside the mean gradient.

    Args:
        gram: (N, N) of the gradients divided by `unit`.
        tasks: names.
        unit: scale of the gradients.

    Returns:
        Per method: `weights`; `norm` of the update, also over that of the mean gradient; the tasks'
        `cos_task_with_update` and `inner_products`; `tasks_hurt` by name; and `ca_distance` to the shortest
        convex combination of the gradients that are not zero.
    """
    finite = finite_part(gram)
    mean = np.full(len(gram), 1.0 / len(gram))
    shortest = min_norm_of_nonzero(finite)
    found: dict[str, dict[str, object]] = {}
    for name, method in gram_methods().items():
        weights = method_weights(gram, name)
        norm = combined_length(finite, weights)
        scale = unit ** (1 + method.degree)
        found[name] = {
            "weights": weights * unit**method.degree,
            "norm": norm * scale,
            "norm_over_mean": float(over(np.array(norm), combined_length(finite, mean)))
            * unit**method.degree,
            "cos_task_with_update": alignment(gram, weights),
            "inner_products": inner_products(gram, weights) * unit * scale,
            "tasks_hurt": [task for task, hurt in zip(tasks, still_hurt(gram, weights), strict=True) if hurt],
            "ca_distance": combined_length(finite, weights * unit**method.degree - shortest) * unit,
        }
    return found


def distance_to_shortest(gradients: FloatArray, update: FloatArray) -> float:
    """|d - d*| with d* the shortest convex combination of the gradients that are finite and not zero.

    Args:
        gradients: (N, n) one a row.
        update: (n,) d.
    """
    rows = gradients[np.isfinite(gradients).all(axis=1)]
    unit = float(np.abs(rows).max(initial=0.0)) or 1.0
    scaled = rows / unit
    shortest = min_norm_of_nonzero(scaled @ scaled.T) @ scaled * unit
    return float(np.linalg.norm(update - shortest))


def coinciding(updates: Mapping[str, Mapping[str, object]]) -> list[list[str]]:
    """Groups of methods whose weights are the same up to length: their curves would coincide too."""
    groups: list[tuple[FloatArray, list[str]]] = []
    for name, update in updates.items():
        weights = np.asarray(update["weights"], dtype=np.float64)
        length = float(np.linalg.norm(weights))
        if length == 0:
            continue
        for direction, names in groups:
            if np.abs(weights / length - direction).max() < 1e-9:
                names.append(name)
                break
        else:
            groups.append((weights / length, [name]))
    return [names for _, names in groups if len(names) > 1]


def guarantees(gram: FloatArray) -> dict[str, object]:
    """What is certain for these gradients, before any method is tried.

    Returns:
        `independent`: the gradients that are not zero have full rank. `pareto_stationary`: a convex
        combination of them vanishes. `never_hurts`: per method, whether it promises for these gradients to
        hurt no task; None where it makes no such promise. MGDA, UPGrad and DualProj always do, ConFIG for
        independent gradients, Nash-MTL unless they cancel, PCGrad for two tasks.
    """
    finite = finite_part(gram)
    live = np.flatnonzero(gradient_norms(finite) > 0)
    if not len(live):
        return {"independent": None, "pareto_stationary": None, "never_hurts": {}}
    inner = finite[np.ix_(live, live)]
    eigenvalues = np.linalg.eigvalsh(inner)
    independent = bool(eigenvalues[0] > eigenvalues[-1] * len(live) * np.finfo(np.float64).eps)
    gap = combined_length(finite, min_norm_of_nonzero(finite))
    stationary = bool(gap <= 1e-9 * np.sqrt(np.diagonal(inner)).max())
    promises: dict[str, bool | None] = dict.fromkeys(gram_methods())
    promises |= {"mgda": True, "upgrad": True, "dualproj": True, "config": independent}
    promises |= {"nash_mtl": not stationary, "pcgrad": len(live) <= 2}
    return {"independent": independent, "pareto_stationary": stationary, "never_hurts": promises}
