"""The settings of one training, whole: the same config gives the same numbers on the CPU."""

import hashlib
from dataclasses import dataclass, fields, replace
from typing import ClassVar

from affinity.core.settings import Settings, setting
from affinity.core.strict_json import Json, dumps, to_json


@dataclass(frozen=True, kw_only=True)
class TrainConfig(Settings):
    """Everything that decides a training.

    Entries' own settings stand in `dataset_settings`, `model_settings` and `method_settings` as sorted
    (name, value) pairs, because a frozen record cannot hold a dict; `to_json` shows them as objects.
    """

    where: ClassVar[str] = "train"

    dataset: str = setting("digits", help="Which dataset to train on.")
    dataset_settings: tuple[tuple[str, Json], ...] = setting((), help="The dataset's own settings.")
    data_seed: int = setting(0, low=0, high=2**31 - 1, help="Seed of the split and of synthetic data.")
    tasks: tuple[str, ...] | None = setting(None, help="Train only these tasks; all when empty.")
    model: str = setting("mlp", help="The shared trunk.")
    model_settings: tuple[tuple[str, Json], ...] = setting((), help="The model's own settings.")
    method: str = setting("joint", help="How the tasks' losses are combined.")
    method_settings: tuple[tuple[str, Json], ...] = setting((), help="The method's own settings.")
    optimizer: str = setting("sgd", choices=("sgd", "momentum", "adam"), help="The optimiser.")
    lr: float = setting(0.1, low=1e-8, high=10.0, help="Learning rate.")
    momentum: float = setting(0.9, low=0.0, high=0.999, help="Momentum, for the momentum optimiser.")
    weight_decay: float = setting(0.0, low=0.0, high=1.0, help="L2 penalty on all parameters.")
    batch: int = setting(128, low=2, high=65536, help="Samples in a mini-batch.")
    steps: int = setting(300, low=1, high=1_000_000, help="Optimiser updates.")
    seed: int = setting(0, low=0, high=2**31 - 1, help="Seed of the weights and of the batch order.")
    probes: tuple[str, ...] | None = setting(None, help="Quantities to record; the default set when empty.")
    every: int = setting(10, low=1, high=100_000, help="Record the probes at every so many steps.")
    held_out: bool = setting(False, help="Also measure the probes on a held-out batch.")
    evaluate_every: int = setting(25, low=1, high=100_000, help="Validate at every so many steps.")
    patience: int = setting(
        0, low=0, high=100_000, help="Stop after so many validations without improvement; 0 = never."
    )
    lookahead: str = setting(
        "optimizer",
        choices=("optimizer", "sgd"),
        help="The lookahead's step: the optimiser's own, or a plain gradient step.",
    )
    threads: int = setting(1, low=1, high=256, help="CPU threads; the same count gives the same numbers.")
    device: str = setting("auto", choices=("auto", "cpu", "cuda"), help="Where to train.")

    def __post_init__(self) -> None:
        for name in ("dataset_settings", "model_settings", "method_settings"):
            given = getattr(self, name)
            pairs = dict(given).items()
            frozen = sorted(((str(key), _frozen(value)) for key, value in pairs), key=lambda pair: pair[0])
            object.__setattr__(self, name, tuple(frozen))
        super().__post_init__()

    def to_json(self) -> dict[str, Json]:
        """Every field as plain JSON, the entries' settings as objects."""
        values = {field.name: to_json(getattr(self, field.name)) for field in fields(self)}
        for name in ("dataset_settings", "model_settings", "method_settings"):
            values[name] = to_json(dict(getattr(self, name)))
        return values

    @property
    def hash(self) -> str:
        """Twelve hex digits that name the config without its seed, device and threads."""
        values = replace(self, seed=0, device="auto", threads=1).to_json()
        return hashlib.sha256(dumps(values).encode()).hexdigest()[:12]


def _frozen(value: object) -> object:
    return tuple(_frozen(item) for item in value) if isinstance(value, list | tuple) else value
