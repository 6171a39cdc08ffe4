"""What the shelf of problems holds: losses written as formulas, whose best compromises are known."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from affinity.core.entry import Entry
from affinity.core.errors import AffinityError
from affinity.core.types import AnyArray, FloatArray, read_only


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Problem(Entry):
    """Several losses of a few parameters, to see what a method does where the right answer is known.

    Attributes:
        losses: `theta (..., n) -> (..., N)`, float64, for any number of points at once.
        gradients: `theta (..., n) -> (..., N, n)`, the rows are the losses' gradients.
        front: `count -> (count, n)` points along the Pareto set, which is a line, in order.
        tasks: names of the losses.
        parameters: names of the parameters.
        starts: (S, n) the starts of the source, or our own.
        low, high: (n,) the box that is drawn, and that random starts are taken from.
        bounded: the parameters may not leave the box.
        depends: (N, n) bool, which loss depends on which parameter.
        near: a distance to the front below this counts as having reached it.
        axes: positions of the two parameters that are drawn.
        optimizer: `sgd` or `adam`, what the source steps with.
        lr: learning rate for a look at it.
        steps: steps for a look at it.
        watch: what to look for, in one sentence.
    """

    losses: Callable[[FloatArray], FloatArray]
    gradients: Callable[[FloatArray], FloatArray]
    front: Callable[[int], FloatArray]
    tasks: tuple[str, ...]
    parameters: tuple[str, ...]
    starts: FloatArray
    low: FloatArray
    high: FloatArray
    depends: AnyArray
    bounded: bool = False
    near: float = 0.05
    axes: tuple[int, int] = (0, 1)
    optimizer: Literal["sgd", "adam"] = "sgd"
    lr: float = 0.05
    steps: int = 500
    watch: str = ""

    def __post_init__(self) -> None:
        size, count = len(self.parameters), len(self.tasks)
        for name in ("starts", "low", "high"):
            object.__setattr__(self, name, read_only(getattr(self, name)))
        object.__setattr__(self, "depends", read_only(self.depends, np.bool_))
        shapes = (self.starts.shape[1:], self.low.shape, self.high.shape, self.depends.shape)
        if shapes != ((size,), (size,), (size,), (count, size)):
            raise AffinityError(f"the problem '{self.key}' has parts of shapes {shapes}.")

    def random_starts(self, count: int, rng: np.random.Generator) -> FloatArray:
        """(count, n) uniform starts in the box."""
        return rng.uniform(self.low, self.high, size=(count, len(self.parameters)))

    def inside(self, theta: FloatArray) -> FloatArray:
        """The parameters, put back into the box where the problem is bounded; (..., n)."""
        return np.clip(theta, self.low, self.high) if self.bounded else theta

    def distance(self, theta: FloatArray, *, count: int = 513) -> FloatArray:
        """(...) Euclidean distance in parameter space to the Pareto set as a line through `count` points."""
        line = self.front(count)
        starts, along = line[:-1], np.diff(line, axis=0)
        offset = np.asarray(theta)[..., None, :] - starts
        square = np.maximum((along**2).sum(axis=-1), np.finfo(np.float64).tiny)
        share = np.clip((offset * along).sum(axis=-1) / square, 0.0, 1.0)
        gaps = np.linalg.norm(offset - share[..., None] * along, axis=-1)
        return np.asarray(gaps.min(axis=-1))
