"""Every training method keeps what its kind promises."""

import json
import random
import re

import numpy as np
import pytest
import torch

from affinity.core.config import TrainConfig
from affinity.core.method import GramWeighting, LossWeighting, Method, StepRule
from affinity.core.strict_json import dumps
from affinity.methods import METHODS, Descent, direction
from affinity.training.trainer import Trainer, load_data

EVERY_METHOD = pytest.mark.parametrize("method", METHODS.values(), ids=list(METHODS))
GRAM = {name: method for name, method in METHODS.items() if isinstance(method, GramWeighting)}
EVERY_GRAM_METHOD = pytest.mark.parametrize("method", GRAM.values(), ids=list(GRAM))
# Their answer depends on the order of the tasks, or on the axes of the parameter space.
IN_ORDER, BY_COORDINATE = {"pcgrad", "gradvac", "momentum_config"}, {"momentum_config", "rp_mgda"}
PLAIN = {"weighted_sum"}


def gradients(tasks: int = 4, parameters: int = 7, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(tasks, parameters)) + 0.1


def step(method: Method, matrix: np.ndarray, seed: int = 0, losses: np.ndarray | None = None) -> np.ndarray:
    given = np.linspace(0.5, 1.5, len(matrix)) if losses is None else losses
    return direction(matrix, method, rng=np.random.default_rng(seed), losses=given).direction


@EVERY_METHOD
def test_description_is_complete(method: Method) -> None:
    assert method.summary.endswith(".")
    if method.key not in PLAIN:
        assert re.search(r"\b(19|20)\d\d\b", method.reference)
        assert "https://" in method.reference
    if isinstance(method, StepRule):
        assert method.needs
        assert method.cost


@EVERY_METHOD
def test_one_task_alone_gets_its_own_gradient(method: Method) -> None:
    gradient = np.array([[1.0, -2.0, 0.5]])
    found = step(method, gradient, losses=np.ones(1))
    if method.key == "nash_mtl":
        gradient = gradient / np.linalg.norm(gradient)
    if method.key == "momentum_config":  # divided by its own root mean square, as Adam does
        gradient = np.sign(gradient)
    np.testing.assert_allclose(found, gradient[0], atol=1e-6)


@EVERY_METHOD
def test_a_zero_gradient_never_stops_the_others(method: Method) -> None:
    matrix = np.vstack([gradients(3), np.zeros(7)])
    found = direction(matrix, method, losses=np.ones(4), tasks=["a", "b", "c", "d"])
    assert np.linalg.norm(found.direction) > 0.05
    assert found.zero == (3,)
    assert any("'d'" in warning for warning in found.warnings)


@EVERY_METHOD
def test_one_gradient_that_is_not_finite_leaves_the_others_alone(method: Method) -> None:
    whole = gradients(3)
    for broken in (np.nan, np.inf, -np.inf):
        matrix = np.vstack([whole, np.full(7, broken)])
        found = direction(matrix, method, losses=np.ones(4))
        without = direction(whole, method, losses=np.ones(3))
        assert np.isfinite(found.direction).all()
        assert found.not_finite == (3,)
        assert np.isnan(found.inner_products[3])
        assert np.isfinite(found.inner_products[:3]).all()
        if method.key not in IN_ORDER:
            cosine = found.direction @ without.direction
            cosine /= np.linalg.norm(found.direction) * np.linalg.norm(without.direction)
            assert cosine == pytest.approx(1.0, abs=0.05 if method.key == "cagrad" else 1e-6)


@EVERY_METHOD
def test_every_gradient_zero_gives_no_step_and_no_noise(method: Method) -> None:
    np.testing.assert_array_equal(step(method, np.zeros((3, 4))), np.zeros(4))


@EVERY_METHOD
def test_rotating_the_parameters_rotates_the_step(method: Method) -> None:
    if method.key in BY_COORDINATE:
        pytest.skip("works coordinate by coordinate")
    matrix = gradients()
    rotation, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(7, 7)))
    np.testing.assert_allclose(step(method, matrix @ rotation), step(method, matrix) @ rotation, atol=1e-8)


@EVERY_METHOD
def test_the_order_of_the_tasks_does_not_matter(method: Method) -> None:
    if method.key in IN_ORDER:
        pytest.skip("meets the tasks one after the other")
    matrix, losses, order = gradients(), np.array([0.4, 1.0, 2.0, 0.7]), np.array([2, 0, 3, 1])
    np.testing.assert_allclose(
        step(method, matrix[order], losses=losses[order]), step(method, matrix, losses=losses), atol=1e-8
    )


@EVERY_GRAM_METHOD
@pytest.mark.parametrize("scale", [1e-170, 1e-30, 1e30, 1e170])
def test_gradients_of_any_size_give_the_same_step_in_their_unit(method: GramWeighting, scale: float) -> None:
    wanted = step(method, gradients()) * scale ** (1 + method.degree)
    np.testing.assert_allclose(step(method, gradients() * scale), wanted, rtol=1e-7)


@EVERY_METHOD
def test_no_global_random_state_is_drawn_from(method: Method) -> None:
    before = (np.random.get_state()[1].copy(), random.getstate(), torch.get_rng_state())
    step(method, gradients())
    after = (np.random.get_state()[1], random.getstate(), torch.get_rng_state())
    assert np.array_equal(before[0], after[0])
    assert before[1] == after[1]
    assert torch.equal(before[2], after[2])


@EVERY_METHOD
def test_the_same_seed_gives_the_same_step(method: Method) -> None:
    np.testing.assert_array_equal(step(method, gradients(), seed=3), step(method, gradients(), seed=3))


def walk(method: Method, state: object = None, rng_state: object = None) -> Descent:
    rng = np.random.default_rng(5)
    if rng_state is not None:
        rng.bit_generator.state = rng_state
    matrices = [np.diag([1.0, 2.0, 0.5]), np.diag([0.3, 1.0, 4.0]), np.eye(3) + 0.2]
    centres = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.5], [-1.0, 0.5, 0.0]])
    return Descent(
        method=method,
        settings=method.settings(),
        losses=lambda t: (
            1 + np.array([(t - c) @ m @ (t - c) for m, c in zip(matrices, centres, strict=True)])
        ),
        gradients=lambda t: np.array([2 * m @ (t - c) for m, c in zip(matrices, centres, strict=True)]),
        rng=rng,
        state=state,
    )


def walked(descent: Descent, theta: np.ndarray, steps: int) -> np.ndarray:
    for _ in range(steps):
        after = theta - 0.02 * descent.direction(theta)
        descent.after(theta, after, learning_rate=0.02)
        theta = after
    return theta


@EVERY_METHOD
def test_a_walk_goes_on_from_its_state_as_json(method: Method) -> None:
    start = np.array([2.0, -1.0, 1.5])
    whole = walk(method)
    wanted = walked(whole, start, 12)
    first = walk(method)
    middle = walked(first, start, 5)
    kept = json.loads(dumps({"state": first.state, "random": first.rng.bit_generator.state}))
    again = walked(walk(method, kept["state"], kept["random"]), middle, 7)
    np.testing.assert_allclose(again, wanted, rtol=0, atol=1e-12)
    assert np.linalg.norm(wanted - start) > 1e-3


@EVERY_METHOD
@pytest.mark.parametrize("dataset", ["linnerud", "planted"])
def test_twenty_steps_of_training_stay_finite_and_move_every_layer(method: Method, dataset: str) -> None:
    config = TrainConfig(
        dataset=dataset,
        method=method.key,
        steps=20,
        batch=8,
        lr=0.002,
        probes=(),
        model_settings={"width": 6, "depth": 2},
    )
    trainer = Trainer(config, load_data(config))
    before = [parameter.detach().clone() for parameter in trainer.network.parameters()]
    result = trainer.train()
    assert np.isfinite(result.final.loss).all()
    for one, other in zip(before, result.network.parameters(), strict=True):
        assert bool(torch.isfinite(other).all())
        assert not torch.equal(one, other)


def test_methods_of_all_three_kinds_are_listed() -> None:
    kinds = {type(method) for method in METHODS.values()}
    assert kinds == {LossWeighting, GramWeighting, StepRule}
    wanted = {
        *("joint", "weighted_sum", "uncertainty", "dwa", "pcgrad", "gradvac", "mgda", "cagrad", "nash_mtl"),
        *("imtl_g", "aligned_mtl", "upgrad", "dualproj", "famo", "config", "momentum_config", "modo"),
        *("mgda_fa", "rp_mgda", "stch", "jogba"),
    }
    assert wanted <= set(METHODS)
