"""Anybody's loop is recorded and ends bit by bit where it would have ended without."""

import random
from pathlib import Path

import numpy as np
import pytest
import torch
from recorded_loop import TASKS, Net, loop, losses_of
from torch import nn

import affinity
from affinity.core.errors import RunError, SettingsError
from affinity.core.linalg import cosine_of_gram
from affinity.runs.library import Library, open_run
from affinity.training.recorder import Recorder


def assert_untouched(home: Path, **options: object):
    recorded, run = loop(home, **options)
    plain, _ = loop(None, **options)
    assert all(torch.equal(one, other) for one, other in zip(recorded, plain, strict=True))
    assert run.status.state == "finished"
    return run


@pytest.mark.parametrize(
    "optimizer",
    [
        lambda parameters: torch.optim.SGD(
            parameters, lr=0.1, momentum=0.9, weight_decay=0.01, nesterov=True
        ),
        lambda parameters: torch.optim.AdamW(parameters, lr=0.01, amsgrad=True),
        lambda parameters: torch.optim.RMSprop(parameters, lr=0.01),
        lambda parameters: torch.optim.Adagrad(parameters, lr=0.01),
        lambda parameters: torch.optim.NAdam(parameters, lr=0.01),
    ],
)
def test_a_loop_with_batch_norm_and_dropout_ends_where_it_would_have(tmp_path: Path, optimizer):
    run = assert_untouched(tmp_path, optimizer=optimizer)
    assert run.tasks == TASKS
    assert run.signal("losses").steps.tolist() == [0, 1, 2, 3, 4, 5]
    for name in ("gram", "lookahead_losses", "proximal_losses"):
        signal = run.signal(name)
        assert signal.steps.tolist() == [0, 2, 4]
        assert np.isfinite(signal.values).all()
    assert run.info.kind == "recorded"
    assert run.status.step == 6


def test_gradient_accumulation_is_left_alone(tmp_path: Path):
    assert_untouched(tmp_path, accumulate=2, every=1)


def test_a_loss_that_draws_from_numpy_and_python_is_left_alone(tmp_path: Path):
    def noisy(net: nn.Module, step: int) -> dict[str, torch.Tensor]:
        scale = 1 + np.random.random() + random.random() + torch.rand(())
        return {task: loss * scale for task, loss in losses_of(net, step).items()}

    run = assert_untouched(tmp_path, losses=noisy)
    before, after = run.signal("losses").values[0], run.signal("lookahead_losses").values[0]
    assert (np.abs(1 - after / before) < 0.6).all()


@pytest.mark.parametrize("inside", [False, True])
def test_autocast_is_left_alone_and_its_cache_does_not_hide_the_lookahead(tmp_path: Path, inside: bool):
    def context():
        return torch.autocast("cpu", dtype=torch.bfloat16)

    def inner(net: nn.Module, step: int) -> dict[str, torch.Tensor]:
        with context():
            return losses_of(net, step)

    options = {"context": context} if inside else {"losses": inner}
    run = assert_untouched(tmp_path, every=1, **options)
    before, after = run.signal("losses").values[:, None, :], run.signal("lookahead_losses").values
    assert (after != before).all()
    assert (np.diagonal(after - before, axis1=1, axis2=2) < 0).mean() > 0.8


def test_a_forward_pass_after_the_lookahead_in_one_autocast_still_learns(tmp_path: Path):
    torch.manual_seed(0)
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    log = Recorder(tmp_path, tasks=TASKS, every=1)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        log.lookahead(0, lambda: losses_of(net, 0), shared=net.trunk.parameters(), optimizer=optimizer)
        loss = sum(losses_of(net, 0).values())
    loss.backward()
    log.close()
    assert all(parameter.grad is not None for parameter in net.trunk.parameters())


def test_tasks_missing_from_a_batch_are_missing_not_zero(tmp_path: Path):
    def one_a_batch(net: nn.Module, step: int) -> dict[str, torch.Tensor]:
        return losses_of(net, step, (TASKS[step % 3],))

    run = assert_untouched(tmp_path, losses=one_a_batch, every=1)
    present = np.array([[task == TASKS[step % 3] for task in TASKS] for step in range(6)])
    np.testing.assert_array_equal(np.isfinite(run.signal("losses").values), present)
    pairs = present[:, :, None] & present[:, None, :]
    for name in ("gram", "lookahead_losses", "proximal_losses"):
        np.testing.assert_array_equal(np.isfinite(run.signal(name).values), pairs)


def test_an_infinite_loss_of_one_task_spoils_only_its_own_cells(tmp_path: Path):
    def broken(net: nn.Module, step: int) -> dict[str, torch.Tensor]:
        found = losses_of(net, step)
        return {**found, "edges": found["edges"] * torch.inf}

    _, run = loop(tmp_path, losses=broken, steps=1)
    finite = np.array([[True, True, False], [True, True, False], [False, False, False]])
    for name in ("gram", "lookahead_losses", "proximal_losses"):
        np.testing.assert_array_equal(np.isfinite(run.signal(name).values[0]), finite)


def test_an_lbfgs_closure_is_left_alone(tmp_path: Path):
    def train(home: Path | None) -> list[torch.Tensor]:
        torch.manual_seed(0)
        net = Net()
        shared = list(net.trunk.parameters())
        optimizer = torch.optim.LBFGS(net.parameters(), lr=0.1, max_iter=4)
        log = None if home is None else Recorder(home, tasks=TASKS, every=1)
        for step in range(3):
            calls: list[int] = []

            def closure(step: int = step, calls: list[int] = calls) -> torch.Tensor:
                optimizer.zero_grad()
                losses = losses_of(net, step)
                if log is not None and not calls:
                    log.step(step, losses, shared=shared)
                    log.lookahead(step, lambda: losses_of(net, step), shared=shared, optimizer=optimizer)
                calls.append(step)
                total = sum(losses.values())
                total.backward()
                return total

            optimizer.step(closure)
        if log is not None:
            log.close()
        return [value.detach().clone() for value in (*net.parameters(), *net.buffers())]

    assert all(torch.equal(one, other) for one, other in zip(train(tmp_path), train(None), strict=True))


def test_the_lookahead_is_a_step_of_the_shared_part_alone(tmp_path: Path):
    torch.manual_seed(0)
    net = Net(dropout=0.0).eval()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    shared = list(net.trunk.parameters())
    with Recorder(tmp_path, tasks=TASKS, every=1) as log:
        log.lookahead(0, lambda: losses_of(net, 0), shared=shared, optimizer=optimizer)
    recorded = open_run(tmp_path / log.id).signal("lookahead_losses").values[0]
    for source, task in enumerate(TASKS):
        gradients = torch.autograd.grad(losses_of(net, 0)[task], shared)
        with torch.no_grad():
            for parameter, gradient in zip(shared, gradients, strict=True):
                parameter -= 0.1 * gradient
            after = [loss.item() for loss in losses_of(net, 0).values()]
            for parameter, gradient in zip(shared, gradients, strict=True):
                parameter += 0.1 * gradient
        np.testing.assert_allclose(recorded[source], after, rtol=1e-5)


@pytest.mark.parametrize("lookahead_first", [False, True])
def test_losses_before_and_after_a_recorded_lookahead_share_their_dropout_masks(
    tmp_path: Path, lookahead_first: bool
):
    torch.manual_seed(0)
    net = Net(dropout=0.5)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.0)  # nothing moves, so only a mask could differ
    with Recorder(tmp_path, tasks=TASKS, every=2) as log:
        for step in range(4):
            if lookahead_first:
                log.lookahead(
                    step, lambda s=step: losses_of(net, s), shared=net.trunk.parameters(), optimizer=optimizer
                )
            log.step(step, losses_of(net, step))
            if not lookahead_first:
                log.lookahead(
                    step, lambda s=step: losses_of(net, s), shared=net.trunk.parameters(), optimizer=optimizer
                )
    run = open_run(tmp_path / log.id)
    before, after = run.signal("losses"), run.signal("lookahead_losses")
    assert before.steps.tolist() == [0, 1, 2, 3]
    np.testing.assert_array_equal(after.values, np.repeat(before.values[::2, None, :], 3, axis=1))


def test_a_parameter_that_one_task_does_not_use_is_zero_in_its_gradient(tmp_path: Path):
    first, second = nn.Parameter(torch.tensor([3.0])), nn.Parameter(torch.tensor([4.0]))
    with Recorder(tmp_path, tasks=["both", "one", "none"]) as log:
        losses = {"both": (first * 2 + second).sum(), "one": (first * 5).sum(), "none": torch.tensor(1.0)}
        log.step(0, losses, shared=[first, second])
    gram = open_run(tmp_path / log.id).signal("gram").values[0]
    np.testing.assert_array_equal(gram, [[5, 10, 0], [10, 25, 0], [0, 0, 0]])
    assert np.isnan(cosine_of_gram(gram)[2]).all()


def test_frozen_and_repeated_shared_parameters_are_counted_as_they_are_trained(tmp_path: Path):
    free, frozen = nn.Parameter(torch.tensor([3.0])), nn.Parameter(torch.tensor([4.0]), requires_grad=False)
    with Recorder(tmp_path, tasks=["a"]) as log:
        log.step(0, {"a": (free * 2 + frozen).sum()}, shared=[free, frozen, free])
    assert open_run(tmp_path / log.id).signal("gram").values.tolist() == [[[4.0]]]


def test_tied_heads_are_put_back(tmp_path: Path):
    torch.manual_seed(0)
    net = Net(dropout=0.0)
    net.heads["edges"] = net.heads["depth"]
    tied, _ = loop(tmp_path, net=net)
    torch.manual_seed(0)
    net = Net(dropout=0.0)
    net.heads["edges"] = net.heads["depth"]
    plain, _ = loop(None, net=net)
    assert all(torch.equal(one, other) for one, other in zip(tied, plain, strict=True))


@pytest.mark.parametrize(
    ("losses", "message"),
    [
        ({"depht": torch.tensor(1.0)}, "'depht' is not one of the tasks. Known: depth, normals, edges."),
        ({"depth": torch.ones(3)}, "the loss of 'depth' has shape (3,). Give one number a task"),
        ({"depth": torch.ones(0)}, "the loss of 'depth' has shape (0,)"),
        ({"\x1b[31m": torch.tensor(1.0)}, "'[31m' is not one of the tasks"),
    ],
)
def test_a_wrong_name_or_shape_says_what_is_wrong(tmp_path: Path, losses, message: str):
    with Recorder(tmp_path, tasks=TASKS) as log, pytest.raises(SettingsError) as caught:
        log.step(0, losses)
    assert message in str(caught.value)


def test_what_cannot_be_recorded_is_refused_at_once(tmp_path: Path):
    for options in ({"tasks": []}, {"tasks": ["a"], "every": 0}, {"tasks": ["a", "a"]}):
        with pytest.raises(SettingsError):
            Recorder(tmp_path, **options)
    assert not list(tmp_path.iterdir())
    frozen = nn.Parameter(torch.ones(2), requires_grad=False)
    with Recorder(tmp_path, tasks=["a"]) as log:
        with pytest.raises(SettingsError, match="no shared parameter is trainable"):
            log.step(0, {"a": torch.tensor(1.0)}, shared=[frozen])
        with pytest.raises(SettingsError, match=r"shape \(2, 2\), expected 1 x 1"):
            log.matrix("mine", 0, np.eye(2))
        for name in ("My Matrix", "losses", "gram", "../x", ""):
            with pytest.raises(SettingsError, match="cannot name a signal"):
                log.matrix(name, 0, np.eye(1))


def test_own_matrices_and_validation_are_read_back(tmp_path: Path):
    with Recorder(tmp_path, tasks=TASKS, settings={"lr": 0.1, "net": Net}, label="Mine", seed=4) as log:
        log.matrix("mine", 3, torch.arange(9.0, requires_grad=True).reshape(3, 3))
        log.validation(3, {"depth": 0.5}, {"normals": 0.75})
    run = open_run(tmp_path / log.id)
    np.testing.assert_array_equal(run.signal("mine").values[0], np.arange(9.0).reshape(3, 3))
    np.testing.assert_array_equal(
        run.signal("validation_loss", split="validation").values, [[0.5, np.nan, np.nan]]
    )
    np.testing.assert_array_equal(
        run.signal("validation_metric", split="validation").values, [[np.nan, 0.75, np.nan]]
    )
    assert (run.info.label, run.info.seed, run.info.settings["lr"]) == ("Mine", 4, 0.1)
    assert "Net" in run.info.settings["net"]


def test_settings_that_cannot_be_read_back_are_kept_as_text(tmp_path: Path):
    deep: list = []
    for _ in range(100):
        deep = [deep]
    cyclic: dict = {}
    cyclic["self"] = cyclic
    with Recorder(
        tmp_path, tasks=["a"], settings={"deep": deep, "cyclic": cyclic, "inf": float("inf")}
    ) as log:
        pass
    settings = open_run(tmp_path / log.id).info.settings
    assert settings["inf"] is None
    assert isinstance(settings["deep"], str)
    assert isinstance(settings["cyclic"], str)


def test_a_loop_that_raises_leaves_a_failed_run_with_what_was_recorded(tmp_path: Path):
    def failing() -> None:
        with Recorder(tmp_path, tasks=["a"]) as log:
            log.step(0, {"a": torch.tensor(1.5)})
            raise ValueError("private detail")

    with pytest.raises(ValueError, match="private"):
        failing()
    (entry,) = Library(tmp_path, samples=tmp_path / "none").list()
    assert (entry.status.state, entry.status.error) == ("failed", "The loop ended with ValueError.")
    assert open_run(tmp_path / entry.id).signal("losses").values.tolist() == [[1.5]]


def test_a_closed_recorder_does_not_lose_data_in_silence(tmp_path: Path):
    log = Recorder(tmp_path, tasks=["a"])
    log.close()
    log.close()
    with pytest.raises(RunError, match="is closed"):
        log.step(0, {"a": torch.tensor(1.0)})


def test_names_are_cleaned_and_losses_still_found_by_the_given_ones(tmp_path: Path):
    names = ["a\u200e", "a", "<b>x</b>"]
    with affinity.Recorder(tmp_path, tasks=names) as log:
        log.step(0, {"a\u200e": torch.tensor(1.0), "a": torch.tensor(2.0), "<b>x</b>": torch.tensor(3.0)})
    run = open_run(tmp_path / log.id)
    assert run.tasks == ("a", "a (2)", "<b>x</b>")
    assert run.signal("losses").values.tolist() == [[1.0, 2.0, 3.0]]


def test_half_precision_and_double_losses_are_read_as_numbers(tmp_path: Path):
    with Recorder(tmp_path, tasks=["a", "b"]) as log:
        log.step(
            0, {"a": torch.tensor(1.5, dtype=torch.bfloat16), "b": torch.tensor(0.1, dtype=torch.float64)}
        )
        log.step(1, {"a": torch.tensor([2.0])})
    values = open_run(tmp_path / log.id).signal("losses").values
    np.testing.assert_array_equal(values, [[1.5, 0.1], [2.0, np.nan]])
