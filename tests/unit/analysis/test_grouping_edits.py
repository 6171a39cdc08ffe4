import pytest

from affinity.analysis.grouping_edits import add_helper, merge, move, remove_helper, serve_from, split
from affinity.core.errors import GroupingError
from affinity.core.types import Group, Grouping


@pytest.fixture
def grouping() -> Grouping:
    return Grouping.partition("abcd", ["ab", "cd"], score=0.5, bound=0.5, optimal=True, algorithm="exact")


def trained(grouping: Grouping) -> list[str]:
    return ["".join(group.train) for group in grouping.groups]


def served(grouping: Grouping) -> list[str]:
    return ["".join(group.serve) for group in grouping.groups]


def test_an_edit_loses_score_and_proof_and_leaves_the_old_grouping_alone(grouping: Grouping) -> None:
    edited = move(grouping, "a", to=1)
    assert (edited.score, edited.bound, edited.optimal, edited.algorithm) == (None, None, False, "by hand")
    assert grouping.optimal


def test_moving_a_task_keeps_the_order_of_the_tasks(grouping: Grouping) -> None:
    assert trained(move(grouping, "a", to=1)) == ["b", "acd"]
    assert trained(move(grouping, "d", to=None)) == ["ab", "c", "d"]
    assert move(grouping, "a", to=0) is grouping


def test_a_network_that_loses_its_last_task_is_dropped(grouping: Grouping) -> None:
    edited = move(move(grouping, "a", to=1), "b", to=1)
    assert trained(edited) == ["abcd"]


def test_splitting_gives_the_tasks_a_network_of_their_own(grouping: Grouping) -> None:
    whole = merge(grouping, 0, 1)
    assert trained(whole) == ["abcd"]
    assert trained(split(whole, 0, ["b", "d"])) == ["ac", "bd"]


def test_merging_into_a_later_or_earlier_network_keeps_the_first_place() -> None:
    three = Grouping.partition("abc", ["a", "b", "c"])
    assert trained(merge(three, 2, 0)) == ["b", "ac"]
    assert trained(merge(three, 0, 1)) == ["ab", "c"]


def test_a_helper_is_trained_but_not_served(grouping: Grouping) -> None:
    edited = add_helper(grouping, "a", to=1)
    assert trained(edited) == ["ab", "acd"]
    assert served(edited) == ["ab", "cd"]
    assert trained(remove_helper(edited, "a", group=1)) == ["ab", "cd"]


def test_a_task_can_be_served_from_where_it_helps(grouping: Grouping) -> None:
    edited = serve_from(add_helper(grouping, "a", to=1), "a", group=1)
    assert trained(edited) == ["ab", "acd"]
    assert served(edited) == ["b", "acd"]


def test_moving_to_where_a_task_helps_serves_it_there(grouping: Grouping) -> None:
    edited = move(add_helper(grouping, "a", to=1), "a", to=1)
    assert trained(edited) == ["b", "acd"]
    assert served(edited) == ["b", "acd"]


def test_merging_keeps_helpers_helping() -> None:
    groups = (Group(train=("a", "b"), serve=("a", "b")), Group(train=("a", "c"), serve=("c",)))
    merged = merge(Grouping(tasks=("a", "b", "c"), groups=groups), 1, 0)
    assert (trained(merged), served(merged)) == (["abc"], ["abc"])


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda g: move(g, "x", to=1), "'x' is not a task"),
        (lambda g: move(g, "a", to=7), "no network 8"),
        (lambda g: move(g, "a", to=-1), "no network 0"),
        (lambda g: split(g, 0, ["a", "b"]), "at least one task"),
        (lambda g: split(g, 0, ["c"]), "'c' is not trained by network 1"),
        (lambda g: merge(g, 1, 1), "with itself"),
        (lambda g: add_helper(g, "a", to=0), "already"),
        (lambda g: remove_helper(g, "a", group=0), "Move it instead"),
        (lambda g: serve_from(g, "a", group=1), "does not train 'a'"),
    ],
)
def test_impossible_edits_say_why(grouping: Grouping, edit: object, message: str) -> None:
    with pytest.raises(GroupingError, match=message):
        edit(grouping)
