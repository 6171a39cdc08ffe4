"""Budget curve, stability, and what the clustering algorithms promise."""

import numpy as np
import pytest

from affinity.core.errors import GroupingError
from affinity.core.grouping import GroupingProblem
from affinity.grouping import budget_curve, solve, stability
from affinity.grouping._limits import Watch
from affinity.grouping._semidefinite import relaxed_density

BLOCKS = np.kron(np.eye(2), np.ones((3, 3))) - 0.5


def test_budget_curve_never_falls_and_starts_with_one_network():
    affinity = np.random.default_rng(0).normal(size=(8, 8))
    points = budget_curve(GroupingProblem(affinity=affinity, groups=8, overlap=True))
    scores = [point.solution.score for point in points]
    assert [point.groups for point in points] == list(range(1, 9))
    assert scores == sorted(scores)
    assert points[0].gain is None
    assert points[1].gain == scores[1] - scores[0]


def test_pairs_with_a_clear_answer_are_stable():
    rng = np.random.default_rng(0)
    samples = BLOCKS + 0.01 * rng.normal(size=(20, 6, 6))
    found = stability(GroupingProblem(affinity=BLOCKS, groups=2), samples)
    np.testing.assert_array_equal(found.together, np.kron(np.eye(2), np.ones((3, 3))))
    assert found.helps == 1.0
    assert found.scores.shape == (20,)


def test_noise_around_harm_is_no_evidence():
    samples = np.full((10, 4, 4), -1.0)
    found = stability(GroupingProblem(affinity=samples[0], groups=4), samples)
    assert found.verdict.startswith("No evidence that grouping helps")


def test_samples_of_another_shape_are_refused():
    with pytest.raises(GroupingError, match="shape"):
        stability(GroupingProblem(affinity=BLOCKS, groups=2), np.zeros((3, 5, 5)))


@pytest.mark.parametrize("groups", [2, 3])
def test_the_semidefinite_bound_holds_and_clear_blocks_are_tight(groups):
    matrix = np.kron(np.eye(groups), np.ones((3, 3)))
    problem = GroupingProblem(affinity=matrix, groups=groups, objective="density")
    relaxed, bound = relaxed_density(matrix, groups, Watch(problem))
    best = solve(problem).score
    assert bound >= best - 1e-9
    assert bound == pytest.approx(best, rel=0.05)
    assert relaxed == pytest.approx(matrix / 3, abs=0.02)


def test_the_semidefinite_bound_holds_on_noise():
    for seed in range(5):
        noise = np.random.default_rng(seed).normal(size=(7, 7))
        matrix = (noise + noise.T) / 2
        problem = GroupingProblem(affinity=matrix, groups=3, objective="density")
        assert relaxed_density(matrix, 3, Watch(problem))[1] >= solve(problem).score - 1e-9


# Jeong & Yoon, 2025, as released (wooseong97/sel-update-mtl): a map whose answer no seed changes.
SIX = np.array(
    [
        [1.0, 0.6, 0.1, 0.0, -0.1, -0.2],
        [0.5, 1.0, 0.05, 0.1, -0.2, -0.1],
        [0.0, 0.1, 0.9, 0.7, 0.05, 0.0],
        [0.1, -0.1, 0.6, 1.2, 0.0, 0.05],
        [-0.2, 0.0, 0.0, 0.1, 0.8, 0.55],
        [-0.1, -0.3, 0.1, 0.0, 0.6, 1.1],
    ]
)


def test_affinity_propagation_finds_the_reference_groups():
    solution = solve(GroupingProblem(affinity=SIX, groups=6), "affinity_propagation")
    assert {train for train, _ in solution.groups} == {(0, 1), (2, 3), (4, 5)}


def test_affinity_propagation_survives_a_zero_self_affinity():
    affinity = SIX.copy()
    affinity[2, 2] = 0.0
    solution = solve(GroupingProblem(affinity=affinity, groups=6), "affinity_propagation")
    assert np.isfinite(solution.score)
    assert "1 tasks have no positive self-affinity" in solution.notes[0]


@pytest.mark.parametrize("key", ["spectral", "agglomerative", "louvain", "local_search", "greedy_merge"])
def test_clear_blocks_are_found_by_every_heuristic(key):
    solution = solve(GroupingProblem(affinity=BLOCKS, groups=2), key)
    assert {train for train, _ in solution.groups} == {(0, 1, 2), (3, 4, 5)}
