"""The grouping file: exact round trip, the lists other people write, and hostile text."""

import json
from dataclasses import replace
from importlib import resources

import jsonschema
import numpy as np
import pytest

from affinity.core.errors import AffinityError, GroupingError, RunTooNew, Unreadable
from affinity.core.grouping import GroupingProblem
from affinity.core.types import Group, Grouping
from affinity.grouping import read_grouping, solve, to_grouping, write_grouping

NAMES = ("depth", "normals ü", "<b>edges</b>", "=1+1")


def full_grouping() -> Grouping:
    problem = GroupingProblem(affinity=np.random.default_rng(0).normal(size=(4, 4)), groups=2, overlap=True)
    grouping = to_grouping(
        solve(problem),
        NAMES,
        problem=problem,
        algorithm="exact",
        signal="proximal",
        reduce="mean",
        seconds=0.1 + 0.2,
        stability=np.array([[1.0, 1 / 3, 0, np.nan]] * 4),
        label="first try",
        provenance={
            "run": "run-20260101-abc",
            "config_hash": "0123456789ab",
            "created": "2026-01-02T03:04:05Z",
            "version numpy": "2.4.6",
        },
    )
    return replace(grouping, notes=("Pairs are enough.",))


def fields(grouping: Grouping) -> dict:
    found = {name: getattr(grouping, name) for name in Grouping.__dataclass_fields__ if name != "stability"}
    return {**found, "provenance": dict(grouping.provenance)}


def test_round_trip_is_exact():
    grouping = full_grouping()
    again = read_grouping(write_grouping(grouping), "file")
    assert fields(again) == fields(grouping)
    np.testing.assert_array_equal(again.stability, grouping.stability)
    assert write_grouping(again) == write_grouping(grouping)


def test_a_grouping_by_hand_makes_the_round_trip_too():
    grouping = Grouping.partition(("a", "b"), (("b",), ("a",)))
    assert fields(read_grouping(write_grouping(grouping), "file")) == fields(grouping)


def test_file_is_strict_json_and_fits_the_shipped_schema():
    text = write_grouping(full_grouping())
    content = json.loads(text, parse_constant=lambda token: pytest.fail(f"{token} in strict JSON"))
    schema = json.loads(
        resources.files("affinity.grouping").joinpath("_grouping.schema.json").read_text("utf-8")
    )
    jsonschema.validate(content, schema)


def test_paths_and_host_names_do_not_leave_the_machine():
    grouping = Grouping.partition(
        ("a",), (("a",),), provenance={"run": "/home/ann/runs/x", "host": "box.local", "created": "ann@box"}
    )
    text = write_grouping(grouping)
    assert "ann" not in text
    assert "box" not in text


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("a,b|c", [("a", "b"), ("c",)]),
        (" a , b |c ", [("a", "b"), ("c",)]),
        ("{'a': 0, 'b': 0, 'c': 1}", [("a", "b"), ("c",)]),
        ("{'first': ['a', 'b'], 'second': ('c',)}", [("a", "b"), ("c",)]),
        ('"{""a"": 0, ""b"": 0, ""c"": 1}"', [("a", "b"), ("c",)]),
        ("[['a', 'b'], ['c']]", [("a", "b"), ("c",)]),
        ("('a', 'b', 'c')", [("a", "b", "c")]),
    ],
)
def test_lists_from_papers_and_tables_are_understood(text, groups):
    assert [group.train for group in read_grouping(text, "cell").groups] == groups


def test_letters_stand_for_groups_or_for_tasks():
    tasks = ("semantic", "depth", "normals")
    assert [g.train for g in read_grouping("AAB", "cell", tasks=tasks).groups] == [
        ("semantic", "depth"),
        ("normals",),
    ]
    assert [g.train for g in read_grouping("sd|n", "cell", tasks=tasks).groups] == [
        ("semantic", "depth"),
        ("normals",),
    ]


def test_a_task_in_two_groups_is_served_by_the_first():
    groups = read_grouping("a,b|b,c", "cell").groups
    assert groups == (Group(train=("a", "b"), serve=("a", "b")), Group(train=("b", "c"), serve=("c",)))


def changed(**changes: object) -> str:
    content = json.loads(write_grouping(full_grouping()))
    return json.dumps({**content, **changes})


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (changed(tasks="x"), "tasks"),
        (changed(tasks=[{"id": "t0", "name": "a"}] * 2), "tasks"),
        (changed(tasks=[{"id": f"t{i}", "name": "a"} for i in range(501)]), "tasks"),
        (changed(tasks=[{"id": "t0", "name": "x" * 9999}]), "name"),
        (changed(groups=[{"train": ["t0"], "serve": [7]}]), "serve"),
        (changed(groups=[[]]), "groups"),
        (changed(groups=[{"train": ["t99"], "serve": []}]), "train"),
        (changed(groups=[{"train": ["t0"], "serve": ["t0"]}]), "served by no group"),
        (changed(groups=[{"train": ["t0", "t0"], "serve": []}]), "groups[0]"),
        (changed(score="high"), "score"),
        (changed(score=True), "score"),
        (changed(score=10**400), "score"),
        (changed(optimal=1), "optimal"),
        (changed(label=None), "label"),
        (changed(stability=[[1.0]]), "stability"),
        (changed(stability=[[2.0] * 4] * 4), "stability"),
        (changed(stability=[["1"] * 4] * 4), "stability"),
        (changed(direction="[affected, source]"), "direction"),
        (changed(schema="other/1"), "schema"),
        ('{"schema": "affinity.grouping/1", ' + "[" * 100000, "file"),
        ("{" + '"a":{' * 100 + '"schema":1' + "}" * 101, "file"),
        ("", "empty"),
        ("a,,b", "empty"),
        ("[" * 100000, "nested"),
        ("{'a': __import__('os')}", "plain"),
        ("{'a': [1, 2], 'b': 3}", "expected"),
        ("[['a', 1.5]]", "task names"),
        ("{[]: 1}", "plain"),
        ("x" * 300_000, "limit"),
        (",".join(f"t{i}" for i in range(600)), "more than 500"),
        ("[9" + "9" * 5000 + "]", "file"),
    ],
)
def test_hostile_text_is_refused_with_a_place(text, where):
    with pytest.raises((Unreadable, GroupingError)) as caught:
        read_grouping(text, "file")
    assert where in str(caught.value)
    assert str(caught.value).startswith("file")


def test_a_later_version_is_named_as_such():
    with pytest.raises(RunTooNew, match="grouping/2"):
        read_grouping(changed(schema="affinity.grouping/2"), "file")


def test_not_a_number_in_a_file_reads_as_missing():
    text = write_grouping(full_grouping()).replace('"seconds": 0.30000000000000004', '"seconds": NaN')
    assert read_grouping(text, "file").seconds is None


def test_a_file_for_other_tasks_is_refused():
    with pytest.raises(AffinityError, match="not in both"):
        read_grouping(write_grouping(full_grouping()), "file", tasks=("a", "b"))
    with pytest.raises(AffinityError, match="'z' is not a task"):
        read_grouping("a|z", "cell", tasks=("a", "b"))


def test_odd_names_are_cleaned_and_kept_apart():
    grouping = read_grouping("{'a\\x00': 0, 'a': 1}", "cell")
    assert grouping.tasks == ("a", "a (2)")
