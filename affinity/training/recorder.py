"""Record affinity and gradient conflict from anybody's training loop; the loop stays as it is."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn, optim

from affinity.core.errors import RunError, SettingsError
from affinity.core.names import clean_name, unique_names
from affinity.core.types import FloatArray, TaskSpec
from affinity.probes import PROBES
from affinity.runs.format import SIGNAL_PATTERN, RunInfo, now
from affinity.runs.library import Library
from affinity.runs.status import State, Status, own_process, write_status
from affinity.runs.writer import RunWriter
from affinity.training.access import LoopAccess, StepAccess, task_gradient
from affinity.training.combining import Combiner
from affinity.training.given import Losses, in_order, loss_values, plain_settings, scalar_losses, trainable
from affinity.training.inner_products import gram_of
from affinity.training.processes import averaged, rank
from affinity.training.trainer import versions

HEARTBEAT_SECONDS = 1.0
OWN_SIGNALS = ("losses", "learning_rate", "validation_loss", "validation_metric")


class Recorder:
    """Writes a run from your own loop. It never changes the training it watches.

    Every observation happens at steps that are multiples of `every`; at other steps the calls cost next to
    nothing. Gradients are taken with `torch.autograd.grad`, so `.grad` and the optimiser are untouched; call
    the Recorder before `backward()`. In a distributed training every process calls it and rank 0 writes.

    Args:
        home: folder of runs; the dashboard's own when left out.
        tasks: task names, the order of every axis.
        settings: whatever describes the training; kept with the run.
        label: name of the run.
        every: observe gradients and lookaheads at every so many steps.
        seed: seed of the training, so that several seeds can be compared.

    Raises:
        SettingsError: no task, two of one name, or `every` below 1.
    """

    def __init__(
        self,
        home: str | Path | None = None,
        *,
        tasks: Sequence[str],
        settings: Mapping[str, object] | None = None,
        label: str = "",
        every: int = 10,
        seed: int | None = None,
    ) -> None:
        if not tasks or every < 1:
            raise SettingsError("a recorder needs at least one task and `every` of at least 1.", "Recorder")
        if len(set(tasks)) != len(tasks):
            raise SettingsError("two tasks have the same name.", "Recorder", "Give every task its own.")
        self._given = tuple(tasks)
        self.tasks = unique_names(tasks)
        self.every = every
        self.id = ""
        self._looked_ahead_at: int | None = None
        self._closed = False
        self._weighers: dict[str, Combiner] = {}
        self._status = Status(state="running", started=time.time())
        self._writer: RunWriter | None = None
        if rank() == 0:
            self._writer = self._open(home, settings or {}, label, seed)

    def _open(
        self, home: str | Path | None, settings: Mapping[str, object], label: str, seed: int | None
    ) -> RunWriter:
        folder = Library(home).new_folder()
        self.id = folder.name
        writer = RunWriter(folder)
        writer.describe(
            RunInfo(
                id=self.id,
                label=clean_name(label) if label else f"Recorded {self.id}",
                kind="recorded",
                tasks=tuple(TaskSpec(name=name, kind="other") for name in self.tasks),
                settings=plain_settings(settings),
                seed=seed,
                versions=versions(),
                origin={"recorder": True},
                created=now(),
            )
        )
        pid, started = own_process()
        self._status = Status(state="running", pid=pid, pid_started=started, started=time.time())
        write_status(folder, self._status)
        return writer

    def due(self, step: int) -> bool:
        """Whether gradients and lookaheads are observed at this step."""
        return step % self.every == 0

    def step(self, step: int, losses: Losses, shared: Iterable[nn.Parameter] = ()) -> None:
        """Record the losses of a step and, at every k-th step, the Gram matrix of the shared gradients.

        Args:
            step: optimiser updates done so far.
            losses: task to scalar loss, before `backward()`; a task left out is absent from the batch.
            shared: the parameters that the tasks share; without them only the losses are recorded.

        Raises:
            SettingsError: a loss belongs to no task, is not a scalar, or no shared parameter is trainable.
        """
        values = loss_values(losses, self._given)
        if step != self._looked_ahead_at:
            self._append_losses(step, values)
        parameters = list(shared)
        if self.due(step) and parameters:
            self._append("gram", step, self._gram(losses, trainable(parameters)), axes=PROBES["gram"].axes)
        self._beat(step)

    def lookahead(
        self,
        step: int,
        losses_function: Callable[[], Losses],
        *,
        shared: Iterable[nn.Parameter],
        optimizer: optim.Optimizer,
        heads: Mapping[str, Iterable[nn.Parameter]] | None = None,
        model: nn.Module | None = None,
    ) -> None:
        """Record what each task's step would do to every loss, at every k-th step.

        Args:
            step: optimiser updates done so far.
            losses_function: computes all losses on this step's batch again; called 1 + N times, or
                1 + 2N with heads.
            shared: the parameters that the tasks share.
            optimizer: the lookahead follows its rule for SGD and Adam, and is a plain gradient step with its
                learning rate for others.
            heads: per task the parameters that are its own; with them the proximal step is recorded too.
            model: needed only where modules run without being called, as in a compiled model; the buffers and
                batch statistics of every module that is called are put back after each pass anyway.

        Raises:
            SettingsError: as in `step`, or a head belongs to no task.
        """
        if not self.due(step):
            return
        own = self._heads(heads)
        access = LoopAccess(
            self.tasks,
            trainable(list(shared)),
            optimizer,
            losses_functions={"train": lambda: scalar_losses(losses_function(), self._given)},
            heads=own,
            modules=() if model is None else (model,),
            reduce=averaged,
        )
        self._observe(step, access, proximal=bool(own))
        self._beat(step)

    def _observe(self, step: int, access: StepAccess, *, proximal: bool) -> None:
        for key in ("lookahead_losses", "proximal_losses") if proximal else ("lookahead_losses",):
            probe = PROBES[key]
            values = probe.observe(access, "train")
            self._append(key, step, values, axes=probe.axes, sense=probe.sense)
        # Also where `step` wrote them: before and after have to be taken with the same dropout masks, and the
        # loop's own pass may have drawn others. Of two rows of a step the later one is read.
        self._append_losses(step, access.losses())
        self._looked_ahead_at = step
        self._append("learning_rate", step, np.array(access.learning_rate), axes=())

    def weights(
        self, step: int, method: str, losses: Losses, shared: Iterable[nn.Parameter]
    ) -> dict[str, float]:
        """Record how a method would weight the tasks, at every k-th step; `Combiner` trains with it.

        Args:
            step: optimiser updates done so far.
            method: name of a method that weights by the losses or by the Gram matrix.
            losses: task to scalar loss, before `backward()`.
            shared: the parameters that the tasks share.

        Returns:
            Task to weight; empty at steps that are not observed.

        Raises:
            SettingsError: as in `step`, or the method's step is no weighting of the tasks.
        """
        if not self.due(step):
            return {}
        weigher = self._weighers.setdefault(method, Combiner(method, tasks=self._given))
        values = loss_values(losses, self._given)
        found = weigher.weigh(values, lambda: self._gram(losses, trainable(shared)))
        self._append(f"weights_{method}", step, found, axes=("affected",))
        return dict(zip(self._given, found.tolist(), strict=True))

    def matrix(self, name: str, step: int, values: FloatArray | Tensor) -> None:
        """Record a pair matrix of your own.

        Args:
            name: the signal's name; small letters, digits and underscores.
            step: optimiser updates done so far.
            values: (N, N) array or tensor as `[source, affected]`, positive helps affected; NaN = missing.

        Raises:
            SettingsError: the shape or the name does not fit, or the name is that of a recorded quantity.
        """
        if isinstance(values, Tensor):
            values = values.detach().cpu().double().numpy()
        size = len(self.tasks)
        if np.shape(values) != (size, size):
            raise SettingsError(f"the matrix has shape {np.shape(values)}, expected {size} x {size}.", name)
        if name in PROBES or name in OWN_SIGNALS or not SIGNAL_PATTERN.fullmatch(name):
            raise SettingsError(
                f"'{clean_name(name)}' cannot name a signal.", hint="For example: my_affinity"
            )
        self._append(name, step, np.asarray(values), axes=("source", "affected"), sense="affinity")
        self._beat(step)

    def validation(
        self, step: int, losses: Mapping[str, float], metrics: Mapping[str, float] | None = None
    ) -> None:
        """Record validation losses and, where larger is better, metrics of some or all tasks."""
        for name, sense, given in (
            ("validation_loss", "lower", losses),
            ("validation_metric", "higher", metrics),
        ):
            if given:
                values = in_order({task: float(value) for task, value in given.items()}, self._given)
                self._append(
                    name, step, np.array(values), axes=("affected",), split="validation", sense=sense
                )
        self._beat(step)

    def close(self, error: str | None = None) -> None:
        """End the run, as failed when an error is given; nothing can be recorded afterwards.

        Raises:
            OSError: what was still waiting could not be written.
        """
        writer, self._writer, self._closed = self._writer, None, True
        if writer is None:
            return
        try:
            writer.close()
        except OSError as refused:
            error = error or f"{refused.strerror or refused}."
            raise
        finally:
            self._set_state(writer, "failed" if error else "finished", error)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(None if kind is None else f"The loop ended with {kind.__name__}.")

    def _gram(self, losses: Losses, shared: list[nn.Parameter]) -> FloatArray:
        rows = []
        for loss in in_order(losses, self._given):
            known = loss if isinstance(loss, Tensor) else torch.tensor(torch.nan)
            parts = task_gradient(known, shared)
            rows.append(averaged(torch.cat([part.flatten() for part in parts])))
        return gram_of(rows)

    def _heads(self, heads: Mapping[str, Iterable[nn.Parameter]] | None) -> list[list[nn.Parameter]]:
        if heads is None:
            return []
        given = {name: list(parameters) for name, parameters in heads.items()}
        in_order(dict.fromkeys(given, 0.0), self._given)
        return [given.get(name, []) for name in self._given]

    def _append_losses(self, step: int, values: FloatArray) -> None:
        self._append("losses", step, values, axes=("affected",), sense="lower")

    def _append(self, name: str, step: int, values: FloatArray, **labels: Any) -> None:  # noqa: ANN401
        if self._closed:
            raise RunError(
                "this recorder is closed.", self.id or "Recorder", "Record inside its `with` block."
            )
        if self._writer is not None:
            self._writer.append(name, step, values, **labels)

    def _beat(self, step: int) -> None:
        self._status = replace(self._status, step=max(step + 1, self._status.step))
        if self._writer is not None and time.time() - self._status.heartbeat > HEARTBEAT_SECONDS:
            self._writer.flush()
            self._set_state(self._writer, "running", None)

    def _set_state(self, writer: RunWriter, state: State, error: str | None) -> None:
        done = self._status.step
        self._status = replace(self._status, state=state, total=done, heartbeat=time.time(), error=error)
        write_status(writer.folder, self._status)
