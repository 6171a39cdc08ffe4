"""Properties that measures can be asked to have; each docstring is the definition."""

from collections.abc import Callable, Mapping

import numpy as np

Recorded = Mapping[str, np.ndarray]
Compute = Callable[[Recorded], np.ndarray]

PAIR_SIGNALS = frozenset({"gram", "lookahead_losses", "proximal_losses"})


def assert_shape(values: np.ndarray, steps: int, tasks: int) -> None:
    """The values are (T, N, N) float64."""
    assert values.shape == (steps, tasks, tasks)
    assert values.dtype == np.float64


def assert_symmetric(values: np.ndarray) -> None:
    """values[t, i, j] = values[t, j, i], missing in both directions or in none."""
    np.testing.assert_allclose(values, values.transpose(0, 2, 1), atol=1e-12)


def assert_within_bounds(values: np.ndarray, bounds: tuple[float, float]) -> None:
    """Every value that is there lies within the bounds."""
    known = values[np.isfinite(values)]
    assert (known >= bounds[0]).all()
    assert (known <= bounds[1]).all()


def assert_diagonal(values: np.ndarray, meaning: str) -> None:
    """`one`: 1 wherever defined; `missing`: never defined; `self-effect`: anything."""
    diagonal = np.einsum("tii->ti", values)
    known = diagonal[np.isfinite(diagonal)]
    if meaning == "one":
        np.testing.assert_allclose(known, 1.0, atol=1e-12)
    if meaning == "missing":
        assert not len(known)


def assert_permutation_equivariant(compute: Compute, recorded: Recorded, order: np.ndarray) -> None:
    """Renaming the tasks renames rows and columns and changes nothing else."""
    plain = compute(recorded)[:, order][:, :, order]
    np.testing.assert_allclose(compute(permuted(recorded, order)), plain, atol=1e-12)


def assert_missing_stays_local(compute: Compute, recorded: Recorded, task: int) -> None:
    """A task without any value makes only its own rows and columns missing."""
    poisoned = {name: values.copy() for name, values in recorded.items()}
    for name, values in poisoned.items():
        if name in PAIR_SIGNALS:
            values[:, task] = np.nan
            values[:, :, task] = np.nan
        elif values.ndim == 2:
            values[:, task] = np.nan
    others = np.arange(recorded["losses" if "losses" in recorded else "gram"].shape[1]) != task
    before, after = compute(recorded), compute(poisoned)
    assert np.isnan(after[:, task]).all()
    assert np.isnan(after[:, :, task]).all()
    np.testing.assert_array_equal(after[:, others][:, :, others], before[:, others][:, :, others])


def assert_inputs_untouched(compute: Compute, recorded: Recorded) -> None:
    """Computing works on read-only arrays."""
    locked = {name: values.copy() for name, values in recorded.items()}
    for values in locked.values():
        values.setflags(write=False)
    compute(locked)


def permuted(recorded: Recorded, order: np.ndarray) -> dict[str, np.ndarray]:
    """The same recording with the tasks in another order."""
    result = {}
    for name, values in recorded.items():
        if name in PAIR_SIGNALS:
            result[name] = values[:, order][:, :, order]
        else:
            result[name] = values[:, order] if values.ndim == 2 else values
    return result
