import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
import torch

from affinity.core.config import TrainConfig
from affinity.core.errors import Cancelled, DatasetError, NonFiniteLoss, SettingsError
from affinity.core.types import DatasetArrays, TaskSpec
from affinity.training.losses import TaskLosses
from affinity.training.steps import Stepper, make_optimizer
from affinity.training.trainer import Trainer, TrainResult, load_data, resolve_device

Config = Callable[..., TrainConfig]


class Rows:
    """A sink that keeps (signal, split) -> {step: values}."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], dict[int, np.ndarray]] = {}

    def append(self, name, step, values, *, axes, split="train", unit="", sense="", title="") -> None:
        self.kept.setdefault((name, split), {})[step] = np.array(values)


def weights(result: TrainResult) -> np.ndarray:
    return np.concatenate([value.detach().numpy().ravel() for value in result.network.parameters()])


def trained(config: TrainConfig, data: DatasetArrays | None = None, sink: Rows | None = None) -> TrainResult:
    return Trainer(config, load_data(config) if data is None else data, sink=sink).train()


def table(targets: dict[str, np.ndarray], *, samples: int = 64) -> DatasetArrays:
    rng = np.random.default_rng(0)
    return DatasetArrays(
        inputs=rng.normal(size=(samples, 4)).astype(np.float32),
        targets=targets,
        tasks=tuple(TaskSpec(name=name, kind="regression") for name in targets),
        train=np.arange(samples // 2),
        validation=np.arange(samples // 2, samples),
    )


def test_the_same_config_gives_the_same_numbers_twice(tiny_config: Config):
    torch.manual_seed(1)
    first = weights(trained(tiny_config()))
    torch.manual_seed(2)
    np.testing.assert_array_equal(weights(trained(tiny_config())), first)


def test_another_seed_gives_other_numbers_on_the_same_split(tiny_config: Config):
    first, second = tiny_config(seed=0), tiny_config(seed=1)
    assert not np.array_equal(weights(trained(first)), weights(trained(second)))
    np.testing.assert_array_equal(load_data(first).train, load_data(second).train)


PROCESS = """
import json, sys
import numpy as np
from affinity.core.config import TrainConfig
from affinity.training.trainer import Trainer, load_data
config = TrainConfig.from_json(json.loads(sys.argv[1]))
result = Trainer(config, load_data(config)).train()
flat = np.concatenate([value.detach().numpy().ravel() for value in result.network.parameters()])
print(flat.tobytes().hex())
"""


def test_a_fresh_process_gives_the_same_numbers(tiny_config: Config):
    from affinity.core.strict_json import dumps

    config = tiny_config(optimizer="adam", model_settings={"width": 8, "depth": 1, "dropout": 0.2})
    command = [sys.executable, "-c", PROCESS, dumps(config)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == weights(trained(config)).tobytes().hex()


def test_the_callers_threads_and_random_state_are_left_alone(tiny_config: Config):
    threads, state = torch.get_num_threads(), torch.get_rng_state()
    trained(tiny_config(threads=2))
    assert torch.get_num_threads() == threads
    assert torch.equal(torch.get_rng_state(), state)


def test_probes_are_recorded_at_every_kth_step_and_losses_at_every(tiny_config: Config):
    rows = Rows()
    trained(tiny_config(held_out=True), sink=rows)
    assert sorted(rows.kept["losses", "train"]) == [0, 1, 2, 3, 4, 5]
    assert sorted(rows.kept["losses", "validation"]) == [0, 2, 4]
    assert sorted(rows.kept["validation_metric", "validation"]) == [0, 3, 6]
    for name, split in (("gram", "train"), ("lookahead_losses", "train"), ("lookahead_losses", "validation")):
        assert sorted(rows.kept[name, split]) == [0, 2, 4]
        assert rows.kept[name, split][0].shape == (4, 4)
    assert ("gram", "validation") not in rows.kept
    assert rows.kept["layer_gram", "train"][0].shape[1:] == (4, 4)


def test_the_recorded_losses_are_those_of_the_update(tiny_config: Config):
    rows = Rows()
    trained(tiny_config(every=1), sink=rows)
    for step, losses in rows.kept["losses", "train"].items():
        before = rows.kept["lookahead_losses", "train"][step]
        assert (np.diagonal(before) < losses).mean() > 0.5  # most tasks are helped by their own step
    assert not np.array_equal(rows.kept["losses", "train"][0], rows.kept["losses", "train"][1])


def test_a_training_without_probes_records_losses_only(tiny_config: Config):
    rows = Rows()
    trained(tiny_config(probes=[]), sink=rows)
    assert {name for name, _ in rows.kept} == {"losses", "validation_loss", "validation_metric"}


def test_patience_stops_when_validation_no_longer_improves(tiny_config: Config):
    noise = {"a": np.random.default_rng(1).normal(size=64)}
    result = trained(tiny_config(steps=2000, evaluate_every=5, patience=3, lr=0.5), table(noise))
    assert result.stopped_early
    assert 15 <= result.steps < 2000
    assert result.steps % 5 == 0


def test_a_training_to_its_end_did_not_stop_early(tiny_config: Config):
    result = trained(tiny_config(steps=7, evaluate_every=3, patience=100))
    assert (result.steps, result.stopped_early, result.passes) == (7, False, 7)


def test_somebody_can_stop_it_and_it_says_when(tiny_config: Config):
    seen: list[int] = []
    config = tiny_config(steps=100)
    with pytest.raises(Cancelled, match="step 3: cancelled"):
        Trainer(config, load_data(config)).train(on_step=seen.append, should_stop=lambda: len(seen) == 3)
    assert seen == [1, 2, 3]


def test_when_every_loss_diverges_the_step_is_named(tiny_config: Config):
    with pytest.raises(
        NonFiniteLoss, match=r"^step \d+: no task has a finite loss; that of 'a1' is (inf|nan)\."
    ):
        trained(tiny_config(lr=10.0, steps=300))


@pytest.mark.parametrize("method", ["joint", "pcgrad"])
@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_an_infinite_loss_of_one_task_leaves_the_others_as_if_it_were_absent(
    tiny_config: Config, method: str, optimizer: str
):
    rng = np.random.default_rng(0)
    good = {"a": rng.normal(size=64), "b": rng.normal(size=64)}
    config = tiny_config(method=method, optimizer=optimizer, batch=32, lr=0.05)
    broken, absent = Rows(), Rows()
    with_broken = trained(config, table({**good, "c": np.full(64, 1e30)}), broken)
    without = trained(config, table({**good, "c": np.full(64, np.nan)}), absent)
    shared = [value.detach().numpy() for value in with_broken.network.shared_parameters()]
    assert all(np.isfinite(value).all() for value in shared)
    for one, other in zip(shared, without.network.shared_parameters(), strict=True):
        np.testing.assert_allclose(one, other.detach().numpy(), rtol=0, atol=1e-6)
    for step, losses in broken.kept["losses", "train"].items():
        np.testing.assert_allclose(losses[:2], absent.kept["losses", "train"][step][:2], rtol=1e-5)
        assert not np.isfinite(losses[2])


def test_a_head_with_infinite_weights_does_not_reach_the_shared_part(tiny_config: Config):
    rng = np.random.default_rng(0)
    config = tiny_config(batch=32)
    trainer = Trainer(config, table({"a": rng.normal(size=64), "b": rng.normal(size=64)}))
    with torch.no_grad():
        trainer.network.heads[1].weight.fill_(torch.inf)
    result = trainer.train()
    assert all(bool(value.isfinite().all()) for value in result.network.shared_parameters())
    assert np.isfinite(result.final.loss[0])


def test_a_batch_without_any_label_changes_nothing(tiny_config: Config):
    few = np.full(64, np.nan)
    few[[0, 40]] = 1.0
    rows = Rows()
    result = trained(
        tiny_config(batch=2, steps=16, probes=["gram"], every=1), table({"a": few, "b": few}), rows
    )
    labelled = [step for step, losses in rows.kept["losses", "train"].items() if np.isfinite(losses).any()]
    assert len(labelled) == 1
    assert result.passes == 1
    assert all(bool(value.isfinite().all()) for value in result.network.parameters())


def test_validation_without_labels_is_missing_and_no_warning(tiny_config: Config):
    only_in_training = np.where(np.arange(64) < 32, 1.0, np.nan)
    result = trained(tiny_config(batch=8, patience=1, evaluate_every=2), table({"a": only_in_training}))
    assert np.isnan(result.final.loss).all()


def test_a_subset_of_tasks_trains_on_the_same_inputs(tiny_config: Config):
    config = tiny_config(tasks=["b1", "a1"])
    assert [task.name for task in load_data(config).tasks] == ["a1", "b1"]
    assert len(trained(config).final.loss) == 2
    with pytest.raises(DatasetError, match="no task is called 'z'"):
        load_data(tiny_config(tasks=["z"]))


def test_what_cannot_be_trained_is_refused_with_a_hint(tiny_config: Config):
    for changes, message in (
        ({"model": "cnn", "model_settings": {}}, "needs images"),
        ({"probes": ["hessian"]}, "'hessian' is not one of the probes"),
        ({"method": "magic"}, "'magic' is not one of the methods"),
        ({"model": "gpt"}, "'gpt' is not one of the models"),
    ):
        with pytest.raises(SettingsError, match=message):
            trained(tiny_config(**changes))


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
def test_cuda_is_refused_where_there_is_none():
    with pytest.raises(SettingsError, match="no CUDA device"):
        resolve_device("cuda")
    assert resolve_device("auto").type == "cpu"


def test_pcgrad_moves_the_shared_part_along_its_direction_and_heads_along_their_own(tiny_config: Config):
    config = tiny_config(method="pcgrad", optimizer="sgd", lr=0.1, steps=1)
    rng = np.random.default_rng(0)
    target = rng.normal(size=64)
    data = table({"a": target, "b": -target})
    trainer = Trainer(config, data)
    network, losses = trainer.network, TaskLosses(data.tasks, complete=True)
    inputs, targets = trainer._tensors.rows(data.train)
    shared = network.shared_parameters()
    before = [value.detach().clone() for value in network.parameters()]
    rows = [torch.autograd.grad(loss, shared, retain_graph=True) for loss in losses(network(inputs), targets)]
    flat = torch.stack([torch.cat([part.flatten() for part in row]) for row in rows]).double()
    own = torch.autograd.grad(losses(network(inputs), targets).sum(), list(network.heads.parameters()))
    first, second = flat
    overlap = min(0.0, float(first @ second))
    wanted = first - overlap / (second @ second) * second + second - overlap / (first @ first) * first
    Stepper.of(config, network, losses, make_optimizer(config, list(network.parameters()))).step(
        0, inputs, targets
    )
    moved = torch.cat([(old - new).flatten() for old, new in zip(before, network.parameters(), strict=True)])
    expected = torch.cat([wanted.float(), *(part.flatten() for part in own)]) * 0.1
    torch.testing.assert_close(moved, expected, rtol=1e-4, atol=1e-6)
