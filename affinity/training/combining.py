"""Any training method in any loop: it fills the gradients that `loss.backward()` would have filled."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from affinity.core.errors import SettingsError
from affinity.core.method import GramWeighting, LossWeighting, Method, StepRule
from affinity.core.strict_json import Json, to_json
from affinity.core.types import AnyArray, FloatArray
from affinity.methods import METHODS, weigh_gram
from affinity.training.access import task_gradient
from affinity.training.given import Losses, scalar_losses, trainable
from affinity.training.inner_products import gram_of
from affinity.training.rule_access import LossesOf, Samples, TorchAccess

_log = logging.getLogger(__name__)


class Combiner:
    """A training method with its memory, for your own loop.

    ```
    combine = affinity.Combiner("upgrad", tasks=["depth", "normals"])
    ...
    optimizer.zero_grad()
    weights = combine.backward(losses, trunk.parameters(), heads=heads.parameters())
    optimizer.step()
    ```

    Args:
        method: name of a method, see `affinity list methods`.
        tasks: task names.
        settings: the method's settings.
        seed: seed of what the method draws; the loop's own random state is never touched.

    Raises:
        SettingsError: the method is unknown, or a setting does not fit.
    """

    def __init__(
        self,
        method: str,
        *,
        tasks: Sequence[str],
        settings: Mapping[str, object] | None = None,
        seed: int | Sequence[int] = 0,
    ) -> None:
        if not tasks:
            raise SettingsError("a method needs at least one task.", "Combiner")
        self.method: Method = METHODS.find(method)
        self.tasks = tuple(tasks)
        self.settings: Any = self.method.settings.from_json(dict(settings or {}))
        self.excluded: tuple[str, ...] = ()
        self._rng = np.random.default_rng(seed)
        self._state: Any = None
        self._before: FloatArray | None = None
        self._reported: set[str] = set()

    @property
    def looks_again(self) -> bool:
        """The method wants the losses on the same batch once more after the step: call `after_step`."""
        return isinstance(self.method, LossWeighting) and self.method.after_step is not None

    @property
    def draws_twice(self) -> bool:
        """The method wants a second, independent batch: give `second` to `backward`."""
        return isinstance(self.method, StepRule) and self.method.second_batch

    @property
    def orders(self) -> bool:
        """The method decides the order of the samples: give `samples` to `backward`."""
        return isinstance(self.method, StepRule) and self.method.ordering

    def backward(
        self,
        losses: Losses | Sequence[Tensor] | Tensor,
        shared: Iterable[nn.Parameter],
        *,
        heads: Iterable[nn.Parameter] = (),
        second: LossesOf | None = None,
        samples: Samples | None = None,
        gram: Callable[[], FloatArray] | None = None,
    ) -> FloatArray | None:
        """Add the method's update to the gradients of the parameters, and free the losses' graph.

        Args:
            losses: N scalars, or task to scalar; one that is left out or not finite has no part.
            shared: the parameters that the tasks share.
            heads: parameters of single tasks; they follow their own loss, except under a method that weights
                the losses themselves.
            second: gives the losses on an independent batch, for methods that draw twice.
            samples: the samples of the batch, for methods that order them.
            gram: gives the Gram matrix where there is a cheaper way than one backward pass a task.

        Returns:
            (N,) weights of the tasks' gradients, or None where the update is not a weighting of them.

        Raises:
            SettingsError: a loss belongs to no task or is not a scalar, or no shared parameter is trainable.
        """
        given = scalar_losses(losses, self.tasks) if isinstance(losses, Mapping) else losses
        common = trainable(shared)
        known = {id(parameter) for parameter in common}
        own = [p for p in heads if p.requires_grad and id(p) not in known]
        values = torch.stack([loss.detach() for loss in given]).cpu().double().numpy()
        present = np.isfinite(values)
        if isinstance(self.method, LossWeighting):
            weights = self.weigh(values, _no_gram)
            _fill([*common, *own], _gradients(given, weights, present, [*common, *own]))
            return weights
        # The heads first, so that the last pass can free the graph.
        _fill(own, _gradients(given, np.ones(len(given)), present, own, keep=True))
        if isinstance(self.method, GramWeighting):
            weights = self.weigh(values, gram or (lambda: self._gram(given, common)))
            _fill(common, _gradients(given, weights, present, common))
            return weights
        access = TorchAccess(given, common, second=second, samples=samples)
        direction, self._state = self.method.step(access, self._state, self._rng, self.settings)
        _fill(common, _unflattened(direction, common))
        return None

    def weigh(self, losses: FloatArray, gram: Callable[[], FloatArray]) -> FloatArray:
        """The method's weights for one step, which it remembers as taken.

        Args:
            losses: (N,) NaN = absent or broken.
            gram: gives the (N, N) Gram matrix of the shared gradients; asked only if the method needs it.

        Returns:
            (N,) weights, 0 where there is no finite loss or gradient.

        Raises:
            SettingsError: the method's step is no weighting of the tasks.
        """
        present = np.isfinite(losses)
        if isinstance(self.method, LossWeighting):
            self._before = losses
            weights, self._state = self.method.weigh(losses, self._state, self._rng, self.settings)
            return np.where(present, weights, 0.0)
        if isinstance(self.method, GramWeighting):
            matrix = gram()
            weights, self._state = weigh_gram(self.method, matrix, self._state, self._rng, self.settings)
            self._report(np.diagonal(matrix), present)
            return weights
        raise SettingsError(
            f"{self.method.title} is no weighting of one batch's gradients.",
            "weights",
            "Train with affinity.Combiner(...).backward(...) instead.",
        )

    def after_step(self, losses_function: Callable[[], FloatArray], learning_rate: float) -> None:
        """Tell the method where the step led, if it asks; `looks_again` says whether.

        Args:
            losses_function: (N,) losses on the same batch, with the same dropout masks, after the step.
            learning_rate: the optimiser's.
        """
        if not isinstance(self.method, LossWeighting) or self.method.after_step is None:
            return
        assert self._before is not None
        after = np.asarray(losses_function(), dtype=np.float64)
        self._state = self.method.after_step(self._before, after, learning_rate, self._state, self.settings)

    def memory(self) -> dict[str, Json]:
        """All the method remembers, as JSON; `recall` goes on from there."""
        drawn = dict(self._rng.bit_generator.state)
        return {"state": to_json(_plain(self._state)), "random": to_json(drawn)}

    def recall(self, memory: Mapping[str, Any]) -> None:
        """Go on where `memory()` was taken."""
        self._state = memory["state"]
        self._rng.bit_generator.state = memory["random"]

    def _gram(self, losses: Sequence[Tensor] | Tensor, shared: Sequence[nn.Parameter]) -> FloatArray:
        """(N, N) inner products, one backward pass a task; absent tasks are NaN."""
        rows = [torch.cat([part.flatten() for part in task_gradient(loss, shared)]) for loss in losses]
        return gram_of(rows)

    def _report(self, squares: AnyArray, present: AnyArray) -> None:
        """Name the tasks that had no part in this step; in the log only the first time."""
        idle = present & ~(squares > 0)
        self.excluded = tuple(name for name, left_out in zip(self.tasks, idle, strict=True) if left_out)
        for name in set(self.excluded) - self._reported:
            _log.warning(
                "'%s' has a zero gradient, or one that is not finite, and no part in the step.", name
            )
        self._reported |= set(self.excluded)


def _no_gram() -> FloatArray:
    raise AssertionError("methods that weight by losses need no Gram matrix")


def _gradients(
    losses: Sequence[Tensor] | Tensor,
    weights: FloatArray,
    present: AnyArray,
    parameters: Sequence[nn.Parameter],
    *,
    keep: bool = False,
) -> Sequence[Tensor | None]:
    """Gradients of the weighted sum of the losses that are there; None where it does not reach."""
    total = _total(losses, weights, present)
    if total is None or not parameters:
        return [None] * len(parameters)
    return torch.autograd.grad(total, parameters, retain_graph=keep, allow_unused=True)


def _total(losses: Sequence[Tensor] | Tensor, weights: FloatArray, present: AnyArray) -> Tensor | None:
    """The weighted sum of the losses that are there; None where nothing flows back from it."""
    used = np.where(present, weights, 0.0)
    if isinstance(losses, Tensor):
        chosen = torch.as_tensor(used, dtype=losses.dtype, device=losses.device)
        return torch.where(chosen != 0, losses * chosen, 0.0).sum() if losses.requires_grad else None
    parts = [
        loss * float(weight)
        for loss, weight in zip(losses, used, strict=True)
        if weight and loss.requires_grad
    ]
    return torch.stack(parts).sum() if parts else None


def _fill(parameters: Sequence[nn.Parameter], gradients: Sequence[Tensor | None]) -> None:
    """Add to `.grad`, as `backward` does."""
    for parameter, gradient in zip(parameters, gradients, strict=True):
        if gradient is not None:
            parameter.grad = gradient if parameter.grad is None else parameter.grad + gradient


def _unflattened(direction: Tensor, parameters: Sequence[nn.Parameter]) -> list[Tensor]:
    parts = direction.split([parameter.numel() for parameter in parameters])
    return [part.view_as(parameter).clone() for part, parameter in zip(parts, parameters, strict=True)]


def _plain(value: Any) -> Any:  # noqa: ANN401 - a state is JSON with tensors in it
    if isinstance(value, Tensor):
        return value.detach().cpu().double().numpy()
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
