from pathlib import Path

import pytest
from small_runs import described, small_run

from affinity.core.errors import RunBusy, RunDamaged, RunError, RunNotFound, RunTooNew
from affinity.core.strict_json import dumps, read_object, write_atomic
from affinity.runs.format import ID_PATTERN, RunInfo, new_id
from affinity.runs.library import Library, default_home, open_run


def test_ids_are_fresh_allowed_and_sort_by_age():
    ids = [new_id() for _ in range(50)]
    assert len(set(ids)) == 50
    assert all(ID_PATTERN.fullmatch(one) for one in ids)
    assert sorted(ids, key=lambda one: one[:19]) == ids


def test_the_home_is_what_the_environment_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AFFINITY_HOME", str(tmp_path / "mine"))
    assert default_home() == tmp_path / "mine"
    monkeypatch.delenv("AFFINITY_HOME")
    assert default_home().name == "runs"


def test_a_library_that_does_not_exist_yet_is_empty(library: Library):
    assert library.list() == ()


def test_runs_are_listed_newest_first_and_samples_last(library: Library):
    ids = [small_run(library).id for _ in range(3)]
    samples = Library(library.samples)
    ids.append(small_run(samples).id)
    assert [entry.id for entry in library.list()] == [*sorted(ids[:3], reverse=True), ids[3]]
    assert [entry.sample for entry in library.list()] == [False, False, False, True]


def test_a_run_is_found_by_id_unique_prefix_or_path(library: Library):
    run = small_run(library)
    assert library.open(run.id).id == run.id
    assert library.open(run.id[:12]).id == run.id
    assert open_run(run.folder).id == run.id
    assert open_run(str(run.folder)).id == run.id


def test_an_ambiguous_prefix_says_how_many_match(library: Library):
    ids = [small_run(library).id for _ in range(2)]
    assert {one[:4] for one in ids} == {ids[0][:4]}
    with pytest.raises(RunNotFound, match="2 runs match"):
        library.open(ids[0][:4])


def test_an_exact_id_wins_over_longer_ones(library: Library):
    run = small_run(library)
    (library.home / f"{run.id}-x").mkdir()
    assert library.open(run.id).id == run.id


def test_a_copy_of_a_sample_in_the_own_library_comes_first(library: Library):
    run = small_run(library)
    sample = library.samples / run.id
    sample.mkdir(parents=True)
    write_atomic(sample / "run.json", described(sample, label="the sample").to_json())
    assert library.open(run.id).info.label == "a run"


@pytest.mark.parametrize(
    "reference",
    [
        *("", ".", "..", "../..", "/", "~", "*", "\x00", "a\x00b", "\\\\host\\share", "C:\\x", "file:///etc"),
        *("../../etc/passwd", "....//....//etc", "%2e%2e%2f", "x" * 5000, "/" * 5000, "\ud800", "../samples"),
    ],
)
def test_a_hostile_reference_is_no_run(library: Library, reference: str):
    run = small_run(library)
    secret = library.home.parent / "outside-of-it"
    secret.mkdir()
    write_atomic(secret / "run.json", described(secret).to_json())
    for attempt in (reference, f"../{secret.name}", f"{run.id}/../../{secret.name}", f"{run.id}/"):
        with pytest.raises(RunNotFound):
            library.open(attempt)
    with pytest.raises((RunNotFound, RunError)):
        open_run(reference)


def test_a_message_never_repeats_control_characters_of_a_reference(library: Library):
    with pytest.raises(RunNotFound) as caught:
        library.open("\x1b[31m\u202ered")
    assert str(caught.value).isprintable()


def test_a_linked_folder_is_no_run(library: Library, tmp_path: Path):
    outside = tmp_path / "20260101-000000-000-abcdef"
    outside.mkdir()
    write_atomic(outside / "run.json", described(outside).to_json())
    library.home.mkdir(exist_ok=True)
    (library.home / outside.name).symlink_to(outside)
    assert library.list() == ()
    with pytest.raises(RunNotFound):
        library.open(outside.name)
    with pytest.raises(RunError):
        library.delete(outside.name)
    assert (outside / "run.json").exists()


def test_folders_with_other_names_are_not_runs(library: Library):
    for name in ("Capital-letters", "short", "with space-long", ".hidden-folder", "x" * 41):
        (library.home / name).mkdir(parents=True)
    assert library.list() == ()


def test_a_run_gets_another_label_and_keeps_the_rest(library: Library):
    run = small_run(library, settings={"lr": 0.1}, seed=4)
    library.rename(run.id, " \u202eMine\n")
    info = library.open(run.id).info
    assert (info.label, info.settings, info.seed, info.tasks) == ("Mine", {"lr": 0.1}, 4, run.info.tasks)


def test_a_sample_can_be_neither_renamed_nor_deleted(library: Library):
    sample = small_run(Library(library.samples))
    for change in (lambda: library.rename(sample.id, "x"), lambda: library.delete(sample.id)):
        with pytest.raises(RunError, match="only your own runs"):
            change()
    assert library.open(sample.id).info.label == "a run"


def test_only_whole_ids_are_deleted(library: Library):
    run = small_run(library)
    for wrong in (run.id[:-1], f"{run.id}/", f"../{library.home.name}/{run.id}", str(run.folder), ""):
        with pytest.raises(RunError):
            library.delete(wrong)
    library.delete(run.id)
    assert not run.folder.exists()


def test_a_run_that_is_being_trained_is_not_deleted(library: Library):
    run = small_run(library, state="running")
    with pytest.raises(RunBusy, match=r"Cancel it first\."):
        library.delete(run.id)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "cannot be read"),
        ("", "not valid JSON"),
        ("[]", "expected a JSON object"),
        ("{}", "schema None"),
        ('{"schema": "affinity.run/2"}', "Update this program"),
        ('{"schema": "affinity.run/1"}', "not a valid run description"),
        ('{"schema": "affinity.run/1", "kind": "training", "tasks": "abc"}', "not a valid run description"),
        ('{"schema": "affinity.run/1", "kind": "magic", "tasks": []}', "unknown kind"),
        ('{"schema": "affinity.run/1", "kind": "training", "tasks": [], "seed": 1e999}', ""),
        ('{"schema": "affinity.run/1", "kind": "training", "tasks": [{"name": "a", "classes": "x"}]}', "x"),
        ("[" * 100_000, "nested"),
    ],
)
def test_a_broken_run_is_listed_with_its_reason(library: Library, content: str | None, reason: str):
    whole, broken = small_run(library), library.new_folder()
    if content is not None:
        (broken / "run.json").write_text(content)
    entries = {entry.id: entry for entry in library.list()}
    assert entries[whole.id].problem == ""
    assert reason in entries[broken.name].problem


def test_a_run_of_a_newer_format_and_a_damaged_one_are_told_apart():
    with pytest.raises(RunTooNew, match="Update this program"):
        RunInfo.from_json({"schema": "affinity.run/9"}, "x")
    with pytest.raises(RunDamaged):
        RunInfo.from_json({"schema": 7}, "x")


def test_a_description_survives_json_and_cleans_what_it_shows(library: Library):
    run = small_run(library)
    info = described(run.folder, layers=("Linear 0",), planted=(("a", "b"), ("c",)), versions={"torch": "2"})
    assert RunInfo.from_json(info.to_json(), run.id) == info
    hostile = {
        **info.to_json(),
        "device": "cpu\u202e\x00",
        "created": "now\n",
        "label": "",
        "layers": ["\x1b"],
    }
    read = RunInfo.from_json(hostile, run.id)
    assert (read.device, read.created, read.label, read.layers) == ("cpu", "now", run.id, ("unnamed",))


def test_tasks_that_look_the_same_get_a_number(library: Library):
    run = small_run(library)
    raw = described(run.folder).to_json()
    raw["tasks"] = [{"name": "a"}, {"name": "a\u200e"}, {"name": 7, "kind": "other"}]
    assert RunInfo.from_json(raw, run.id).task_names == ("a", "a (2)", "7")


def test_a_library_in_place_of_a_file_says_so(tmp_path: Path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(RunError, match="cannot be written to"):
        Library(tmp_path / "file").new_folder()


def test_what_is_written_is_strict_json(library: Library):
    run = small_run(library, settings={"lr": float("nan"), "big": float("inf")})
    assert read_object(run.folder / "run.json")["settings"] == {"lr": None, "big": None}
    assert "NaN" not in dumps(run.info)
