import csv
import json
from pathlib import Path

import numpy as np
import pytest

from affinity.analysis.affinity import affinity_view
from affinity.analysis.compare_runs import compare_runs
from affinity.analysis.conflicts import conflicts_view
from affinity.analysis.groups import groups_view, suggest
from affinity.core.types import AffinityMatrix
from affinity.export._csv import csv_text, safe_text
from affinity.export.comparisons import predicted_gains_csv, runs_csv
from affinity.export.matrices import matrix_csv, matrix_json, matrix_json_text, pairs_csv
from affinity.export.statistics import conflict_pairs_csv, conflict_steps_csv
from affinity.runs.reader import Run
from tests.unit.analysis.run_folders import planted_run

NAN = float("nan")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return planted_run(tmp_path / "planted-run")


def table(text: str) -> list[list[str]]:
    return list(csv.reader(line for line in text.splitlines() if not line.startswith("#")))


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\tx", "  =1", "\u00a0=1"])
def test_text_that_looks_like_a_formula_gets_an_apostrophe(text: str) -> None:
    assert safe_text(text) == f"'{text}"


@pytest.mark.parametrize("text", ["depth", "a=b", "1", "", "'=1", "漢字"])
def test_other_text_stays_as_it_is(text: str) -> None:
    assert safe_text(text) == text


def test_negative_numbers_stay_numbers_and_missing_ones_are_empty() -> None:
    text = csv_text(["name", "value"], [["=x", -0.5], ["y", NAN], ["z", None], ["w", float("inf")], ["v", 3]])
    assert text == "name,value\n'=x,-0.5\ny,\nz,\nw,\nv,3\n"


def test_a_note_cannot_break_out_of_its_comment_line() -> None:
    assert csv_text(["a"], [], notes=["one\n=2"]) == "# one =2\na\n"


def test_matrix_json_is_strict_and_states_the_direction() -> None:
    matrix = AffinityMatrix(tasks=("a", "=b"), values=np.array([[1.0, NAN], [-0.5, 0.0]]), span=(0, 9))
    content = json.loads(matrix_json_text(matrix), parse_constant=lambda token: pytest.fail(token))
    assert content["tasks"] == ["a", "=b"]
    assert content["matrix"] == [[1.0, None], [-0.5, 0.0]]
    assert content["direction"] == "[source, affected], positive helps affected"
    assert content["low"] is None
    assert content["span"] == [0, 9]


def test_matrix_json_carries_intervals_and_counts(run: Run) -> None:
    content = matrix_json(affinity_view(run, "lookahead").matrix)
    assert content["n"] == [[40] * 4] * 4
    assert np.array(content["low"]).shape == (4, 4)


def test_matrix_csv_has_sources_as_rows_under_a_line_with_the_direction() -> None:
    matrix = AffinityMatrix(tasks=("a", "=b"), values=np.array([[1.0, 0.25], [NAN, 0.0]]))
    text = matrix_csv(matrix)
    assert text.startswith(
        "# matrix, mean over steps. Direction: [source, affected], positive helps affected.\n"
    )
    assert table(text)[1:] == [["a", "1.0", "0.25"], ["'=b", "", "0.0"]]


def test_pairs_are_listed_in_the_order_of_the_view(run: Run) -> None:
    view = affinity_view(run, "lookahead")
    rows = table(pairs_csv(view))
    assert rows[0][:3] == ["source", "affected", "value"]
    assert len(rows) == 13
    assert float(rows[1][2]) == view.rows[0].value


def test_conflicts_are_exported_by_pair_and_by_step(run: Run) -> None:
    view = conflicts_view(run)
    assert len(table(conflict_pairs_csv(view))) == 7
    steps = table(conflict_steps_csv(view))
    assert len(steps) == 41
    assert float(steps[1][1]) == view.conflict_fraction[0]


def test_predicted_gains_name_the_network_and_the_mates(run: Run) -> None:
    view = affinity_view(run, "lookahead")
    rows = table(predicted_gains_csv(groups_view(view.matrix, suggest(run, 2))))
    assert rows[1][0] == "task 0"
    assert rows[1][-1] == "task 2"


def test_tasks_that_a_run_lacks_are_said_and_not_left_empty(tmp_path: Path) -> None:
    runs = [planted_run(tmp_path / f"planted-{count}", tasks=count) for count in (2, 3)]
    rows = table(runs_csv(compare_runs(runs)))
    assert rows[3][0] == "task 2"
    assert rows[3][1] == "not in this run"
