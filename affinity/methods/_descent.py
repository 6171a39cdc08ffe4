"""A method walking down losses that are written as formulas, step by step, without torch."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from affinity.core.method import GramWeighting, LossWeighting, Method, MethodState
from affinity.core.types import AnyArray, FloatArray
from affinity.methods._gram import weigh_gram
from affinity.methods._numpy_access import NumpyAccess


@dataclass(slots=True, kw_only=True, eq=False)
class Descent:
    """One walk of a method; all its memory is here.

    A step is `direction(theta)`, then moving theta by hand or with an optimiser, then `after(...)`.

    Attributes:
        method: any method of the shelf.
        settings: its settings.
        losses: `theta (n,) -> (N,)`.
        gradients: `theta (n,) -> (N, n)`; may draw noise, and is then asked once for each mini-batch.
        rng: where the method draws from.
        depends: (N, n) bool, which loss depends on which parameter.
        sample_gradients: `theta (n,) -> (T, N, n)` for methods that choose the order of samples.
        state: what the method remembers.
        order: the order of the samples in this epoch, or None for the natural one.
    """

    method: Method
    settings: Any
    losses: Callable[[FloatArray], FloatArray]
    gradients: Callable[[FloatArray], FloatArray]
    rng: np.random.Generator
    depends: AnyArray | None = None
    sample_gradients: Callable[[FloatArray], FloatArray] | None = None
    state: MethodState = None
    order: list[int] | None = None

    def direction(self, theta: FloatArray) -> FloatArray:
        """(n,) the update to subtract at theta."""
        if isinstance(self.method, LossWeighting):
            weights, self.state = self.method.weigh(self.losses(theta), self.state, self.rng, self.settings)
            return np.asarray(weights @ self.gradients(theta))
        if isinstance(self.method, GramWeighting):
            rows = self.gradients(theta)
            weights, self.state = weigh_gram(self.method, rows @ rows.T, self.state, self.rng, self.settings)
            return np.asarray(weights @ rows)
        return self._ruled(theta)

    def _ruled(self, theta: FloatArray) -> FloatArray:
        assert not isinstance(self.method, LossWeighting | GramWeighting)
        samples = self.sample_gradients
        access = NumpyAccess(
            lambda: self.gradients(theta),
            depends=self.depends,
            samples=None if samples is None else lambda: samples(theta),
            order=self.order,
        )
        update, self.state = self.method.step(access, self.state, self.rng, self.settings)
        if access.next_order is not None:
            self.order = access.next_order
        return np.asarray(update)

    def after(self, before: FloatArray, after: FloatArray, *, learning_rate: float) -> None:
        """Tell the method where its step led; most do not ask.

        Args:
            before: (n,) theta before the step.
            after: (n,) theta after it.
            learning_rate: the step's length over that of the direction.
        """
        if isinstance(self.method, LossWeighting) and self.method.after_step is not None:
            self.state = self.method.after_step(
                self.losses(before), self.losses(after), learning_rate, self.state, self.settings
            )
