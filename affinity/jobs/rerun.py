"""Retrain a grouping beside its baselines: every network once a seed, shared where two arms need the same."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from affinity.core.config import TrainConfig
from affinity.core.errors import Cancelled, SettingsError
from affinity.core.strict_json import dumps
from affinity.core.types import Grouping
from affinity.grouping import read_grouping
from affinity.jobs.tables import located
from affinity.runs.reader import Run
from affinity.runs.status import stop_requested
from affinity.runs.writer import RunWriter

BACKENDS = ("local", "ray")


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """One network to train: its tasks and the arms of the comparison it stands for.

    Attributes:
        tasks: what it trains, in the run's order.
        seed: its seed.
        roles: (arm, group number or None, tasks it serves); arms are `joint`, `single` and `group`.
    """

    tasks: tuple[str, ...]
    seed: int
    roles: tuple[tuple[str, int | None, tuple[str, ...]], ...]


def plan(grouping: Grouping, tasks: tuple[str, ...], seeds: tuple[int, ...]) -> tuple[Network, ...]:
    """The networks of a comparison.

    A group that holds all tasks is the joint network and a group of one task a single-task network: it is
    trained once and counts for both.

    Args:
        grouping: what is compared with the baselines.
        tasks: all tasks, in the run's order.
        seeds: every network is trained with each.
    """
    roles: dict[tuple[str, ...], list[tuple[str, int | None, tuple[str, ...]]]] = {}
    roles.setdefault(tasks, []).append(("joint", None, tasks))
    for task in tasks:
        roles.setdefault((task,), []).append(("single", None, (task,)))
    for number, group in enumerate(grouping.groups):
        if group.serve:
            members = tuple(task for task in tasks if task in group.train)
            roles.setdefault(members, []).append(("group", number, group.serve))
    return tuple(
        Network(tasks=members, seed=seed, roles=tuple(parts))
        for seed in seeds
        for members, parts in roles.items()
    )


def run_rerun(
    folder: Path,
    writer: RunWriter,
    *,
    backend: str = "local",
    on_training: Callable[[int, int], None] = lambda done, total: None,
) -> None:
    """Train every network of a prepared rerun and append a line for each role it plays.

    Args:
        folder: the rerun's folder.
        writer: its writer.
        backend: `local` processes, or the `ray` cluster that this process reaches.
        on_training: called with the networks done and planned.

    Raises:
        Cancelled: somebody asked to stop; finished trainings are kept.
        SettingsError: the backend is unknown, or its package is absent.
    """
    run = Run(folder)
    settings: Any = run.info.settings
    config = located(TrainConfig.from_json(settings["train"]), folder.parent)
    grouping = read_grouping(dumps(settings["grouping"]), f"run {run.id}", tasks=run.tasks)
    networks = plan(grouping, run.tasks, tuple(settings["seeds"]))
    on_training(0, len(networks))
    for done, (network, outcome) in enumerate(_outcomes(networks, config, folder, backend), start=1):
        for arm, group, serve in network.roles:
            writer.add_training({"arm": arm, "group": group, "serve": serve, **outcome})
        on_training(done, len(networks))
        if stop_requested(folder):
            raise Cancelled("cancelled on request.", f"training {done} of {len(networks)}")


def train_network(
    network: Network, config: TrainConfig, folder: str, *, owner: int | None = None
) -> tuple[Network, dict[str, Any]]:
    """Train one network in this process.

    Args:
        network: what to train.
        config: how.
        folder: the rerun's folder, where somebody may ask to stop.
        owner: in a pool of processes, the one that started it; without it nobody would hear of the result.

    Returns:
        The network, and its line without the roles.
    """
    from affinity.training.trainer import Trainer, load_data

    def should_stop() -> bool:
        return stop_requested(Path(folder)) or owner not in (None, os.getppid())

    chosen = replace(config, tasks=network.tasks, seed=network.seed)
    data = load_data(chosen)
    result = Trainer(chosen, data).train(should_stop=should_stop)
    names = [task.name for task in data.tasks]
    return network, {
        "tasks": names,
        "seed": network.seed,
        "steps": result.steps,
        "passes": result.passes,
        "parameters": result.parameters,
        "seconds": result.seconds,
        "loss": dict(zip(names, result.final.loss.tolist(), strict=True)),
        "metric": dict(zip(names, result.final.metric.tolist(), strict=True)),
    }


def _outcomes(
    networks: tuple[Network, ...], config: TrainConfig, folder: Path, backend: str
) -> Iterator[tuple[Network, dict[str, Any]]]:
    import joblib

    from affinity.training.trainer import resolve_device

    _choose_backend(backend)
    # A GPU is shared badly by small trainings of several processes, so they take turns there.
    on_gpu = resolve_device(config.device).type == "cuda"
    count = 1 if on_gpu else max(1, joblib.cpu_count() // config.threads)
    workers = min(count, len(networks)) if backend == "local" else -1
    if workers == 1:
        yield from (train_network(network, config, str(folder)) for network in networks)
        return
    with joblib.parallel_config("loky" if backend == "local" else backend, n_jobs=workers):
        pool = joblib.Parallel(return_as="generator_unordered")
        train, owner = joblib.delayed(train_network), os.getpid() if backend == "local" else None
        yield from pool(train(network, config, str(folder), owner=owner) for network in networks)


def _choose_backend(backend: str) -> None:
    if backend not in BACKENDS:
        raise SettingsError(f"'{backend}' is no backend.", "backend", f"Known: {', '.join(BACKENDS)}.")
    if backend == "ray":
        try:
            from ray.util.joblib import register_ray
        except ImportError as error:
            raise SettingsError(
                "the ray backend needs the package ray.", "backend", "Install it: pip install ray"
            ) from error
        register_ray()
