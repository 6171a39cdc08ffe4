"""569 tumours: the diagnosis and the shape of the worst cells, from averages over all cells."""

from typing import Final

import numpy as np

from affinity.core.entry import Dataset
from affinity.core.types import DatasetArrays
from affinity.datasets._split import SplitSettings
from affinity.datasets._tables import Target, assemble

# Perimeter and area follow from the radius, and concave points nearly from the concavity: they would be the
# same task again.
WORST: Final = (
    "radius",
    "texture",
    "smoothness",
    "compactness",
    "concavity",
    "symmetry",
    "fractal dimension",
)


def load(settings: SplitSettings, seed: int) -> DatasetArrays:
    """Diagnosis and seven measures of the three worst cells, from mean and standard error over the cells.

    The "worst" columns are tasks and never inputs, so no task is told the answer of another.

    Args:
        settings: share of validation samples.
        seed: seed of the split.

    Returns:
        The dataset: inputs (569, 20), the task `malignant` (1 = malignant) and seven regressions.
    """
    from sklearn.datasets import load_breast_cancer

    bunch = load_breast_cancer()
    column = {str(name): np.asarray(bunch.data[:, at]) for at, name in enumerate(bunch.feature_names)}
    targets = [
        Target(
            name="malignant",
            kind="binary",
            # The source codes malignant as 0; a reader expects 1 for what is searched.
            values=np.asarray(bunch.target) == 0,
            description="Is the tumour malignant?",
        )
    ]
    for measure in WORST:
        text = f"Mean {measure} of the three cells where it is largest."
        values = column[f"worst {measure}"]
        targets.append(Target(name=f"worst {measure}", kind="regression", values=values, description=text))
    inputs = np.stack([values for name, values in column.items() if not name.startswith("worst")], axis=1)
    return assemble(inputs, targets, settings=settings, seed=seed)


DATASET = Dataset(
    key="breast_cancer",
    title="Breast cancer cells",
    summary="569 tumours, 20 averages over cells; the diagnosis and seven regressions on the worst cells.",
    reference="Wolberg, Mangasarian, Street & Street, 1993, https://doi.org/10.24432/C5DW2B",
    load=load,
    settings=SplitSettings,
)
