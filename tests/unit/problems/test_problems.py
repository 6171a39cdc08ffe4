"""Every problem's formulas agree with each other: slopes with losses, front with stationarity, structure."""

import numpy as np
import pytest

from affinity.problems import PROBLEMS
from affinity.problems.two_valleys import SCALES

EVERY = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=lambda problem: problem.key)


def points(problem, count=40):
    return problem.random_starts(count, np.random.default_rng(3))


@EVERY
def test_gradients_are_the_slopes_of_the_losses(problem):
    theta, width = points(problem), 1e-6
    moves = width * np.eye(theta.shape[-1])
    slopes = [(problem.losses(theta + move) - problem.losses(theta - move)) / (2 * width) for move in moves]
    assert np.allclose(problem.gradients(theta), np.stack(slopes, axis=-1), atol=1e-6, rtol=1e-6)


@EVERY
def test_one_point_and_many_points_give_the_same(problem):
    theta = points(problem, 4)
    assert problem.losses(theta).shape == (4, len(problem.tasks))
    for number in range(4):
        assert np.allclose(problem.losses(theta[number]), problem.losses(theta)[number], atol=1e-13)
        assert np.allclose(problem.gradients(theta[number]), problem.gradients(theta)[number], atol=1e-13)
        assert np.allclose(problem.distance(theta[number]), problem.distance(theta)[number], atol=1e-13)


@EVERY
def test_the_structure_says_which_loss_depends_on_which_parameter(problem):
    used = (np.abs(problem.gradients(points(problem))) > 1e-12).any(axis=0)
    assert np.array_equal(used, problem.depends)


@EVERY
def test_no_step_improves_all_losses_on_the_front(problem):
    """First order: some convex combination of the gradients vanishes, but for parameters at their bounds."""
    front = problem.front(41)[1:-1]
    first, second = np.moveaxis(problem.gradients(front), -2, 0)
    weights = np.linspace(0, 1, 2001)[:, None, None]
    combined = weights * first + (1 - weights) * second
    if problem.bounded:
        blocked = ((front <= problem.low) & (combined > 0)) | ((front >= problem.high) & (combined < 0))
        combined = np.where(blocked, 0.0, combined)
    gaps = np.linalg.norm(combined, axis=-1).min(axis=0)
    scale = np.linalg.norm(problem.gradients(front), axis=-1).max(axis=-1)
    assert np.all(gaps < 2e-3 * scale)


@EVERY
def test_nothing_random_is_better_than_the_front(problem):
    front = problem.losses(problem.front(201))
    others = problem.losses(points(problem, 4000))
    better = (others[:, None] < front - 1e-9).all(axis=-1)
    assert not better.any()


@EVERY
def test_distance_is_zero_on_the_front_and_not_elsewhere(problem):
    assert np.all(problem.distance(problem.front(17)) < 1e-4)
    assert problem.distance(points(problem, 200)).max() > 0.2


def test_distance_of_the_chain_by_hand():
    # (0.5, -1, 3) is nearest to (0, 0, 1): sqrt(0.25 + 1 + 4)
    assert PROBLEMS["chain"].distance(np.array([0.5, -1.0, 3.0])) == pytest.approx(np.sqrt(5.25))


def test_two_valleys_by_hand():
    # at (7, -8) the first basin is at its lowest: -20 tanh(4); the second has (14² / 10 - 20) tanh(4)
    wanted = np.array([-20.0, -0.4]) * np.tanh(4.0) * SCALES
    assert PROBLEMS["two_valleys"].losses(np.array([7.0, -8.0])) == pytest.approx(wanted)


@pytest.mark.parametrize("key", [f"tchebycheff_f{number}" for number in range(1, 7)])
def test_bent_fronts_have_the_published_shape(key):
    first, second = PROBLEMS[key].losses(PROBLEMS[key].front(101)).T
    assert np.allclose(second, 1 - np.sqrt(first) if key[-1] in "123" else 1 - first**2, atol=1e-12)


def test_problems_are_finite_at_the_corners_of_their_box():
    for problem in PROBLEMS.values():
        for corner in (problem.low, problem.high):
            assert np.isfinite(problem.losses(corner)).all()
            assert np.isfinite(problem.gradients(corner)).all()
