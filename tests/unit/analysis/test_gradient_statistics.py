import numpy as np
import pytest

from affinity.analysis.gradient_statistics import min_norm_weights, statistics_of_matrix
from affinity.analysis.gram_statistics import coherence, inner_products, magnitude_similarity, pareto_gap
from affinity.core.errors import AffinityError
from tests.unit.analysis.right_answers_gradients import STATISTICS


def names(count: int) -> list[str]:
    return [f"t{position}" for position in range(count)]


@pytest.mark.parametrize("case", STATISTICS, ids=str)
def test_every_statistic_equals_its_definition(case: str) -> None:
    matrix = np.array(STATISTICS[case]["matrix"])
    found = statistics_of_matrix(matrix, names(len(matrix)))
    for name, expected in STATISTICS[case]["statistics"].items():
        np.testing.assert_allclose(
            np.array(found[name], float), np.array(expected, float), rtol=0, atol=1e-8, err_msg=name
        )


def test_a_row_that_is_not_finite_is_named_and_the_others_are_kept() -> None:
    matrix = np.array([[1.0, 0.0], [np.nan, 1.0], [-1.0, 1.0]])
    found = statistics_of_matrix(matrix, ["a", "b", "c"])
    assert found["not_finite"] == ["b"]
    assert found["n_pairs_defined"] == 1
    assert found["min_cosine"] == pytest.approx(-np.sqrt(0.5))
    assert found["norms"][1] is None


def test_huge_and_tiny_gradients_neither_overflow_nor_vanish() -> None:
    base = np.array([[1.0, 2.0], [-2.0, 0.5]])
    for scale in (1e180, 1e-180):
        found = statistics_of_matrix(base * scale, ["a", "b"])
        plain = statistics_of_matrix(base, ["a", "b"])
        assert found["cosine"] == plain["cosine"]
        assert found["pareto_gap"] == pytest.approx(plain["pareto_gap"] * scale)


def test_one_task_has_no_pairs_and_its_norm_as_gap() -> None:
    found = statistics_of_matrix(np.array([[3.0, 4.0]]), ["a"])
    assert found["pareto_gap"] == pytest.approx(5.0)
    assert found["condition_number"] == pytest.approx(1.0)
    assert found["conflict_fraction_of_pairs"] is None


def test_a_matrix_that_does_not_fit_its_names_is_refused() -> None:
    with pytest.raises(AffinityError, match="a row for each task"):
        statistics_of_matrix(np.ones((2, 3)), ["a"])


@pytest.mark.parametrize(("tasks", "parameters"), [(2, 3), (8, 30), (40, 200), (12, 4), (100, 150)])
def test_min_norm_weights_satisfy_the_optimality_conditions(tasks: int, parameters: int) -> None:
    gradients = np.random.default_rng(tasks).normal(size=(tasks, parameters)) + 0.2
    gram = gradients @ gradients.T
    weights = min_norm_weights(gram)
    assert (weights >= 0).all()
    assert weights.sum() == pytest.approx(1.0)
    # At the optimum every task's product with the direction is at least its squared length.
    square = weights @ gram @ weights
    assert (gram @ weights >= square - 1e-9 * np.trace(gram) / tasks).all()


def test_the_gap_is_zero_when_two_gradients_cancel() -> None:
    gram = np.array([[1.0, -2.0], [-2.0, 4.0]])
    weights = min_norm_weights(gram)
    np.testing.assert_allclose(weights, [2 / 3, 1 / 3], atol=1e-7)
    assert pareto_gap(gram, weights) == pytest.approx(0.0, abs=1e-7)


def test_statistics_do_not_change_under_rotation_or_renaming() -> None:
    rng = np.random.default_rng(3)
    gradients = rng.normal(size=(4, 6))
    rotation, _ = np.linalg.qr(rng.normal(size=(6, 6)))
    plain, turned = (statistics_of_matrix(matrix, names(4)) for matrix in (gradients, gradients @ rotation))
    for name in ("pareto_gap", "min_cosine", "condition_number", "gradient_coherence_sum"):
        assert turned[name] == pytest.approx(plain[name])


def test_scaling_one_gradient_keeps_cosines_and_changes_similarity() -> None:
    gradients = np.array([[1.0, 2.0], [2.0, -0.5]])
    scaled = gradients * np.array([[1.0], [10.0]])
    plain, other = (statistics_of_matrix(matrix, ["a", "b"]) for matrix in (gradients, scaled))
    np.testing.assert_allclose(plain["cosine"], other["cosine"], atol=1e-12)
    assert plain["mean_magnitude_similarity"] != pytest.approx(other["mean_magnitude_similarity"])


def test_magnitude_similarity_of_zero_gradients_follows_the_convention() -> None:
    similarity = magnitude_similarity(np.array([0.0, 0.0, 2.0]))
    assert np.isnan(similarity[0, 1])
    assert similarity[0, 2] == 0.0
    assert similarity[2, 2] == 1.0


def test_coherence_is_one_exactly_when_all_gradients_are_aligned() -> None:
    assert coherence(np.array([[1.0, 2.0], [2.0, 4.0]])) == pytest.approx(1.0)
    assert coherence(np.array([[1.0, 0.0], [0.0, 1.0]])) == pytest.approx(np.sqrt(0.5))
    assert np.isnan(coherence(np.zeros((2, 2))))


def test_inner_products_with_an_update_say_whom_it_hurts() -> None:
    gram = np.array([[10.0, -2.5], [-2.5, 1.25]])
    np.testing.assert_allclose(inner_products(gram, np.array([0.5, 0.5])), [3.75, -0.625])
