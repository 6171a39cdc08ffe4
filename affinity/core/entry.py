"""What each shelf holds. An entry is data plus one function; importing a shelf never imports torch."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import numpy as np

from affinity.core.grouping import GroupingProblem, GroupingSolution
from affinity.core.settings import NoSettings, Settings
from affinity.core.types import DatasetArrays, FloatArray

if TYPE_CHECKING:
    from torch import nn

Split: TypeAlias = Literal["train", "validation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Base of all entries.

    Attributes:
        key: the file name without its ending.
        title: a few words for pickers.
        summary: one sentence that says what it is or means.
        reference: authors, year and link of the source; empty where it is our own or a plain definition.
    """

    key: str
    title: str
    summary: str
    reference: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset(Entry):
    """A dataset that needs no download.

    Attributes:
        load: `(settings, data_seed) -> arrays`; the split and any synthesis depend on the seed alone.
        settings: the dataset's settings class.
        requires: name of an optional package that ships the data, or empty.
    """

    load: Callable[[Any, int], DatasetArrays]
    settings: type[Settings] = NoSettings
    requires: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Model(Entry):
    """A shared trunk; the trainer adds one linear head a task.

    Attributes:
        build: `(settings, input_shape) -> (trunk, width)`: a module from a batch of inputs to (batch, width).
        settings: the model's settings class.
        wants_images: the inputs must be (channels, height, width).
    """

    build: "Callable[[Any, tuple[int, ...]], tuple[nn.Module, int]]"
    settings: type[Settings] = NoSettings
    wants_images: bool = False


class ProbeAccess(Protocol):
    """What a probe may look at in one step; nothing of it changes the training.

    Losses are float64 means over the labelled samples of the batch; NaN = the task is absent from it.
    """

    @property
    def tasks(self) -> tuple[str, ...]:
        """Task names, the order of every axis."""

    @property
    def learning_rate(self) -> float:
        """The optimiser's current learning rate."""

    def losses(self, split: Split = "train") -> FloatArray:
        """(N,) losses on the batch, before the step."""

    def gram(self) -> FloatArray:
        """(N, N) inner products of the tasks' gradients with respect to the shared trainable parameters."""

    def layer_gram(self) -> FloatArray:
        """(L, N, N) the same, one layer of the shared part at a time."""

    def lookahead_losses(self, split: Split = "train") -> FloatArray:
        """(N, N) [source, affected] losses after a step of the shared part alone along source's gradient."""

    def proximal_losses(self, split: Split = "train") -> FloatArray:
        """(N, N) [source, affected] losses after source's own optimiser step: shared part and its head."""

    def half_cosines(self) -> FloatArray:
        """(N,) cosine between each task's gradients on two halves of the batch; NaN = not known."""

    def curvature(self) -> FloatArray:
        """() mean curvature of the sum of the losses along the optimiser's joint step of the shared part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe(Entry):
    """A quantity recorded while training. The signal's name is the probe's key.

    Attributes:
        observe: `(access, split) -> array`, NaN = missing.
        axes: names of the array's axes, such as `("source", "affected")`; `layer` comes first.
        unit: unit of the values; empty for a pure number.
        sense: whether `higher`, `lower` or `neither` is better.
        cost: what an observation costs, in words.
        default: recorded unless the user says otherwise.
        held_out: has a meaning on a held-out batch too.
    """

    observe: Callable[[ProbeAccess, Split], FloatArray]
    axes: tuple[str, ...]
    unit: str = ""
    sense: Literal["higher", "lower", "neither"] = "neither"
    cost: str
    default: bool = True
    held_out: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure(Entry):
    """An affinity made from recorded quantities, for all steps at once.

    Attributes:
        compute: `{signal: (T, ...)} -> (T, N, N)` as `[source, affected]`, positive = helps; NaN = undefined.
        needs: names of the signals it is made from.
        formula: the formula in plain text.
        symmetric: both directions are equal.
        bounds: lowest and highest possible value.
        diagonal: what the diagonal is: `self-effect`, `one` or `missing`.
        undefined_when: when a value is missing, in words.
        default_reduce: how steps are reduced unless the user says otherwise.
        unit: unit of the values; empty for a pure number.
        caveat: a sentence to show beside the numbers; empty if none is due.
    """

    compute: Callable[[Mapping[str, FloatArray]], FloatArray]
    needs: tuple[str, ...]
    formula: str
    symmetric: bool
    bounds: tuple[float, float] = (-np.inf, np.inf)
    diagonal: Literal["self-effect", "one", "missing"]
    undefined_when: str
    default_reduce: Literal["mean", "last", "ema"] = "mean"
    unit: str = ""
    caveat: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouper(Entry):
    """An algorithm that finds a grouping.

    Attributes:
        group: `(problem, settings) -> solution`.
        settings: the algorithm's settings class.
        exact: its answer is proven best unless it was stopped.
        overlaps: it can put a task into several groups.
        limit: the largest number of tasks it accepts, or None.
    """

    group: Callable[[GroupingProblem, Any], GroupingSolution]
    settings: type[Settings] = NoSettings
    exact: bool
    overlaps: bool
    limit: int | None = None
