"""The form that describes a training: pickers from the shelves, settings from their dataclasses."""

import importlib.util
import time
from dataclasses import dataclass
from typing import cast

import streamlit as st

from affinity.core.config import TrainConfig
from affinity.core.entry import Dataset, Model
from affinity.core.method import Method
from affinity.core.settings import describe
from affinity.core.strict_json import Json
from affinity.datasets import DATASETS
from affinity.jobs.launch import start_training
from affinity.jobs.tables import OWN_TABLE
from affinity.methods import METHODS
from affinity.models import MODELS
from affinity.probes import PROBES
from pages.ui import data, forms, glossary, messages, own_table, state

MAX_SEEDS = 10
DOUBLE_CLICK_SECONDS = 3.0

_LENGTH = ("steps", "batch", "optimizer", "lr")
_MORE = (
    "evaluate_every",
    "patience",
    "momentum",
    "weight_decay",
    "lookahead",
    "data_seed",
    "device",
    "threads",
)
_TITLES = {
    "optimizer": "Optimiser",
    "lr": "Learning rate",
    "batch": "Batch size",
    "evaluate_every": "Validate every … steps",
    "every": "Record every … steps",
    "held_out": "Also on held-out data",
    "patience": "Stop early after … validations",
    "data_seed": "Seed of the data",
    "lookahead": "Step of the lookahead",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A training that the user described; `ready` once it says what to train on."""

    config: TrainConfig
    label: str
    seeds: tuple[int, ...]
    ready: bool


def draw() -> Order:
    """Draw the form.

    Raises:
        SettingsError: values that do not fit together.
    """
    first, second, third = st.columns(3)
    with first:
        dataset = cast(Dataset, _entry("Dataset", DATASETS, "digits"))
        own = dataset.key == OWN_TABLE
        dataset_settings = own_table.draw() if own else _settings(dataset)
    with second:
        model = cast(Model, _entry("Shared network", MODELS, "mlp"))
        model_settings = _settings(model)
    with third:
        method = cast(Method, _entry("Method", METHODS, "joint"))
        method_settings = _settings(method)
    values = forms.draw(TrainConfig, "train", only=_LENGTH, titles=_TITLES, columns=4)
    left, right = st.columns([3, 1])
    label = left.text_input("Name (optional)", "", 200, "train_label", persist_state="session") or ""
    seeds = right.number_input(
        "Repeats",
        1,
        MAX_SEEDS,
        1,
        key="train_seeds",
        help=f"Each repeat is a run with a seed of its own.  \n{glossary.explain('seed')}",
        persist_state="session",
    )
    values |= _recording()
    values |= _tasks(dataset, dataset_settings)
    with st.expander("More settings", icon=":material/tune:"):
        values |= forms.draw(TrainConfig, "train", only=_MORE, titles=_TITLES, columns=4)
    chosen = {
        **values,
        "dataset": dataset.key,
        "dataset_settings": dataset_settings,
        "model": model.key,
        "model_settings": model_settings,
        "method": method.key,
        "method_settings": method_settings,
    }
    return Order(
        config=TrainConfig(**chosen),  # type: ignore[arg-type]
        label=label,
        seeds=tuple(range(int(seeds))),
        ready=not own or bool(dataset_settings.get("targets")),
    )


@messages.safely
def start(order: Order) -> None:
    """Start the training, unless the same one was started a moment ago by a second click."""
    signature, last = (order.config.hash, order.label, order.seeds), state.get("started")
    if last is not None and last[0] == signature and time.monotonic() - last[1] < DOUBLE_CLICK_SECONDS:
        return
    state.put("started", (signature, time.monotonic()))
    ids = start_training(data.library(), order.config, label=order.label, seeds=order.seeds)
    state.choose_run(ids[0])


def _entry(label: str, shelf: object, first: str) -> object:
    entries = cast(dict[str, Dataset | Model | Method], shelf)
    keys = list(entries)
    key = st.selectbox(
        label,
        keys,
        keys.index(first) if first in keys else 0,
        format_func=lambda item: entries[item].title,
        key=f"train_{label}",
        persist_state="session",
    )
    entry = entries[key]
    st.caption(messages.md(entry.summary))
    requires = getattr(entry, "requires", "")
    if requires and importlib.util.find_spec(requires) is None:
        st.warning(f"Needs the optional package {messages.md(requires)}.", icon=":material/extension:")
    return entry


def _settings(entry: Dataset | Model | Method) -> dict[str, Json]:
    """The entry's own settings, as far as they differ from their defaults."""
    described = {field.name: field for field in describe(entry.settings)}
    if not described:
        return {}
    with st.expander(f"Settings: {entry.title}"):
        values = forms.draw(entry.settings, f"train_{entry.key}")
    return {name: cast(Json, value) for name, value in values.items() if value != described[name].default}


def _recording() -> dict[str, object]:
    defaults = [key for key, probe in PROBES.items() if probe.default]
    with st.expander("What is recorded while training", icon=":material/monitoring:"):
        st.caption(
            "More quantities answer more questions and take more time. None of them changes the training."
        )
        chosen = st.multiselect(
            "Quantities",
            list(PROBES),
            defaults,
            format_func=lambda key: PROBES[key].title,
            key="train_probes",
            help="\n".join(
                f"- **{messages.md(probe.title)}**: {messages.md(f'{probe.summary} Cost: {probe.cost}')}"
                for probe in PROBES.values()
            ),
            persist_state="session",
        )
        values = forms.draw(TrainConfig, "train", only=("every", "held_out"), titles=_TITLES, columns=2)
    return {**values, "probes": None if set(chosen) == set(defaults) else tuple(chosen)}


def _tasks(dataset: Dataset, settings: dict[str, Json]) -> dict[str, object]:
    box = st.expander(
        "Only some of the tasks", icon=":material/checklist:", key="train_tasks_open", on_change="rerun"
    )
    if not box.open:  # loading a dataset takes a moment, so only on request
        kept = st.session_state.get(f"train_tasks_{dataset.key}")
        return {"tasks": tuple(kept) if kept else None}
    with box:
        names = data.dataset_tasks(dataset.key, tuple(sorted(settings.items())))
        chosen = st.multiselect(
            "Tasks; all when empty", names, [], key=f"train_tasks_{dataset.key}", persist_state="session"
        )
    return {"tasks": tuple(chosen) if chosen else None}
