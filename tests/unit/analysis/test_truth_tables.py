"""Tables of measured networks: every published form is read alike, the rest is refused with its place."""

import numpy as np
import pytest

from affinity.analysis.truth_table import read_truth_table
from affinity.core.errors import AffinityError, NeedsAnswer, Unreadable

BY_TASK = "a,b,c\n.2,,\n,.4,\n,,.5\n.1,.5,\n.3,,.4\n,.3,.6\n.1,.4,.5\n"
BY_MASK = (
    "mask,loss_task1,loss_task2,loss_task3\n100,.2,,\n010,,.4,\n001,,,.5\n110,.1,.5,\n101,.3,,.4\n"
    "011,,.3,.6\n111,.1,.4,.5\n"
)
AS_JSON = (
    '{"sense": "lower", "groups": [{"scores": {"a": 0.2}}, {"scores": {"b": 0.4}}, {"scores": {"c": 0.5}},'
    '{"scores": {"a": 0.1, "b": 0.5}}, {"scores": {"a": 0.3, "c": 0.4}}, {"scores": {"b": 0.3, "c": 0.6}},'
    '{"scores": {"a": 0.1, "b": 0.4, "c": 0.5}}]}'
)
NAMED = (
    "group,a,b,c,cost\na,.2,9,9,1\nb,9,.4,9,1\nc,9,9,.5,1\na|b,.1,.5,9,1\nc|a,.3,9,.4,1\nb|c,9,.3,.6,1\n"
    "a|b|c,.1,.4,.5,1\n"
)
NUMBERS = ".2 9 9\n9 .4 9\n9 9 .5\n.1 .5 9\n.3 9 .4\n9 .3 .6\n.1 .4 .5\n"
MASKS = "1,0,0\n0,1,0\n0,0,1\n1,1,0\n1,0,1\n0,1,1\n1,1,1\n"


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (BY_TASK, {"sense": "lower"}),
        (BY_MASK, {}),
        (AS_JSON, {}),
        (NAMED, {"sense": "lower"}),
        (NUMBERS, {"masks": MASKS, "sense": "lower"}),
        ("\ufeff# a comment\n" + BY_TASK, {"sense": "lower"}),
    ],
    ids=["by task", "by mask", "json", "named groups", "masks apart", "comment and byte order mark"],
)
def test_every_form_says_the_same(text, options):
    table = read_truth_table(text, "t.csv", **options)
    assert table.truth.groups == ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2))
    nan = np.nan
    np.testing.assert_allclose(
        -table.truth.scores,
        [[0.2, nan, nan], [nan, 0.4, nan], [nan, nan, 0.5], [0.1, 0.5, nan], [0.3, nan, 0.4], [nan, 0.3, 0.6],
         [0.1, 0.4, 0.5]],
    )  # fmt: skip
    np.testing.assert_array_equal(table.truth.costs, 1.0)
    assert table.lower_is_better


def test_the_text_of_standley_starts_with_half_size_networks():
    table = read_truth_table("1\t2\n.9\t\n\t1.8\n.8\t2.1\n", "results.txt")
    assert table.truth.groups == ((0,), (1,), (0,), (1,), (0, 1))
    np.testing.assert_array_equal(table.truth.costs, [0.5, 0.5, 1, 1, 1])
    np.testing.assert_array_equal(-table.truth.scores[4], [0.8, 2.1])
    assert table.lower_is_better


def test_validation_chooses_test_judges_and_the_rest_predicts():
    head = "mask,val_t1,val_t2,test_t1,test_t2,hoa_t1,hoa_t2\n"
    text = f"{head}10,0,0,0,0,0,0\n01,0,0,0,0,0,0\n11,.1,.2,.3,.4,.5,.6\n"
    table = read_truth_table(text, "t.csv")
    np.testing.assert_array_equal(table.choice.scores[2], [0.1, 0.2])
    np.testing.assert_array_equal(table.truth.scores[2], [0.3, 0.4])
    np.testing.assert_array_equal(table.predictions["hoa"].scores[2], [0.5, 0.6])
    assert table.holds_gains
    assert not table.lower_is_better


def test_a_second_file_judges():
    table = read_truth_table(BY_TASK, "t.csv", sense="lower", test=BY_TASK.replace(".1,.4,.5", ".9,.9,.9"))
    np.testing.assert_array_equal(-table.truth.scores[6], [0.9, 0.9, 0.9])
    np.testing.assert_array_equal(-table.choice.scores[6], [0.1, 0.4, 0.5])
    with pytest.raises(Unreadable, match="other networks"):
        read_truth_table(BY_TASK, "t.csv", sense="lower", test="a,b,c\n.1,.2,.3\n")


def test_settings_are_parts_and_their_test_rows_judge():
    head = "setting,split,cost_snt,mask,loss_task1,loss_task2\n"
    rows = "".join(
        f"{setting},{split},1,{mask},{first},{second}\n"
        for setting, split, shift in (("1", "val", 0), ("1", "test", 1), ("3", "val", 2))
        for mask, first, second in (
            ("10", 1 + shift, ""),
            ("01", "", 2 + shift),
            ("11", 3 + shift, 4 + shift),
        )
    )
    table = read_truth_table(head + rows, "t.csv")
    assert (table.name, table.others) == ("1", ("1", "3"))
    np.testing.assert_array_equal(-table.choice.scores[2], [3, 4])
    np.testing.assert_array_equal(-table.truth.scores[2], [4, 5])
    np.testing.assert_array_equal(-read_truth_table(head + rows, "t.csv", part="3").truth.scores[2], [5, 6])
    with pytest.raises(Unreadable, match="no part '2'"):
        read_truth_table(head + rows, "t.csv", part="2")


def test_a_table_that_does_not_say_its_sense_is_a_question():
    with pytest.raises(NeedsAnswer, match="lower or a higher"):
        read_truth_table(BY_TASK, "t.csv")
    assert not read_truth_table(BY_TASK, "t.csv", sense="higher").lower_is_better


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        ("# only a comment\n", "empty"),
        ("a,b\n", "expected a header"),
        ("1,2\n3,4\n", "expected a header"),
        ("a,b\n1,2,3\n", "line 2: 3 cells under 2 headings"),
        ("a,b\n1,2\n,\n", "line 3: a network without any score"),
        ("a,b\n1,x\n", "line 2: 'x' is not a finite number"),
        ("a,b\n1,inf\n", "line 2: 'inf' is not a finite number"),
        ("a,b\n1e101,1\n", "line 2: 1e+101 is beyond 1e+100"),
        ("a,a\n1,2\n", "two columns are called 'a'"),
        ("a,cost\n1,0\n", "line 2: a cost of 0"),
        ("a,cost\n1,-1\n", "line 2: a cost of -1"),
        ("group,a\nb,1\n", "line 2: 'b' is not one of the columns"),
        ("group,a,b\na|b,1,\n", "line 2: 'b' is trained but has no number"),
        ("group,a\na|a,1\n", "line 2: a network has to name each of its tasks once"),
        ("mask,gain_t1,gain_t2\n12,1,2\n", "line 2: '12' is not a mask"),
        ("mask,gain_t1,gain_t2\n00,1,2\n", "line 2: '00' is not a mask"),
        ("mask,gain_t1,gain_t2\n111,1,2\n", "line 2: '111' is not a mask"),
        ("mask,gain_t1,gain_t2\n11,1,\n", "line 2: 'task 2' is trained but has no number"),
        ("mask,other\n11,1\n", "no column such as gain_t1"),
        ("mask,hoa_t1\n1,1\n", "no column holds measured scores"),
        ('"a\nb",c\n1,2\n', "runs over several lines"),
        ("1\t\n2\t3\n", "line 1: expected the losses of the half-size networks"),
        ('{"groups": 3}', "expected a list"),
        ('{"groups": []}', "expected a list"),
        ('{"groups": [{"scores": {}}]}', "group 1: expected"),
        ('{"groups": [{"scores": {"a": null}}]}', "group 1: a network without any score"),
        ('{"groups": [{"scores": {"a": true}}]}', "group 1: 'True' is not a finite number"),
        ('{"sense": "up", "groups": [{"scores": {"a": 1}}]}', "'up' is no sense"),
        ('{"groups": [', "not valid JSON"),
        ('{"tasks": ["a"], "matrix": [[1]]}', "expected a list"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_with_its_place(text, said):
    with pytest.raises(AffinityError) as caught:
        read_truth_table(text, "t.csv", sense="higher")
    assert said in str(caught.value)
    assert str(caught.value).startswith("t.csv")


def test_hostile_names_lose_their_control_characters():
    table = read_truth_table("<b>x</b>,a\u202eb\n1,\n,2\n3,4\n", "t.csv", sense="higher")
    assert table.tasks == ("<b>x</b>", "ab")


def test_too_many_networks_are_refused():
    with pytest.raises(Unreadable, match="10,000 networks"):
        read_truth_table("a\n" + "1\n" * 10_001, "t.csv", sense="higher")
