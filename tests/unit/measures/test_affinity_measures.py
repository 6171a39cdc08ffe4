import numpy as np
import pytest

from affinity.measures import MEASURES
from affinity.measures._relative import NEAR_ZERO
from tests.unit.measures.right_answers import LOOKAHEAD_RUNS


@pytest.fixture(params=list(LOOKAHEAD_RUNS))
def run(request: pytest.FixtureRequest) -> dict[str, np.ndarray]:
    return {name: np.array(values) for name, values in LOOKAHEAD_RUNS[request.param].items()}


def losses_after(run: dict[str, np.ndarray]) -> np.ndarray:
    return run["losses"][:, None, :] * (1 - run["affinity"])


def test_lookahead_equals_the_published_definition(run: dict[str, np.ndarray]) -> None:
    values = MEASURES["lookahead"].compute({"losses": run["losses"], "lookahead_losses": losses_after(run)})
    np.testing.assert_allclose(values, run["affinity"], rtol=0, atol=1e-12)


def test_lookahead_per_learning_rate_equals_the_published_definition(run: dict[str, np.ndarray]) -> None:
    recorded = {
        "losses": run["losses"],
        "lookahead_losses": losses_after(run),
        "learning_rate": np.full(len(run["losses"]), run["learning_rate"]),
    }
    values = MEASURES["lookahead_per_lr"].compute(recorded)
    np.testing.assert_allclose(values, run["per_rate"], rtol=1e-12, atol=1e-11)


def test_cosine_and_first_order_come_from_the_same_inner_products(run: dict[str, np.ndarray]) -> None:
    gram = run["inner_over_loss"] * run["losses"][:, None, :]
    np.testing.assert_allclose(MEASURES["cosine"].compute({"gram": gram}), run["cosine"], atol=1e-12)
    recorded = {
        "gram": gram,
        "losses": run["losses"],
        "learning_rate": np.full(len(gram), run["learning_rate"]),
    }
    values = MEASURES["first_order"].compute(recorded)
    np.testing.assert_allclose(values, run["learning_rate"] * run["inner_over_loss"], rtol=1e-12)


def test_a_step_that_helps_is_positive_in_the_row_of_its_source() -> None:
    recorded = {"losses": np.array([[1.0, 2.0]]), "lookahead_losses": np.array([[[0.9, 1.0], [1.2, 1.8]]])}
    values = MEASURES["lookahead"].compute(recorded)[0]
    assert values[0, 1] == 0.5
    assert values[1, 0] == pytest.approx(-0.2)


def test_proximal_leaves_out_a_negative_effect_on_oneself_only() -> None:
    recorded = {"losses": np.array([[1.0, 1.0]]), "proximal_losses": np.array([[[1.5, 1.25], [0.75, 0.5]]])}
    values = MEASURES["proximal"].compute(recorded)[0]
    assert np.isnan(values[0, 0])
    np.testing.assert_array_equal([values[0, 1], values[1, 0], values[1, 1]], [-0.25, 0.25, 0.5])


def test_an_exactly_unchanged_loss_is_zero_and_not_missing() -> None:
    recorded = {"losses": np.array([[0.3, 0.7]]), "lookahead_losses": np.array([[[0.3, 0.7], [0.3, 0.7]]])}
    np.testing.assert_array_equal(MEASURES["lookahead"].compute(recorded), np.zeros((1, 2, 2)))


@pytest.mark.parametrize("tiny", [NEAR_ZERO / 2, 0.0, -1.0])
def test_a_loss_near_zero_makes_only_its_own_column_missing(tiny: float) -> None:
    losses = np.array([[1.0, 1.0], [1.0, tiny]])
    values = MEASURES["lookahead"].compute({"losses": losses, "lookahead_losses": np.ones((2, 2, 2)) * 0.5})
    assert np.isnan(values[1, :, 1]).all()
    assert np.isfinite(values[1, :, 0]).all()
    assert np.isfinite(values[0]).all()


def test_losses_of_a_tiny_scale_are_not_taken_for_near_zero() -> None:
    losses = np.full((4, 2), 1e-9)
    values = MEASURES["lookahead"].compute({"losses": losses, "lookahead_losses": losses[:, None, :] * 0.5})
    np.testing.assert_allclose(values[:, 0], 0.5)


def test_cosine_is_undefined_when_a_gradient_is_zero() -> None:
    gram = np.array([[[4.0, 0.0, 2.0], [0.0, 0.0, 0.0], [2.0, 0.0, 1.0]]])
    values = MEASURES["cosine"].compute({"gram": gram})[0]
    assert np.isnan(values[1]).all()
    assert values[0, 2] == 1.0


def test_loss_correlation_is_pearsons_within_each_window() -> None:
    losses = np.random.default_rng(1).normal(size=(43, 3)).cumsum(axis=0)
    values = MEASURES["loss_correlation"].compute({"losses": losses})
    assert list(np.flatnonzero(np.isfinite(values).any(axis=(1, 2)))) == [20, 40]
    for end in (20, 40):
        expected = np.corrcoef(np.diff(losses[end - 20 : end + 1], axis=0).T)
        np.testing.assert_allclose(values[end], expected, atol=1e-12)


def test_loss_correlation_uses_the_changes_that_both_tasks_have() -> None:
    losses = np.random.default_rng(2).normal(size=(21, 2)).cumsum(axis=0)
    losses[5, 0] = np.nan
    both = np.delete(np.diff(losses, axis=0), [4, 5], axis=0)
    values = MEASURES["loss_correlation"].compute({"losses": losses})
    np.testing.assert_allclose(values[20, 0, 1], np.corrcoef(both.T)[0, 1], atol=1e-12)


def test_loss_correlation_of_a_constant_loss_is_missing() -> None:
    losses = np.column_stack([np.ones(21), np.arange(21.0) ** 2])
    values = MEASURES["loss_correlation"].compute({"losses": losses})
    assert np.isnan(values[20, 0, 1])
    assert values[20, 1, 1] == 1.0
