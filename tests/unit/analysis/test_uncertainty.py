import numpy as np
import pytest

from affinity.analysis.long_run import LEAST_VALUES
from affinity.analysis.uncertainty import SURE, mean_over_seeds, mean_over_steps


def autoregression(phi: float, steps: int, series: int, rng: np.random.Generator) -> np.ndarray:
    """(steps, series) from the stationary state, true mean 0."""
    values = np.empty((steps, series))
    values[0] = rng.normal(size=series) / np.sqrt(1 - phi**2)
    for step in range(1, steps):
        values[step] = phi * values[step - 1] + rng.normal(size=series)
    return values


def coverage(values: np.ndarray, truth: float = 0.0) -> float:
    found = mean_over_steps(values)
    return float(np.mean((found.low <= truth) & (found.high >= truth)))


@pytest.mark.parametrize("steps", [30, 200])
@pytest.mark.parametrize("phi", [0.0, 0.8])
def test_intervals_cover_the_true_mean_of_correlated_steps(phi: float, steps: int) -> None:
    values = autoregression(phi, steps, 2000, np.random.default_rng(7))
    assert 0.90 <= coverage(values) <= 0.98


@pytest.mark.slow
@pytest.mark.parametrize("steps", [30, 50, 80, 120, 200])
@pytest.mark.parametrize("mean", [0.0, 1.0, 2.0])
@pytest.mark.parametrize("phi", [0.0, 0.2, 0.35, 0.5, 0.65, 0.8])
def test_1000_intervals_cover_the_true_mean_900_to_980_times(phi: float, mean: float, steps: int) -> None:
    rng = np.random.default_rng(11)
    spread = 1 / np.sqrt(1 - phi**2)
    for _ in range(3):
        assert 0.90 <= coverage(autoregression(phi, steps, 1000, rng) + mean * spread, mean * spread) <= 0.98


@pytest.mark.parametrize("trend", ["fall", "rise"])
def test_a_trend_in_size_does_not_make_intervals_useless(trend: str) -> None:
    at = np.arange(60)
    sizes = 1 / (1 + at / 3) if trend == "fall" else np.exp(at / 30)
    values = sizes[:, None] * (2 + np.random.default_rng(12).normal(size=(60, 2000)))
    found = mean_over_steps(values)
    # Knowing the sizes, the error of the mean is that of a weighted mean of independent noise.
    best = np.sqrt((sizes**2).sum()) / 60
    assert 0.90 <= coverage(values, 2 * sizes.mean()) <= 0.98
    assert best < np.median(found.error) < 1.5 * best


def test_missing_steps_are_passed_over_and_coverage_holds() -> None:
    rng = np.random.default_rng(5)
    values = autoregression(0.5, 80, 2000, rng)
    values[rng.random(values.shape) < 0.3] = np.nan
    assert 0.90 <= coverage(values) <= 0.98


def test_slow_drift_below_noise_is_seen_with_enough_steps() -> None:
    rng = np.random.default_rng(6)
    slow = autoregression(0.9, 400, 1000, rng)
    values = slow + slow.std() * rng.normal(size=slow.shape)
    assert 0.90 <= coverage(values) <= 0.98


@pytest.mark.parametrize("seeds", [3, 5])
def test_intervals_over_seeds_cover_when_seeds_differ(seeds: int) -> None:
    rng = np.random.default_rng(8)
    runs = [mean_over_steps(autoregression(0.5, 60, 2000, rng) + rng.normal(size=2000)) for _ in range(seeds)]
    found = mean_over_seeds(runs)
    assert 0.90 <= np.mean((found.low <= 0) & (found.high >= 0)) <= 0.98


def test_seeds_that_agree_by_luck_do_not_shrink_the_interval_below_the_steps() -> None:
    one = mean_over_steps(np.random.default_rng(1).normal(size=(50, 4)))
    found = mean_over_seeds([one, one, one])
    np.testing.assert_allclose(found.error, one.error / np.sqrt(3))
    np.testing.assert_array_equal(found.count, 150)


def test_mean_and_count_pass_over_missing_values() -> None:
    values = np.array([1.0, np.nan, 3.0, np.nan, 5.0])[:, None]
    found = mean_over_steps(values)
    assert found.value[0] == 3.0
    assert found.count[0] == 3
    assert np.isnan(found.low[0])
    assert np.isnan(found.confidence[0])


def test_missing_values_do_not_change_the_estimate_of_the_rest() -> None:
    values = np.random.default_rng(2).normal(size=(40, 1))
    holes = np.full((60, 1), np.nan)
    holes[np.sort(np.random.default_rng(3).choice(60, 40, replace=False))] = values
    np.testing.assert_allclose(mean_over_steps(holes).error, mean_over_steps(values).error, rtol=0.2)


def test_a_series_without_values_is_missing_everywhere() -> None:
    found = mean_over_steps(np.full((20, 2), np.nan))
    assert np.isnan(found.value).all()
    assert np.isnan(found.error).all()
    assert (found.count == 0).all()


@pytest.mark.parametrize("steps", [0, 1, LEAST_VALUES - 1])
def test_too_few_values_give_no_interval(steps: int) -> None:
    found = mean_over_steps(np.ones((steps, 3)))
    assert np.isnan(found.error).all()


def test_a_constant_series_has_a_certain_sign_and_zero_has_none() -> None:
    found = mean_over_steps(np.column_stack([np.full(20, 0.3), np.zeros(20)]))
    np.testing.assert_allclose(found.error, 0.0, atol=1e-15)
    np.testing.assert_allclose(found.confidence, [1.0, 0.5])


@pytest.mark.parametrize("phi", [0.0, 0.5, 0.8])
def test_signs_of_series_around_zero_are_rarely_called(phi: float) -> None:
    found = mean_over_steps(autoregression(phi, 60, 4000, np.random.default_rng(4)))
    assert np.mean(found.confidence > SURE) < 0.07


def test_one_huge_step_does_not_hide_a_steady_sign() -> None:
    values = np.random.default_rng(13).uniform(0.01, 0.03, size=(40, 50))
    values[20] = 2.0
    found = mean_over_steps(values)
    assert (found.low >= values.min(axis=0)).all()  # no value is negative, so no bound is
    assert (found.value - found.margin < 0).all()
    assert (found.confidence > 0.99).all()


def test_a_mean_made_by_one_step_against_all_others_is_not_called() -> None:
    values = np.random.default_rng(14).uniform(-0.03, -0.01, size=(40, 50))
    values[20] = 2.0
    found = mean_over_steps(values)
    assert (found.value > 0).all()
    assert (found.confidence < 0.5).all()


def test_correlated_steps_are_reported() -> None:
    values = autoregression(0.8, 400, 300, np.random.default_rng(9))
    # An autoregression of 0.8 has (1 + 0.8) / (1 - 0.8) = 9 correlated steps.
    assert 7 < np.median(mean_over_steps(values).correlated) < 13


def test_equal_weights_change_nothing() -> None:
    values = np.random.default_rng(10).normal(size=(50, 6))
    plain, weighted = mean_over_steps(values), mean_over_steps(values, weights=np.full(50, 0.3))
    np.testing.assert_allclose(weighted.value, plain.value)
    np.testing.assert_allclose(weighted.error, plain.error)


def test_an_interval_is_never_wider_than_the_values_of_a_short_trend() -> None:
    values = np.linspace(-0.005, 0.026, 30)[:, None]
    found = mean_over_steps(values)
    assert found.low[0] >= -0.005
    assert found.high[0] <= 0.026
