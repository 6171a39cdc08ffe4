"""The three kinds of training method: weights from losses, from a Gram matrix, or a step of its own.

Every kind is data plus pure functions. State goes in and comes out, so that a step can be worked by hand and
a run resumed; randomness comes from the generator that is passed in and from nowhere else.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

from affinity.core.entry import Entry
from affinity.core.settings import NoSettings, Settings
from affinity.core.types import AnyArray, FloatArray

MethodState: TypeAlias = Any
"""What a method remembers between steps: None at first, then JSON-able values; a `StepRule` adds vectors."""

Vector: TypeAlias = Any
"""A flat vector over the shared parameters, NumPy's or torch's: it has + - * / ** and `sum`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LossWeighting(Entry):
    """A training method that weights the losses from their values: one backward pass a step.

    The weights apply to all parameters, those of the heads included.

    Attributes:
        weigh: `(losses (N,), state, rng, settings) -> (weights (N,), state)`; the state starts as None and
            holds only JSON-able values. A loss that is NaN is absent from the batch.
        after_step: `(before (N,), after (N,), learning_rate, state, settings) -> state`, for a method that
            looks at the losses on the same batch once more after the step.
        needs_losses: the weights depend on the values of the losses.
        settings: the method's settings class.
    """

    weigh: Callable[[FloatArray, MethodState, np.random.Generator, Any], tuple[FloatArray, MethodState]]
    after_step: Callable[[FloatArray, FloatArray, float, MethodState, Any], MethodState] | None = None
    needs_losses: bool = True
    settings: type[Settings] = NoSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class GramWeighting(Entry):
    """A training method that weights the tasks from the Gram matrix of their shared gradients.

    The weights apply to the shared parameters; every head follows its own task's gradient. The matrix comes
    with its largest norm scaled to 1 and without anything that is not finite: an absent task has a zero row.

    Attributes:
        weigh: `(gram (N, N) float64, state, rng, settings) -> (weights (N,), state)`, state as in
            `LossWeighting`. The direction is sum_i weights_i * gradient_i, to be subtracted.
        degree: gradients times s give weights times s ** degree.
        settings: the method's settings class.
    """

    weigh: Callable[[FloatArray, MethodState, np.random.Generator, Any], tuple[FloatArray, MethodState]]
    degree: int = 0
    settings: type[Settings] = NoSettings


class RuleAccess(Protocol):
    """What a `StepRule` may ask for in one step; a torch training and an analytic problem both answer.

    Gradients are those of the tasks' mean losses on a mini-batch with respect to the shared parameters.
    `batch` 0 is the step's own mini-batch, 1 an independent one. An absent task has a zero gradient.
    """

    @property
    def count(self) -> int:
        """Number of tasks, N."""

    def gradient(self, weights: FloatArray, *, batch: int = 0) -> Vector:
        """The gradient of sum_i weights_i * loss_i: one backward pass."""

    def products(self, direction: Vector, *, batch: int = 0) -> FloatArray:
        """(N,) inner products of every task's gradient with a direction; NaN where it has none."""

    def gram(self, vectors: Sequence[Vector]) -> FloatArray:
        """(M, M) float64 inner products of some vectors."""

    def combination(self, vectors: Sequence[Vector], weights: FloatArray) -> Vector:
        """sum_i weights_i * vectors_i."""

    def vector(self, values: Sequence[float] | Vector | None) -> Vector:
        """A vector from numbers or a vector that a state kept; None is the zero vector."""

    def uses(self) -> AnyArray:
        """(N, V) bool: which losses depend on which variable, a parameter tensor or a coordinate."""

    def variable_grams(self) -> FloatArray:
        """(V, N, N) inner products of the tasks' gradients, one variable at a time."""

    def block_gradient(self, weights: FloatArray) -> Vector:
        """The vector whose part for variable v is sum_i weights[v, i] * gradient_i there; weights (V, N)."""

    def samples(self) -> Iterator[tuple[int, Sequence[Vector]]]:
        """Each sample of the batch: its number in the training part, and its N gradients."""

    def sample_count(self) -> int:
        """How many samples an epoch has."""

    def set_next_order(self, order: Sequence[int]) -> None:
        """Visit the samples of the next epoch in this order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRule(Entry):
    """A training method whose step is not a weighting of one batch's gradients.

    Attributes:
        step: `(access, state, rng, settings) -> (direction, state)`; the direction is a vector over the
            shared parameters, to be subtracted. Every head follows its own task's gradient.
        needs: what it looks at, in words.
        cost: what a step costs, in words.
        ordering: it decides the order in which the samples are visited.
        second_batch: it draws a second mini-batch a step.
        settings: the method's settings class.
    """

    step: Callable[[RuleAccess, MethodState, np.random.Generator, Any], tuple[Vector, MethodState]]
    needs: str
    cost: str
    ordering: bool = False
    second_batch: bool = False
    settings: type[Settings] = NoSettings


Method: TypeAlias = LossWeighting | GramWeighting | StepRule
