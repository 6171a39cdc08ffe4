"""Small run folders, written with the real writer, for tests of the reading half."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from affinity.core.types import TaskSpec
from affinity.runs.format import RunInfo
from affinity.runs.reader import Run
from affinity.runs.writer import RunWriter

AXES = {
    "losses": ("affected",),
    "learning_rate": (),
    "gram": ("source", "affected"),
    "layer_gram": ("layer", "source", "affected"),
    "lookahead_losses": ("source", "affected"),
    "proximal_losses": ("source", "affected"),
    "validation_loss": ("affected",),
    "validation_metric": ("affected",),
    "gradient_noise": ("affected",),
}


def write_run(
    folder: Path,
    tasks: Sequence[str],
    signals: Mapping[str, Mapping[int, np.ndarray]],
    *,
    split: str = "train",
    sense: str = "neither",
    trainings: Sequence[Mapping[str, object]] = (),
    **info: object,
) -> Run:
    """A run with the given rows a signal and step; a signal that is not a quantity becomes a pair matrix."""
    kind = info.pop("kind", "training")
    specs = tuple(TaskSpec(name=name, kind="regression") for name in tasks)
    with RunWriter(folder) as writer:
        writer.describe(
            RunInfo(id=folder.name, label=info.pop("label", "a run"), kind=kind, tasks=specs, **info)
        )
        for name, rows in signals.items():
            axes = AXES.get(name, ("source", "affected"))
            for step, values in rows.items():
                writer.append(name, step, np.asarray(values, float), axes=axes, split=split, sense=sense)
        for row in trainings:
            writer.add_training(row)
    return Run(folder)


def planted_run(
    folder: Path,
    *,
    tasks: int = 4,
    steps: int = 40,
    every: int = 1,
    seed: int = 0,
    noise: float = 0.01,
    **info: object,
) -> Run:
    """Tasks in two camps: inside a camp a step helps by 0.05, across it hurts by 0.03, plus noise."""
    names = [f"task {position}" for position in range(tasks)]
    rng = np.random.default_rng(seed)
    camp = np.arange(tasks) % 2
    effect = np.where(camp[:, None] == camp[None, :], 0.05, -0.03)
    recorded = range(0, steps, every)
    losses = {step: 1.0 + 0.1 * rng.random(tasks) for step in range(steps)}
    after = {
        step: losses[step][None, :] * (1 - effect - noise * rng.normal(size=(tasks, tasks)))
        for step in recorded
    }
    gradients = {step: _gradients(camp, rng) for step in recorded}
    signals = {
        "losses": losses,
        "learning_rate": {step: np.array(0.1) for step in range(steps)},
        "lookahead_losses": after,
        "proximal_losses": after,
        "gram": {step: g @ g.T for step, g in gradients.items()},
        "layer_gram": {
            step: np.stack([g[:, :8] @ g[:, :8].T, g[:, 8:] @ g[:, 8:].T]) for step, g in gradients.items()
        },
        "validation_loss": {steps - 1: np.linspace(0.2, 0.5, tasks)},
        "validation_metric": {steps - 1: np.linspace(0.9, 0.6, tasks)},
    }
    camps = tuple(tuple(name for name, side in zip(names, camp, strict=True) if side == s) for s in (0, 1))
    return write_run(folder, names, signals, planted=camps, layers=("trunk.0", "trunk.2"), **info)


def _gradients(camp: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(N, 16): inside the second layer the camps pull in opposite directions."""
    common = rng.normal(size=8)
    first = common[None, :] + 0.3 * rng.normal(size=(len(camp), 8))
    second = np.where(camp == 0, 1.0, -1.0)[:, None] * common[None, :] * 2 + 0.3 * rng.normal(
        size=(len(camp), 8)
    )
    return np.concatenate([first, second], axis=1)
