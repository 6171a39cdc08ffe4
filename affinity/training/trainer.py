"""The training loop: draw a batch, let the probes look, step, write."""

import platform
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch

from affinity.core.config import TrainConfig
from affinity.core.entry import Probe, Split
from affinity.core.errors import Cancelled, SettingsError
from affinity.core.types import DatasetArrays, FloatArray, IntArray
from affinity.datasets import DATASETS
from affinity.probes import DEFAULT_PROBES, PROBES
from affinity.training.batches import Batches, Tensors
from affinity.training.evaluate import Evaluation, evaluate
from affinity.training.losses import TaskLosses
from affinity.training.network import MultiTaskNetwork, build_network, layers_of
from affinity.training.stacked import Batch, StackedAccess
from affinity.training.steps import Order, Stepper, make_optimizer


class Sink(Protocol):
    """Where observations go; `RunWriter` is one."""

    def append(
        self,
        name: str,
        step: int,
        values: FloatArray,
        *,
        axes: Sequence[str],
        split: str = "train",
        unit: str = "",
        sense: str = "neither",
        title: str = "",
    ) -> None:
        """Append one observation of a signal."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TrainResult:
    """What a training came to.

    Attributes:
        network: the trained network.
        final: the last validation.
        steps: optimiser updates taken.
        passes: forward-backward passes spent on training, probes not counted.
        parameters: trainable parameters.
        seconds: wall time of the loop.
        stopped_early: validation stopped improving.
    """

    network: MultiTaskNetwork
    final: Evaluation
    steps: int
    passes: int
    parameters: int
    seconds: float
    stopped_early: bool


def load_data(config: TrainConfig) -> DatasetArrays:
    """The arrays of a config's dataset, with the tasks it asks for.

    Raises:
        SettingsError: the dataset or one of its settings is unknown.
        DatasetError: it cannot be loaded, or has no such task.
    """
    dataset = DATASETS.find(config.dataset)
    data = dataset.load(dataset.settings.from_json(dict(config.dataset_settings)), config.data_seed)
    return data.only(config.tasks) if config.tasks else data


def resolve_device(name: str) -> torch.device:
    """`auto` is the GPU where there is one.

    Raises:
        SettingsError: CUDA is asked for and there is none.
    """
    if name == "cuda" and not torch.cuda.is_available():
        raise SettingsError("no CUDA device is available.", "train.device", "Choose auto or cpu.")
    return torch.device("cuda" if name != "cpu" and torch.cuda.is_available() else "cpu")


def versions() -> dict[str, str]:
    """Versions of what decides the numbers."""
    return {"python": platform.python_version(), "torch": torch.__version__, "numpy": np.__version__}


class Trainer:
    """One training, from a config and its data.

    Args:
        config: everything that decides the training.
        data: the dataset's arrays, `load_data(config)`.
        sink: where observations go; None records nothing and observes nothing.

    Raises:
        SettingsError: an entry is unknown or its settings do not fit.
    """

    def __init__(self, config: TrainConfig, data: DatasetArrays, *, sink: Sink | None = None) -> None:
        self.config = config
        self.sink = sink
        self.device = resolve_device(config.device)
        with _own_randomness(config.seed):
            network = build_network(config, data.inputs.shape[1:], data.tasks)
            self.network = network.to(self.device)
            self._random_state = torch.get_rng_state()
        self._tensors = Tensors(data, self.device)
        self._losses = TaskLosses(data.tasks, complete=self._tensors.complete)
        self._optimizer = make_optimizer(config, list(self.network.parameters()))
        self._stepper = Stepper.of(config, self.network, self._losses, self._optimizer)
        names = DEFAULT_PROBES if config.probes is None else config.probes
        self._probes: list[Probe] = [PROBES.find(name) for name in names]

    @property
    def layers(self) -> tuple[str, ...]:
        """Names of the shared layers, the order of every layer axis."""
        return tuple(name for name, _ in layers_of(self.network.trunk))

    def train(
        self,
        *,
        on_step: Callable[[int], None] = lambda step: None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> TrainResult:
        """Train to the end.

        Args:
            on_step: called with the number of updates done.
            should_stop: asked before every step.

        Raises:
            NonFiniteLoss: no task has a finite loss any more.
            Cancelled: `should_stop` said so.
        """
        with _threads(self.config.threads), _own_randomness(self.config.seed):
            torch.set_rng_state(self._random_state)
            return self._loop(on_step, should_stop)

    def _loop(self, on_step: Callable[[int], None], should_stop: Callable[[], bool]) -> TrainResult:
        config, started = self.config, time.perf_counter()
        self.network.train()
        tensors, combiner = self._tensors, self._stepper.combiner
        drawn, held_out, second = (
            Batches(part, config.batch, np.random.default_rng([config.seed, number]), whole=combiner.orders)
            for part, number in ((tensors.train, 0), (tensors.validation, 1), (tensors.train, 3))
        )
        latest, best, waited = self._validate(0), np.inf, 0
        for step in range(config.steps):
            if should_stop():
                raise Cancelled("cancelled on request.", f"step {step}")
            inputs, targets = self._tensors.rows(next(drawn))
            if self.sink is not None and self._probes and step % config.every == 0:
                self._observe(step, Batch(inputs, targets), held_out)
            losses = self._stepper.step(
                step,
                inputs,
                targets,
                second=(lambda: tensors.rows(next(second))) if combiner.draws_twice else None,
                order=Order(drawn.positions.tolist(), drawn.samples, drawn.set_next_order)
                if combiner.orders
                else None,
            )
            self._record("losses", step, losses, sense="lower")
            on_step(step + 1)
            if (step + 1) % config.evaluate_every == 0 or step + 1 == config.steps:
                latest = self._validate(step + 1)
                known = latest.loss[~np.isnan(latest.loss)]
                loss = float(known.mean()) if known.size else np.inf
                best, waited = (loss, 0) if loss < best else (best, waited + 1)
                if config.patience and waited >= config.patience:
                    break
        return TrainResult(
            network=self.network,
            final=latest,
            steps=step + 1,
            passes=self._stepper.passes,
            parameters=sum(p.numel() for p in self.network.parameters() if p.requires_grad),
            seconds=time.perf_counter() - started,
            stopped_early=step + 1 < config.steps,
        )

    def _observe(self, step: int, batch: Batch, held_out: Iterator[IntArray]) -> None:
        """Let every probe look at the batch the next update will use."""
        assert self.sink is not None
        views: dict[Split, Batch] = {"train": batch}
        if self.config.held_out:
            views["validation"] = Batch(*self._tensors.rows(next(held_out)))
        access = StackedAccess(
            self.network,
            self._losses,
            self._optimizer,
            batches=views,
            plain=self.config.lookahead == "sgd",
        )
        for probe in self._probes:
            splits: Sequence[Split] = tuple(views) if probe.held_out else ("train",)
            for split in splits:
                values = probe.observe(access, split)
                self.sink.append(
                    probe.key,
                    step,
                    values,
                    axes=probe.axes,
                    split=split,
                    unit=probe.unit,
                    sense=probe.sense,
                    title=probe.title,
                )
        self.sink.append("learning_rate", step, np.array(access.learning_rate), axes=())
        if "validation" in views:
            losses = access.losses("validation")
            self.sink.append("losses", step, losses, axes=("affected",), split="validation", sense="lower")

    def _validate(self, step: int) -> Evaluation:
        result = evaluate(self.network, self._losses, self._tensors)
        self._record("validation_loss", step, result.loss, split="validation", sense="lower")
        self._record("validation_metric", step, result.metric, split="validation", sense="higher")
        return result

    def _record(
        self, name: str, step: int, values: FloatArray, *, split: str = "train", sense: str = "neither"
    ) -> None:
        if self.sink is not None:
            self.sink.append(name, step, values, axes=("affected",), split=split, sense=sense)


@contextmanager
def _own_randomness(seed: int) -> Iterator[None]:
    """A training draws from its own seed and leaves the caller's random state as it was."""
    devices = list(range(torch.cuda.device_count())) if torch.cuda.is_available() else []
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed)
        yield


@contextmanager
def _threads(count: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
