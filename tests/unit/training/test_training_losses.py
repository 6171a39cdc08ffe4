import numpy as np
import pytest
import torch
from small_networks import MIXED, batch_of, network_of
from torch.nn import functional

from affinity.core.types import DatasetArrays, TaskSpec
from affinity.training.batches import Batches, Tensors
from affinity.training.evaluate import evaluate
from affinity.training.losses import TaskLosses


def torch_losses(outputs: torch.Tensor, targets: torch.Tensor) -> list[torch.Tensor]:
    """The same, a task at a time, with torch's own functions on the labelled samples."""
    found, start = [], 0
    for index, task in enumerate(MIXED):
        part, wanted = outputs[:, start : start + task.outputs], targets[:, index]
        start += task.outputs
        kept = ~wanted.isnan()
        if task.kind == "multiclass":
            found.append(functional.cross_entropy(part[kept], wanted[kept].long()))
        elif task.kind == "binary":
            found.append(functional.binary_cross_entropy_with_logits(part[kept, 0], wanted[kept]))
        else:
            found.append(functional.mse_loss(part[kept, 0], wanted[kept]))
    return found


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_losses_and_gradients_are_those_of_torch(missing: float):
    batch = batch_of(missing=missing, dtype=torch.float64)
    outputs = torch.randn(12, 11, dtype=torch.float64, generator=torch.manual_seed(0), requires_grad=True)
    losses = TaskLosses(MIXED, complete=not missing)(outputs, batch.targets)
    wanted = torch.stack(torch_losses(outputs, batch.targets))
    torch.testing.assert_close(losses, wanted, rtol=1e-12, atol=1e-12)
    for index in range(len(MIXED)):
        found = torch.autograd.grad(losses[index], outputs, retain_graph=True)[0]
        expected = torch.autograd.grad(wanted[index], outputs, retain_graph=True)[0]
        torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)


def test_stacked_outputs_give_the_losses_of_each_network():
    batch, losses = batch_of(missing=0.3), TaskLosses(MIXED)
    outputs = torch.randn(4, 12, 11, generator=torch.manual_seed(0))
    together = losses(outputs, batch.targets)
    for copy in range(4):
        torch.testing.assert_close(together[copy], losses(outputs[copy], batch.targets))


def test_an_absent_task_has_no_loss_and_no_gradient():
    batch = batch_of(absent=(1, 2))
    outputs = torch.randn(12, 11, generator=torch.manual_seed(0), requires_grad=True)
    losses = TaskLosses(MIXED)(outputs, batch.targets)
    assert losses.isnan().tolist() == [False, True, True, False, False, False]
    gradient = torch.autograd.grad(losses.nansum(), outputs)[0]
    assert gradient[:, 1:6].abs().sum() == 0
    assert bool(gradient.isfinite().all())


@pytest.mark.parametrize("size", [40.0, 1e4])
def test_large_outputs_do_not_overflow(size: float):
    outputs = torch.full((12, 11), size, requires_grad=True)
    losses = TaskLosses(MIXED, complete=True)(outputs, batch_of().targets)
    losses.sum().backward()
    assert bool(losses.isfinite().all())
    assert bool(outputs.grad.isfinite().all())


@pytest.fixture
def data() -> DatasetArrays:
    rng = np.random.default_rng(0)
    batch = batch_of(size=60)
    targets = {task.name: batch.targets[:, index].double().numpy() for index, task in enumerate(MIXED)}
    targets["odd"] = np.where(rng.random(60) < 0.5, np.nan, targets["odd"])
    targets["loop"] = np.where(np.arange(60) >= 40, np.nan, targets["loop"])
    targets["height"] = np.full(60, 2.5)
    return DatasetArrays(
        inputs=batch.inputs.numpy(),
        targets=targets,
        tasks=MIXED,
        train=np.arange(40),
        validation=np.arange(40, 60),
    )


def test_metrics_are_accuracy_and_r2_of_the_labelled_validation_samples(data: DatasetArrays):
    network = network_of(dropout=0.5, batch_norm=True)
    tensors = Tensors(data, torch.device("cpu"))
    result = evaluate(network, TaskLosses(MIXED), tensors)
    assert network.training
    network.eval()
    with torch.no_grad():
        outputs = network(tensors.inputs[40:]).double().numpy()
    wanted = {name: values[40:] for name, values in data.targets.items()}
    assert result.metric[1] == np.mean(outputs[:, 1:5].argmax(axis=1) == wanted["digit"])
    labelled = ~np.isnan(wanted["odd"])
    assert result.metric[2] == np.mean((outputs[labelled, 5] > 0) == (wanted["odd"][labelled] == 1))
    residual = np.sum((outputs[:, 0] - wanted["amount"]) ** 2)
    total = np.sum((wanted["amount"] - wanted["amount"].mean()) ** 2)
    assert result.metric[0] == pytest.approx(1 - residual / total, rel=1e-5)


def test_a_metric_that_means_nothing_is_missing(data: DatasetArrays):
    result = evaluate(network_of(), TaskLosses(MIXED), Tensors(data, torch.device("cpu")))
    assert np.isnan(result.metric[5])  # no label in the validation part
    assert np.isnan(result.loss[5])
    assert np.isnan(result.metric[3])  # a constant target has no variance to explain
    assert np.isfinite(result.loss[3])


def test_an_epoch_shows_every_sample_at_most_once_in_an_order_of_the_seed():
    drawn = Batches(np.arange(10), 3, np.random.default_rng(0))
    epochs = [np.concatenate([next(drawn) for _ in range(3)]) for _ in range(4)]
    assert all(len(set(epoch)) == 9 for epoch in epochs)
    assert len({tuple(epoch) for epoch in epochs}) == 4
    again = Batches(np.arange(10), 3, np.random.default_rng(0))
    np.testing.assert_array_equal(epochs[0], np.concatenate([next(again) for _ in range(3)]))


def test_a_batch_larger_than_the_data_is_all_of_it():
    assert sorted(next(Batches(np.arange(5), 64, np.random.default_rng(0)))) == [0, 1, 2, 3, 4]


def test_tasks_of_one_kind_only_are_fine():
    for kind, classes in (("regression", 1), ("binary", 2), ("multiclass", 3)):
        tasks = tuple(TaskSpec(name=f"t{number}", kind=kind, classes=classes) for number in range(3))
        losses = TaskLosses(tasks, complete=True)
        assert losses(torch.zeros(4, losses.total_outputs), torch.zeros(4, 3)).shape == (3,)
