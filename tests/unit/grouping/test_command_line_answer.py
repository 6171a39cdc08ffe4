"""The command line prints groupings as lists of names; the same lists are understood as a grouping file."""

import pytest

from affinity.core.errors import GroupingError, Unreadable
from affinity.grouping import read_grouping

TASKS = ("a", "b", "c")


def test_the_answer_of_the_group_command_is_a_grouping() -> None:
    found = read_grouping('{"groups": [["a", "b"], ["c"]], "score": 0.1}', "g.json", tasks=TASKS)
    assert [group.train for group in found.groups] == [("a", "b"), ("c",)]


def test_overlapping_groups_say_what_each_serves() -> None:
    text = '{"groups": [["a", "b"], ["b", "c"]], "serve": [["a", "b"], ["c"]]}'
    found = read_grouping(text, "g.json", tasks=TASKS)
    assert found.serving("b").train == ("a", "b")
    assert found.serving("c").train == ("b", "c")


@pytest.mark.parametrize(
    "text",
    [
        '{"groups": []}',
        '{"groups": {}}',
        '{"groups": [1]}',
        '{"groups": [["a", 3]]}',
        '{"groups": [["a"], ["b"]], "serve": [["a"]]}',
        '{"groups": [["a"]',
    ],
)
def test_a_malformed_answer_names_its_place(text: str) -> None:
    with pytest.raises(Unreadable, match=r"g\.json"):
        read_grouping(text, "g.json")


def test_a_task_that_no_list_holds_is_named() -> None:
    with pytest.raises(GroupingError, match="'c'"):
        read_grouping('{"groups": [["a", "b"]]}', "g.json", tasks=TASKS)
