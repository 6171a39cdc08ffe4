"""Synthetic tasks with a known grouping and a known conflict, so that the right answer exists.

Every target is a sum of parts of unit variance, weighted so that their variances add up:

    target = sqrt(common) * shared + sqrt(1 - common) * own + noise * white
    own    = sqrt(relatedness) * part of the task's group + sqrt(1 - relatedness) * private part

The shared part is linear in the inputs and learned within a few steps: it turns all heads the same way. The
parts of the groups are sums of products of two inputs, learned slowly; any two of them are correlated
-conflict / (groups - 1), and at conflict 1 they form a simplex, as opposed as can be. Once the shared part is
learned, tasks of one group leave residuals that point the same way and tasks of two groups residuals
that point apart, while their heads still agree: their gradients on the shared trunk fight.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from affinity.core.entry import Dataset
from affinity.core.errors import SettingsError
from affinity.core.settings import setting
from affinity.core.types import DatasetArrays, FloatArray, TaskKind
from affinity.datasets._split import SplitSettings
from affinity.datasets._tables import Target, assemble


@dataclass(frozen=True, kw_only=True)
class PlantedSettings(SplitSettings):
    """The truth to plant and how hard it is to see."""

    where: ClassVar[str] = "planted"

    groups: int = setting(3, low=1, high=12, help="Number of true groups.")
    tasks_per_group: int = setting(3, low=1, high=20, help="Tasks in each true group.")
    kind: str = setting(
        "regression",
        choices=("regression", "binary", "mixed"),
        help="What the tasks predict; mixed = one regression a group, the others binary.",
    )
    samples: int = setting(6000, low=200, high=200_000, help="Samples to draw, both parts together.")
    features: int = setting(48, low=8, high=512, help="Number of inputs.")
    conflict: float = setting(
        1.0,
        low=0.0,
        high=1.0,
        help="How opposed the groups' parts are: 0 = unrelated, 1 = as far as can be.",
    )
    relatedness: float = setting(
        0.8, low=0.0, high=1.0, help="Correlation of the own parts of two tasks of one group; 0 = no groups."
    )
    common: float = setting(
        0.6, low=0.0, high=1.0, help="Share of the signal's variance that all tasks have in common."
    )
    noise: float = setting(0.1, low=0.0, high=10.0, help="Deviation of the noise; the signal's is 1.")


def load(settings: PlantedSettings, seed: int) -> DatasetArrays:
    """Draw inputs and tasks.

    Args:
        settings: the truth to plant.
        seed: seed of the draw and of the split.

    Returns:
        The dataset with inputs (samples, features) and tasks named `a1`, `a2`, ... `b1`, ...: a letter a
        group. `planted` is the true grouping, or None at relatedness 0, where there is none. A binary
        target says whether the value lies above its median, so both classes are equally frequent.
    """
    rng = np.random.default_rng([seed, 1])
    inputs = rng.uniform(-np.sqrt(3.0), np.sqrt(3.0), size=(settings.samples, settings.features))
    shared = _unit(inputs @ rng.normal(size=settings.features))
    parts = group_parts(inputs, groups=settings.groups, conflict=settings.conflict, rng=rng)
    targets, truth = [], []
    for group in range(settings.groups):
        letter, names = "abcdefghijkl"[group], []
        for position in range(settings.tasks_per_group):
            names.append(f"{letter}{position + 1}")
            values = _values(inputs, shared, parts[:, group], settings=settings, rng=rng)
            targets.append(_target(names[-1], letter, values, kind=_kind(settings.kind, position)))
        truth.append(tuple(names))
    planted = tuple(truth) if settings.relatedness > 0 else None
    return assemble(inputs, targets, settings=settings, seed=seed, planted=planted)


def group_parts(inputs: FloatArray, *, groups: int, conflict: float, rng: np.random.Generator) -> FloatArray:
    """One function of the inputs a group, correlated exactly -conflict / (groups - 1) over the samples.

    Args:
        inputs: (n, d), independent columns.
        groups: number of functions; at most d * (d - 1) / 2, the number of products of two inputs.
        conflict: 0 = uncorrelated, 1 = a simplex: the columns sum to zero.
        rng: source of randomness.

    Returns:
        (n, groups), columns of mean 0 and variance 1.

    Raises:
        SettingsError: more groups than the samples or inputs can tell apart.
    """
    if groups >= min(len(inputs), inputs.shape[1] * (inputs.shape[1] - 1) // 2):
        raise SettingsError(f"{groups} groups need more samples or inputs.", PlantedSettings.where)
    raw = np.stack([_products(inputs, rng) for _ in range(groups)], axis=1)
    orthogonal = np.linalg.qr(raw)[0] * np.sqrt(len(inputs))
    opposition = conflict / max(groups - 1, 1)
    wanted = (1.0 + opposition) * np.eye(groups) - opposition if groups > 1 else np.eye(1)
    # The symmetric root also exists at conflict 1, where the correlation matrix is singular.
    eigenvalues, eigenvectors = np.linalg.eigh(wanted)
    root = (eigenvectors * np.sqrt(np.clip(eigenvalues, 0.0, None))) @ eigenvectors.T
    return np.asarray(orthogonal @ root, dtype=np.float64)


def _products(inputs: FloatArray, rng: np.random.Generator) -> FloatArray:
    """(n,) sum of signed products of two different inputs, three for every two inputs; unit variance."""
    features = inputs.shape[1]
    total = np.zeros(len(inputs))
    for _ in range(3 * features // 2):
        first, second = rng.choice(features, size=2, replace=False)
        total += rng.choice((-1.0, 1.0)) * inputs[:, first] * inputs[:, second]
    return _unit(total)


def _unit(values: FloatArray) -> FloatArray:
    return np.asarray((values - values.mean()) / values.std(), dtype=np.float64)


def _values(
    inputs: FloatArray,
    shared: FloatArray,
    part: FloatArray,
    *,
    settings: PlantedSettings,
    rng: np.random.Generator,
) -> FloatArray:
    related, common = settings.relatedness, settings.common
    own = np.sqrt(related) * part + np.sqrt(1.0 - related) * _products(inputs, rng)
    signal = np.sqrt(common) * shared + np.sqrt(1.0 - common) * own
    return np.asarray(signal + settings.noise * rng.normal(size=len(inputs)), dtype=np.float64)


def _kind(kind: str, position: int) -> TaskKind:
    return "regression" if kind == "regression" or (kind == "mixed" and position == 0) else "binary"


def _target(name: str, letter: str, values: FloatArray, *, kind: TaskKind) -> Target:
    if kind == "binary":
        text = f"Is the value of this task of group {letter} above its median?"
        return Target(name=name, kind=kind, values=values > np.median(values), description=text)
    return Target(name=name, kind=kind, values=values, description=f"A value; the task is of group {letter}.")


DATASET = Dataset(
    key="planted",
    title="Planted groups",
    summary="Synthetic tasks whose right grouping is known, with a dial for conflict and relatedness.",
    load=load,
    settings=PlantedSettings,
)
