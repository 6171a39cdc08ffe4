"""2,417 genes with any of fourteen functions: the classic multi-label set, as the package river ships it."""

import gzip
from typing import Final

import numpy as np

from affinity.core.entry import Dataset
from affinity.core.errors import DatasetError
from affinity.core.types import DatasetArrays
from affinity.datasets._optional import packaged_file
from affinity.datasets._split import SplitSettings
from affinity.datasets._tables import Target, assemble

FEATURES: Final = 103
LABELS: Final = 14


def load(settings: SplitSettings, seed: int) -> DatasetArrays:
    """Fourteen binary labels from expression and phylogenetic profiles.

    Args:
        settings: share of validation samples.
        seed: seed of the split.

    Returns:
        The dataset: inputs (2417, 103) and tasks `Class1` to `Class14`, with 34 to 1,816 positives.

    Raises:
        DatasetError: the package river is absent, or its file is not the expected table.
    """
    path = packaged_file("river", "datasets/yeast.csv.gz")
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        names = stream.readline().strip().split(",")
        table = np.loadtxt(stream, delimiter=",", ndmin=2)
    if len(names) != FEATURES + LABELS or table.shape[1] != len(names):
        raise DatasetError(f"expected {FEATURES + LABELS} columns, found {table.shape[1]}.", path.name)
    targets = [
        Target(
            name=names[column],
            kind="binary",
            values=table[:, column],
            description=f"Does the gene have functional class {column - FEATURES + 1}?",
        )
        for column in range(FEATURES, len(names))
    ]
    return assemble(table[:, :FEATURES], targets, settings=settings, seed=seed)


DATASET = Dataset(
    key="yeast",
    title="Yeast gene functions",
    summary="2,417 genes, 103 measurements; fourteen binary tasks, one a functional class, some rare.",
    reference="Elisseeff & Weston, 2001, "
    "https://papers.nips.cc/paper/2001/hash/39dcaf7a053dc372fbc391d4e6b5d693-Abstract.html",
    load=load,
    settings=SplitSettings,
    requires="river",
)
