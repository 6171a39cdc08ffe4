"""What all datasets share: a split fixed by a seed and a standardisation fixed by the training rows."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from affinity.core.errors import DatasetError
from affinity.core.settings import Settings, setting
from affinity.core.types import AnyArray, FloatArray, IntArray


@dataclass(frozen=True, kw_only=True)
class SplitSettings(Settings):
    """What every dataset lets the user set."""

    validation_share: float = setting(
        0.25, low=0.05, high=0.5, help="Share of the samples kept for validation, never trained on."
    )


def split(
    count: int, seed: int, *, share: float, always_train: IntArray | None = None
) -> tuple[IntArray, IntArray]:
    """A random training and validation part, the same for the same seed.

    Args:
        count: number of samples.
        seed: seed of the permutation.
        share: share of the samples that becomes validation, in (0, 1); at least one sample.
        always_train: (k,) indices that must be trained on, such as the only sample of a class.

    Returns:
        Sorted indices (train, validation), disjoint, together all samples.

    Raises:
        DatasetError: too few samples for one in each part.
    """
    fixed = np.zeros(count, dtype=bool)
    if always_train is not None:
        fixed[always_train] = True
    order = np.random.default_rng(seed).permutation(count)
    free = order[~fixed[order]]
    wanted = min(max(1, round(count * share)), len(free))
    if count < 2 or not wanted or wanted == count:
        raise DatasetError(f"{count} samples are too few for a training and a validation part.")
    validation = free[:wanted]
    return np.setdiff1d(np.arange(count), validation), np.sort(validation)


def standardise_columns(values: AnyArray, train: IntArray) -> NDArray[np.float32]:
    """Each column with mean 0 and standard deviation 1 over the training rows.

    Args:
        values: (n, d); NaN = missing.
        train: indices of the training rows, the only ones that decide mean and scale.

    Returns:
        (n, d) float32. A column that does not vary in training is 0 everywhere, because no weight on it can
        be learned; a missing value is 0, the training mean.
    """
    columns = np.asarray(values, dtype=np.float64)
    mean, scale = _moments(columns[train])
    scaled = (columns - mean) / np.where(scale > 0, scale, np.inf)
    return np.nan_to_num(scaled, nan=0.0).astype(np.float32)


def standardise_images(values: AnyArray, train: IntArray) -> NDArray[np.float32]:
    """Images less the mean training image, with standard deviation 1 a channel over all training pixels.

    One scale a channel instead of one a pixel: a border pixel inked in one image of a thousand would
    otherwise become an outlier of thirty standard deviations.

    Args:
        values: (n, channels, height, width).
        train: indices of the training images.

    Returns:
        The same shape in float32; a channel that does not vary in training is 0.
    """
    pixels = np.asarray(values, dtype=np.float64)
    centred = pixels - pixels[train].mean(axis=0)
    scale = centred[train].std(axis=(0, 2, 3), keepdims=True)
    return np.asarray(centred / np.where(scale > 0, scale, np.inf), dtype=np.float32)


def standardise_target(values: FloatArray, train: IntArray) -> FloatArray:
    """A regression target with mean 0 and standard deviation 1 over its labelled training rows.

    Args:
        values: (n,); NaN = not labelled, and stays NaN.
        train: indices of the training rows.

    Returns:
        (n,) float64. The unit of the loss is then the training variance: 1 is what the mean alone achieves.

    Raises:
        DatasetError: the target does not vary in training.
    """
    mean, scale = _moments(values[train][:, None])
    if not scale[0] > 0:
        raise DatasetError("the target does not vary in the training part: there is nothing to learn.")
    return np.asarray((values - mean[0]) / scale[0], dtype=np.float64)


def _moments(rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation a column over the values that are there; scale 0 where there are none."""
    present = ~np.isnan(rows)
    count = np.maximum(present.sum(axis=0), 1)
    mean = np.where(present, rows, 0.0).sum(axis=0) / count
    deviation = np.where(present, rows - mean, 0.0)
    scale = np.sqrt((deviation**2).sum(axis=0) / count)
    # Rounding leaves a constant column a scale of about 1e-16 times its value: that is no variation.
    constant = scale <= 1e-12 * np.maximum(np.abs(mean), 1e-300)
    return mean, np.where(constant, 0.0, scale)
