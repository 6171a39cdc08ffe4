"""Twenty men, three exercises, three body measures: the smallest real multi-task set there is."""

import numpy as np

from affinity.core.entry import Dataset
from affinity.core.types import DatasetArrays
from affinity.datasets._split import SplitSettings
from affinity.datasets._tables import Target, assemble


def load(settings: SplitSettings, seed: int) -> DatasetArrays:
    """Weight, waist and pulse from the numbers of chin-ups, sit-ups and jumps.

    Args:
        settings: share of validation samples.
        seed: seed of the split.

    Returns:
        The dataset: inputs (20, 3), tasks `Weight`, `Waist` and `Pulse`. With 15 training rows the
        numbers show the mechanism, not a finding.
    """
    from sklearn.datasets import load_linnerud

    bunch = load_linnerud()
    units = {"Weight": "pounds", "Waist": "inches", "Pulse": "beats a minute"}
    targets = [
        Target(
            name=name,
            kind="regression",
            values=np.asarray(bunch.target[:, column], dtype=np.float64),
            description=f"{name} of a middle-aged man, in {units[name]}.",
        )
        for column, name in enumerate(bunch.target_names)
    ]
    return assemble(bunch.data, targets, settings=settings, seed=seed)


DATASET = Dataset(
    key="linnerud",
    title="Linnerud exercise data",
    summary="20 men, three exercises; three regressions: weight, waist and pulse. Too small for findings.",
    reference="Tenenhaus, 1998, https://scikit-learn.org/stable/datasets/toy_dataset.html#linnerrud-dataset",
    load=load,
    settings=SplitSettings,
)
