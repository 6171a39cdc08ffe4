from collections.abc import Callable
from dataclasses import replace

import pytest

from affinity.core.config import TrainConfig
from affinity.core.errors import NotEnoughData, RunBusy, RunError, SettingsError
from affinity.core.strict_json import write_atomic
from affinity.core.types import Grouping
from affinity.jobs.launch import cancel
from affinity.jobs.prepare import prepare_rerun, prepare_training
from affinity.jobs.worker import claim, execute
from affinity.runs.library import Library
from affinity.runs.reader import Run
from affinity.runs.status import Status, read_status, request_stop, write_status
from affinity.runs.writer import RunWriter

Config = Callable[..., TrainConfig]


def test_a_prepared_run_is_queued_with_its_settings(library: Library, tiny_config: Config):
    (run_id,) = prepare_training(library, tiny_config(), seeds=(7,))
    run = library.open(run_id)
    assert (run.status.state, run.status.total, run.info.seed) == ("queued", 6, 7)
    assert run.info.config == tiny_config(seed=7)
    assert run.info.label == "planted · mlp · joint"


def test_the_seeds_of_a_sweep_share_label_origin_and_hash(library: Library, tiny_config: Config):
    ids = prepare_training(library, tiny_config(), label="Mine", seeds=(0, 1, 1))
    infos = [library.open(run_id).info for run_id in ids]
    assert [info.label for info in infos] == ["Mine · seed 0", "Mine · seed 1"]
    assert {info.origin["sweep"] for info in infos} == {ids[0]}
    assert len({info.config_hash for info in infos}) == 1


@pytest.mark.parametrize(
    ("changes", "seeds"),
    [
        ({"dataset": "nothing"}, (0,)),
        ({"dataset_settings": {"groups": 0}}, (0,)),
        ({"model_settings": {"width": 10**9}}, (0,)),
        ({"method": "nothing"}, (0,)),
        ({"probes": ["nothing"]}, (0,)),
        ({}, ()),
        ({}, (0, -1)),
        ({}, range(101)),
    ],
)
def test_what_cannot_be_trained_leaves_no_folder(library: Library, tiny_config: Config, changes, seeds):
    with pytest.raises(SettingsError):
        prepare_training(library, tiny_config(**changes), seeds=seeds)
    assert library.list() == ()


def test_a_training_in_this_process_is_a_whole_run(tiny_run: Run):
    assert tiny_run.status.state == "finished"
    assert (tiny_run.status.step, tiny_run.status.total, tiny_run.status.error) == (6, 6, None)
    assert tiny_run.tasks == ("a1", "a2", "b1", "b2")
    assert tiny_run.info.planted == (("a1", "a2"), ("b1", "b2"))
    assert tiny_run.info.device == "cpu"
    assert set(tiny_run.info.versions) == {"python", "torch", "numpy"}
    assert tiny_run.signal("losses").steps.tolist() == list(range(6))
    assert len(tiny_run.info.layers) == tiny_run.signals["layer_gram"].shape[0]


def test_a_rerun_writes_a_row_for_every_role(library: Library, tiny_run: Run):
    grouping = Grouping.partition(tiny_run.tasks, [("a1", "a2"), ("b1",), ("b2",)])
    rerun_id = prepare_rerun(library, tiny_run, grouping, seeds=(0, 1), steps=3)
    assert execute(library.home / rerun_id, queue=False).state == "finished"
    rerun = library.open(rerun_id)
    rows = rerun.trainings()
    assert sorted({(row["arm"], tuple(row["tasks"]), row["seed"]) for row in rows}) == sorted(
        (arm, tasks, seed)
        for seed in (0, 1)
        for arm, tasks in (
            ("joint", ("a1", "a2", "b1", "b2")),
            *(("single", (task,)) for task in tiny_run.tasks),
            *(("group", tasks) for tasks in (("a1", "a2"), ("b1",), ("b2",))),
        )
    )
    single = {(row["seed"], *row["tasks"]): row["loss"] for row in rows if row["arm"] == "single"}
    for row in rows:
        assert row["steps"] == row["passes"] == 3
        assert set(row["loss"]) == set(row["metric"]) == set(row["tasks"])
        if row["arm"] == "group" and len(row["tasks"]) == 1:
            assert row["loss"] == single[row["seed"], *row["tasks"]]
    assert rerun.status.total == 12
    assert rerun.info.origin == {"rerun_of": tiny_run.id}
    with pytest.raises(RunError, match="only a training made here"):
        prepare_rerun(library, rerun, grouping)


def test_a_rerun_is_checked_before_a_folder_is_made(library: Library, tiny_run: Run):
    grouping = Grouping.partition(tiny_run.tasks, [tiny_run.tasks])
    before = len(library.list())
    for options in ({"seeds": ()}, {"seeds": (-1,)}, {"steps": 0}, {"steps": -5}):
        with pytest.raises(SettingsError):
            prepare_rerun(library, tiny_run, grouping, **options)
    with pytest.raises(RunError, match="not about the tasks"):
        prepare_rerun(library, tiny_run, Grouping.partition(("x",), [("x",)]))
    assert len(library.list()) == before


def test_a_run_of_one_task_cannot_be_regrouped(library: Library, tiny_config: Config):
    (run_id,) = prepare_training(library, tiny_config(tasks=["a1"]))
    assert execute(library.home / run_id, queue=False).state == "finished"
    run = library.open(run_id)
    with pytest.raises(NotEnoughData, match="fewer than two"):
        prepare_rerun(library, run, Grouping.partition(("a1",), [("a1",)]))


def test_a_table_named_in_an_upload_is_never_opened(library: Library, tiny_run: Run):
    settings = {**tiny_run.info.settings, "dataset": "own_table", "dataset_settings": {"file": "/etc/passwd"}}
    info = replace(tiny_run.info, settings=settings, origin={"uploaded": True})
    write_atomic(tiny_run.folder / "run.json", info.to_json())
    grouping = Grouping.partition(tiny_run.tasks, [tiny_run.tasks])
    with pytest.raises(RunError, match="a file of another machine"):
        prepare_rerun(library, library.open(tiny_run.id), grouping)


def test_a_dataset_that_fails_makes_a_failed_run_with_the_reason(library: Library, tiny_config: Config):
    config = tiny_config(
        dataset="own_table", dataset_settings={"file": "/nowhere/table.csv", "targets": "a,b"}
    )
    (run_id,) = prepare_training(library, config)
    status = execute(library.home / run_id, queue=False)
    assert status.state == "failed"
    assert "table.csv" in str(status.error)
    assert "/nowhere" not in str(status.error)
    assert read_status(library.home / run_id) == replace(
        status, heartbeat=read_status(library.home / run_id).heartbeat
    )


def test_a_divergent_training_fails_with_task_and_step_and_keeps_what_it_has(
    library: Library, tiny_config: Config
):
    (run_id,) = prepare_training(library, tiny_config(lr=10.0, steps=500))
    status = execute(library.home / run_id, queue=False)
    assert status.state == "failed"
    assert str(status.error).startswith("step ")
    assert len(library.open(run_id).signal("losses").steps) > 0


def test_an_early_stop_is_a_whole_run(library: Library, tiny_config: Config):
    (run_id,) = prepare_training(library, tiny_config(steps=5000, evaluate_every=2, patience=1, lr=0.5))
    status = execute(library.home / run_id, queue=False)
    assert status.state == "finished"
    assert status.step == status.total < 5000


def test_a_second_worker_does_not_touch_the_status_of_the_first(library: Library, tiny_config: Config):
    (run_id,) = prepare_training(library, tiny_config())
    folder = library.home / run_id
    with RunWriter(folder):
        write_status(folder, Status(state="running", step=3, total=6))
        before = (folder / "status.json").read_bytes()
        with pytest.raises(RunBusy):
            execute(folder, queue=False)
        assert (folder / "status.json").read_bytes() == before


def test_a_claimed_run_waits_as_long_as_its_process_lives_and_forgets_its_past(
    library: Library, tiny_config: Config
):
    (run_id,) = prepare_training(library, tiny_config())
    folder = library.home / run_id
    write_atomic(folder / "status.json", {"state": "queued", "heartbeat": 1.0, "total": 6})
    assert read_status(folder).state == "lost"
    claim(folder, note="waiting for its turn")
    assert (read_status(folder).state, read_status(folder).error) == ("queued", None)
    assert execute(folder, queue=False).error is None


def test_an_interrupt_ends_as_cancelled_and_still_interrupts(
    library: Library, tiny_config: Config, monkeypatch: pytest.MonkeyPatch
):
    (run_id,) = prepare_training(library, tiny_config())

    def interrupt(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("affinity.jobs.worker._train", interrupt)
    with pytest.raises(KeyboardInterrupt):
        execute(library.home / run_id, queue=False)
    assert library.open(run_id).status.state == "cancelled"


def test_only_a_live_run_of_the_own_library_can_be_cancelled(library: Library, tiny_run: Run):
    with pytest.raises(RunError, match="not being trained"):
        cancel(library, tiny_run.id)


def test_a_run_cancelled_before_it_starts_trains_nothing(library: Library, tiny_config: Config):
    (run_id,) = prepare_training(library, tiny_config())
    cancel(library, run_id)
    assert execute(library.home / run_id).state == "cancelled"
    assert "losses" not in library.open(run_id).signals


def test_a_rerun_that_is_stopped_keeps_its_finished_trainings(library: Library, tiny_run: Run):
    rerun_id = prepare_rerun(
        library, tiny_run, Grouping.partition(tiny_run.tasks, [tiny_run.tasks]), seeds=(0,)
    )
    folder = library.home / rerun_id
    request_stop(folder)
    assert execute(folder, queue=False).state == "cancelled"
    assert len(library.open(rerun_id).trainings()) <= 3
