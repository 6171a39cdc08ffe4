"""Make the sample runs again: `python sample_runs/make.py`, a few minutes, the same numbers each time."""

import json
import shutil
import tempfile
from pathlib import Path

from affinity.analysis.groups import suggest
from affinity.core.config import TrainConfig
from affinity.core.strict_json import write_atomic
from affinity.jobs.prepare import prepare_rerun, prepare_training
from affinity.jobs.worker import execute
from affinity.runs.format import LOCK_FILE, RUN_FILE, STATUS_FILE, STOP_FILE
from affinity.runs.library import Library

HERE = Path(__file__).resolve().parent

SAMPLES = (
    ("digits", "Digits: eight questions about one digit", {"steps": 300, "held_out": True}, 3),
    ("planted", "Planted: three groups that are known", {"steps": 300}, 3),
    ("linnerud", "Linnerud: three measures of fitness", {"steps": 200, "lr": 0.02, "every": 5}, 2),
)


def make(dataset: str, label: str, values: dict[str, object], groups: int, library: Library) -> None:
    """Train one sample, group it by its first affinity, and rerun the grouping with three seeds."""
    (run_id,) = prepare_training(library, TrainConfig.from_json({"dataset": dataset, **values}), label=label)
    execute(library.home / run_id, queue=False)
    run = library.open(run_id)
    rerun_id = prepare_rerun(library, run, suggest(run, groups), label=f"Rerun of {label}")
    execute(library.home / rerun_id, queue=False)
    keep(library.home / run_id, f"sample-{dataset}", {})
    keep(library.home / rerun_id, f"sample-{dataset}-rerun", {run_id: f"sample-{dataset}"})


def keep(folder: Path, name: str, renamed: dict[str, str]) -> None:
    """Copy a finished run here under a stable id, without what belongs to this machine."""
    target = HERE / name
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(folder, target, ignore=shutil.ignore_patterns(LOCK_FILE, STOP_FILE, "*.log"))
    text = (target / RUN_FILE).read_text(encoding="utf-8").replace(folder.name, name)
    for old, new in renamed.items():
        text = text.replace(old, new)
    (target / RUN_FILE).write_text(text, encoding="utf-8")
    status = json.loads((target / STATUS_FILE).read_text(encoding="utf-8"))
    write_atomic(target / STATUS_FILE, {**status, "pid": None, "pid_started": None})


def damage() -> None:
    """One run that is broken on purpose: its description ends in the middle."""
    target = HERE / "sample-broken"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    whole = (HERE / "sample-linnerud" / RUN_FILE).read_text(encoding="utf-8")
    (target / RUN_FILE).write_text(whole[: len(whole) // 2], encoding="utf-8")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:
        for dataset, label, values, groups in SAMPLES:
            make(dataset, label, dict(values), groups, Library(home, samples=HERE / "none"))
    damage()
