import numpy as np
import pytest

from affinity.core.errors import DatasetError
from affinity.datasets._split import split, standardise_columns, standardise_images, standardise_target


def test_the_split_has_the_share_that_was_asked_for():
    train, validation = split(100, 0, share=0.2)
    assert (len(train), len(validation)) == (80, 20)


def test_the_split_is_fixed_by_its_seed():
    assert np.array_equal(split(50, 7, share=0.25)[1], split(50, 7, share=0.25)[1])
    assert not np.array_equal(split(50, 7, share=0.25)[1], split(50, 8, share=0.25)[1])


def test_two_samples_are_just_enough_to_split():
    train, validation = split(2, 0, share=0.25)
    assert (len(train), len(validation)) == (1, 1)


@pytest.mark.parametrize("count", [0, 1])
def test_too_few_samples_are_refused(count):
    with pytest.raises(DatasetError, match=f"{count} samples are too few"):
        split(count, 0, share=0.25)


def test_rows_that_must_be_trained_on_are_never_validation():
    fixed = np.array([0, 3, 5])
    for seed in range(20):
        assert not set(split(8, seed, share=0.5, always_train=fixed)[1]) & set(fixed)


def test_a_split_where_every_row_must_be_trained_on_is_refused():
    with pytest.raises(DatasetError, match="too few"):
        split(3, 0, share=0.5, always_train=np.arange(3))


def test_columns_are_scaled_by_the_training_rows_alone():
    train = np.array([0, 1, 2])
    values = np.array([[0.0], [1.0], [2.0], [3.0]])
    changed = values.copy()
    changed[3] = 1e9
    first, second = standardise_columns(values, train), standardise_columns(changed, train)
    assert np.array_equal(first[train], second[train])
    assert np.allclose(first[:, 0], [-1.2247449, 0, 1.2247449, 2.4494897])


def test_a_column_constant_in_training_is_zero_even_where_validation_differs():
    values = np.array([[5.0], [5.0], [9.0]])
    assert np.array_equal(standardise_columns(values, np.array([0, 1])), np.zeros((3, 1), np.float32))


def test_rounding_does_not_turn_a_constant_column_into_noise():
    values = np.full((1000, 1), 0.1) * 1e6
    assert not standardise_columns(values, np.arange(1000)).any()


def test_a_tiny_scale_is_not_taken_for_a_constant():
    values = np.random.default_rng(0).normal(size=(50, 1)) * 1e-30
    assert np.isclose(standardise_columns(values, np.arange(50)).std(), 1, atol=1e-5)


def test_a_missing_input_becomes_the_training_mean():
    values = np.array([[1.0], [np.nan], [3.0]])
    assert standardise_columns(values, np.arange(3))[1, 0] == 0


def test_a_column_without_any_value_is_zero():
    assert not standardise_columns(np.full((4, 1), np.nan), np.arange(4)).any()


def test_images_keep_one_scale_for_all_pixels_of_a_channel():
    images = np.zeros((4, 1, 2, 2))
    images[:, 0, 0, 0] = [0, 1, 2, 3]
    scaled = standardise_images(images, np.array([0, 1, 2]))
    assert np.allclose(np.diff(scaled[:, 0, 0, 0]), np.diff(scaled[:, 0, 0, 0])[0])
    assert np.allclose(scaled[:3].std(), 1, atol=1e-6)


def test_images_are_centred_and_scaled_by_the_training_images_alone():
    images = np.random.default_rng(0).normal(5, 2, size=(20, 2, 3, 3))
    changed = images.copy()
    changed[10:] += 100
    first, second = (standardise_images(values, np.arange(10)) for values in (images, changed))
    assert np.array_equal(first[:10], second[:10])
    assert np.allclose(first[:10].mean(axis=0), 0, atol=1e-6)


def test_a_channel_that_does_not_vary_in_training_is_zero():
    images = np.zeros((3, 1, 2, 2))
    images[2] = 7
    assert not standardise_images(images, np.array([0, 1])).any()


def test_a_target_is_scaled_by_its_labelled_training_rows():
    values = np.array([1.0, 3.0, np.nan, 100.0])
    scaled = standardise_target(values, np.array([0, 1, 2]))
    assert np.allclose(scaled, [-1, 1, np.nan, 98], equal_nan=True)


def test_a_target_that_does_not_vary_in_training_is_refused():
    with pytest.raises(DatasetError, match="does not vary"):
        standardise_target(np.array([1.0, 1.0, 2.0]), np.array([0, 1]))
