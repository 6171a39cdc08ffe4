"""With and without probes the training is the same, bit by bit."""

import random

import numpy as np
import pytest
import torch
from small_networks import MIXED, OPTIMIZERS, batch_of, everything_of, loop_access, network_of
from torch import nn

from affinity.probes import PROBES
from affinity.training.access import LoopAccess
from affinity.training.frozen import replaced, without_trace
from affinity.training.losses import TaskLosses
from affinity.training.stacked import StackedAccess
from affinity.training.trainer import Trainer, load_data


class Memory:
    """A sink that keeps everything."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], list[np.ndarray]] = {}

    def append(self, name, step, values, *, axes, split="train", unit="", sense="", title="") -> None:
        assert np.ndim(values) == len(axes)
        self.rows.setdefault((name, split), []).append(np.array(values))


def trained(config, sink) -> tuple[list[torch.Tensor], Trainer]:
    trainer = Trainer(config, load_data(config), sink=sink)
    trainer.train()
    return everything_of(trainer.network, trainer._optimizer), trainer


SHAPES = [
    ("planted", "mlp", {"width": 8, "depth": 1}),
    ("planted", "mlp", {"width": 8, "depth": 2, "dropout": 0.5, "batch_norm": True}),
    ("digits", "cnn", {"channels": 4, "width": 8, "dropout": 0.3, "batch_norm": True}),
]


@pytest.mark.parametrize("optimizer", ["sgd", "momentum", "adam"])
@pytest.mark.parametrize(("dataset", "model", "settings"), SHAPES)
@pytest.mark.parametrize("method", ["joint", "pcgrad"])
def test_a_training_is_bit_identical_with_and_without_probes(
    tiny_config, dataset, model, settings, optimizer, method
):
    more = {} if dataset == "planted" else {"dataset_settings": {}}
    config = tiny_config(
        dataset=dataset,
        model=model,
        model_settings=settings,
        optimizer=optimizer,
        method=method,
        steps=5,
        held_out=True,
        probes=list(PROBES),
        every=1,
        lr=0.01,
        **more,
    )
    np.random.seed(3)
    random.seed(3)
    states = np.random.get_state()[1].copy(), random.getstate(), torch.get_rng_state()
    memory = Memory()
    with_probes, _ = trained(config, memory)
    without, _ = trained(config, None)
    assert all(torch.equal(one, other) for one, other in zip(with_probes, without, strict=True))
    assert {name for name, _ in memory.rows} >= set(PROBES)
    assert np.array_equal(np.random.get_state()[1], states[0])
    assert random.getstate() == states[1]
    assert torch.equal(torch.get_rng_state(), states[2])


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("shape", [{}, {"dropout": 0.5, "batch_norm": True}])
def test_both_accesses_leave_weights_buffers_gradients_and_states_alone(optimizer: str, shape: dict):
    network, losses = network_of(**shape), TaskLosses(MIXED, complete=True)
    batches = {"train": batch_of(), "validation": batch_of(seed=5)}
    made = OPTIMIZERS[optimizer](network.parameters())
    losses(network(batches["train"].inputs), batches["train"].targets).sum().backward()
    made.step()
    before = everything_of(network, made)
    for access in (
        loop_access(network, losses, made, batches),
        StackedAccess(network, losses, made, batches=batches),
    ):
        for probe in PROBES.values():
            for split in ("train", "validation") if probe.held_out else ("train",):
                probe.observe(access, split)
        after = everything_of(network, made)
        assert all(torch.equal(one, other) for one, other in zip(before, after, strict=True))
    assert network.training


def test_the_losses_before_and_after_see_one_dropout_mask():
    # A step of size 0 changes nothing, so with one mask the losses are equal; with two they are not.
    network, losses = network_of(dropout=0.5), TaskLosses(MIXED, complete=True)
    batches = {"train": batch_of()}
    optimizer = torch.optim.SGD(network.parameters(), lr=0.0)
    for access in (
        loop_access(network, losses, optimizer, batches),
        StackedAccess(network, losses, optimizer, batches=batches),
    ):
        np.testing.assert_allclose(access.lookahead_losses(), np.tile(access.losses(), (6, 1)), rtol=1e-6)
    own = losses(network(batches["train"].inputs), batches["train"].targets)
    np.testing.assert_allclose(access.losses(), own.detach().double(), rtol=1e-6)


def test_a_pass_without_trace_restores_buffers_that_a_module_replaces():
    class Averaging(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("mean", torch.zeros(2))
            self.register_buffer("count", torch.zeros(()))
            self.register_buffer("nothing", None)

        def forward(self, inputs: torch.Tensor) -> torch.Tensor:
            self.mean = 0.9 * self.mean + 0.1 * inputs.mean(dim=0)
            self.count += 1
            return inputs - self.mean

    module = nn.Sequential(Averaging())
    buffers = list(module.buffers())
    with without_trace():
        module(torch.ones(3, 2))
    assert [id(one) for one in module.buffers()] == [id(one) for one in buffers]
    assert all(bool((one == 0).all()) for one in module.buffers())


def test_a_pass_without_trace_restores_spectral_norm_and_every_random_state():
    layer = nn.utils.parametrizations.spectral_norm(nn.Linear(4, 4))
    before = [one.clone() for one in layer.buffers()]
    np.random.seed(0)
    random.seed(0)
    torch.manual_seed(0)
    wanted = np.random.random(), random.random(), torch.rand(())
    np.random.seed(0)
    random.seed(0)
    torch.manual_seed(0)
    with without_trace():
        layer(torch.ones(2, 4))
        np.random.random(), random.random(), torch.rand(5)
    assert all(torch.equal(one, other) for one, other in zip(before, layer.buffers(), strict=True))
    assert (np.random.random(), random.random(), torch.rand(())) == wanted


def test_a_pass_that_fails_leaves_no_trace_either():
    network = network_of(batch_norm=True)
    before = [value.clone() for value in network.state_dict().values()]

    def failing() -> torch.Tensor:
        network(batch_of().inputs)
        raise ValueError("the user's own mistake")

    access = LoopAccess(
        ["a"],
        network.shared_parameters(),
        torch.optim.SGD(network.parameters(), lr=0.1),
        losses_functions={"train": failing},
    )
    with pytest.raises(ValueError, match="own mistake"):
        access.lookahead_losses()
    assert all(
        torch.equal(one, other) for one, other in zip(before, network.state_dict().values(), strict=True)
    )
    assert not torch.nn.modules.module._global_forward_pre_hooks


def test_lent_values_come_back_when_the_borrower_fails():
    parameter = nn.Parameter(torch.tensor([1.0, 2.0]))
    seen = []

    def borrow() -> None:
        with replaced([parameter], [torch.tensor([5.0, 5.0])]):
            seen.extend(parameter.tolist())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        borrow()
    assert seen == [5.0, 5.0]
    assert parameter.tolist() == [1.0, 2.0]
    assert parameter._version == 0
