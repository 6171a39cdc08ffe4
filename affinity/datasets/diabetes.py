"""442 patients: seven measurements that a doctor would want to know, from four that are easy to take."""

from typing import Final

import numpy as np

from affinity.core.entry import Dataset
from affinity.core.types import DatasetArrays
from affinity.datasets._split import SplitSettings
from affinity.datasets._tables import Target, assemble

INPUTS: Final = ("age", "sex", "bmi", "bp")
SERUM: Final = {
    "s1": ("cholesterol", "Total serum cholesterol."),
    "s2": ("ldl", "Low-density lipoproteins."),
    "s3": ("hdl", "High-density lipoproteins."),
    "s4": ("cholesterol_ratio", "Total cholesterol over high-density lipoproteins."),
    "s5": ("triglycerides", "Possibly the logarithm of the serum triglycerides level."),
    "s6": ("glucose", "Blood sugar level."),
}


def load(settings: SplitSettings, seed: int) -> DatasetArrays:
    """Disease progression and six blood serum measures from age, sex, body mass index and blood pressure.

    The serum measures are tasks and never inputs, so no task is told the answer of another.

    Args:
        settings: share of validation samples.
        seed: seed of the split.

    Returns:
        The dataset: inputs (442, 4) and seven regressions.
    """
    from sklearn.datasets import load_diabetes

    bunch = load_diabetes(scaled=False)
    column = {name: np.asarray(bunch.data[:, at]) for at, name in enumerate(bunch.feature_names)}
    labels = {"progression": ("Disease progression one year later.", np.asarray(bunch.target))}
    labels |= {name: (text, column[key]) for key, (name, text) in SERUM.items()}
    targets = [
        Target(name=name, kind="regression", values=values, description=text)
        for name, (text, values) in labels.items()
    ]
    inputs = np.stack([column[name] for name in INPUTS], axis=1)
    return assemble(inputs, targets, settings=settings, seed=seed)


DATASET = Dataset(
    key="diabetes",
    title="Diabetes patients",
    summary="442 patients, four simple inputs; seven regressions: disease progression and blood serum.",
    reference="Efron, Hastie, Johnstone & Tibshirani, 2004, https://doi.org/10.1214/009053604000000067",
    load=load,
    settings=SplitSettings,
)
