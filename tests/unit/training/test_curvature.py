"""Curvature along the joint step, from two losses."""

import numpy as np
import pytest
import torch
from small_networks import MIXED, batch_of, both_ways, network_of
from torch import nn, optim

from affinity.core.config import TrainConfig
from affinity.training.access import LoopAccess
from affinity.training.trainer import Trainer, load_data

HESSIANS = (np.diag([4.0, 1.0, 0.0]), np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 1.0]]))


def quadratic(optimizer, start: list[float]) -> tuple[LoopAccess, nn.Parameter]:
    point = nn.Parameter(torch.tensor(start, dtype=torch.float64))
    matrices = [torch.tensor(matrix) for matrix in HESSIANS]
    made = optimizer([point])
    losses = lambda: [0.5 * point @ matrix @ point for matrix in matrices]  # noqa: E731
    return LoopAccess(["a", "b"], [point], made, losses_functions={"train": losses}), point


@pytest.mark.parametrize(
    "optimizer", [lambda p: optim.SGD(p, lr=0.05, momentum=0.9), lambda p: optim.Adam(p, lr=0.05)]
)
def test_on_a_quadratic_it_is_the_curvature_of_the_sum_along_the_step(optimizer) -> None:
    access, point = quadratic(optimizer, [1.0, -2.0, 0.5])
    found = float(access.curvature())
    total = sum(HESSIANS)
    before = point.detach().numpy().copy()
    made = access._optimizer
    point.grad = torch.tensor(total @ before)
    made.step()
    step = point.detach().numpy() - before
    assert found == pytest.approx(step @ total @ step / (step @ step), rel=1e-9)


def test_where_nothing_moves_it_is_missing() -> None:
    access, _ = quadratic(lambda p: optim.SGD(p, lr=0.1), [0.0, 0.0, 0.0])
    assert np.isnan(access.curvature())


def test_both_ways_to_the_quantities_agree() -> None:
    batch = batch_of(dtype=torch.float64, missing=0.2)
    loop, stacked = both_ways(network_of().double(), {"train": batch}, optimizer="momentum", tasks=MIXED)
    assert float(stacked.curvature()) == pytest.approx(float(loop.curvature()), rel=1e-6)


def test_a_training_records_it_when_asked() -> None:
    kept: dict[int, float] = {}

    class Sink:
        def append(self, name, step, values, **labels) -> None:
            if name == "curvature":
                kept[step] = float(values)

    config = TrainConfig(dataset="linnerud", steps=3, every=1, probes=("curvature",), batch=8)
    Trainer(config, load_data(config), sink=Sink()).train()
    assert sorted(kept) == [0, 1, 2]
    assert all(np.isfinite(value) for value in kept.values())
