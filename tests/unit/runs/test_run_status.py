import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from small_runs import small_run

from affinity.core.strict_json import write_atomic
from affinity.runs.library import Library
from affinity.runs.reader import Run
from affinity.runs.status import GRACE_SECONDS, Status, own_process, process_start, read_status, write_status


def test_a_status_is_read_as_it_was_written(tmp_path: Path):
    pid, started = own_process()
    written = Status(
        state="running", step=3, total=9, pid=pid, pid_started=started, started=1.0, note="going"
    )
    write_status(tmp_path, written)
    read = read_status(tmp_path)
    assert (read.state, read.step, read.total, read.note) == ("running", 3, 9, "going")
    assert time.time() - read.heartbeat < 5


@pytest.mark.parametrize(
    "content", [None, "", "[]", "{}", '{"state": "dancing"}', '{"state": ["running"]}', "\x00"]
)
def test_a_folder_without_a_readable_status_is_a_finished_run(tmp_path: Path, content: str | None):
    if content is not None:
        (tmp_path / "status.json").write_text(content)
    assert read_status(tmp_path).state == "finished"


def test_a_run_whose_worker_is_gone_is_lost(tmp_path: Path):
    process = subprocess.Popen([sys.executable, "-c", "pass"])
    started = process_start(psutil.Process(process.pid))
    process.wait()
    write_status(tmp_path, Status(state="running", pid=process.pid, pid_started=started))
    status = read_status(tmp_path)
    assert (status.state, status.live) == ("lost", False)
    assert "ended without saying why" in str(status.error)


def test_an_ended_worker_that_nobody_collected_is_lost(tmp_path: Path):
    process = subprocess.Popen([sys.executable, "-c", "pass"])
    started = process_start(psutil.Process(process.pid))
    while psutil.Process(process.pid).status() != psutil.STATUS_ZOMBIE:
        time.sleep(0.01)
    write_status(tmp_path, Status(state="running", pid=process.pid, pid_started=started))
    assert read_status(tmp_path).state == "lost"
    process.wait()


def test_a_pid_that_another_process_got_is_not_the_worker(tmp_path: Path):
    pid, started = own_process()
    write_status(tmp_path, Status(state="running", pid=pid, pid_started=started - 100))
    assert read_status(tmp_path).state == "lost"


def test_a_clock_that_is_set_does_not_lose_a_living_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pid, started = own_process()
    write_status(tmp_path, Status(state="running", pid=pid, pid_started=started))
    boot, create = psutil.boot_time(), psutil.Process.create_time
    monkeypatch.setattr(psutil, "boot_time", lambda: boot + 3600)
    monkeypatch.setattr(psutil.Process, "create_time", lambda process: create(process) + 3600)
    assert read_status(tmp_path).state == "running"


def test_a_queued_run_may_take_a_while_to_start_but_not_for_ever(tmp_path: Path):
    for age, state in ((1, "queued"), (GRACE_SECONDS + 1, "lost"), (-1e9, "lost")):
        write_atomic(tmp_path / "status.json", {"state": "queued", "heartbeat": time.time() - age})
        assert read_status(tmp_path).state == state


@pytest.mark.parametrize(
    "pid", ["-5", "0", "1e300", "1e999", "4294967296", "1.5", '"12"', "[]", "null", "true", "9" * 400]
)
def test_a_number_that_is_no_pid_makes_no_trouble(tmp_path: Path, pid: str):
    numbers = ", ".join(f'"{name}": {pid}' for name in ("pid", "step", "total", "heartbeat"))
    (tmp_path / "status.json").write_text(f'{{"state": "running", "pid_started": -100, {numbers}}}')
    status = read_status(tmp_path)
    assert status.state == "lost"
    assert 0 <= status.fraction <= 1
    assert status.seconds_left is None


def test_texts_of_a_status_are_cleaned(tmp_path: Path):
    write_atomic(
        tmp_path / "status.json", {"state": "failed", "error": "a\x00\u202e\nb" + "x" * 5000, "note": ["n"]}
    )
    status = read_status(tmp_path)
    assert str(status.error).startswith("a b")
    assert str(status.error).isprintable()
    assert len(str(status.error)) == 1000


def test_progress_says_how_much_time_is_left():
    status = Status(state="running", step=25, total=100, started=1000.0, heartbeat=1010.0)
    assert status.fraction == 0.25
    assert status.seconds_left == pytest.approx(30.0)
    assert Status(state="running").seconds_left is None
    assert Status(state="finished", step=5, total=0).fraction == 0.0


KILLED = """
import sys, time
import numpy as np
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from small_runs import described, losses_at
from affinity.runs.status import Status, own_process, write_status
from affinity.runs.writer import RunWriter
folder = Path(sys.argv[1])
writer = RunWriter(folder)
writer.describe(described(folder))
pid, started = own_process()
write_status(folder, Status(state="running", pid=pid, pid_started=started))
for step in range(10**9):
    writer.append("losses", step, losses_at(step), axes=("affected",))
    writer.append("gram", step, np.eye(3), axes=("source", "affected"))
    if step % 10 == 9:
        writer.flush()
        print(step, flush=True)
"""


def test_everything_flushed_before_a_kill_is_read(library: Library):
    folder = library.new_folder()
    command = [sys.executable, "-c", KILLED, str(folder), str(Path(__file__).parent)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        flushed = -1
        while flushed < 99:
            flushed = int(process.stdout.readline())
        os.kill(process.pid, signal.SIGKILL)
        flushed = max([flushed, *(int(line) for line in process.stdout.read().split("\n")[:-1])])
    run = Run(folder)
    for name in ("losses", "gram"):
        steps = run.signal(name).steps
        assert steps.tolist() == list(range(len(steps)))
        assert len(steps) > flushed
    assert run.status.state == "lost"
    library.delete(run.id)


def test_a_run_killed_in_the_middle_can_be_written_again(library: Library):
    run = small_run(library)
    with (run.folder / "losses.arrows").open("ab") as stream:
        stream.write(b"\xff\xff\xff\xff\x10")
    assert len(run.signal("losses").steps) == 5
