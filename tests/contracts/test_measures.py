"""Every measure on the shelf keeps what its description claims."""

import re

import numpy as np
import pytest

from affinity.core.entry import Measure
from affinity.measures import MEASURES
from tests import properties

EVERY_MEASURE = pytest.mark.parametrize("measure", MEASURES.values(), ids=list(MEASURES))
TASKS, STEPS = 5, 45


def recording(tasks: int = TASKS, steps: int = STEPS, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    losses = rng.uniform(0.5, 2.0, (steps, tasks))
    gradients = rng.normal(size=(steps, tasks, 7))
    change = 1 + 0.1 * rng.normal(size=(steps, tasks, tasks))
    return {
        "losses": losses,
        "learning_rate": rng.uniform(0.01, 0.1, steps),
        "gram": gradients @ gradients.transpose(0, 2, 1),
        "lookahead_losses": losses[:, None, :] * change,
        "proximal_losses": losses[:, None, :] * change,
    }


def needed(measure: Measure, **size: int) -> dict[str, np.ndarray]:
    return {name: values for name, values in recording(**size).items() if name in measure.needs}


@EVERY_MEASURE
def test_description_is_complete(measure: Measure) -> None:
    assert measure.needs
    assert measure.summary.endswith(".")
    for text in (measure.title, measure.formula, measure.undefined_when):
        assert text
    if measure.reference:
        assert re.search(r"\b(19|20)\d\d\b", measure.reference)
        assert "https://" in measure.reference


@EVERY_MEASURE
def test_values_have_the_claimed_form(measure: Measure) -> None:
    values = measure.compute(needed(measure))
    properties.assert_shape(values, STEPS, TASKS)
    properties.assert_within_bounds(values, measure.bounds)
    properties.assert_diagonal(values, measure.diagonal)
    assert np.isfinite(values).any()
    if measure.symmetric:
        properties.assert_symmetric(values)


@EVERY_MEASURE
def test_asymmetric_measures_do_tell_both_directions_apart(measure: Measure) -> None:
    values = measure.compute(needed(measure))
    assert measure.symmetric or not np.allclose(values, values.transpose(0, 2, 1), equal_nan=True)


@EVERY_MEASURE
def test_renaming_tasks_changes_nothing_else(measure: Measure) -> None:
    order = np.array([3, 0, 4, 1, 2])
    properties.assert_permutation_equivariant(measure.compute, needed(measure), order)


@EVERY_MEASURE
def test_a_task_without_values_poisons_only_its_own_pairs(measure: Measure) -> None:
    properties.assert_missing_stays_local(measure.compute, needed(measure), task=2)


@EVERY_MEASURE
def test_recorded_arrays_are_not_written_to(measure: Measure) -> None:
    properties.assert_inputs_untouched(measure.compute, needed(measure))


@EVERY_MEASURE
@pytest.mark.parametrize("size", [{"tasks": 1}, {"tasks": 100}, {"steps": 1}, {"steps": 0}], ids=str)
def test_any_number_of_tasks_and_steps_works(measure: Measure, size: dict[str, int]) -> None:
    values = measure.compute(needed(measure, **size))
    properties.assert_shape(values, size.get("steps", STEPS), size.get("tasks", TASKS))


@EVERY_MEASURE
def test_infinite_quantities_become_missing_and_never_infinite(measure: Measure) -> None:
    given = needed(measure)
    for values in given.values():
        values[3] = np.inf
    assert not np.isinf(measure.compute(given)).any()
