"""The exact algorithm: values by hand, brute force, and the two proofs against each other."""

import itertools

import numpy as np
import pytest

from affinity.core.errors import GroupingError
from affinity.core.grouping import GroupingProblem
from affinity.grouping import score, second_best, serve_best, solve, task_scores
from affinity.grouping._elements import elements_of
from affinity.grouping._limits import Watch
from affinity.grouping._proof import by_columns, by_subsets
from affinity.grouping._relaxed_bound import relaxed_bound

# Source by row: task 0 helps task 1 by 0.3 and is helped by it by 0.4; written out in [source, affected].
THREE = np.array([[0.1, 0.3, -0.1], [0.4, 0.05, 0.2], [-0.2, 0.1, 0.15]])


def partitions(items):
    """All partitions of a list."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for size in range(len(rest) + 1):
        for mates in itertools.combinations(rest, size):
            left = [item for item in rest if item not in mates]
            for other in partitions(left):
                yield [(first, *mates), *other]


def brute_force(problem):
    """The best score over all partitions, or over all selections of overlapping networks."""
    tasks = list(range(problem.size))
    if not problem.overlap:
        found = (tuple((group, group) for group in parts) for parts in partitions(tasks))
        return max(score(problem, groups) for groups in found if len(groups) <= problem.groups)
    subsets = [c for size in range(1, problem.size + 1) for c in itertools.combinations(tasks, size)]
    best = -np.inf
    for count in range(1, problem.groups + 1):
        for trained in itertools.combinations(subsets, count):
            if set().union(*trained) == set(tasks):
                best = max(best, score(problem, serve_best(problem, trained)))
    return best


def test_direction_is_source_to_affected():
    problem = GroupingProblem(affinity=THREE, groups=2)
    groups = (((0, 1), (0, 1)), ((2,), (2,)))
    assert task_scores(problem, groups) == pytest.approx([0.4, 0.3, 0.0])


@pytest.mark.parametrize(
    ("objective", "overlap", "groups", "value"),
    [
        ("mean_affinity", False, 2, 0.7 / 3),
        ("mean_affinity", True, 2, 0.9 / 3),
        ("tag", False, 2, 0.35 / 3),
        ("higher_order", False, 2, 0.85 / 3),
        ("correlation", False, 3, 0.7),
        ("density", False, 2, 0.575),
    ],
)
def test_three_tasks_by_hand(objective, overlap, groups, value):
    problem = GroupingProblem(affinity=THREE, groups=groups, overlap=overlap, objective=objective)
    assert solve(problem).score == pytest.approx(value)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("overlap", [False, True])
def test_small_random_instances_agree_with_brute_force(seed, overlap):
    rng = np.random.default_rng(seed)
    size, groups = (4, 3) if overlap else (6, int(rng.integers(1, 6)))
    problem = GroupingProblem(affinity=rng.normal(size=(size, size)), groups=groups, overlap=overlap)
    assert solve(problem).score == pytest.approx(brute_force(problem))


@pytest.mark.parametrize("seed", range(8))
def test_column_generation_agrees_with_subset_programming_under_constraints(seed):
    rng = np.random.default_rng(seed)
    affinity = rng.normal(size=(9, 9)) * 10.0 ** rng.uniform(-3, 3)
    unit, objective = np.abs(affinity).max(), ("mean_affinity", "tag", "higher_order", "density")[seed % 4]
    problem = GroupingProblem(
        affinity=affinity,
        groups=int(rng.integers(3, 6)),
        overlap=bool(rng.integers(2)) and objective != "density",
        objective=objective,
        largest=5,
        together=((0, 3),),
        apart=((1, 2), (2, 4)),
        price=0.02 * unit,
        task_prices=0.01 * unit * rng.random(9),
    )
    elements = elements_of(problem)
    by_layers, by_program = by_subsets(elements, Watch(problem)), by_columns(problem, Watch(problem))
    assert by_program.score == pytest.approx(by_layers.score, abs=1e-8 * unit)
    assert by_program.bound >= by_layers.score - 1e-8 * unit
    assert by_program.optimal


def test_branch_and_bound_pricing_agrees_with_looking_at_every_subset():
    from affinity.grouping._pricing_blocks import PartitionBlocks
    from affinity.grouping._pricing_search import SubsetSearch

    rng = np.random.default_rng(3)
    affinity = rng.normal(size=(14, 14))
    for objective in ("mean_affinity", "density"):
        problem = GroupingProblem(affinity=affinity, groups=3, objective=objective, apart=((0, 5), (5, 7)))
        elements, watch = elements_of(problem), Watch(problem)
        for _ in range(4):
            duals = rng.normal(size=14)
            every, _ = PartitionBlocks(elements).price(duals, 0.0, watch)
            searched, columns = SubsetSearch(elements).price(duals, 0.0, watch)
            assert searched == pytest.approx(every)
            assert columns.reduced(duals).max() == pytest.approx(every)


def test_twenty_tasks_in_overlapping_networks_are_proven():
    rng = np.random.default_rng(0)
    solution = solve(GroupingProblem(affinity=rng.normal(size=(20, 20)), groups=4, overlap=True))
    assert solution.optimal
    assert solution.bound == pytest.approx(solution.score)


def test_where_overlap_has_no_proof_the_likely_limit_is_said_and_the_bound_holds():
    affinity = np.random.default_rng(0).normal(size=(30, 30))
    solution = solve(GroupingProblem(affinity=affinity, groups=8, overlap=True))
    assert not solution.optimal
    assert solution.bound > solution.score
    assert "likely" in solution.notes[0]
    # more networks than the partition form may use can only help
    assert solution.score >= solve(GroupingProblem(affinity=affinity, groups=8)).score


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_forty_random_tasks_into_eight_networks_are_proven(seed):
    affinity = np.random.default_rng(seed).normal(size=(40, 40))
    solution = solve(GroupingProblem(affinity=affinity, groups=8, time_limit=300))
    assert solution.optimal


def test_a_hundred_tasks_without_a_binding_budget_are_proven_with_pairs_and_triples():
    rng = np.random.default_rng(0)
    solution = solve(GroupingProblem(affinity=rng.normal(size=(100, 100)), groups=100))
    assert solution.optimal
    assert max(len(train) for train, _ in solution.groups) <= 3
    assert "pairs and triples" in solution.notes[0]


@pytest.mark.slow
def test_forty_tasks_in_thirteen_networks_are_proven():
    solution = solve(GroupingProblem(affinity=np.random.default_rng(0).normal(size=(40, 40)), groups=13))
    assert solution.optimal


def test_a_price_a_network_makes_larger_groups_worth_it():
    affinity = np.full((8, 8), 0.1)
    free = solve(GroupingProblem(affinity=affinity, groups=8))
    priced = solve(GroupingProblem(affinity=affinity, groups=8, price=0.001))
    assert free.score == pytest.approx(0.1)
    assert len(priced.groups) == 1
    assert priced.score == pytest.approx(0.1 - 0.001)


def test_a_task_below_the_minimum_gain_stays_alone():
    affinity = np.array([[0.0, 0.5, 0.05], [0.5, 0.0, 0.05], [0.6, 0.6, 0.0]])
    joined = solve(GroupingProblem(affinity=affinity, groups=2))
    careful = solve(GroupingProblem(affinity=affinity, groups=2, minimum_gain=0.1))
    assert ((0, 1, 2), (0, 1, 2)) in joined.groups
    assert ((2,), (2,)) in careful.groups


def test_harm_leaves_every_task_alone_when_the_budget_allows_it():
    solution = solve(GroupingProblem(affinity=np.full((5, 5), -1.0), groups=5))
    assert solution.score == 0.0
    assert len(solution.groups) == 5


def test_tasks_tied_and_parted_contradict_each_other():
    problem = GroupingProblem(affinity=THREE, groups=3, together=((0, 1), (1, 2)), apart=((0, 2),))
    with pytest.raises(GroupingError, match="both together and apart"):
        solve(problem)


def test_constraints_that_leave_nothing_are_refused():
    problem = GroupingProblem(affinity=THREE, groups=1, apart=((0, 2),))
    with pytest.raises(GroupingError, match="no grouping meets"):
        solve(problem)


@pytest.mark.parametrize(
    "wrong",
    [
        {"groups": 0}, {"objective": "best"}, {"smallest": 3, "largest": 2}, {"largest": 1}, {"price": -1.0},
        {"together": ((0, 0),)}, {"apart": ((0, 9),)}, {"task_prices": np.ones(2)}, {"budget": 1.0},
        {"objective": "measured"}, {"objective": "density", "overlap": True}, {"price": float("nan")},
    ],
)  # fmt: skip
def test_questions_without_sense_are_refused(wrong):
    with pytest.raises(GroupingError):
        GroupingProblem(**{"affinity": THREE, "groups": 2, **wrong})


def test_a_cancelled_search_returns_the_best_so_far_with_a_valid_bound():
    rng = np.random.default_rng(1)
    problem = GroupingProblem(affinity=rng.normal(size=(18, 18)), groups=4)
    proven = solve(problem)
    stopped = solve(GroupingProblem(affinity=problem.affinity, groups=4, cancel=lambda: True))
    assert stopped.stopped == "cancel"
    assert not stopped.optimal
    assert stopped.score <= proven.score <= stopped.bound
    assert stopped.gap == stopped.bound - stopped.score


@pytest.mark.parametrize("overlap", [False, True])
@pytest.mark.parametrize("objective", ["mean_affinity", "tag", "correlation", "density"])
def test_the_quick_bound_is_never_below_the_optimum(objective, overlap):
    if overlap and objective in ("correlation", "density"):
        pytest.skip("defined without overlap")
    for seed in range(5):
        affinity = np.random.default_rng(seed).normal(size=(7, 7))
        problem = GroupingProblem(affinity=affinity, groups=3, overlap=overlap, objective=objective)
        best = solve(problem).score
        assert relaxed_bound(problem, best, Watch(problem)) >= best - 1e-9


def test_the_second_best_grouping_by_hand():
    problem = GroupingProblem(affinity=THREE, groups=3)
    best = solve(problem)
    others = sorted(
        {score(problem, tuple((group, group) for group in parts)) for parts in partitions([0, 1, 2])}
    )
    assert best.score == pytest.approx(others[-1])
    assert second_best(problem, best.groups) == pytest.approx(others[-2])
