"""What every test may ask for: a library of its own, and a training that takes a fraction of a second."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from affinity.core.config import TrainConfig
from affinity.runs.library import Library
from affinity.runs.reader import Run

TINY = {
    "dataset": "planted",
    "dataset_settings": {"groups": 2, "tasks_per_group": 2, "samples": 240, "features": 8},
    "model_settings": {"width": 8, "depth": 1},
    "steps": 6,
    "every": 2,
    "evaluate_every": 3,
    "batch": 32,
    "device": "cpu",
}


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Library:
    """An empty library that `AFFINITY_HOME` names, without samples; reruns need no pool of processes."""
    monkeypatch.setenv("AFFINITY_HOME", str(tmp_path / "runs"))
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")
    return Library(samples=tmp_path / "samples")


@pytest.fixture
def tiny_config() -> Callable[..., TrainConfig]:
    """A config of a very small training; keywords change it."""
    return lambda **changes: TrainConfig.from_json({**TINY, **changes})


@pytest.fixture
def tiny_run(library: Library, tiny_config: Callable[..., TrainConfig]) -> Run:
    """A finished training of four tasks and six steps."""
    from affinity.jobs.prepare import prepare_training
    from affinity.jobs.worker import execute

    run_id = prepare_training(library, tiny_config())[0]
    assert execute(library.home / run_id, queue=False).state == "finished"
    return library.open(run_id)


@pytest.fixture
def rng() -> np.random.Generator:
    """Always the same numbers."""
    return np.random.default_rng(0)
