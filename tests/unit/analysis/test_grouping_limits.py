"""Limits by name: they reach the solver, contradict each other in words, and survive a link."""

import itertools

import numpy as np
import pytest

from affinity.analysis.grouping_limits import (
    OBJECTIVE_WORDS,
    Limits,
    broken_limit,
    rules_from_text,
    rules_text,
)
from affinity.analysis.groups import suggest
from affinity.core.errors import GroupingError
from affinity.core.grouping import OBJECTIVES
from affinity.core.types import AffinityMatrix

TASKS = ("a", "b", "c", "d", "e")


def matrix(seed: int = 0) -> AffinityMatrix:
    return AffinityMatrix(tasks=TASKS, values=np.random.default_rng(seed).normal(size=(5, 5)))


def sets_of(grouping):
    return {frozenset(group.train) for group in grouping.groups}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "limits",
    [
        Limits(largest=2),
        Limits(smallest=2),
        Limits(together=(("a", "c", "e"),)),
        Limits(apart=(("a", "b", "c"),)),
        Limits(together=(("a", "b"),), apart=(("a", "d"),), largest=3),
    ],
    ids=["at most 2", "at least 2", "together", "apart", "all"],
)
def test_every_suggestion_keeps_its_limits(limits: Limits, seed: int):
    found = suggest(matrix(seed), 4, limits=limits)
    groups = [(tuple(TASKS.index(task) for task in group.train),) * 2 for group in found.groups]
    assert broken_limit(groups, limits.options(TASKS), TASKS) == ""
    for group in sets_of(found):
        assert limits.smallest <= len(group) <= (limits.largest or 5)
        for names in limits.together:
            assert set(names) <= group or not set(names) & group
        for names in limits.apart:
            assert len(set(names) & group) <= 1


def test_a_price_above_every_gain_leaves_one_network():
    assert len(suggest(matrix(), 5, limits=Limits(price=100.0)).groups) == 1


def test_a_price_of_one_task_is_charged_where_it_is_trained():
    free = suggest(matrix(), 3, limits=Limits())
    charged = suggest(matrix(), 3, limits=Limits(task_price=0.5, task_prices=(("a", 2.0),)))
    # Without overlap every task is trained once, whatever the grouping: 4 x 0.5 + 2.
    assert charged.score == pytest.approx(free.score - 4.0)


def test_a_task_below_the_minimum_gain_stays_alone():
    found = suggest(matrix(), 5, limits=Limits(minimum_gain=50.0))
    assert sets_of(found) == {frozenset(task) for task in TASKS}


def test_correlation_clustering_is_the_best_of_all_partitions():
    values = matrix().values
    best = max(
        sum(values[i, j] for i, j in itertools.permutations(range(5), 2) if labels[i] == labels[j])
        for labels in itertools.product(range(5), repeat=5)
    )
    assert suggest(matrix(), 5, limits=Limits(objective="correlation")).score == pytest.approx(best)


def test_a_contradiction_is_said_even_through_a_third_task():
    limits = Limits(together=(("a", "b"), ("b", "c")), apart=(("a", "c"),))
    with pytest.raises(GroupingError, match="a and c have to stay together and apart at once"):
        suggest(matrix(), 3, limits=limits)


def test_impossible_limits_are_said():
    with pytest.raises(GroupingError, match="cannot hold 5 tasks"):
        suggest(matrix(), 2, limits=Limits(largest=2))
    with pytest.raises(GroupingError, match="allow no group"):
        suggest(matrix(), 2, limits=Limits(smallest=4, largest=2))
    with pytest.raises(GroupingError, match="no grouping meets the constraints"):
        suggest(matrix(), 2, limits=Limits(apart=(("a", "b", "c"),)))
    with pytest.raises(GroupingError, match="'z' is not one of the tasks"):
        suggest(matrix(), 2, limits=Limits(together=(("a", "z"),)))


def test_a_broken_limit_is_named():
    options = Limits(largest=2, together=(("a", "b"),), apart=(("c", "d"),)).options(TASKS)
    assert broken_limit([((0, 1, 2), (0, 1, 2))], options, TASKS) == "network 1 has 3 tasks."
    assert "a and b do not share" in broken_limit([((0, 2), (0, 2))], options, TASKS)
    assert "c and d share" in broken_limit([((2, 3), (2, 3))], options, TASKS)


def test_rules_survive_a_link():
    limits = Limits(together=(("a", "c"), ("d", "e")), apart=(("b", "c", "d"),))
    assert rules_text(limits, TASKS) == "t0.2_t3.4_a1.2.3"
    assert rules_from_text("t0.2_t3.4_a1.2.3", TASKS) == (limits.together, limits.apart)
    assert rules_from_text("", TASKS) == ((), ())


@pytest.mark.parametrize("text", ["x", "t0", "t0.9", "t0.0", "t0.1;drop", "_".join(["t0.1"] * 101)])
def test_a_spoilt_link_is_explained(text: str):
    with pytest.raises(GroupingError, match="the link's limits"):
        rules_from_text(text, TASKS)


def test_every_objective_that_needs_no_table_has_words():
    assert set(OBJECTIVE_WORDS) == set(OBJECTIVES) - {"measured"}
