"""Every conflict statistic of one gradient matrix, for `python -m affinity statistics`.

The functions themselves work on Gram matrices over steps and are offered here as well.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from affinity.analysis.gradient_file import GradientFile
from affinity.analysis.gram_statistics import (
    DEAD_ZONE,
    alignment,
    coherence,
    conflicts,
    curvature_along,
    dominance,
    finite_part,
    gradient_norms,
    inner_products,
    magnitude_similarity,
    mean_of_known,
    over,
    pair_cosines,
    spectrum,
    upper_pairs,
    usable,
    vaccine_targets,
)
from affinity.analysis.method_statistics import coinciding, guarantees, methods_on
from affinity.core.errors import AffinityError
from affinity.core.linalg import min_norm_of_nonzero, min_norm_weights
from affinity.core.strict_json import Json, to_json
from affinity.core.types import AnyArray, FloatArray

__all__ = [
    "alignment",
    "coherence",
    "conflicts",
    "dominance",
    "gradient_norms",
    "inner_products",
    "magnitude_similarity",
    "min_norm_weights",
    "spectrum",
    "statistics_of_file",
    "statistics_of_matrix",
]


def statistics_of_file(given: GradientFile) -> dict[str, Json]:
    """Every statistic of a file's gradients: the matrix's, those of its blocks, and the curvature.

    The curvature needs the losses before and after a plain gradient step on their sum.
    """
    found = statistics_of_matrix(given.matrix, given.tasks)
    if given.blocks:
        found["per_block"] = [
            {"name": name, "range": [first, end], **_block_statistics(given.matrix[:, first:end])}
            for name, first, end in given.blocks
        ]
    rate = given.learning_rate
    if given.losses is not None and given.losses_after is not None and rate is not None:
        square = float(np.square(given.matrix.sum(axis=0)).sum())
        change = (given.losses_after - given.losses).sum()
        along = float(curvature_along(change, np.array(-rate * square), np.array(rate**2 * square)))
        found["curvature_along_step"] = to_json(along)
        found["multi_task_curvature"] = to_json(along * square)
    return found


def _block_statistics(columns: FloatArray) -> dict[str, Json]:
    found = statistics_of_matrix(columns, [str(row) for row in range(len(columns))], methods=False)
    kept = ("cosine", "norms", "n_pairs_conflicting", "min_cosine", "mean_cosine", "pareto_gap")
    return {"conflicts": found["n_pairs_conflicting"], **{name: found[name] for name in kept}}


def statistics_of_matrix(
    gradients: FloatArray, tasks: Sequence[str], *, methods: bool = True
) -> dict[str, Json]:
    """Every conflict statistic of one gradient matrix, as plain JSON; missing or infinite = null.

    A row that is not finite is reported by name and makes only its own pairs missing. A zero row is reported
    too: it is orthogonal to nothing, and it makes the Pareto gap zero.

    Args:
        gradients: (N, n) one task's gradient a row.
        tasks: (N,) names of the rows.
        methods: also what every training method would do, and what is certain.

    Raises:
        AffinityError: not a matrix with a row for each task.
    """
    matrix = np.asarray(gradients, dtype=np.float64)
    if matrix.ndim != 2 or len(matrix) != len(tasks) or not matrix.size:
        raise AffinityError(f"found a matrix of shape {matrix.shape}, expected a row for each task.")
    finite: AnyArray = np.all(np.isfinite(matrix), axis=1)
    known = np.where(finite[:, None], matrix, 0.0)
    unit = float(np.abs(known).max()) or 1.0
    # Divided by the largest entry, the squares of huge gradients do not overflow and tiny ones do not vanish.
    rows = known / unit
    gram: FloatArray = rows @ rows.T
    gram[~finite, :] = np.nan
    gram[:, ~finite] = np.nan
    mean = finite / max(1, int(finite.sum()))
    with np.errstate(over="ignore"):
        values: Mapping[str, object] = {
            "tasks": tuple(tasks),
            "gram": gram * unit * unit,
            **_pair_statistics(gram, unit),
            **_norm_statistics(gram, unit),
            "singular_values": np.linalg.svd(rows, compute_uv=False) * unit,
            **_mean_statistics(gram, mean, rows, unit),
            **_gap_statistics(gram, mean, rows, unit),
            "gradient_coherence_sum": float(coherence(gram)),
            **_two_task_statistics(gram),
            "zero_gradients": _named(tasks, gradient_norms(gram) == 0),
            "not_finite": _named(tasks, ~finite),
            "first_not_finite_column": {
                tasks[row]: int(np.argmin(np.isfinite(matrix[row])))
                for row in np.flatnonzero(~finite).tolist()
            },
            **(_method_statistics(gram, tasks, unit) if methods else {}),
        }
    return {name: to_json(value) for name, value in values.items()}


def _pair_statistics(gram: FloatArray, unit: float) -> dict[str, object]:
    cosines = pair_cosines(gram)
    similarity = magnitude_similarity(gradient_norms(gram))
    pairs = upper_pairs(cosines)
    defined = np.isfinite(pairs)
    fighting = conflicts(pairs)
    return {
        "norms": gradient_norms(gram) * unit,
        "cosine": cosines,
        "magnitude_similarity": similarity,
        "min_cosine": float(pairs[defined].min()) if defined.any() else None,
        "mean_cosine": mean_of_known(pairs),
        "n_pairs_defined": int(defined.sum()),
        "n_pairs_conflicting": int(fighting.sum()),
        "conflict_fraction_of_pairs": mean_of_known(np.where(defined, fighting, np.nan)),
        "mean_magnitude_similarity": mean_of_known(upper_pairs(similarity)),
    }


def _norm_statistics(gram: FloatArray, unit: float) -> dict[str, object]:
    norms = gradient_norms(gram)
    _, rank, condition, nonzero = spectrum(gram)
    highest = float(np.nanmax(norms)) if np.isfinite(norms).any() else float("nan")
    return {
        "norm_ratio_max_over_min_nonzero": float(dominance(norms)),
        "norm_ratio_max_over_mean": float(over(np.array(highest), mean_of_known(norms))),
        "norm_share": over(norms, float(np.nansum(norms))),
        "trace_share": over(norms**2, float(np.nansum(norms**2))),
        "rank": int(rank),
        "condition_number": float(condition),
        "condition_number_nonzero": float(nonzero),
    }


def _mean_statistics(gram: FloatArray, mean: FloatArray, rows: FloatArray, unit: float) -> dict[str, object]:
    products = inner_products(gram, mean)
    return {
        "mean_gradient": mean @ rows * unit,
        "inner_products_with_mean": products * unit * unit,
        "tasks_hurt_by_mean": int((products < -DEAD_ZONE).sum()),
        "hurt_by_mean": products < -DEAD_ZONE,
        "cos_task_with_mean": alignment(gram, mean),
    }


def _gap_statistics(gram: FloatArray, mean: FloatArray, rows: FloatArray, unit: float) -> dict[str, object]:
    # A task without a finite gradient takes no part; a zero gradient does, and makes the gap zero.
    members = np.flatnonzero(usable(gram))
    weights = np.zeros(len(gram))
    if len(members):
        weights[members] = min_norm_weights(gram[np.ix_(members, members)])
    live = min_norm_of_nonzero(finite_part(gram))
    # From the gradients: through their products a gap below 1e-8 of the norms is noise.
    gap = float(np.linalg.norm(weights @ rows))
    return {
        "pareto_gap": gap * unit,
        "pareto_gap_without_zero_gradients": float(np.linalg.norm(live @ rows)) * unit,
        "relative_pareto_gap": float(over(np.array(gap), mean_of_known(gradient_norms(gram)))),
        "min_norm_weights": weights,
        "min_norm_direction": weights @ rows * unit,
        "ca_distance_of_mean": float(np.linalg.norm((mean - weights) @ rows)) * unit,
    }


def _method_statistics(gram: FloatArray, tasks: Sequence[str], unit: float) -> dict[str, object]:
    updates = methods_on(gram, tasks, unit=unit)
    return {
        "gradvac_targets": vaccine_targets(pair_cosines(gram)[None])[0],
        "guarantees": guarantees(gram),
        "methods": updates,
        "methods_that_coincide": coinciding(updates),
    }


def _two_task_statistics(gram: FloatArray) -> dict[str, object]:
    """Curvature bounding measure and condition (a) of Yu et al., 2020, theorem 2."""
    if len(gram) != 2:
        return {}
    cosine = float(pair_cosines(gram)[0, 1])
    similarity = float(magnitude_similarity(gradient_norms(gram))[0, 1])
    difference, total = gram[0, 0] + gram[1, 1] - 2 * gram[0, 1], gram[0, 0] + gram[1, 1] + 2 * gram[0, 1]
    bound = (1 - cosine**2) * over(np.array(difference), float(total))
    return {
        "pcgrad_curvature_bounding_xi": float(bound),
        "pcgrad_condition_a_cos_le_minus_gms": None if np.isnan(cosine) else cosine <= -similarity,
    }


def _named(tasks: Sequence[str], chosen: AnyArray) -> list[str]:
    return [task for task, included in zip(tasks, chosen, strict=True) if included]
