"""The worker as the page starts it: a process of its own that only the run folder talks to."""

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from affinity.core.config import TrainConfig
from affinity.core.types import Grouping
from affinity.jobs.launch import cancel, start_rerun, start_training
from affinity.jobs.prepare import prepare_training
from affinity.runs.library import Library
from affinity.runs.reader import Run
from affinity.runs.status import Status

Config = Callable[..., TrainConfig]

PATIENCE = 120.0
ENDLESS = {"steps": 1_000_000, "every": 1000, "evaluate_every": 100_000}


@pytest.fixture(autouse=True)
def nobody_is_left(library: Library) -> Iterator[None]:
    """A test that fails half-way does not leave its workers running."""
    yield
    for entry in library.list():
        if entry.status.live:
            cancel(library, entry.id)
            wait(library, entry.id, ended)


@pytest.fixture
def pool(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reruns train in a pool of two processes."""
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "2")


def wait(library: Library, run_id: str, until: Callable[[Status], bool]) -> Status:
    """The first status that is as wanted; fails when it takes too long."""
    ends = time.monotonic() + PATIENCE
    while time.monotonic() < ends:
        status = library.open(run_id).status
        if until(status):
            return status
        time.sleep(0.05)
    raise AssertionError(f"still {library.open(run_id).status}")


def ended(status: Status) -> bool:
    return not status.live


def progressed(status: Status) -> bool:
    return status.state == "running" and status.step > 50


def recorded_steps(run: Run) -> list[int]:
    return run.signal("losses").steps.tolist()


def test_a_worker_trains_to_the_end_in_its_own_process_group(library: Library, tiny_config: Config):
    (run_id,) = start_training(library, tiny_config(steps=200))
    status = wait(library, run_id, lambda found: found.pid is not None)
    assert status.pid != os.getpid()
    assert os.getpgid(status.pid) != os.getpgrp()
    assert wait(library, run_id, ended).state == "finished"
    run = library.open(run_id)
    assert recorded_steps(run) == list(range(200))
    assert not run.signal("losses").truncated
    assert (run.folder / "worker.log").read_text() == ""


@pytest.mark.slow
def test_cancelling_keeps_what_was_recorded(library: Library, tiny_config: Config):
    (run_id,) = start_training(library, tiny_config(**ENDLESS))
    wait(library, run_id, progressed)
    cancel(library, run_id)
    status = wait(library, run_id, ended)
    assert status.state == "cancelled"
    assert recorded_steps(library.open(run_id)) == list(range(status.step))


@pytest.mark.slow
def test_a_polite_end_of_the_process_is_a_cancel(library: Library, tiny_config: Config):
    (run_id,) = start_training(library, tiny_config(**ENDLESS))
    pid = wait(library, run_id, progressed).pid
    os.kill(pid, signal.SIGTERM)
    assert wait(library, run_id, ended).state == "cancelled"


@pytest.mark.slow
def test_a_killed_worker_is_lost_and_its_data_readable_and_the_next_one_starts(
    library: Library, tiny_config: Config
):
    (run_id,) = start_training(library, tiny_config(**ENDLESS))
    status = wait(library, run_id, progressed)
    (next_id,) = start_training(library, tiny_config())
    os.kill(status.pid, signal.SIGKILL)
    lost = wait(library, run_id, ended)
    assert lost.state == "lost"
    steps = recorded_steps(library.open(run_id))
    assert steps == list(range(len(steps)))
    assert len(steps) > 50
    assert wait(library, next_id, ended).state == "finished"


@pytest.mark.slow
def test_a_second_job_waits_for_the_first_and_says_so(library: Library, tiny_config: Config):
    (first,) = start_training(library, tiny_config(**ENDLESS))
    wait(library, first, progressed)
    (second,) = start_training(library, tiny_config())
    waiting = wait(library, second, lambda status: bool(status.note))
    assert (waiting.state, waiting.note) == ("queued", "waiting for 1 earlier job")
    cancel(library, first)
    finished = wait(library, second, ended)
    assert (finished.state, finished.note) == ("finished", "")


@pytest.mark.slow
def test_a_waiting_job_can_be_cancelled(library: Library, tiny_config: Config):
    (first,) = start_training(library, tiny_config(**ENDLESS))
    wait(library, first, progressed)
    (second,) = start_training(library, tiny_config())
    wait(library, second, lambda status: bool(status.note))
    cancel(library, second)
    assert wait(library, second, ended).state == "cancelled"
    assert library.open(first).status.state == "running"
    cancel(library, first)
    wait(library, first, ended)


@pytest.mark.slow
@pytest.mark.usefixtures("pool")
def test_a_rerun_in_its_own_process_trains_every_network(library: Library, tiny_run: Run):
    grouping = Grouping.partition(tiny_run.tasks, [("a1", "a2"), ("b1", "b2")])
    rerun_id = start_rerun(library, tiny_run.id, grouping, seeds=(0,), steps=3)
    assert wait(library, rerun_id, ended).state == "finished"
    arms = [row["arm"] for row in library.open(rerun_id).trainings()]
    assert sorted(arms) == ["group", "group", "joint", "single", "single", "single", "single"]


@pytest.mark.slow
@pytest.mark.usefixtures("pool")
def test_a_cancelled_rerun_leaves_no_process_behind(library: Library, tiny_config: Config, tiny_run: Run):
    grouping = Grouping.partition(tiny_run.tasks, [("a1", "a2"), ("b1", "b2")])
    rerun_id = start_rerun(library, tiny_run.id, grouping, seeds=range(20), steps=1_000_000)
    children = children_of(
        wait(library, rerun_id, lambda found: found.state == "running" and found.total > 0)
    )
    cancel(library, rerun_id)
    assert wait(library, rerun_id, ended).state == "cancelled"
    assert psutil.wait_procs(children, timeout=20)[1] == []


@pytest.mark.slow
@pytest.mark.usefixtures("pool")
def test_a_killed_rerun_leaves_no_process_at_work(library: Library, tiny_config: Config, tiny_run: Run):
    grouping = Grouping.partition(tiny_run.tasks, [("a1", "a2"), ("b1", "b2")])
    rerun_id = start_rerun(library, tiny_run.id, grouping, seeds=range(20), steps=1_000_000)
    status = wait(library, rerun_id, lambda found: found.state == "running" and found.total > 0)
    children = children_of(status)
    os.kill(status.pid, signal.SIGKILL)
    assert wait(library, rerun_id, ended).state == "lost"
    # Idle members of the pool leave by themselves after some minutes.
    assert any(work_in_a_second(children) < 0.1 for _ in range(20))


def work_in_a_second(processes: list[psutil.Process]) -> float:
    """Processor time that processes use in one second."""
    before = sum(busy_seconds(process) for process in processes)
    time.sleep(1)
    return sum(busy_seconds(process) for process in processes) - before


def busy_seconds(process: psutil.Process) -> float:
    """Processor time a process has used; 0 when it is gone."""
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return float(times.user + times.system)


def children_of(status: Status) -> list[psutil.Process]:
    """The processes of a rerun's pool, once they are busy; none where it trains in its own process."""
    time.sleep(8)
    return psutil.Process(status.pid).children(recursive=True)


@pytest.mark.slow
def test_a_full_disk_fails_the_run_with_the_reason(library: Library, tiny_config: Config):
    (run_id,) = prepare_training(library, tiny_config(**ENDLESS, probes=[]))
    folder = library.home / run_id

    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))

    command = [sys.executable, "-m", "affinity.jobs.worker", str(folder)]
    subprocess.run(command, preexec_fn=small_files, check=False, capture_output=True, timeout=PATIENCE)
    run = library.open(run_id)
    assert (run.status.state, run.status.error) == ("failed", "File too large.")
    steps = recorded_steps(run)
    assert steps == list(range(len(steps)))
    assert len(steps) > 100


@pytest.mark.slow
def test_a_worker_survives_a_folder_of_runs_with_spaces(tmp_path: Path, tiny_config: Config):
    library = Library(tmp_path / "my runs (1)", samples=tmp_path / "none")
    (run_id,) = prepare_training(
        library, tiny_config(dataset_settings={"groups": 2, "samples": 200, "features": 8})
    )
    command = [sys.executable, "-m", "affinity.jobs.worker", str(library.home / run_id)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (0, "")
    assert library.open(run_id).status.state == "finished"
