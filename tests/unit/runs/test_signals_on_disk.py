import shutil
import time
from pathlib import Path

import numpy as np
import pytest
from small_runs import described, losses_at, small_run

from affinity.core.errors import AffinityError, NotRecorded, RunBusy, RunNotFound
from affinity.runs import writer as writing
from affinity.runs.library import Library
from affinity.runs.reader import Run
from affinity.runs.writer import RunWriter


def test_what_is_appended_is_read_back(library: Library):
    run = small_run(library)
    signal = run.signal("losses")
    np.testing.assert_array_equal(signal.steps, [0, 1, 2, 3, 4])
    np.testing.assert_array_equal(signal.values, [losses_at(step) for step in range(5)])
    assert (signal.axes, signal.sense, signal.truncated) == (("affected",), "lower", False)


def test_missing_values_stay_missing(tmp_path: Path):
    with RunWriter(tmp_path / "run") as writer:
        writer.describe(described(tmp_path / "run"))
        writer.append("losses", 0, np.array([np.nan, np.inf, -1e-308]), axes=("affected",))
    values = Run(tmp_path / "run").signal("losses").values
    np.testing.assert_array_equal(values, [[np.nan, np.inf, -1e-308]])


def test_a_number_a_step_and_a_layer_axis_keep_their_shapes(tmp_path: Path):
    layers = np.arange(18.0).reshape(2, 3, 3)
    with RunWriter(tmp_path / "run") as writer:
        writer.describe(described(tmp_path / "run"))
        writer.append("learning_rate", 0, np.array(0.5), axes=())
        writer.append("layer_gram", 7, layers, axes=("layer", "source", "affected"), unit="1")
    run = Run(tmp_path / "run")
    assert run.signal("learning_rate").values.tolist() == [0.5]
    np.testing.assert_array_equal(run.signal("layer_gram").values, layers[None])
    assert run.signals["layer_gram"].shape == (2, 3, 3)


def test_a_range_of_steps_includes_both_ends(library: Library):
    run = small_run(library)
    assert run.signal("losses", first=1, last=3).steps.tolist() == [1, 2, 3]
    assert run.signal("gram", first=3).steps.tolist() == [4]
    assert run.signal("gram", first=5).values.shape == (0, 3, 3)


def test_two_splits_share_a_file_and_are_read_apart(tmp_path: Path):
    with RunWriter(tmp_path / "run") as writer:
        writer.describe(described(tmp_path / "run"))
        for step in range(3):
            for split, sign in (("train", 1), ("validation", -1)):
                writer.append("losses", step, sign * losses_at(step), axes=("affected",), split=split)
    run = Run(tmp_path / "run")
    assert run.signal("losses").values[:, 0].tolist() == [0, 1, 2]
    assert run.signal("losses", split="validation").values[:, 0].tolist() == [0, -1, -2]


def test_an_unknown_signal_says_what_was_recorded(library: Library):
    with pytest.raises(NotRecorded, match=r"'hessian' was not recorded\. Recorded: gram, losses\."):
        small_run(library).signal("hessian")


@pytest.mark.parametrize("name", ["", "A", "1a", "a b", "../a", "a/b", "a.b", "a" * 61, "ä"])
def test_a_signal_name_that_could_be_a_path_is_refused(tmp_path: Path, name: str):
    with RunWriter(tmp_path / "run") as writer, pytest.raises(AffinityError, match="cannot name a signal"):
        writer.append(name, 0, np.zeros(3), axes=("affected",))


def test_a_signal_keeps_its_shape_and_names_its_axes(tmp_path: Path):
    with RunWriter(tmp_path / "run") as writer:
        writer.append("x", 0, np.zeros(3), axes=("affected",))
        with pytest.raises(AffinityError, match=r"changed its shape from \(3,\) to \(4,\) at step 1"):
            writer.append("x", 1, np.zeros(4), axes=("affected",))
        with pytest.raises(AffinityError, match="2 axes but 1 axis names"):
            writer.append("y", 0, np.zeros((3, 3)), axes=("affected",))
        with pytest.raises(AffinityError, match="no values"):
            writer.append("z", 0, np.zeros((0, 3)), axes=("source", "affected"))


def test_a_row_is_copied_when_it_is_appended(tmp_path: Path):
    values = np.ones(3)
    with RunWriter(tmp_path / "run") as writer:
        writer.describe(described(tmp_path / "run"))
        writer.append("x", 0, values, axes=("affected",))
        values[:] = 9
    assert Run(tmp_path / "run").signal("x").values.tolist() == [[1, 1, 1]]


def test_rows_reach_the_disk_while_the_writer_is_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(writing, "FLUSH_SECONDS", 0.0)
    with RunWriter(tmp_path / "run") as writer:
        writer.describe(described(tmp_path / "run"))
        writer.append("x", 0, np.zeros(3), axes=("affected",))
        time.sleep(0.01)
        writer.append("x", 1, np.zeros(3), axes=("affected",))
        assert Run(tmp_path / "run").signal("x").steps.tolist() == [0, 1]


def test_a_second_writer_is_refused_and_the_run_is_free_afterwards(tmp_path: Path):
    with RunWriter(tmp_path / "run"), pytest.raises(RunBusy, match="another process"):
        RunWriter(tmp_path / "run")
    RunWriter(tmp_path / "run").close()


def test_a_resumed_run_goes_on_in_new_segments_and_the_later_write_wins(tmp_path: Path):
    folder = tmp_path / "run"
    for first, last, shift in ((0, 5, 0.0), (3, 8, 100.0), (7, 9, 200.0)):
        with RunWriter(folder) as writer:
            writer.describe(described(folder))
            for step in range(first, last):
                writer.append("x", step, np.array([step + shift]), axes=("affected",))
    assert sorted(path.name for path in folder.glob("*.arrows")) == ["x.2.arrows", "x.3.arrows", "x.arrows"]
    signal = Run(folder).signal("x")
    assert signal.steps.tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 8]
    assert signal.values[:, 0].tolist() == [0, 1, 2, 103, 104, 105, 106, 207, 208]


def test_the_tenth_segment_comes_after_the_second(tmp_path: Path):
    folder = tmp_path / "run"
    for turn in range(12):
        with RunWriter(folder) as writer:
            writer.describe(described(folder))
            writer.append("x", 0, np.array([float(turn)]), axes=("affected",))
    assert Run(folder).signal("x").values.tolist() == [[11.0]]


def test_a_stream_cut_at_any_byte_keeps_every_whole_batch(tmp_path: Path):
    folder = tmp_path / "run"
    ends = []
    with RunWriter(folder) as writer:
        writer.describe(described(folder))
        for step in range(3):
            writer.append("x", step, losses_at(step), axes=("affected",))
            writer.flush()
            ends.append((folder / "x.arrows").stat().st_size)
    whole = (folder / "x.arrows").read_bytes()
    for length in range(len(whole)):
        (folder / "x.arrows").write_bytes(whole[:length])
        run = Run(folder)
        kept = sum(end <= length for end in ends)
        if "x" not in run.signals:
            assert kept == 0
            continue
        signal = run.signal("x")
        assert signal.steps.tolist() == list(range(kept))
        np.testing.assert_array_equal(
            signal.values, [losses_at(step) for step in range(kept)] or np.empty((0, 3))
        )
        schema_end = 2 * ends[0] - ends[1]
        assert signal.truncated == (length not in (schema_end, *ends))


def test_segments_after_a_broken_one_are_still_read(tmp_path: Path):
    folder = tmp_path / "run"
    for start in (0, 2):
        with RunWriter(folder) as writer:
            writer.describe(described(folder))
            for step in range(start, start + 2):
                writer.append("x", step, losses_at(step), axes=("affected",))
                writer.flush()
    first = (folder / "x.arrows").read_bytes()
    (folder / "x.arrows").write_bytes(first[:-100])
    signal = Run(folder).signal("x")
    assert signal.truncated
    assert signal.steps.tolist() == [0, 2, 3]
    (folder / "x.arrows").write_bytes(b"not arrow at all")
    assert Run(folder).signal("x").steps.tolist() == [2, 3]


def test_a_full_disk_costs_only_the_rows_that_did_not_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = tmp_path / "run"
    with RunWriter(folder) as writer:
        writer.describe(described(folder))
        writer.append("x", 0, losses_at(0), axes=("affected",))
        writer.flush()
        half_a_batch = writer._streams["x"]
        monkeypatch.setattr(type(half_a_batch), "flush", lambda stream: _half(stream))
        writer.append("x", 1, losses_at(1), axes=("affected",))
        with pytest.raises(OSError, match="No space"):
            writer.flush()
        monkeypatch.undo()
        writer.append("x", 2, losses_at(2), axes=("affected",))
    signal = Run(folder).signal("x")
    assert signal.steps.tolist() == [0, 2]
    assert signal.truncated
    RunWriter(folder).close()


def _half(stream) -> None:
    stream.file.write(b"\xff\xff\xff\xff\x90\x00\x00\x00")
    stream.file.flush()
    raise OSError(28, "No space left on device")


def test_a_failing_close_lets_the_run_go_and_tells_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    writer = RunWriter(tmp_path / "run")
    writer.append("x", 0, losses_at(0), axes=("affected",))
    monkeypatch.setattr(type(writer._streams["x"]), "flush", lambda stream: _half(stream))
    with pytest.raises(OSError, match="No space"):
        writer.close()
    RunWriter(tmp_path / "run").close()


def test_the_revision_changes_with_every_change_and_only_then(library: Library):
    run = small_run(library)
    seen = [run.revision]
    assert run.revision == seen[0]
    for label in ("bb", "cc", "dd"):  # of one length, within one tick of the clock
        library.rename(run.id, label)
        seen.append(run.revision)
    with RunWriter(run.folder) as writer:
        writer.append("losses", 9, losses_at(9), axes=("affected",))
        writer.flush()
        seen.append(run.revision)
        writer.add_training({"arm": "joint"})
        seen.append(run.revision)
    assert len(set(seen)) == len(seen)


def test_a_run_that_is_deleted_while_it_is_open_says_so(library: Library):
    run = small_run(library)
    shutil.rmtree(run.folder)
    with pytest.raises(RunNotFound, match="was deleted"):
        _ = run.revision
    with pytest.raises(RunNotFound, match="was deleted"):
        _ = run.signals


def test_a_link_in_the_folder_is_not_followed(library: Library, tmp_path: Path):
    run = small_run(library)
    (run.folder / "gram.arrows").rename(tmp_path / "elsewhere.arrows")
    (run.folder / "gram.arrows").symlink_to(tmp_path / "elsewhere.arrows")
    assert "gram" not in Run(run.folder).signals


def test_trainings_are_read_line_by_line_and_a_broken_line_is_left_out(library: Library):
    run = small_run(library)
    with RunWriter(run.folder) as writer:
        writer.add_training({"arm": "joint", "loss": float("nan")})
        with (run.folder / "trainings.jsonl").open("a") as stream:
            stream.write('{"arm": "sin')  # a full disk
        writer.add_training({"arm": "group"})
        with (run.folder / "trainings.jsonl").open("a") as stream:
            stream.write('[1]\n{"deep": ' + "[" * 100 + "]" * 100 + '}\n{"arm": "cut')
    assert run.trainings() == ({"arm": "joint", "loss": None}, {"arm": "group"})


def test_a_run_without_trainings_has_none(library: Library):
    assert small_run(library).trainings() == ()


@pytest.mark.slow
def test_a_single_step_of_a_large_run_is_read_in_little_time(tmp_path: Path):
    folder = tmp_path / "run"
    matrix = np.random.default_rng(0).normal(size=(100, 100))
    with RunWriter(folder) as writer:
        writer.describe(described(folder, tasks=tuple(f"t{number}" for number in range(100))))
        for step in range(2000):
            writer.append("gram", step, matrix, axes=("source", "affected"))
    run = Run(folder)
    started = time.perf_counter()
    assert run.signal("gram", first=1500, last=1500).values.shape == (1, 100, 100)
    assert time.perf_counter() - started < 0.5
