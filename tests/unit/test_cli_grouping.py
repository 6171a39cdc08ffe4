"""`group` on the command line: limits, prices, what it says about evidence, and how it refuses."""

import json

import pytest

from affinity.cli import main

# A step on the row's task, onto the column's task. a and b help each other, c and d too, a and c clash.
MATRIX = {
    "tasks": ["a", "b", "c, or d", "d"],
    "matrix": [[1, 0.4, -0.5, 0.1], [0.4, 1, 0.0, 0.0], [-0.5, 0.0, 1, 0.3], [0.1, 0.0, 0.3, 1]],
}


@pytest.fixture
def matrix(tmp_path) -> str:
    path = tmp_path / "matrix.json"
    path.write_text(json.dumps(MATRIX), encoding="utf-8")
    return str(path)


def answered(capsys, *arguments: str) -> dict:
    assert main(["group", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def refused(capsys, *arguments: str) -> str:
    assert main(["group", *arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    return error


def groups(answer: dict) -> set[frozenset[str]]:
    return {frozenset(group) for group in answer["groups"]}


def test_pairs_that_help_share_a_network(matrix, capsys):
    answer = answered(capsys, matrix, "--groups", "2")
    assert groups(answer) == {frozenset({"a", "b"}), frozenset({"c, or d", "d"})}
    assert answer["mean_gain"] == pytest.approx((0.4 + 0.4 + 0.3 + 0.3) / 4)
    assert answer["gains"]["d"] == pytest.approx(0.3)
    # A matrix alone has no steps to tell an interval from.
    assert answer["low"] is None
    assert answer["optimal"]


def test_limits_are_kept(matrix, capsys):
    together = answered(capsys, matrix, "--groups", "2", "--together", "a,c, or d")
    assert any({"a", "c, or d"} <= group for group in groups(together))
    apart = answered(capsys, matrix, "--groups", "4", "--apart", "a,b", "--apart", "c, or d,d")
    assert all(not {"a", "b"} <= group and not {"c, or d", "d"} <= group for group in groups(apart))
    sized = answered(capsys, matrix, "--groups", "4", "--min-size", "2", "--max-size", "2")
    assert {len(group) for group in groups(sized)} == {2}
    alone = answered(capsys, matrix, "--groups", "4", "--min-gain", "0.35")
    assert frozenset({"d"}) in groups(alone)
    assert frozenset({"a", "b"}) in groups(alone)


def test_prices_and_objectives_are_charged(matrix, capsys):
    priced = answered(capsys, matrix, "--groups", "4", "--price", "0.05")
    assert priced["score"] == pytest.approx(0.35 - 2 * 0.05)
    one = answered(capsys, matrix, "--groups", "4", "--price", "1")
    assert len(one["groups"]) == 1
    tasks = answered(capsys, matrix, "--groups", "2", "--task-price", "0.01", "--task-price", "d=0.1")
    assert tasks["score"] == pytest.approx(0.35 - 3 * 0.01 - 0.1)
    pairs = answered(capsys, matrix, "--groups", "4", "--objective", "correlation")
    assert pairs["score"] == pytest.approx(0.8 + 0.6)
    strict = answered(capsys, matrix, "--groups", "4", "--objective", "correlation", "--threshold", "0.7")
    assert strict["score"] == pytest.approx(0.1)


def test_alone_is_said_to_be_better(tmp_path, capsys):
    path = tmp_path / "harm.csv"
    path.write_text("a,b\n1,-1\n-1,1\n", encoding="utf-8")
    assert "Alone is better" in answered(capsys, str(path), "--groups", "2")["sentence"]


def test_a_large_search_is_announced_on_stderr(tmp_path, capsys):
    names = [f"t{at}" for at in range(14)]
    rows = [[0.1 * ((i + j) % 3) for j in range(14)] for i in range(14)]
    path = tmp_path / "large.json"
    path.write_text(json.dumps({"tasks": names, "matrix": rows}), encoding="utf-8")
    assert main(["group", str(path), "--groups", "3", "--seconds", "5"]) == 0
    assert "14 tasks into at most 3 networks: up to" in capsys.readouterr().err
    assert main(["group", str(path), "--groups", "3", "--seconds", "5", "--json"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--together", "a,z"], "'z' is not one of the tasks"),
        (["--together", "a"], "fewer than two tasks"),
        (["--together", "a,a"], "fewer than two tasks"),
        (["--together", "a,b", "--apart", "a,b"], "stay together and apart at once"),
        (["--max-size", "1"], "cannot hold 4 tasks"),
        (["--min-size", "3", "--max-size", "2"], "allow no group"),
        (["--min-size", "0"], "allow no group"),
        (["--price", "-1"], "would reward empty networks"),
        (["--price", "nan"], "finite number"),
        (["--min-gain", "inf"], "finite number"),
        (["--task-price", "x"], "'x' is not a number"),
        (["--task-price", "z=1"], "'z' is not one of the tasks"),
        (["--task-price", "-1"], "price of at least 0"),
        (["--objective", "density", "--overlap"], "without overlap"),
        (["--objective", "correlation", "--min-gain", "0"], "predicts no gain"),
        (["--seconds", "0"], "finds nothing"),
        (["--seconds", "nan"], "finds nothing"),
        (["--apart", "a,b,d"], "no grouping meets the constraints"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_is_refused_in_one_line(matrix, capsys, arguments, said):
    assert said in refused(capsys, matrix, "--groups", "2", *arguments)
