"""Every command answers what other programs rely on, and refuses bad input in one line."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from affinity.cli import main
from affinity.runs.library import Library
from affinity.runs.reader import Run

Ask = Callable[..., Any]

TRAIN = [
    *("train", "--dataset", "planted", "--steps", "6", "--every", "2", "--device", "cpu", "--batch", "32"),
    *("--set", "dataset.groups=2", "--set", "dataset.tasks_per_group=2", "--set", "dataset.samples=240"),
    *("--set", "dataset.features=8", "--set", "model.width=8", "--set", "evaluate_every=3"),
]


@pytest.fixture
def ask(library: Library, capsys: pytest.CaptureFixture[str]) -> Ask:
    """A function that runs a command with --json and gives its answer."""

    def answer(*arguments: object) -> Any:
        capsys.readouterr()
        assert main([*map(str, arguments), "--json"]) == 0
        found = capsys.readouterr()
        assert found.err == ""

        def no_such_number(token: str) -> None:
            raise AssertionError(f"{token} is not strict JSON")

        return json.loads(found.out, parse_constant=no_such_number)

    return answer


@pytest.fixture
def refuse(library: Library, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """A function that runs a command which has to exit with 2, and gives its one line."""

    def line(*arguments: object) -> str:
        capsys.readouterr()
        try:
            code = main([*map(str, arguments)])
        except SystemExit as left:
            code = int(str(left.code))
        found = capsys.readouterr()
        assert (code, found.out) == (2, "")
        assert found.err.startswith("error: ")
        assert found.err.count("\n") == 1
        return found.err.strip()

    return line


@pytest.mark.parametrize("shelf", ["datasets", "models", "methods", "probes", "measures", "grouping"])
def test_list_shows_a_shelf(ask: Ask, shelf: str):
    rows = ask("list", shelf)[shelf]
    assert rows
    for row in rows:
        assert set(row) == {"name", "title", "source"}
        assert row["name"]
        assert row["title"]


def test_list_shows_the_runs(ask: Ask, tiny_run: Run):
    broken = tiny_run.folder.parent / "broken-run-on-purpose"
    broken.mkdir()
    rows = {row["id"]: row for row in ask("list")["runs"] if not row["sample"]}
    assert set(rows) == {tiny_run.id, broken.name}
    assert (rows[tiny_run.id]["state"], rows[tiny_run.id]["tasks"]) == ("finished", 4)
    assert "run.json" in rows[broken.name]["problem"]


def test_train_answers_the_run_and_where_it_is(ask: Ask, library: Library):
    answer = ask(
        *TRAIN, "--label", "Mine", "--optimizer", "adam", "--lr", "0.01", "--probes", "gram,losses_x"[:4]
    )
    assert answer["path"] == str(library.home / answer["run"])
    run = library.open(answer["run"])
    assert run.status.state == "finished"
    config = run.info.config
    assert (config.optimizer, config.lr, config.probes, config.steps) == ("adam", 0.01, ("gram",), 6)
    assert run.info.label == "Mine"


def test_train_makes_a_run_a_seed(ask: Ask, library: Library):
    answer = ask(*TRAIN, "--seeds", "3,5")
    assert [library.open(row["run"]).info.seed for row in answer["runs"]] == [3, 5]
    assert answer["run"] == answer["runs"][0]["run"]


def test_train_writes_to_another_home(ask: Ask, library: Library, tmp_path: Path):
    answer = ask(*TRAIN, "--home", tmp_path / "elsewhere")
    assert Path(answer["path"]).parent == tmp_path / "elsewhere"
    assert library.list() == ()
    assert ask("show", answer["run"], "--home", tmp_path / "elsewhere")["run"] == answer["run"]


def test_train_names_the_columns_of_a_table(
    ask: Ask, library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    rows = [f"{x},{x * 2 % 7},{x * 3 % 5},{(x * 5 % 11) / 3}" for x in range(80)]
    table = tmp_path / "table.csv"
    table.write_text("\n".join(["x,y,first,second", *rows]))
    columns = ("--set", "dataset.file=table.csv", "--set", "dataset.targets=first,second")
    answer = ask("train", "--dataset", "own_table", *columns, "--steps", 2, "--batch", 8, "--device", "cpu")
    run = library.open(answer["run"])
    assert run.tasks == ("first", "second")
    assert dict(run.info.config.dataset_settings)["file"] == str(table)  # found from any folder


def test_show_says_what_a_run_is(ask: Ask, tiny_run: Run):
    answer = ask("show", tiny_run.id)
    assert answer["run"] == tiny_run.id
    assert answer["tasks"] == ["a1", "a2", "b1", "b2"]
    assert (answer["steps"], answer["status"], answer["error"]) == (6, "finished", None)
    assert {"losses", "gram", "lookahead_losses"} <= set(answer["signals"])
    assert answer["overview"]


@pytest.mark.parametrize(
    "options", [[], ["--reduce", "last"], ["--reduce", "ema"], ["--from", "2", "--to", "4"]]
)
def test_matrix_answers_a_square_with_intervals(ask: Ask, tiny_run: Run, options: list[str]):
    answer = ask("matrix", tiny_run.id[:17], "--signal", "lookahead", *options)
    assert answer["tasks"] == ["a1", "a2", "b1", "b2"]
    for name in ("matrix", "low", "high", "n"):
        assert [len(row) for row in answer[name]] == [4, 4, 4, 4]
    assert answer["direction"] == "[source, affected], positive helps affected"
    assert answer["signal"] == "lookahead"


def test_group_answers_groups_of_a_run(ask: Ask, tiny_run: Run):
    answer = ask("group", tiny_run.folder, "--signal", "lookahead", "--groups", 2)
    assert {"groups", "score", "bound", "optimal", "seconds"} <= set(answer)
    assert sorted(task for group in answer["groups"] for task in group) == ["a1", "a2", "b1", "b2"]
    assert answer["optimal"] is True
    assert answer["bound"] == pytest.approx(answer["score"])


MATRIX = {"tasks": ["a", "b", "c"], "matrix": [[0, 4, -1], [2, 0, -1], [-1, -1, None]]}


@pytest.mark.parametrize("kind", ["json", "csv"])
def test_group_answers_groups_of_a_matrix_file(ask: Ask, tmp_path: Path, kind: str):
    file = tmp_path / f"matrix.{kind}"
    text = json.dumps(MATRIX) if kind == "json" else ",a,b,c\na,0,4,-1\nb,2,0,-1\nc,-1,-1,\n"
    file.write_text(text)
    answer = ask("group", file, "--groups", 2)
    # by hand: a is helped by b (2), b by a (4), c is alone and scores 0, so the mean is (2 + 4 + 0) / 3
    assert sorted(map(sorted, answer["groups"])) == [["a", "b"], ["c"]]
    assert answer["score"] == pytest.approx(2.0)


def test_rerun_answers_the_gains(ask: Ask, library: Library, tiny_run: Run, tmp_path: Path):
    from affinity.core.types import Grouping
    from affinity.grouping import write_grouping

    file = tmp_path / "grouping.json"
    file.write_text(write_grouping(Grouping.partition(tiny_run.tasks, [("a1", "a2"), ("b1", "b2")])))
    answer = ask("rerun", tiny_run.id, "--grouping", file, "--seeds", "0,1", "--steps", 3)
    assert library.open(answer["run"]).status.state == "finished"
    assert answer["path"] == str(library.home / answer["run"])
    assert answer["compare"]
    exported = json.loads(ask("export", tiny_run.id, "--grouping", file)["text"])
    assert [group["train"] for group in exported["groups"]] == [["t0", "t1"], ["t2", "t3"]]


def test_statistics_of_a_gradient_matrix(ask: Ask, tmp_path: Path):
    # C_2x3, worked by hand: g1 . g2 = -2.5, cos = -2.5 / sqrt(10 * 1.25)
    (tmp_path / "m.json").write_text('{"tasks": ["a", "b"], "matrix": [[3, 1, 0], [-1, 0.5, 0]]}')
    text = json.dumps(ask("statistics", tmp_path / "m.json"))
    assert "-0.7071067811865" in text


@pytest.mark.parametrize("kind", ["json", "csv"])
def test_an_exported_matrix_is_read_back(ask: Ask, tiny_run: Run, tmp_path: Path, kind: str):
    file = tmp_path / f"out.{kind}"
    answer = ask("export", tiny_run.id, "--matrix", "--format", kind, "--output", file)
    assert answer == {"file": str(file)}
    assert ask("group", file, "--groups", 2)["groups"] == ask("group", tiny_run.id, "--groups", 2)["groups"]


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["nonsense"],
        ["list", "nonsense"],
        ["train"],
        ["train", "--dataset", "nothing"],
        [*TRAIN, "--steps", "0"],
        [*TRAIN, "--steps", "many"],
        [*TRAIN, "--lr", "nan"],
        [*TRAIN, "--seeds", "a"],
        [*TRAIN, "--seeds", ""],
        [*TRAIN, "--seeds", "0,-1"],
        [*TRAIN, "--probes", "nothing"],
        [*TRAIN, "--model", "nothing"],
        [*TRAIN, "--method", "nothing"],
        [*TRAIN, "--optimizer", "nothing"],
        [*TRAIN, "--device", "tpu"],
        [*TRAIN, "--set", "nonsense"],
        [*TRAIN, "--set", "dataset.nonsense=1"],
        [*TRAIN, "--set", "nonsense=1"],
        [*TRAIN, "--set", "nonsense.x=1"],
        [*TRAIN, "--set", "dataset_settings=1"],
        [*TRAIN, "--set", "tasks=z"],
        [*TRAIN, "--home", "/proc/nowhere"],
        ["train", "--dataset", "own_table"],
        [
            "train",
            "--dataset",
            "own_table",
            "--set",
            "dataset.file=/nowhere.csv",
            "--set",
            "dataset.targets=a",
        ],
        *(
            [command, run]
            for command in ("show", "matrix")
            for run in ("", "nothing", "..", "x" * 5000, "\udcff")
        ),
        ["group", "nothing", "--groups", "2"],
        ["group", "nothing.json", "--groups", "2"],
        ["group", "/", "--groups", "2"],
        ["statistics", "nothing.json"],
        ["statistics", "/"],
        ["export", "nothing", "--matrix"],
        ["rerun", "nothing", "--grouping", "nothing"],
    ],
)
def test_bad_input_is_one_line_and_exit_2(refuse: Callable[..., str], arguments: list[str]):
    line = refuse(*arguments)
    assert "Traceback" not in line
    assert len(line) < 600


def test_bad_requests_of_a_good_run_are_one_line_and_exit_2(
    refuse: Callable[..., str], tiny_run: Run, tmp_path: Path
):
    bad = tmp_path / "bad.json"
    bad.write_text('{"schema": "affinity.grouping/1", "tasks": []')
    for arguments in (
        ["matrix", tiny_run.id, "--signal", "nothing"],
        ["matrix", tiny_run.id, "--from", "5", "--to", "3"],
        ["matrix", tiny_run.id, "--from", "many"],
        ["matrix", tiny_run.id, "--split", "validation"],
        ["matrix", tiny_run.id, "--reduce", "sum"],
        ["group", tiny_run.id, "--groups", "0"],
        ["group", tiny_run.id, "--groups", "-1"],
        ["group", tiny_run.id, "--groups", "x"],
        ["group", tiny_run.id],
        ["group", tiny_run.id, "--groups", "2", "--algorithm", "nothing"],
        ["rerun", tiny_run.id, "--grouping", bad],
        ["rerun", tiny_run.id, "--grouping", tmp_path],
        ["rerun", tiny_run.id, "--grouping", "/nowhere"],
        ["export", tiny_run.id],
        ["export", tiny_run.id, "--matrix", "--grouping", bad],
        ["export", tiny_run.id, "--grouping", bad],
        ["export", tiny_run.id, "--matrix", "--output", tmp_path],
        ["export", tiny_run.id, "--matrix", "--output", tmp_path / "none" / "x.json"],
    ):
        refuse(*arguments)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        '{"tasks": ["a"]}',
        '{"tasks": ["a", "b"], "matrix": [[1, 2], [3]]}',
        '{"tasks": ["a"], "matrix": [[1, 2], [3, 4]]}',
        '{"tasks": [], "matrix": []}',
        '{"tasks": ["a", "b"], "matrix": [["x", 2], [3, 4]]}',
        '{"tasks": "ab", "matrix": [[1, 2], [3, 4]]}',
        '{"tasks": ["a"], "matrix": 5}',
        '{"tasks": ["a", "b"], "matrix": [[[1], 2], [3, 4]]}',
        "[" * 100_000,
        "\x80binary",
    ],
)
def test_a_bad_matrix_file_is_one_line_and_exit_2(refuse: Callable[..., str], tmp_path: Path, content: str):
    file = tmp_path / "matrix.json"
    file.write_bytes(content.encode("latin-1"))
    assert "matrix.json" in refuse("group", file, "--groups", 2)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{}",
        '{"matrix": 5}',
        '{"matrix": [[1], [2, 3]]}',
        '{"matrix": [["x"]]}',
        '{"matrix": []}',
        '{"matrix": [1]}',
        '{"matrix": [[[1]]]}',
        '{"matrix": {"a": 1}}',
        '{"tasks": ["a"], "matrix": [[1], [2]]}',
        '{"tasks": 5, "matrix": [[1]]}',
    ],
)
def test_a_bad_gradient_matrix_is_one_line_and_exit_2(
    refuse: Callable[..., str], tmp_path: Path, content: str
):
    file = tmp_path / "gradients.json"
    file.write_text(content)
    refuse("statistics", file)


def test_every_command_has_a_text_for_people(
    library: Library, tiny_run: Run, capsys: pytest.CaptureFixture[str]
):
    for arguments in (
        ["list"],
        ["list", "measures"],
        ["show"],
        ["matrix"],
        ["group", "--groups", "2"],
        ["export", "--matrix"],
    ):
        name, *more = arguments
        run = [] if name == "list" else [tiny_run.id]
        assert main([name, *run, *more]) == 0
        assert len(capsys.readouterr().out) > 20


def module(*arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "affinity", *arguments]
    return subprocess.run(
        command, capture_output=True, check=False, env={**os.environ, **environment}, timeout=120
    )


def test_the_module_is_the_command_and_speaks_utf8_in_any_terminal(library: Library):
    done = module("list", "measures", "--json", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout.decode("utf-8"))["measures"]
    refused = module("show", "nothing", PYTHONIOENCODING="ascii")
    assert (refused.returncode, refused.stdout) == (2, b"")
    assert refused.stderr.count(b"\n") == 1


def test_a_reader_that_leaves_early_is_no_error(library: Library):
    with subprocess.Popen(
        [sys.executable, "-m", "affinity", "list", "measures"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0
