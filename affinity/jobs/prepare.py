"""Write down what is to be done: a run folder with settings and the status `queued`."""

import json
from collections.abc import Sequence
from dataclasses import replace

from affinity.core.config import TrainConfig
from affinity.core.errors import NotEnoughData, RunError, SettingsError
from affinity.core.names import clean_name
from affinity.core.strict_json import write_atomic
from affinity.core.types import Grouping
from affinity.datasets import DATASETS
from affinity.grouping import write_grouping
from affinity.jobs.tables import is_kept
from affinity.methods import METHODS
from affinity.models import MODELS
from affinity.probes import PROBES
from affinity.runs.format import RUN_FILE, RunInfo, now
from affinity.runs.library import Library
from affinity.runs.reader import Run
from affinity.runs.status import Status, write_status

MAX_SEEDS = 100


def check_config(config: TrainConfig) -> None:
    """Refuse a config before a worker is started for it.

    Raises:
        SettingsError: an entry is unknown, or one of its settings does not fit.
    """
    for shelf, key, values in (
        (DATASETS, config.dataset, config.dataset_settings),
        (MODELS, config.model, config.model_settings),
        (METHODS, config.method, config.method_settings),
    ):
        shelf.find(key).settings.from_json(dict(values))
    for probe in config.probes or ():
        PROBES.find(probe)


def prepare_training(
    library: Library, config: TrainConfig, *, label: str = "", seeds: Sequence[int] = (0,)
) -> tuple[str, ...]:
    """One queued run a seed.

    Args:
        library: where the runs go.
        config: the training; its seed is replaced.
        label: name for the runs; made from the config when empty.
        seeds: one run each.

    Returns:
        The runs' ids, in the order of the seeds.

    Raises:
        SettingsError: the config or the seeds do not fit.
    """
    check_config(config)
    chosen = _checked_seeds(seeds)
    name = clean_name(label) if label.strip() else f"{config.dataset} · {config.model} · {config.method}"
    # All of them are checked before the first folder is made.
    configs = [TrainConfig.from_json({**config.to_json(), "seed": seed}) for seed in chosen]
    ids: list[str] = []
    for one in configs:
        folder = library.new_folder()
        ids.append(folder.name)
        info = RunInfo(
            id=folder.name,
            label=name if len(chosen) == 1 else f"{name} · seed {one.seed}",
            kind="training",
            tasks=(),
            settings=one.to_json(),
            seed=one.seed,
            origin={"sweep": ids[0]} if len(chosen) > 1 else {},
            created=now(),
            config_hash=one.hash,
        )
        write_atomic(folder / RUN_FILE, info.to_json())
        write_status(folder, Status(state="queued", total=one.steps))
    return tuple(ids)


def prepare_rerun(
    library: Library,
    run: Run,
    grouping: Grouping,
    *,
    seeds: Sequence[int] = (0, 1, 2),
    steps: int | None = None,
    label: str = "",
) -> str:
    """A queued rerun: the grouping's networks, the joint one and all single-task ones, a training a seed.

    Args:
        library: where the rerun goes.
        run: the training whose config is used again.
        grouping: covers the run's tasks.
        seeds: trainings of each network.
        steps: optimiser updates of every network; as in the run when left out.
        label: name for the rerun.

    Returns:
        The rerun's id.

    Raises:
        RunError: the run was not made by our trainer, so nothing is known to train again.
        NotEnoughData: the run has fewer than two tasks.
        SettingsError: the seeds or steps do not fit.
    """
    config = run.info.config
    if config is None:
        raise RunError("only a training made here can be rerun.", run.id, "Train the tasks here first.")
    file = dict(config.dataset_settings).get("file")
    if run.info.origin.get("uploaded") and file is not None and not is_kept(file):
        # A path that came inside an upload is never opened; a kept table goes by its content.
        raise RunError(
            "this run was uploaded, and its table is a file of another machine.",
            run.id,
            "Train on your own copy of the table first.",
        )
    if len(run.tasks) < 2:
        raise NotEnoughData("a rerun compares groups of tasks, and this run has fewer than two.", run.id)
    if set(grouping.tasks) != set(run.tasks):
        raise RunError("the grouping is not about the tasks of this run.", run.id)
    chosen = _checked_seeds(seeds)
    length = config.steps if steps is None else steps
    configs = [
        TrainConfig.from_json({**config.to_json(), "steps": length, "probes": [], "seed": seed})
        for seed in chosen
    ]
    changed = replace(configs[0], seed=config.seed)
    folder = library.new_folder()
    info = RunInfo(
        id=folder.name,
        label=clean_name(label) if label.strip() else f"Rerun of {run.info.label}",
        kind="rerun",
        tasks=run.info.tasks,
        settings={
            "train": changed.to_json(),
            "grouping": json.loads(write_grouping(grouping)),
            "seeds": list(chosen),
            "run": run.id,
        },
        origin={"rerun_of": run.id},
        created=now(),
        config_hash=changed.hash,
        planted=run.info.planted,
    )
    write_atomic(folder / RUN_FILE, info.to_json())
    write_status(folder, Status(state="queued"))
    return folder.name


def _checked_seeds(seeds: Sequence[int]) -> tuple[int, ...]:
    chosen = tuple(dict.fromkeys(int(seed) for seed in seeds))
    if not 1 <= len(chosen) <= MAX_SEEDS:
        raise SettingsError(f"{len(chosen)} seeds are outside 1 to {MAX_SEEDS}.", "seeds")
    return chosen
