from affinity.core.types import Group, Grouping
from affinity.jobs.rerun import plan

TASKS = ("a", "b", "c")


def networks(grouping: Grouping, seeds: tuple[int, ...] = (0,)) -> dict[tuple[str, ...], list[str]]:
    return {
        network.tasks: [arm if group is None else f"{arm} {group}" for arm, group, _ in network.roles]
        for network in plan(grouping, TASKS, seeds)
    }


def test_joint_and_single_networks_are_always_trained():
    assert networks(Grouping.partition(TASKS, [("a", "b"), ("c",)])) == {
        ("a", "b", "c"): ["joint"],
        ("a",): ["single"],
        ("b",): ["single"],
        ("c",): ["single", "group 1"],
        ("a", "b"): ["group 0"],
    }


def test_a_group_of_all_tasks_is_the_joint_network():
    assert networks(Grouping.partition(TASKS, [TASKS]))["a", "b", "c"] == ["joint", "group 0"]


def test_one_task_alone_is_joint_single_and_group_at_once():
    grouping = Grouping.partition(("a",), [("a",)])
    (network,) = plan(grouping, ("a",), (0,))
    assert [arm for arm, _, _ in network.roles] == ["joint", "single", "group"]


def test_a_group_that_serves_nobody_is_not_trained():
    helper = Grouping(
        tasks=TASKS, groups=(Group(train=TASKS, serve=TASKS), Group(train=("a", "b"), serve=()))
    )
    assert ("a", "b") not in networks(helper)


def test_a_helper_is_trained_but_served_elsewhere():
    grouping = Grouping(
        tasks=TASKS, groups=(Group(train=("c", "a"), serve=("a",)), Group(train=("b", "c"), serve=("b", "c")))
    )
    found = {network.tasks: network.roles for network in plan(grouping, TASKS, (0,))}
    assert found["a", "c"] == (("group", 0, ("a",)),)
    assert found["b", "c"] == (("group", 1, ("b", "c")),)


def test_every_network_is_trained_with_every_seed():
    found = plan(Grouping.partition(TASKS, [("a", "b"), ("c",)]), TASKS, (3, 5))
    assert [network.seed for network in found] == [3] * 5 + [5] * 5


def test_groups_of_the_same_tasks_share_one_network():
    grouping = Grouping(
        tasks=TASKS,
        groups=(
            *(Group(train=("a", "b"), serve=("a",)), Group(train=("b", "a"), serve=("b",))),
            Group(train=("c",), serve=("c",)),
        ),
    )
    assert networks(grouping)["a", "b"] == ["group 0", "group 1"]
