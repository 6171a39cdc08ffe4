import itertools
from pathlib import Path

import numpy as np
import pytest

from affinity.analysis.affinity import affinity_matrix
from affinity.analysis.agreement import spearman
from affinity.analysis.collected import collect, estimate
from affinity.analysis.groups import (
    adjusted_rand,
    budget_curve,
    groups_view,
    predicted_gains,
    stability,
    suggest,
)
from affinity.analysis.resampling import block_length, resampled_means
from affinity.core.errors import GroupingError, NotRecorded
from affinity.core.types import AffinityMatrix, Group, Grouping
from affinity.runs.reader import Run
from tests.unit.analysis.run_folders import planted_run, write_run

NAN = float("nan")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return planted_run(tmp_path / "planted-run", tasks=6)


def small_matrix(**options: object) -> AffinityMatrix:
    values = np.array([[9.0, 0.2, -0.1], [0.4, 9.0, NAN], [-0.3, 0.1, 9.0]])
    return AffinityMatrix(tasks=("a", "b", "c"), values=values, **options)


def test_the_planted_groups_are_found_and_proven(run: Run) -> None:
    grouping = suggest(run, 2)
    assert {frozenset(group.serve) for group in grouping.groups} == {
        frozenset({"task 0", "task 2", "task 4"}),
        frozenset({"task 1", "task 3", "task 5"}),
    }
    assert grouping.optimal
    assert grouping.signal == "lookahead"
    assert grouping.provenance["run"] == "planted-run"


def test_a_finished_matrix_can_be_grouped_as_well() -> None:
    grouping = suggest(small_matrix(), 2)
    assert {frozenset(group.serve) for group in grouping.groups} == {frozenset({"a", "b"}), frozenset({"c"})}
    assert grouping.score == pytest.approx((0.4 + 0.2 + 0.0) / 3)


def test_a_run_without_any_affinity_says_what_to_log(tmp_path: Path) -> None:
    with pytest.raises(NotRecorded, match="Log at least the tasks' losses"):
        suggest(write_run(tmp_path / "empty-run", ("a", "b"), {}), 2)


def test_predicted_gains_are_means_over_mates_onto_the_task() -> None:
    low, high = np.full((3, 3), -1.0), np.full((3, 3), 1.0)
    gains = predicted_gains(small_matrix(low=low, high=high), Grouping.partition("abc", ["abc"]))
    assert [gain.value for gain in gains] == pytest.approx([(0.4 - 0.3) / 2, (0.2 + 0.1) / 2, -0.1])
    assert [gain.n for gain in gains] == [2, 2, 1]
    assert gains[0].mates == ("b", "c")
    assert (gains[0].low, gains[0].high) == (-1.0, 1.0)


def test_a_task_alone_gains_nothing_and_a_task_without_values_is_unknown() -> None:
    gains = predicted_gains(small_matrix(), Grouping.partition("abc", ["bc", "a"]))
    assert (gains[0].value, gains[0].low, gains[0].high) == (0.0, 0.0, 0.0)
    assert np.isnan(gains[2].value)
    assert np.isnan(gains[1].low)


def test_helpers_count_as_mates_in_the_group_that_serves() -> None:
    groups = (Group(train=("a", "b"), serve=("b",)), Group(train=("a", "c"), serve=("a", "c")))
    gains = predicted_gains(small_matrix(), Grouping(tasks=("a", "b", "c"), groups=groups))
    assert gains[1].value == 0.2
    assert gains[0].value == -0.3


def test_gains_for_other_tasks_are_refused() -> None:
    with pytest.raises(GroupingError, match="different tasks"):
        predicted_gains(small_matrix(), Grouping.partition("ab", ["ab"]))


def test_the_view_compares_with_the_obvious_alternatives(run: Run) -> None:
    view = groups_view(affinity_matrix(run, "lookahead"), suggest(run, 2), planted=run.info.planted)
    assert view.agreement == pytest.approx(1.0)
    assert dict(view.alternatives)["every task alone"] == 0.0
    assert view.score > dict(view.alternatives)["all tasks together"]
    assert "matches the planted grouping exactly" in view.sentence
    assert "that is proven" in view.sentence


def test_missing_pairs_and_another_signal_are_said(run: Run) -> None:
    view = groups_view(small_matrix(), Grouping.partition("abc", ["abc"], signal="cosine"))
    assert any("1 pair without a value" in caveat for caveat in view.caveats)
    assert any("found with 'cosine'" in caveat for caveat in view.caveats)
    assert view.agreement is None


def test_more_networks_never_score_less(run: Run) -> None:
    points = budget_curve(affinity_matrix(run, "lookahead"))
    scores = [point.score for point in points]
    assert [point.groups for point in points] == [1, 2, 3, 4, 5, 6]
    assert all(later >= earlier - 1e-12 for earlier, later in itertools.pairwise(scores))
    assert points[1].used == 2


def test_clear_groups_are_stable_and_noise_is_not(tmp_path: Path) -> None:
    clear = stability(planted_run(tmp_path / "clear-run"), 2, resamples=30)
    np.testing.assert_array_equal(clear, np.tile([[1.0, 0.0], [0.0, 1.0]], (2, 2)))
    rng = np.random.default_rng(1)
    rows = {step: rng.normal(size=(5, 5)) for step in range(30)}
    noise = write_run(tmp_path / "noise-run", "abcde", {"noise_matrix": rows}, sense="affinity")
    shares = stability(noise, 2, resamples=60)
    assert ((shares > 0.02) & (shares < 0.98)).any()
    np.testing.assert_array_equal(np.diagonal(shares), 1.0)
    np.testing.assert_array_equal(stability(noise, 2, resamples=60), shares)


def test_resampled_means_spread_like_the_error_of_the_mean(tmp_path: Path) -> None:
    collected = collect(planted_run(tmp_path / "planted-run", steps=100), "lookahead")
    found = estimate(collected, "mean")
    drawn = resampled_means(collected, found, resamples=400, rng=np.random.default_rng(0))
    np.testing.assert_allclose(drawn.mean(axis=0), found.value, atol=1e-12)
    np.testing.assert_allclose(drawn.std(axis=0), found.error, rtol=1e-9)
    assert 1 <= block_length(found, 100) <= 33


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ([0, 0, 1, 1], [1, 1, 0, 0], 1.0),
        ([0, 0, 1, 1], [0, 1, 0, 1], -0.5),
        ([0, 0, 1, 2], [0, 0, 1, 1], 0.5714285714285714),
        ([0, 0, 0], [0, 0, 0], 1.0),
        ([0, 1, 2], [2, 1, 0], 1.0),
        ([0], [0], 1.0),
    ],
)
def test_adjusted_rand_equals_known_values(left: list[int], right: list[int], expected: float) -> None:
    assert adjusted_rand(left, right) == pytest.approx(expected)


def test_spearman_shares_the_ranks_of_ties() -> None:
    assert spearman(np.array([1.0, 2.0, 3.0]), np.array([10.0, 20.0, 30.0])) == pytest.approx(1.0)
    assert spearman(np.array([1.0, 2.0, 2.0, 4.0]), np.array([4.0, 3.0, 1.0, 2.0])) == pytest.approx(
        -0.632456, abs=1e-6
    )
    assert np.isnan(spearman(np.ones(3), np.arange(3.0)))
