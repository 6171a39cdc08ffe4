"""Both trunks: shapes, settings, errors, and that the same seed gives the same weights."""

import itertools

import pytest
import torch

from affinity.core.errors import SettingsError
from affinity.core.settings import describe
from affinity.models import MODELS
from affinity.models._layers import ACTIVATIONS


def build(key, shape, **settings):
    return MODELS[key].build(MODELS[key].settings(**settings), shape)


def count(trunk, kind):
    return sum(isinstance(layer, kind) for layer in trunk)


@pytest.mark.parametrize("key", list(MODELS))
def test_an_entry_says_what_it_is(key):
    entry = MODELS[key]
    assert entry.title
    assert entry.summary.endswith(".")
    assert "https://" in entry.reference
    assert all(field.help.endswith(".") for field in describe(entry.settings))


@pytest.mark.parametrize("key", list(MODELS))
@pytest.mark.parametrize("shape", [(1, 8, 8), (3, 14, 28), (1, 5, 7)])
def test_a_trunk_maps_a_batch_of_images_to_its_width(key, shape):
    trunk, width = build(key, shape, width=24)
    assert width == 24
    assert trunk(torch.zeros(5, *shape)).shape == (5, 24)


@pytest.mark.parametrize("shape", [(1,), (103,), (4, 6)])
def test_the_mlp_flattens_whatever_comes(shape):
    trunk, width = build("mlp", shape)
    assert trunk(torch.zeros(2, *shape)).shape == (2, width)


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_the_depth_counts_the_linear_layers_of_the_mlp(depth):
    assert count(build("mlp", (3,), depth=depth)[0], torch.nn.Linear) == depth


@pytest.mark.parametrize("key", list(MODELS))
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_every_activation_can_be_chosen(key, name):
    trunk, _ = build(key, (1, 8, 8), activation=name)
    assert torch.isfinite(trunk(torch.randn(3, 1, 8, 8))).all()


@pytest.mark.parametrize("key", list(MODELS))
def test_dropout_and_normalisation_are_off_by_default(key):
    trunk, _ = build(key, (1, 8, 8))
    inputs = torch.randn(4, 1, 8, 8)
    assert torch.equal(trunk.train()(inputs), trunk.eval()(inputs))


@pytest.mark.parametrize("key", list(MODELS))
def test_dropout_acts_only_in_training(key):
    trunk, _ = build(key, (1, 8, 8), dropout=0.9, width=256)
    inputs = torch.randn(4, 1, 8, 8)
    assert not torch.equal(trunk.train()(inputs), trunk(inputs))
    assert torch.equal(trunk.eval()(inputs), trunk(inputs))


@pytest.mark.parametrize("key", list(MODELS))
def test_batch_normalisation_replaces_the_bias_before_it(key):
    trunk, _ = build(key, (1, 8, 8), batch_norm=True)
    for before, after in itertools.pairwise(trunk):
        if isinstance(after, torch.nn.BatchNorm1d | torch.nn.BatchNorm2d):
            assert before.bias is None
    assert count(trunk, torch.nn.BatchNorm1d) + count(trunk, torch.nn.BatchNorm2d) == 2


@pytest.mark.parametrize("key", list(MODELS))
def test_the_same_seed_gives_the_same_weights(key):
    torch.manual_seed(4)
    first, _ = build(key, (1, 8, 8))
    torch.manual_seed(4)
    second, _ = build(key, (1, 8, 8))
    pairs = zip(first.parameters(), second.parameters(), strict=True)
    assert all(torch.equal(one, other) for one, other in pairs)


@pytest.mark.parametrize("key", list(MODELS))
def test_every_parameter_receives_a_gradient(key):
    trunk, _ = build(key, (1, 8, 8), activation="tanh")
    trunk(torch.randn(16, 1, 8, 8)).sum().backward()
    assert all(parameter.grad is not None and parameter.grad.any() for parameter in trunk.parameters())


@pytest.mark.parametrize("shape", [(4,), (3, 3), (1, 2, 3, 4)])
def test_the_cnn_refuses_inputs_that_are_no_images(shape):
    with pytest.raises(SettingsError, match=r"cnn: the inputs have shape .* Use the mlp model"):
        build("cnn", shape)


def test_the_cnn_refuses_more_blocks_than_the_image_can_be_halved():
    with pytest.raises(
        SettingsError, match=r"4 blocks need at least 16 pixels a side; the images have 8 x 8"
    ):
        build("cnn", (1, 8, 8), blocks=4)
    assert build("cnn", (1, 8, 8), blocks=3)[0](torch.zeros(1, 1, 8, 8)).shape == (1, 64)


def test_only_the_cnn_wants_images():
    assert {key: model.wants_images for key, model in MODELS.items()} == {"cnn": True, "mlp": False}


@pytest.mark.parametrize(
    ("key", "settings"),
    [
        ("mlp", {"width": 0}),
        ("mlp", {"depth": 0}),
        ("mlp", {"dropout": 0.95}),
        ("mlp", {"activation": "maxout"}),
        ("cnn", {"blocks": 0}),
        ("cnn", {"channels": 0}),
    ],
)
def test_settings_out_of_range_are_refused(key, settings):
    with pytest.raises(SettingsError, match=f"{key}.{next(iter(settings))}"):
        build(key, (1, 8, 8), **settings)
