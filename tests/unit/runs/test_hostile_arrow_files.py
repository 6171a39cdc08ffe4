import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from small_runs import described, small_run

from affinity.core.strict_json import write_atomic
from affinity.runs.library import Library
from affinity.runs.reader import Run

GOOD = {"name": "x", "axes": '["affected"]', "shape": "[3]", "unit": "", "sense": "lower", "title": ""}


def written(folder: Path, *, metadata: dict[str, str] | None = None, **columns: pa.Array) -> Run:
    """A run whose signal `x` is a file made by hand; columns replace the good ones."""
    made = {
        "step": pa.array([0, 1], pa.int64()),
        "split": pa.array(["train", "train"]),
        "values": pa.array([[1.0, 2.0, 3.0]] * 2, pa.list_(pa.float64(), 3)),
    } | columns
    folder.mkdir()
    write_atomic(folder / "run.json", described(folder).to_json())
    fields = [pa.field(name, column.type) for name, column in made.items()]
    schema = pa.schema(fields, metadata=GOOD | (metadata or {}))
    with (folder / "x.arrows").open("wb") as file, pa.ipc.new_stream(file, schema) as stream:
        stream.write_batch(pa.record_batch(list(made.values()), schema=schema))
    return Run(folder)


def test_the_good_file_is_read(tmp_path: Path):
    assert written(tmp_path / "run").signal("x").values.shape == (2, 3)


@pytest.mark.parametrize(
    "metadata",
    [
        {"shape": "[]"},
        {"shape": "[4]"},
        {"shape": "[-3]"},
        {"shape": "[-1, -3]", "axes": '["a", "b"]'},
        {"shape": "[0]"},
        {"shape": "[true]"},
        {"shape": "[3.0]"},
        {"shape": "[[3]]"},
        {"shape": '"3"'},
        {"shape": "{}", "axes": "{}"},
        {"shape": "null"},
        {"shape": "[1e999]"},
        {"shape": f"[{10**30}]"},
        {"shape": f"[{2**32}, {2**32}]", "axes": '["a", "b"]'},
        {"shape": "[" * 100_000},
        {"axes": "affected"},
        {"axes": "[]"},
        {"axes": '["a", "b"]'},
        {"axes": b"\xff\xfe"},
    ],
)
def test_a_file_with_an_absurd_shape_is_no_signal(tmp_path: Path, metadata: dict[str, str]):
    assert written(tmp_path / "run", metadata=metadata).signals == {}


@pytest.mark.parametrize(
    "columns",
    [
        {"step": pa.array([0.0, 1.0])},
        {"step": pa.array(["0", "1"])},
        {"step": pa.array([0, 1], pa.int32())},
        {"split": pa.array([0, 1])},
        {"split": pa.array(["train", "train"]).dictionary_encode()},
        {"values": pa.array([[1.0, 2.0, 3.0]] * 2)},
        {"values": pa.array([[1, 2, 3]] * 2, pa.list_(pa.int64(), 3))},
        {"values": pa.array([1.0, 2.0])},
        {"values": pa.array([[[1.0, 2.0, 3.0]]] * 2, pa.list_(pa.list_(pa.float64(), 3), 1))},
    ],
)
def test_a_file_with_columns_of_another_type_is_no_signal(tmp_path: Path, columns: dict[str, pa.Array]):
    assert written(tmp_path / "run", **columns).signals == {}


def test_a_column_that_is_there_twice_is_no_signal(tmp_path: Path):
    run = written(tmp_path / "run")
    columns = [
        pa.array([0]),
        pa.array([1]),
        pa.array(["train"]),
        pa.array([[0.0] * 3], pa.list_(pa.float64(), 3)),
    ]
    fields = [
        pa.field(name, column.type)
        for name, column in zip(("step", "step", "split", "values"), columns, strict=True)
    ]
    schema = pa.schema(fields, metadata=GOOD)
    with (run.folder / "x.arrows").open("wb") as file, pa.ipc.new_stream(file, schema) as stream:
        stream.write_batch(pa.record_batch(columns, schema=schema))
    assert Run(run.folder).signals == {}


def test_rows_without_step_split_or_values_are_left_out(tmp_path: Path):
    run = written(
        tmp_path / "run",
        step=pa.array([None, 1, 2, 3], pa.int64()),
        split=pa.array(["train", None, "train", "train"]),
        values=pa.array([[1.0] * 3, [2.0] * 3, None, [4.0, None, 4.0]], pa.list_(pa.float64(), 3)),
    )
    signal = run.signal("x")
    assert signal.steps.tolist() == [3]
    np.testing.assert_array_equal(signal.values, [[4.0, np.nan, 4.0]])


def test_a_batch_with_invalid_text_or_offsets_ends_the_file(tmp_path: Path):
    # "train" with a byte that is no UTF-8, and offsets that point far outside the text
    for number, (text, offsets) in enumerate(
        [(b"tr\xffintrain", [0, 5, 10]), (b"traintrain", [0, 2**30, 10]), (b"traintrain", [0, -5, 10])]
    ):
        buffers = [None, pa.py_buffer(np.array(offsets, np.int32).tobytes()), pa.py_buffer(text)]
        run = written(tmp_path / f"run{number}", split=pa.Array.from_buffers(pa.string(), 2, buffers))
        signal = run.signal("x")
        assert signal.steps.tolist() == []
        assert signal.truncated


def test_labels_in_metadata_are_cleaned(tmp_path: Path):
    run = written(
        tmp_path / "run", metadata={"title": "\u202eevil\x00", "axes": '["a\\nb"]', "unit": "m\x1b"}
    )
    info = run.signals["x"]
    assert (info.title, info.axes, info.unit) == ("evil", ("a b",), "m")


def test_extreme_steps_are_kept_in_order(tmp_path: Path):
    run = written(tmp_path / "run", step=pa.array([2**63 - 1, -(2**63)], pa.int64()))
    assert run.signal("x").steps.tolist() == [-(2**63), 2**63 - 1]


def test_an_empty_file_and_a_folder_of_that_name_are_no_signals(library: Library):
    run = small_run(library)
    (run.folder / "empty.arrows").touch()
    (run.folder / "folder.arrows").mkdir()
    (run.folder / "X.arrows").write_bytes(b"ARROW1")
    assert set(Run(run.folder).signals) == {"losses", "gram"}


FUZZ = """
import random, shutil, sys
from pathlib import Path
from affinity.runs.reader import Run
folder, rounds = Path(sys.argv[1]), int(sys.argv[2])
good = (folder / "losses.arrows").read_bytes()
random.seed(0)
for _ in range(rounds):
    bad = bytearray(good)
    for _ in range(random.choice((1, 1, 2, 8, 64))):
        place = random.randrange(len(bad))
        bad[place] = random.choice((0, 1, 0x7F, 0x80, 0xFF, random.randrange(256)))
    (folder / "losses.arrows").write_bytes(bytes(bad))
    run = Run(folder)
    if "losses" in run.signals:
        run.signal("losses")
"""


def fuzzed(library: Library, rounds: int) -> subprocess.CompletedProcess[str]:
    run = small_run(library, steps=9)
    command = [sys.executable, "-W", "error", "-c", FUZZ, str(run.folder), str(rounds)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_bytes_changed_at_random_never_raise_and_never_crash(library: Library):
    done = fuzzed(library, 300)
    assert (done.returncode, done.stderr[-500:]) == (0, "")


@pytest.mark.slow
def test_many_more_bytes_changed_at_random_never_raise_and_never_crash(library: Library):
    done = fuzzed(library, int(os.environ.get("FUZZ_ROUNDS", "5000")))
    assert (done.returncode, done.stderr[-500:]) == (0, "")


def test_a_description_of_a_hundred_tasks_is_read(tmp_path: Path):
    folder = tmp_path / "run"
    names = tuple(f"task {number}" for number in range(100))
    folder.mkdir()
    write_atomic(folder / "run.json", described(folder, tasks=names).to_json())
    assert Run(folder).tasks == names
    assert json.loads((folder / "run.json").read_text())["tasks"][99]["name"] == "task 99"
