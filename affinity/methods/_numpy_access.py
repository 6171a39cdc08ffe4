"""What a `StepRule` may ask for, answered from gradients that are NumPy arrays."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

import numpy as np

from affinity.core.types import AnyArray, FloatArray


class NumpyAccess:
    """One step on gradients as arrays; implements `RuleAccess`.

    Args:
        gradients: gives (N, n) gradients, once for each batch; random ones make the two batches independent.
        depends: (N, n) bool, which loss depends on which parameter; the nonzero gradients when left out.
        samples: gives (T, N, n) gradients of T samples, for methods that choose the order of the samples.
        order: the order in which this epoch visits the samples.
    """

    def __init__(
        self,
        gradients: Callable[[], FloatArray],
        *,
        depends: AnyArray | None = None,
        samples: Callable[[], FloatArray] | None = None,
        order: Sequence[int] | None = None,
    ) -> None:
        self._source = gradients
        self._depends = depends
        self._samples = samples
        self._order = order
        self._batches: dict[int, FloatArray] = {}
        self.next_order: list[int] | None = None

    def rows(self, batch: int = 0) -> FloatArray:
        """(N, n) gradients on a batch; rows that are not finite are zero."""
        if batch not in self._batches:
            found = np.asarray(self._source(), dtype=np.float64)
            whole = np.isfinite(found).all(axis=1, keepdims=True)
            self._batches[batch] = np.where(whole, found, 0.0)
        return self._batches[batch]

    @property
    def count(self) -> int:
        """Number of tasks."""
        return len(self.rows())

    def gradient(self, weights: FloatArray, *, batch: int = 0) -> FloatArray:
        """(n,) gradient of the weighted sum of the losses."""
        return np.asarray(weights @ self.rows(batch))

    def products(self, direction: FloatArray, *, batch: int = 0) -> FloatArray:
        """(N,) inner products of every task's gradient with a direction; NaN where it is zero."""
        rows = self.rows(batch)
        return np.where(rows.any(axis=1), rows @ direction, np.nan)

    def gram(self, vectors: Sequence[FloatArray]) -> FloatArray:
        """(M, M) inner products."""
        joined = np.stack(vectors)
        return np.asarray(joined @ joined.T)

    def combination(self, vectors: Sequence[FloatArray], weights: FloatArray) -> FloatArray:
        """(n,) sum_i weights_i * vectors_i."""
        return np.asarray(weights @ np.stack(vectors))

    def vector(self, values: Sequence[float] | FloatArray | None) -> FloatArray:
        """(n,) numbers as an array; zeros for None."""
        if values is None:
            return np.zeros(self.rows().shape[1])
        return np.asarray(values, dtype=np.float64)

    @cached_property
    def _used(self) -> AnyArray:
        return self.rows() != 0 if self._depends is None else np.asarray(self._depends, dtype=np.bool_)

    def uses(self) -> AnyArray:
        """(N, n) bool: every parameter is a variable."""
        return self._used

    def variable_grams(self) -> FloatArray:
        """(n, N, N) products of the gradients' entries."""
        columns = self.rows().T
        return np.asarray(columns[:, :, None] * columns[:, None, :])

    def block_gradient(self, weights: FloatArray) -> FloatArray:
        """(n,) each entry a combination of its own; weights (n, N)."""
        return np.asarray((weights.T * self.rows()).sum(axis=0))

    @cached_property
    def _sample_rows(self) -> FloatArray:
        return self.rows()[None] if self._samples is None else np.asarray(self._samples(), dtype=np.float64)

    def samples(self) -> Iterator[tuple[int, Sequence[FloatArray]]]:
        """Each sample in this epoch's order."""
        order = range(self.sample_count()) if self._order is None else self._order
        for index in order:
            yield int(index), list(self._sample_rows[index])

    def sample_count(self) -> int:
        """How many samples there are; 1 where the losses are not sums over samples."""
        return len(self._sample_rows)

    def set_next_order(self, order: Sequence[int]) -> None:
        """Keep the order for whoever steps next."""
        self.next_order = [int(index) for index in order]
