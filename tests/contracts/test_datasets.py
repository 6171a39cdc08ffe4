"""What every dataset on the shelf has to keep, whatever it holds."""

import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest

from affinity.core.settings import describe
from affinity.core.types import DatasetArrays, TaskSpec
from affinity.datasets import DATASETS

OWN_SOURCE = {"planted", "own_table"}  # made by us or by the user: there is nothing to cite


@pytest.fixture
def settings_of(tmp_path):
    """Settings with which a dataset loads; the user's own table gets a small file."""

    def make(key):
        if key != "own_table":
            return DATASETS[key].settings()
        rng = np.random.default_rng(0)
        path = tmp_path / "own.csv"
        rows = [f"{x:.3f},{x + y:.3f},{'yes' if y > 0 else 'no'}" for x, y in rng.normal(size=(60, 2))]
        path.write_text("\n".join(["input,amount,answer", *rows]), encoding="utf-8")
        return DATASETS[key].settings(file=str(path), targets=("amount", "answer"))

    return make


@pytest.fixture(params=list(DATASETS))
def key(request):
    package = DATASETS[request.param].requires
    if package and find_spec(package) is None:
        pytest.skip(f"the optional package {package} is not installed")
    return request.param


@pytest.fixture
def loaded(key, settings_of) -> DatasetArrays:
    return DATASETS[key].load(settings_of(key), 0)


def present(arrays: DatasetArrays, task: TaskSpec, part: str) -> np.ndarray:
    labels = arrays.targets[task.name][getattr(arrays, part)]
    return labels[~np.isnan(labels)]


@pytest.mark.parametrize("key", list(DATASETS))
def test_an_entry_says_what_it_is(key):
    entry = DATASETS[key]
    assert entry.key == key
    assert entry.title
    assert entry.summary.endswith(".")
    assert "\n" not in entry.summary
    assert key in OWN_SOURCE or ("https://" in entry.reference and any(c.isdigit() for c in entry.reference))


@pytest.mark.parametrize("key", list(DATASETS))
def test_every_setting_has_a_sentence_of_help(key):
    for field in describe(DATASETS[key].settings):
        assert field.help.endswith("."), field.name


def test_tasks_are_described_and_have_names_of_their_own(loaded):
    names = [task.name for task in loaded.tasks]
    assert len(set(names)) == len(names) >= 2
    assert all(task.description for task in loaded.tasks)


def test_inputs_are_finite_single_precision_and_read_only(loaded):
    assert loaded.inputs.dtype == np.float32
    assert np.isfinite(loaded.inputs).all()
    assert not loaded.inputs.flags.writeable
    assert loaded.inputs.ndim in (2, 4)


def test_the_parts_are_disjoint_and_cover_every_sample(loaded):
    both = np.concatenate([loaded.train, loaded.validation])
    assert sorted(both.tolist()) == list(range(len(loaded.inputs)))


def test_inputs_are_standardised_on_the_training_part(loaded):
    train = loaded.inputs[loaded.train].astype(np.float64)
    axes = (0,) if train.ndim == 2 else (0, 2, 3)
    scale = train.std(axis=axes)
    assert np.allclose(train.mean(axis=axes), 0, atol=1e-5)
    assert np.all(np.isclose(scale, 1, atol=1e-4) | (scale == 0))


def test_regression_targets_are_standardised_on_the_training_part(loaded):
    for task in loaded.tasks:
        if task.kind == "regression":
            labels = present(loaded, task, "train")
            assert np.isclose(labels.mean(), 0, atol=1e-9)
            assert np.isclose(labels.std(), 1, atol=1e-9)


def test_every_class_is_met_in_training_and_no_other_label_exists(loaded):
    for task in loaded.tasks:
        if task.kind != "regression":
            classes = set(range(task.classes))
            assert set(present(loaded, task, "train").astype(int)) == classes
            assert set(present(loaded, task, "validation").astype(int)) <= classes


def test_loading_twice_gives_the_same_arrays(key, loaded, settings_of):
    again = DATASETS[key].load(settings_of(key), 0)
    assert np.array_equal(again.inputs, loaded.inputs)
    assert np.array_equal(again.train, loaded.train)
    assert again.tasks == loaded.tasks
    for name, labels in loaded.targets.items():
        assert np.array_equal(again.targets[name], labels, equal_nan=True)


def test_another_seed_gives_another_split(key, loaded, settings_of):
    other = DATASETS[key].load(settings_of(key), 1)
    same_split = np.array_equal(other.validation, loaded.validation)
    # Composed images are drawn from split sources: their rows stay, their content changes.
    assert not same_split or not np.array_equal(other.inputs, loaded.inputs)


def test_the_global_random_state_is_left_alone(key, settings_of):
    np.random.seed(3)
    expected = np.random.random()
    np.random.seed(3)
    DATASETS[key].load(settings_of(key), 5)
    assert np.random.random() == expected


def test_listing_the_shelves_loads_no_heavy_package():
    code = (
        "import sys, affinity.datasets, affinity.models;"
        "print([m for m in ('torch','sklearn','pandas','scipy','river','mlxtend') if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
