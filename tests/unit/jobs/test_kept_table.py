"""A table of the user's own: kept by content, trained on, and never a way to read another file."""

import json
from pathlib import Path

import numpy as np
import pytest

from affinity.core.config import TrainConfig
from affinity.core.errors import RunError
from affinity.core.types import Grouping
from affinity.jobs.prepare import prepare_rerun, prepare_training
from affinity.jobs.tables import is_kept, keep_table, located
from affinity.jobs.worker import execute
from affinity.runs.archive import pack, unpack
from affinity.runs.library import Library


def a_table(rows: int = 40) -> bytes:
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(rows, 2))
    lines = [f"{x:.4f},{y:.4f},{x + y:.4f},{int(x > 0)}" for x, y in inputs]
    return "\n".join(["x,y,sum,positive", *lines]).encode()


def a_library(tmp_path: Path) -> Library:
    return Library(tmp_path / "runs", samples=tmp_path / "none")


def train_on(library: Library, file: str) -> str:
    settings = {"file": file, "targets": ["sum", "positive"]}
    config = TrainConfig.from_json(
        {"dataset": "own_table", "dataset_settings": settings, "steps": 3, "batch": 8, "device": "cpu"}
    )
    (run_id,) = prepare_training(library, config)
    assert execute(library.home / run_id, queue=False).state == "finished"
    return run_id


def test_a_kept_table_trains_and_its_run_names_no_folder_of_this_machine(tmp_path):
    library = a_library(tmp_path)
    kept = keep_table(library, a_table())
    assert keep_table(library, a_table()) == kept
    run = library.open(train_on(library, kept.file))
    assert run.tasks == ("sum", "positive")
    assert str(tmp_path) not in (run.folder / "run.json").read_text()
    grouping = Grouping.partition(run.tasks, [[task] for task in run.tasks])
    rerun = prepare_rerun(library, run, grouping, seeds=(0,))
    assert execute(library.home / rerun, queue=False).state == "finished"


@pytest.mark.parametrize(
    "file", ["/etc/passwd", "_tables/../../secret.csv", "_tables/0123456789abcdef.csv/x", "", None, 3]
)
def test_only_the_name_of_a_content_is_a_kept_table(file):
    assert not is_kept(file)


def test_a_table_of_the_command_line_stays_where_the_user_said(tmp_path):
    config = TrainConfig(dataset="own_table", dataset_settings=(("file", "mine.csv"),))
    assert located(config, tmp_path) == config


def test_an_uploaded_run_cannot_make_a_rerun_read_a_file_of_this_machine(tmp_path):
    library = a_library(tmp_path)
    secret = tmp_path / "secret.csv"
    secret.write_bytes(a_table())
    run_id = train_on(library, str(secret))
    uploaded = library.open(unpack(pack(library.open(run_id)), library))
    assert json.loads((uploaded.folder / "run.json").read_text())["origin"]["uploaded"] is True
    grouping = Grouping.partition(uploaded.tasks, [uploaded.tasks])
    with pytest.raises(RunError, match="another machine"):
        prepare_rerun(library, uploaded, grouping)
