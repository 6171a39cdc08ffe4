"""Commands that train: train and rerun; they work in this process, without the queue."""

import os
from typing import Any

from affinity.analysis.compare import compare_view
from affinity.commands.shared import Answer, Options, open_given, read_text, whole_numbers
from affinity.core.config import TrainConfig
from affinity.core.errors import AffinityError, SettingsError
from affinity.grouping import read_grouping
from affinity.jobs.prepare import prepare_rerun, prepare_training
from affinity.jobs.worker import claim, execute
from affinity.runs.library import Library
from affinity.runs.status import Status


def train_command(options: Options) -> Answer:
    """Train one run a seed."""
    library = Library(options.home)
    config = TrainConfig.from_json(_train_values(options))
    ids = prepare_training(
        library, config, label=options.label, seeds=whole_numbers(options.seeds, "--seeds")
    )
    for run_id in ids[1:]:
        claim(library.home / run_id, note="waiting for the seeds before it")
    runs = []
    for run_id in ids:
        _finish(execute(library.home / run_id, queue=False), run_id)
        runs.append({"run": run_id, "path": str(library.home / run_id)})
    lines = [f"{row['run']}  {row['path']}" for row in runs]
    return {**runs[0], "runs": runs}, "\n".join(lines)


def _train_values(options: Options) -> dict[str, Any]:
    names = ("dataset", "model", "method", "optimizer", "steps", "batch", "lr", "every", "device")
    values: dict[str, Any] = {name: value for name in names if (value := getattr(options, name)) is not None}
    if options.probes is not None:
        values["probes"] = [name.strip() for name in options.probes.split(",") if name.strip()]
    for assignment in options.set:
        name, equals, value = assignment.partition("=")
        if not equals:
            raise SettingsError(f"'{assignment}' is not NAME=VALUE.", "--set")
        entry, dot, field = name.partition(".")
        if name == "dataset.file":
            value = os.path.abspath(value)  # a worker that trains it again runs in another folder
        if dot:
            values.setdefault(f"{entry}_settings", {})[field] = value
        else:
            values[name] = value
    return values


def _finish(status: Status, run_id: str) -> None:
    if status.state != "finished":
        raise AffinityError(status.error or f"the run was {status.state}.", run_id)


def rerun_command(options: Options) -> Answer:
    """Retrain a grouping beside its baselines."""
    run, library = open_given(options), Library(options.home)
    grouping = read_grouping(read_text(options.grouping), options.grouping, tasks=run.tasks)
    seeds = whole_numbers(options.seeds, "--seeds")
    rerun_id = prepare_rerun(library, run, grouping, seeds=seeds, steps=options.steps)
    _finish(execute(library.home / rerun_id, backend=options.backend, queue=False), rerun_id)
    view = compare_view(library.open(rerun_id))
    return {
        "run": rerun_id,
        "path": str(library.home / rerun_id),
        "compare": view,
    }, f"{rerun_id}\n{view.sentence}"
