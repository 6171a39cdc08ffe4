"""What every grouping algorithm promises, whatever it is."""

import numpy as np
import pytest

from affinity.core.grouping import GroupingProblem
from affinity.grouping import GROUPERS, score, solve

KEYS = sorted(GROUPERS)
HEURISTICS = sorted(key for key in GROUPERS if not GROUPERS[key].exact)


def random_problem(seed: int = 0, size: int = 9, **details: object) -> GroupingProblem:
    affinity = np.random.default_rng(seed).normal(size=(size, size))
    return GroupingProblem(**{"affinity": affinity, "groups": 3, **details})


def assert_valid(problem, solution):
    """Covers all tasks once, keeps the budget, and its score is the objective's and below its bound."""
    served = sorted(task for _, serve in solution.groups for task in serve)
    assert served == list(range(problem.size))
    assert len(solution.groups) <= problem.groups
    assert all(set(serve) <= set(train) for train, serve in solution.groups)
    if not problem.overlap:
        assert all(set(serve) == set(train) for train, serve in solution.groups)
    assert solution.score == pytest.approx(score(problem, solution.groups), rel=1e-12, abs=1e-12)
    assert solution.bound >= solution.score
    if solution.optimal:
        assert solution.gap == 0


@pytest.mark.parametrize("key", KEYS)
def test_entry_describes_itself(key):
    entry = GROUPERS[key]
    assert entry.title
    assert entry.summary.endswith(".")
    assert entry.settings() is not None


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("overlap", [False, True])
def test_answer_is_a_grouping_worth_its_score(key, overlap):
    if overlap and not GROUPERS[key].overlaps:
        pytest.skip("without overlap only")
    problem = random_problem(overlap=overlap)
    assert_valid(problem, solve(problem, key))


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("objective", ["tag", "higher_order", "correlation", "density"])
def test_every_objective_is_answered(key, objective):
    problem = random_problem(objective=objective)
    assert_valid(problem, solve(problem, key))


@pytest.mark.parametrize("key", KEYS)
def test_one_task_is_one_network(key):
    problem = GroupingProblem(affinity=np.array([[0.7]]), groups=4)
    assert solve(problem, key).groups == (((0,), (0,)),)


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("value", [np.nan, 0.0, 1.0, -1.0])
def test_affinities_without_a_difference_are_answered(key, value):
    problem = GroupingProblem(affinity=np.full((5, 5), value), groups=2)
    assert_valid(problem, solve(problem, key))


@pytest.mark.parametrize("key", KEYS)
def test_missing_pairs_count_as_nothing(key):
    affinity = np.random.default_rng(4).normal(size=(7, 7))
    affinity[np.random.default_rng(5).random((7, 7)) < 0.4] = np.nan
    problem = GroupingProblem(affinity=affinity, groups=3)
    filled = GroupingProblem(affinity=np.nan_to_num(affinity), groups=3)
    assert solve(problem, key).score == solve(filled, key).score


@pytest.mark.parametrize("key", ["exact", "local_search", "greedy_merge", "agglomerative"])
def test_order_of_the_tasks_does_not_change_the_score(key):
    problem = random_problem(seed=2)
    order = np.random.default_rng(1).permutation(problem.size)
    shuffled = GroupingProblem(affinity=problem.affinity[np.ix_(order, order)], groups=3)
    assert solve(shuffled, key).score == pytest.approx(solve(problem, key).score)


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("factor", [1e-9, 1e9])
def test_unit_of_the_affinity_does_not_change_the_groups(key, factor):
    problem = random_problem(seed=3)
    scaled = GroupingProblem(affinity=factor * problem.affinity, groups=3)
    assert solve(scaled, key).groups == solve(problem, key).groups


@pytest.mark.parametrize("key", KEYS)
def test_limits_are_kept(key):
    problem = random_problem(
        seed=6, size=10, groups=4, smallest=2, largest=4, together=((0, 1),), apart=((2, 3), (4, 5))
    )
    solution = solve(problem, key)
    assert_valid(problem, solution)
    for train, _ in solution.groups:
        assert 2 <= len(train) <= 4
        assert (0 in train) == (1 in train)
        assert not {2, 3} <= set(train)
        assert not {4, 5} <= set(train)


@pytest.mark.parametrize("key", HEURISTICS)
@pytest.mark.parametrize("overlap", [False, True])
def test_no_heuristic_beats_the_proof(key, overlap):
    problem = random_problem(seed=8, overlap=overlap)
    best = solve(problem).score
    solution = solve(problem, key)
    assert solution.score <= best + 1e-12
    assert solution.bound >= best - 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("key", HEURISTICS)
def test_a_hundred_tasks_are_answered(key):
    problem = random_problem(size=100, groups=10, time_limit=20.0)
    assert_valid(problem, solve(problem, key))


@pytest.mark.parametrize("key", KEYS)
def test_same_question_gets_the_same_answer(key):
    problem = random_problem(seed=9, size=12)
    assert solve(problem, key).groups == solve(problem, key).groups


@pytest.mark.parametrize("key", KEYS)
def test_a_cancelled_search_still_answers(key):
    problem = random_problem(size=12, cancel=lambda: True)
    solution = solve(problem, key)
    assert_valid(problem, solution)
    # What ends in one pass anyway has nothing to stop; what does stop says so.
    unhurried = solve(random_problem(size=12), key)
    assert solution.stopped == "cancel" or solution.groups == unhurried.groups
    assert solution.bound >= unhurried.score
