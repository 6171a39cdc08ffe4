"""The batched access gives what the loop over tasks gives, whatever the network and the optimiser are."""

import numpy as np
import pytest
import torch
from small_networks import MIXED, OPTIMIZERS, batch_of, both_ways, network_of
from torch import nn

from affinity.core.types import TaskSpec
from affinity.training.network import MultiTaskNetwork

TOLERANCE = {torch.float32: 1e-6, torch.float64: 1e-12}

SHAPES = {
    "mlp": {},
    "mlp with dropout": {"dropout": 0.4},
    "mlp with batch norm": {"batch_norm": True},
    "mlp with both": {"dropout": 0.3, "batch_norm": True, "activation": "silu"},
    "cnn": {},
    "cnn with both": {"dropout": 0.3, "batch_norm": True, "activation": "gelu"},
}


def assert_equal(loop, stacked, *, atol: float, splits=("train",)) -> None:
    for split in splits:
        for quantity in ("losses", "lookahead_losses", "proximal_losses"):
            wanted, found = getattr(loop, quantity)(split), getattr(stacked, quantity)(split)
            np.testing.assert_allclose(found, wanted, rtol=atol, atol=atol, err_msg=f"{quantity} {split}")
    scale = max(1.0, float(np.nanmax(loop.gram(), initial=0.0)))
    np.testing.assert_allclose(stacked.layer_gram(), loop.layer_gram(), rtol=0, atol=atol * scale)
    np.testing.assert_allclose(stacked.gram(), stacked.layer_gram().sum(axis=0), rtol=1e-12)


def network_and_batches(shape: str, dtype: torch.dtype, **more: object):
    model = shape.split()[0]
    network = network_of(model, **SHAPES[shape]).to(dtype)
    batches = {
        "train": batch_of(model, dtype=dtype, **more),
        "validation": batch_of(model, dtype=dtype, seed=2, **more),
    }
    return network, batches


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_quantity_equals_the_loop(shape: str, dtype: torch.dtype):
    network, batches = network_and_batches(shape, dtype, missing=0.2)
    loop, stacked = both_ways(network, batches)
    assert_equal(loop, stacked, atol=TOLERANCE[dtype], splits=("train", "validation"))


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_every_optimiser_equals_the_loop(optimizer: str):
    network, batches = network_and_batches("mlp", torch.float64)
    loop, stacked = both_ways(network, batches, optimizer=optimizer)
    assert_equal(loop, stacked, atol=1e-12)


def test_a_plain_lookahead_ignores_the_optimiser_and_a_proximal_step_does_not():
    network, batches = network_and_batches("mlp", torch.float64)
    loop, stacked = both_ways(network, batches, optimizer="adam", plain=True)
    assert_equal(loop, stacked, atol=1e-12)
    _, own_rule = both_ways(network, batches, optimizer="adam", steps=0)
    assert not np.allclose(own_rule.lookahead_losses(), stacked.lookahead_losses())


@pytest.mark.parametrize("shape", ["mlp", "cnn with both"])
def test_a_task_absent_from_the_batch_is_missing_and_nothing_else_is(shape: str):
    network, batches = network_and_batches(shape, torch.float64, absent=(1, 4))
    loop, stacked = both_ways(network, batches)
    assert_equal(loop, stacked, atol=1e-12, splits=("train", "validation"))
    absent = np.isin(np.arange(len(MIXED)), (1, 4))
    np.testing.assert_array_equal(np.isnan(stacked.losses()), absent)
    pairs = absent[:, None] | absent[None, :]
    for values in (stacked.lookahead_losses(), stacked.proximal_losses(), stacked.gram()):
        np.testing.assert_array_equal(np.isnan(values), pairs)


@pytest.mark.parametrize("broken", [float("inf"), 1e30])
def test_an_infinite_loss_is_missing_and_nothing_else_is(broken: float):
    network, batches = network_and_batches("mlp", torch.float32)
    batches["train"].targets[0, 3] = broken
    _, access = both_ways(network, batches, steps=0)
    finite = np.ones((6, 6), bool)
    finite[3, :] = finite[:, 3] = False
    for values in (access.gram(), access.lookahead_losses(), access.proximal_losses()):
        np.testing.assert_array_equal(np.isfinite(values), finite)


def test_a_frozen_first_convolution_does_not_move():
    network, batches = network_and_batches("cnn", torch.float64)
    for name, parameter in network.trunk.named_parameters():
        parameter.requires_grad_(not name.startswith("0."))
    loop, stacked = both_ways(network, batches)
    assert_equal(loop, stacked, atol=1e-12)


def test_a_frozen_convolution_behind_a_trainable_one_does_not_move():
    network, batches = network_and_batches("cnn", torch.float64)
    for name, parameter in network.trunk.named_parameters():
        parameter.requires_grad_(not name.startswith("3."))
    loop, stacked = both_ways(network, batches)
    assert_equal(loop, stacked, atol=1e-12)


@pytest.mark.parametrize("frozen", [{"1.weight"}, {"1.bias"}, {"3.weight"}, {"1.weight", "1.bias"}])
@pytest.mark.parametrize("shape", ["mlp", "mlp with batch norm"])
def test_frozen_shared_parameters_do_not_move(frozen: set[str], shape: str):
    network, batches = network_and_batches(shape, torch.float64)
    for name, parameter in network.trunk.named_parameters():
        parameter.requires_grad_(name not in frozen)
    loop, stacked = both_ways(network, batches)
    assert_equal(loop, stacked, atol=1e-12)


def test_a_trunk_that_is_frozen_as_a_whole_changes_nothing():
    network, batches = network_and_batches("mlp", torch.float64)
    network.trunk.requires_grad_(False)
    loop, stacked = both_ways(network, batches)
    for access in (loop, stacked):
        np.testing.assert_array_equal(access.gram(), np.zeros((6, 6)))
        np.testing.assert_allclose(access.lookahead_losses(), np.tile(access.losses(), (6, 1)), rtol=1e-12)
        assert (np.diagonal(access.proximal_losses()) < access.losses()).all()


def test_one_task_and_a_hundred():
    for count in (1, 100):
        tasks = tuple(TaskSpec(name=f"t{number}", kind="regression") for number in range(count))
        network = network_of("mlp", tasks).double()
        batches = {"train": batch_of("mlp", tasks, dtype=torch.float64)}
        loop, stacked = both_ways(network, batches, tasks=tasks)
        assert_equal(loop, stacked, atol=1e-12)
        assert stacked.gram().shape == (count, count)


class Branching(nn.Module):
    """A trunk that is no sequence: a residual block, a layer used twice, and a normalisation over units."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.twice, self.norm = nn.Linear(5, 7), nn.Linear(7, 7), nn.LayerNorm(7)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        value = torch.relu(self.first(inputs))
        return self.norm(value + self.twice(torch.tanh(self.twice(value))))


class Recurrent(nn.Module):
    """A trunk that cannot be batched over tasks and so runs in turn."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.GRU(5, 7, batch_first=True)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return self.layer(inputs.unsqueeze(1))[0][:, -1]


@pytest.mark.parametrize("trunk", [Branching, Recurrent])
def test_any_other_trunk_equals_the_loop_too(trunk: type[nn.Module]):
    torch.manual_seed(0)
    network = MultiTaskNetwork(trunk(), 7, MIXED).double().train()
    loop, stacked = both_ways(network, {"train": batch_of(dtype=torch.float64, missing=0.2)})
    assert_equal(loop, stacked, atol=1e-12)


def test_tied_layers_inside_a_sequence_add_up():
    torch.manual_seed(0)
    tied = nn.Linear(5, 5)
    trunk = nn.Sequential(tied, nn.Tanh(), tied, nn.ReLU(), nn.Sequential(tied, nn.Linear(5, 7)))
    network = MultiTaskNetwork(trunk, 7, MIXED).double().train()
    loop, stacked = both_ways(network, {"train": batch_of(dtype=torch.float64)})
    assert_equal(loop, stacked, atol=1e-12)


def test_chunks_of_one_task_give_the_same(monkeypatch: pytest.MonkeyPatch):
    network, batches = network_and_batches("cnn", torch.float64)
    _, whole = both_ways(network, batches, steps=0)
    wanted = whole.lookahead_losses(), whole.proximal_losses()
    monkeypatch.setattr("affinity.training.stacked.CHUNK_VALUES", 1)
    _, chunked = both_ways(network, batches, steps=0)
    np.testing.assert_allclose(chunked.lookahead_losses(), wanted[0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(chunked.proximal_losses(), wanted[1], rtol=0, atol=1e-12)


def test_the_lookahead_is_where_the_real_optimiser_goes():
    for name in OPTIMIZERS:
        network, batches = network_and_batches("mlp", torch.float64)
        loop, stacked = both_ways(network, batches, optimizer=name)
        wanted = np.diagonal(stacked.proximal_losses())
        optimizer, losses = loop._optimizer, stacked._task_losses
        optimizer.zero_grad(set_to_none=True)
        losses(network(batches["train"].inputs), batches["train"].targets)[2].backward()
        optimizer.step()
        after = losses(network(batches["train"].inputs), batches["train"].targets)[2].item()
        assert after == pytest.approx(wanted[2], rel=0, abs=1e-12), name
