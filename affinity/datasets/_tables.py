"""From raw columns to a loaded dataset: split, standardise, describe. Used by every entry of the shelf."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from affinity.core.errors import DatasetError
from affinity.core.types import AnyArray, DatasetArrays, FloatArray, IntArray, TaskKind, TaskSpec, read_only
from affinity.datasets._split import (
    SplitSettings,
    split,
    standardise_columns,
    standardise_images,
    standardise_target,
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Target:
    """A task with its raw labels.

    Attributes:
        name: the task's name.
        kind: `regression`, `binary` or `multiclass`.
        values: (n,) numbers, 0/1 or class indices; NaN = not labelled.
        description: one sentence for the reader.
        classes: number of classes of a multiclass task; otherwise found from the kind.
    """

    name: str
    kind: TaskKind
    values: AnyArray
    description: str
    classes: int = 0

    @property
    def spec(self) -> TaskSpec:
        """The task without its labels."""
        classes = {"regression": 1, "binary": 2}.get(self.kind, self.classes)
        return TaskSpec(name=self.name, kind=self.kind, classes=classes, description=self.description)


def assemble(
    inputs: AnyArray,
    targets: Sequence[Target],
    *,
    settings: SplitSettings,
    seed: int,
    planted: tuple[tuple[str, ...], ...] | None = None,
    always_train: IntArray | None = None,
    parts: tuple[IntArray, IntArray] | None = None,
) -> DatasetArrays:
    """Split by the seed and standardise on the training part only.

    Args:
        inputs: (n, d) columns or (n, channels, height, width) images, raw.
        targets: the tasks with their raw labels.
        settings: gives the share of validation samples.
        seed: seed of the split.
        planted: the true grouping where it is known.
        always_train: indices that must be in the training part.
        parts: training and validation indices, where the samples cannot be split one by one.

    Returns:
        The dataset; regression targets have mean 0 and standard deviation 1 over the training part.

    Raises:
        DatasetError: too few samples, or a regression target that does not vary in training.
    """
    train, validation = parts or split(
        len(inputs), seed, share=settings.validation_share, always_train=always_train
    )
    scale = standardise_images if np.ndim(inputs) == 4 else standardise_columns
    return DatasetArrays(
        inputs=read_only(scale(inputs, train), np.float32),
        targets={target.name: read_only(_labels(target, train)) for target in targets},
        tasks=tuple(target.spec for target in targets),
        train=read_only(train, np.int64),
        validation=read_only(validation, np.int64),
        planted=planted,
    )


def _labels(target: Target, train: IntArray) -> FloatArray:
    values = np.asarray(target.values, dtype=np.float64)
    if target.kind != "regression":
        return values
    try:
        return standardise_target(values, train)
    except DatasetError as error:
        raise DatasetError(error.what, f"target '{target.name}'") from error
