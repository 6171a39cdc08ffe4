"""Small run folders with hand-made quantities, for tests that must not wait for a training."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from affinity.core.types import TaskSpec
from affinity.runs.format import RunInfo
from affinity.runs.status import Status, write_status
from affinity.runs.writer import RunWriter

HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "[x](javascript:alert(1))",
    "![i](http://h/x.png)",
    "$a$ and $b$",
    ":red[hot] :material/home: :smile:",
    "`code` **bold** # -- -> a",
    "=SUM(A1:A9)",
    "漢字 ünïcode",
)


def build_run(
    home: Path,
    run_id: str,
    *,
    tasks: Sequence[str] = ("alpha", "beta", "gamma", "delta"),
    steps: int = 12,
    label: str = "a small run",
    settings: dict | None = None,
    created: str = "2026-01-02T03:04:05Z",
    seed: int = 0,
) -> Path:
    """A finished run in which the first half of the tasks help each other and hurt the second half."""
    rng = np.random.default_rng(seed)
    count = len(tasks)
    side = np.where(np.arange(count) < (count + 1) // 2, 1.0, -1.0)
    effect = np.outer(side, side) * 0.02
    info = RunInfo(
        id=run_id,
        label=label,
        kind="recorded",
        tasks=tuple(TaskSpec(name=name, kind="regression") for name in tasks),
        settings=settings or {},
        seed=seed,
        created=created,
    )
    folder = home / run_id
    with RunWriter(folder) as writer:
        writer.describe(info)
        for step in range(0, steps * 10, 10):
            losses = 1.0 + 0.1 * rng.random(count)
            noise = 0.01 * rng.standard_normal((count, count))
            gradients = np.outer(side, np.ones(6)) + 0.8 * rng.standard_normal((count, 6))
            after = losses[None, :] * (1 - effect - noise)
            pair = ("source", "affected")
            writer.append("losses", step, losses, axes=("task",), sense="lower")
            writer.append("lookahead_losses", step, after, axes=pair, sense="lower")
            writer.append("gram", step, gradients @ gradients.T, axes=("task", "other"))
    write_status(folder, Status(state="finished", step=steps * 10, total=steps * 10))
    return folder


def break_run(home: Path, run_id: str) -> Path:
    """A run folder whose description is cut off in the middle."""
    folder = home / run_id
    folder.mkdir(parents=True)
    (folder / "run.json").write_text('{"schema": "affinity.run/1", "label": "cut o', encoding="utf-8")
    return folder
