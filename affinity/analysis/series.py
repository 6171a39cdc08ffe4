"""Affinities over steps, read part by part so that memory stays bounded however long the run is."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Final, TypeAlias

import numpy as np

from affinity.analysis.signals import find_choice, recorded_name
from affinity.analysis.views import SignalChoice
from affinity.core.entry import Measure
from affinity.core.errors import NotEnoughData, NotRecorded
from affinity.core.types import AnyArray, FloatArray, IntArray, Signal, read_only
from affinity.measures import MEASURES
from affinity.measures._relative import too_small
from affinity.measures.loss_correlation import WINDOW
from affinity.runs.reader import Run

# A part of a run is read, turned into affinities and let go; a part may take this much.
PART_BYTES: Final = 48_000_000

Span: TypeAlias = tuple[int | None, int | None]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Part:
    """Affinities of some consecutive recorded steps.

    Attributes:
        steps: (T,) steps that every needed quantity was recorded at.
        values: (T, N, N) `[source, affected]`; NaN = missing.
        excluded: (T, N) bool: the affected task's loss was too small to be divided by.
        truncated: a file ended in the middle of a batch.
    """

    steps: IntArray
    values: FloatArray
    excluded: AnyArray
    truncated: bool


def parts(
    run: Run, signal: str, *, split: str = "train", first: int | None = None, last: int | None = None
) -> Iterator[Part]:
    """The affinities over steps, part by part; parts without any step are left out.

    Args:
        run: the run.
        signal: key of a choice, see `signal_choices`.
        split: part of the data, `train` or `validation`.
        first: first step wanted; from the start when left out.
        last: last step wanted; to the end when left out.

    Raises:
        NotRecorded: the run cannot show this signal on this part of the data.
    """
    choice = _checked(run, signal, split)
    if choice.recorded:
        yield from _recorded_parts(run, recorded_name(signal), split, (first, last))
    else:
        yield from _measured_parts(run, MEASURES[signal], split, (first, last))


def recorded_steps(run: Run, signal: str, *, split: str = "train") -> tuple[int, ...]:
    """The steps at which every quantity that this affinity needs was recorded, in order.

    Raises:
        NotRecorded: the run cannot show this signal on this part of the data.
    """
    choice = _checked(run, signal, split)
    needs = (recorded_name(signal),) if choice.recorded else MEASURES[signal].needs
    common = [run.steps(name, split=_held_on(run, name, split)) for name in needs]
    steps = [int(step) for step in reduce(np.intersect1d, common)]
    return tuple(steps[WINDOW::WINDOW] if _looks_back(signal) else steps)


def nearest_step(run: Run, signal: str, step: int, *, split: str = "train") -> int:
    """The recorded step next to `step`, the earlier one of two equally near.

    Raises:
        NotEnoughData: no step was recorded.
    """
    steps = recorded_steps(run, signal, split=split)
    if not steps:
        raise NotEnoughData("no step was recorded yet.", f"run {run.id}", "Wait for the first recorded step.")
    return min(steps, key=lambda known: (abs(known - step), known))


def values_at(run: Run, signal: str, step: int, *, split: str = "train") -> FloatArray:
    """(N, N) the affinities at one recorded step.

    Raises:
        NotRecorded: the run cannot show this signal on this part of the data.
        NotEnoughData: the step was not recorded.
    """
    # A measure of loss changes needs the steps before it as well.
    first = None if _looks_back(signal) else step
    for part in parts(run, signal, split=split, first=first, last=step):
        found = np.flatnonzero(part.steps == step)
        if len(found) and (not _looks_back(signal) or np.isfinite(part.values[found[-1]]).any()):
            return read_only(part.values[found[-1]])
    raise NotEnoughData(f"step {step} was not recorded.", f"run {run.id}")


def read(run: Run, name: str, split: str, span: Span) -> Signal:
    """A recorded quantity over a range of steps; one of the step itself is the same on every split."""
    return run.signal(name, split=_held_on(run, name, split), first=span[0], last=span[1])


def _held_on(run: Run, name: str, split: str) -> str:
    """A number of the whole step, such as the learning rate, is written once, beside the training batch."""
    return split if run.signals[name].axes else "train"


def _checked(run: Run, signal: str, split: str) -> SignalChoice:
    choice = find_choice(run, signal)
    if split not in choice.splits:
        raise NotRecorded(
            f"'{choice.title}' was not recorded on {split} data.",
            f"run {run.id}",
            f"It exists for: {', '.join(choice.splits)}. Train with held-out probes to record both.",
        )
    return choice


def _recorded_parts(run: Run, name: str, split: str, span: Span) -> Iterator[Part]:
    for low, high in spans(run, split, span):
        found = read(run, name, split, (low, high))
        if len(found.steps):
            values = np.where(np.isfinite(found.values), found.values, np.nan)
            excluded = np.zeros(values.shape[:2], dtype=bool)
            yield Part(steps=found.steps, values=values, excluded=excluded, truncated=found.truncated)


def _measured_parts(run: Run, measure: Measure, split: str, span: Span) -> Iterator[Part]:
    small = _small_losses(run, measure, split)
    for low, high in spans(run, split, span, whole_windows=_looks_back(measure.key)):
        found = {name: read(run, name, split, (low, high)) for name in measure.needs}
        steps, given = _joined(found)
        if not len(steps):
            continue
        excluded = np.zeros((len(steps), len(run.tasks)), dtype=bool)
        if small is not None:
            excluded = small[0][np.searchsorted(small[1], steps)]
            given["losses"] = np.where(excluded, np.nan, given["losses"])
        yield Part(
            steps=steps,
            values=measure.compute(given),
            excluded=excluded,
            truncated=any(signal.truncated for signal in found.values()),
        )


def _small_losses(run: Run, measure: Measure, split: str) -> tuple[AnyArray, IntArray] | None:
    """Where losses are too small to divide by, judged against the whole run and not against one part."""
    if "losses" not in measure.needs or _looks_back(measure.key):
        return None
    losses = run.signal("losses", split=split)
    return too_small(losses.values), losses.steps


def _looks_back(signal: str) -> bool:
    """Whether a measure looks at changes between steps and therefore needs whole windows of them."""
    measure = MEASURES.get(signal)
    return measure is not None and measure.needs == ("losses",)


def _joined(found: dict[str, Signal]) -> tuple[IntArray, dict[str, FloatArray]]:
    """Steps that all signals have, and their values there."""
    signals = list(found.values())
    steps = signals[0].steps
    for signal in signals[1:]:
        steps = np.intersect1d(steps, signal.steps, assume_unique=True)
    given = {
        name: signal.values
        if len(signal.steps) == len(steps)
        else signal.values[np.searchsorted(signal.steps, steps)]
        for name, signal in found.items()
    }
    return steps, given


def spans(run: Run, split: str, span: Span, *, whole_windows: bool = False, matrices: int = 1) -> list[Span]:
    """Ranges of steps that together make `span` and each fit into a part.

    Args:
        run: the run; the steps of its losses say how long it is.
        split: part of the data.
        span: first and last step wanted; None = open.
        whole_windows: ranges hold whole windows of loss changes and overlap by the step between two windows.
        matrices: how many (N, N) matrices a step holds.
    """
    if "losses" not in run.signals:
        return [span]
    steps = read(run, "losses", split, span).steps
    rows = max(1, PART_BYTES // (8 * matrices * len(run.tasks) ** 2))
    if whole_windows:
        rows = max(1, rows // WINDOW) * WINDOW
    if len(steps) <= rows:
        return [span]
    starts: list[int | None] = [span[0], *(int(step) for step in steps[rows::rows])]
    ends = [start if whole_windows or start is None else start - 1 for start in starts[1:]]
    return list(zip(starts, [*ends, span[1]], strict=True))
