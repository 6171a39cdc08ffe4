import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from distributed_loop import PROCESSES, STEPS, network
from recorded_loop import TASKS, losses_of

from affinity.runs.library import Library
from affinity.training.recorder import Recorder

SCRIPT = Path(__file__).parent / "distributed_loop.py"
# The library need not be installed: the processes find it where this test does.
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}


def two_processes(tmp_path: Path, home: str, kind: str) -> list[str]:
    """Train in two processes and return what each ended with."""
    meeting = tmp_path / f"meeting{len(list(tmp_path.iterdir()))}"
    started = [
        subprocess.Popen(
            [sys.executable, str(SCRIPT), str(rank), str(meeting), home, kind],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=ENVIRONMENT,
        )
        for rank in range(PROCESSES)
    ]
    ended = []
    for process in started:
        output, problems = process.communicate(timeout=120)
        assert process.returncode == 0, problems[-2000:]
        ended.append(output.strip())
    return ended


@pytest.mark.slow
def test_two_processes_record_the_gradients_of_the_joined_batch_once(tmp_path: Path):
    home = tmp_path / "runs"
    two_processes(tmp_path, str(home), "plain")
    (listed,) = Library(home, samples=tmp_path / "none").list()
    assert listed.status.state == "finished"
    together = Library(home).open(listed.id)
    torch.set_num_threads(1)
    net = network("plain")
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    shared = list(net.trunk.parameters())
    with Recorder(tmp_path / "alone", tasks=TASKS, every=1) as log:
        for step in range(STEPS):
            losses = losses_of(net, step)
            log.step(step, losses, shared=shared)
            log.lookahead(
                step,
                lambda step=step: losses_of(net, step),
                shared=shared,
                optimizer=optimizer,
                heads={task: net.heads[task].parameters() for task in TASKS},
            )
            optimizer.zero_grad()
            sum(losses.values()).backward()
            optimizer.step()
    alone = Library(tmp_path / "alone").open(log.id)
    for name in ("losses", "gram", "lookahead_losses", "proximal_losses"):
        found, wanted = together.signal(name), alone.signal(name)
        assert found.steps.tolist() == [0, 1, 2]
        np.testing.assert_allclose(found.values, wanted.values, rtol=1e-4, atol=1e-6, err_msg=name)


@pytest.mark.slow
def test_a_distributed_training_with_batch_norm_and_dropout_ends_where_it_would_have(tmp_path: Path):
    recorded = two_processes(tmp_path, str(tmp_path / "runs"), "full")
    assert recorded == two_processes(tmp_path, "-", "full")
