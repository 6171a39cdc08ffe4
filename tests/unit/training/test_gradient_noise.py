"""The noise floor: each task's gradient on two halves of a batch."""

import numpy as np
import torch
from small_networks import MIXED, batch_of, both_ways, network_of

from affinity.core.config import TrainConfig
from affinity.training.losses import TaskLosses
from affinity.training.stacked import Batch, StackedAccess
from affinity.training.trainer import Trainer, load_data


def access_on(batch: Batch, **shape) -> StackedAccess:
    network = network_of(**shape).double()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    return StackedAccess(network, TaskLosses(MIXED), optimizer, batches={"train": batch})


def test_it_is_the_cosine_between_gradients_of_every_other_sample():
    batch = batch_of(dtype=torch.float64)
    rows = []
    for first in (0, 1):
        half = Batch(batch.inputs[first::2], batch.targets[first::2])
        loop, _ = both_ways(network_of().double(), {"train": half}, steps=0)
        rows.append(torch.cat([gradient.flatten(1) for gradient in loop.gradients], dim=1).numpy())
    lengths = np.linalg.norm(rows[0], axis=1) * np.linalg.norm(rows[1], axis=1)
    wanted = (rows[0] * rows[1]).sum(axis=1) / lengths
    np.testing.assert_allclose(access_on(batch).half_cosines(), wanted, atol=1e-12)


def test_two_equal_halves_agree_perfectly():
    batch = batch_of(dtype=torch.float64)
    twice = Batch(batch.inputs.repeat_interleave(2, dim=0), batch.targets.repeat_interleave(2, dim=0))
    np.testing.assert_allclose(access_on(twice).half_cosines(), 1.0, atol=1e-12)


def test_a_task_without_labels_in_one_half_is_missing_and_the_others_are_not():
    batch = batch_of(dtype=torch.float64)
    batch.targets[0::2, 1] = torch.nan
    missing = np.isnan(access_on(batch).half_cosines())
    assert missing.tolist() == [task == 1 for task in range(len(MIXED))]


def test_a_batch_too_small_to_split_is_missing_also_with_batch_norm():
    batch = batch_of(dtype=torch.float64)
    small = Batch(batch.inputs[:3], batch.targets[:3])
    assert np.isnan(access_on(small, batch_norm=True).half_cosines()).all()


def test_a_training_records_it_by_default():
    kept = []

    class Sink:
        def append(self, name, step, values, **labels) -> None:
            if name == "gradient_noise":
                kept.append(values)

    config = TrainConfig(dataset="planted", steps=2, every=1)
    Trainer(config, load_data(config), sink=Sink()).train()
    assert len(kept) == 2
    assert np.isfinite(kept).all()
