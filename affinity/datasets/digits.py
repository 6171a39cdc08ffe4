"""Handwritten digits, 8 x 8 pixels, with eight tasks read off the same image: four kinds of question."""

from typing import Final

import numpy as np

from affinity.core.entry import Dataset
from affinity.core.types import AnyArray, DatasetArrays, FloatArray
from affinity.datasets._split import SplitSettings
from affinity.datasets._tables import Target, assemble

PRIMES: Final = (2, 3, 5, 7)
# 4 is left out: in this set it is mostly written open at the top.
CLOSED: Final = (0, 6, 8, 9)


def load(settings: SplitSettings, seed: int) -> DatasetArrays:
    """1,797 images as (n, 1, 8, 8), so that a convolution can read them and an MLP flattens them.

    Args:
        settings: share of validation samples.
        seed: seed of the split.

    Returns:
        The dataset with tasks `digit`, `parity`, `five_or_more`, `prime`, `closed_loop` (classes, functions
        of the written digit) and `ink`, `balance`, `height` (regressions, functions of the pixels).
    """
    from sklearn.datasets import load_digits

    bunch = load_digits()
    images = np.asarray(bunch.images, dtype=np.float64)
    targets = [*_class_targets(np.asarray(bunch.target)), *_pixel_targets(images)]
    return assemble(images[:, None], targets, settings=settings, seed=seed)


def _class_targets(digit: AnyArray) -> list[Target]:
    def binary(name: str, truth: AnyArray, description: str) -> Target:
        return Target(name=name, kind="binary", values=truth, description=description)

    return [
        Target(
            name="digit", kind="multiclass", classes=10, values=digit, description="Which digit is written?"
        ),
        binary("parity", digit % 2, "Is the digit odd?"),
        binary("five_or_more", digit >= 5, "Is the digit five or more?"),
        binary("prime", np.isin(digit, PRIMES), "Is the digit 2, 3, 5 or 7?"),
        binary("closed_loop", np.isin(digit, CLOSED), "Is the digit 0, 6, 8 or 9, which enclose an area?"),
    ]


def _pixel_targets(images: FloatArray) -> list[Target]:
    ink = images.sum(axis=(1, 2))
    half = images.shape[2] // 2
    balance = (images[:, :, half:].sum(axis=(1, 2)) - images[:, :, :half].sum(axis=(1, 2))) / ink
    rows = np.arange(images.shape[1])[::-1]
    height = (images.sum(axis=2) * rows).sum(axis=1) / ink

    def regression(name: str, values: FloatArray, description: str) -> Target:
        return Target(name=name, kind="regression", values=values, description=description)

    return [
        regression("ink", ink, "Amount of ink: the sum of all pixels."),
        regression("balance", balance, "Share of the ink on the right minus the share on the left."),
        regression("height", height, "Height of the ink's centre above the bottom row, in pixels."),
    ]


DATASET = Dataset(
    key="digits",
    title="Handwritten digits",
    summary="1,797 images of 8 x 8 pixels; eight tasks, from the ten-way digit to the amount of ink.",
    reference="Alpaydin & Kaynak, 1998, https://doi.org/10.24432/C50P49",
    load=load,
    settings=SplitSettings,
)
