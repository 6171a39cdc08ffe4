"""The planted truth: that the dials move what they claim, and that the truth can be found again."""

import numpy as np
import pytest
import torch
from lookahead_lab import Lab, best_two, blocks

from affinity.core.errors import SettingsError
from affinity.datasets.planted import PlantedSettings, group_parts, load

pytestmark = pytest.mark.usefixtures("one_thread")

KINDS = ["regression", "binary", "mixed"]


@pytest.fixture
def one_thread():
    """Networks this small are slower on several threads, and much slower on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def arrays(seed=0, **settings):
    return load(PlantedSettings(**settings), seed)


def correlations(**settings):
    """Mean correlation of two targets within a group and of two targets of different groups."""
    loaded = arrays(**settings)
    matrix = np.corrcoef([loaded.targets[task.name] for task in loaded.tasks])
    within, between = blocks(loaded)
    return matrix[within].mean(), matrix[between].mean()


def parts(conflict, groups=4):
    inputs = np.random.default_rng(0).uniform(-1.7, 1.7, size=(500, 12))
    return group_parts(inputs, groups=groups, conflict=conflict, rng=np.random.default_rng(1))


@pytest.mark.parametrize("conflict", [0.0, 0.4, 1.0])
def test_the_parts_of_two_groups_are_correlated_exactly_as_the_dial_says(conflict):
    expected = np.full((4, 4), -conflict / 3)
    np.fill_diagonal(expected, 1)
    assert np.allclose(np.corrcoef(parts(conflict).T), expected, atol=1e-9)


def test_parts_have_mean_zero_and_variance_one():
    assert np.allclose(parts(0.7).mean(axis=0), 0, atol=1e-12)
    assert np.allclose(parts(0.7).std(axis=0), 1)


def test_at_full_conflict_the_parts_sum_to_zero():
    assert np.allclose(parts(1.0).sum(axis=1), 0, atol=1e-7)


def test_one_group_has_a_part_of_variance_one_whatever_the_conflict():
    assert np.isclose(parts(1.0, groups=1).std(), 1)


def test_more_groups_than_products_of_inputs_are_refused():
    with pytest.raises(SettingsError, match="3 groups need more samples or inputs"):
        group_parts(np.ones((9, 3)), groups=3, conflict=0.0, rng=np.random.default_rng(0))


def test_the_default_is_three_groups_of_three():
    loaded = arrays()
    assert loaded.planted == (("a1", "a2", "a3"), ("b1", "b2", "b3"), ("c1", "c2", "c3"))
    assert [task.name for task in loaded.tasks] == [name for group in loaded.planted for name in group]
    assert loaded.inputs.shape == (6000, 48)


@pytest.mark.parametrize("related", [0.2, 0.5, 0.8])
def test_relatedness_is_the_correlation_of_own_parts_within_a_group(related):
    within, _ = correlations(relatedness=related, common=0.0, noise=0.0)
    assert np.isclose(within, related, atol=0.06)


@pytest.mark.parametrize("common", [0.0, 0.3, 0.9])
def test_common_is_the_correlation_across_groups_without_conflict(common):
    _, between = correlations(conflict=0.0, common=common, noise=0.0)
    assert np.isclose(between, common, atol=0.05)


def test_conflict_lowers_the_correlation_across_groups_and_no_other():
    free, halfway, full = (correlations(conflict=c, common=0.0, noise=0.0) for c in (0.0, 0.5, 1.0))
    assert np.allclose([free[0], halfway[0], full[0]], 0.8, atol=0.05)
    assert np.allclose([free[1], halfway[1], full[1]], [0.0, -0.2, -0.4], atol=0.03)


def test_noise_of_deviation_one_halves_the_correlations():
    quiet, loud = correlations(noise=0.0)[0], correlations(noise=1.0)[0]
    assert np.isclose(loud, quiet / 2, atol=0.05)


def test_without_relatedness_there_is_no_truth_to_find():
    assert arrays(relatedness=0.0).planted is None


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("regression", ["regression"] * 9),
        ("binary", ["binary"] * 9),
        ("mixed", ["regression", "binary", "binary"] * 3),
    ],
)
def test_the_kinds_of_the_tasks_follow_the_setting(kind, expected):
    assert [task.kind for task in arrays(kind=kind).tasks] == expected


def test_binary_tasks_have_two_equally_frequent_classes():
    loaded = arrays(kind="binary")
    assert all(np.isclose(labels.mean(), 0.5, atol=0.001) for labels in loaded.targets.values())


def test_the_largest_setting_still_gives_every_task_a_name_of_its_own():
    loaded = arrays(groups=12, tasks_per_group=20, samples=200, features=8)
    assert len({task.name for task in loaded.tasks}) == 240


def test_another_seed_draws_other_data():
    assert not np.array_equal(arrays(seed=0).inputs, arrays(seed=1).inputs)


def test_one_dial_leaves_inputs_and_split_as_they_were():
    calm, fierce = arrays(conflict=0.0), arrays(conflict=1.0)
    assert np.array_equal(calm.inputs, fierce.inputs)
    assert np.array_equal(calm.validation, fierce.validation)


def assert_found(loaded, outcome):
    names = [task.name for task in loaded.tasks]
    found, score, second = best_two(outcome.affinity, len(loaded.planted))
    assert {frozenset(names[i] for i in group) for group in found} == set(map(frozenset, loaded.planted))
    assert second < 0.9 * score, "the runner-up comes too close"


def test_a_short_training_finds_the_planted_groups():
    loaded = arrays()
    outcome = Lab(loaded, seed=0).train(120)
    assert_found(loaded, outcome)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_lookahead_affinity_finds_the_planted_groups(kind, seed):
    loaded = arrays(seed, kind=kind)
    outcome = Lab(loaded, seed=seed).train(300)
    within, between = blocks(loaded)
    assert outcome.affinity[within].min() > max(outcome.affinity[between].max(), 0)
    assert outcome.affinity[between].mean() < 0
    assert (outcome.affinity[between] < 0).mean() > 0.8
    assert_found(loaded, outcome)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_conflict_dial_turns_gradients_of_different_groups_apart(kind):
    cosines = []
    for conflict in (0.0, 0.5, 1.0):
        loaded = arrays(kind=kind, conflict=conflict)
        _, between = blocks(loaded)
        cosines.append(Lab(loaded, seed=0).train(300).cosine[between].mean())
    assert cosines[0] > cosines[1] > cosines[2]
    assert abs(cosines[0]) < 0.06
    assert cosines[2] < -0.05


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["regression", "binary"])
def test_training_the_planted_groups_apart_beats_all_together_and_wrong_groups(kind):
    loaded = arrays(kind=kind)
    wrong = [[group[at] for group in loaded.planted] for at in range(3)]

    def loss(groups):
        outcomes = [Lab(loaded.only(group), seed=0).train(1000, probe=False) for group in groups]
        return np.mean([outcome.validation.mean() for outcome in outcomes])

    together, right = loss([[task.name for task in loaded.tasks]]), loss(loaded.planted)
    assert right < 0.93 * together
    assert right < 0.93 * loss(wrong)
