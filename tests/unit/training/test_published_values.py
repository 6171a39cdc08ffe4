"""Lookahead, first-order, cosine and proximal values against answers computed elsewhere."""

from pathlib import Path

import lookahead_answers as answers
import numpy as np
import pytest
import torch
from torch import nn, optim

from affinity.core.linalg import cosine_of_gram
from affinity.methods import METHODS, weigh_gram
from affinity.runs.library import open_run
from affinity.training.access import LoopAccess
from affinity.training.recorder import Recorder

EXACT = {"rtol": 0, "atol": 1e-9}
NAMES = ("first", "second", "third")


class Model:
    """The linear model of the answers, its losses on one batch, and its optimiser."""

    def __init__(self, lr: float, momentum: float = 0.0, weight_decay: float = 0.0) -> None:
        self.shared = nn.Parameter(torch.tensor(answers.W0, dtype=torch.float64))
        self.heads = [nn.Parameter(torch.tensor(head, dtype=torch.float64)) for head in answers.V0]
        self.optimizer = optim.SGD(
            [self.shared, *self.heads], lr=lr, momentum=momentum, weight_decay=weight_decay
        )

    def losses(self, step: int) -> torch.Tensor:
        x, y = (torch.tensor(part, dtype=torch.float64) for part in answers.BATCHES[step % 2])
        errors = [
            (x @ self.shared @ head - y[:, task]).square().mean() for task, head in enumerate(self.heads)
        ]
        return torch.stack(errors)

    def access(self, step: int) -> LoopAccess:
        return LoopAccess(
            NAMES,
            [self.shared],
            self.optimizer,
            losses_functions={"train": lambda: self.losses(step)},
            heads=[[head] for head in self.heads],
        )

    def step(self, step: int) -> None:
        self.optimizer.zero_grad()
        self.losses(step).sum().backward()
        self.optimizer.step()


def affinity(access: LoopAccess) -> np.ndarray:
    return 1 - access.lookahead_losses() / access.losses()


def test_six_sgd_steps_give_the_published_definition():
    model = Model(lr=0.05)
    for step, (losses, wanted, first_order, cosine, shared) in enumerate(answers.SGD):
        access = model.access(step)
        np.testing.assert_allclose(access.losses(), losses, **EXACT)
        np.testing.assert_allclose(affinity(access), wanted, **EXACT)
        np.testing.assert_allclose(access.gram() / access.losses(), first_order, **EXACT)
        np.testing.assert_allclose(cosine_of_gram(access.gram()), cosine, **EXACT)
        model.step(step)
        np.testing.assert_allclose(model.shared.detach(), shared, **EXACT)


def test_momentum_and_weight_decay_belong_to_the_lookahead():
    model = Model(lr=0.02, momentum=0.9, weight_decay=0.01)
    for step, (losses, wanted, shared) in enumerate(answers.MOMENTUM):
        access = model.access(step)
        np.testing.assert_allclose(access.losses(), losses, **EXACT)
        np.testing.assert_allclose(affinity(access), wanted, **EXACT)
        model.step(step)
        np.testing.assert_allclose(model.shared.detach(), shared, **EXACT)


def test_the_recorder_writes_the_same_values(tmp_path: Path):
    model = Model(lr=0.05)
    with Recorder(tmp_path, tasks=NAMES, every=1) as log:
        for step in range(len(answers.SGD)):
            losses = dict(zip(NAMES, model.losses(step), strict=True))
            log.step(step, losses, shared=[model.shared])
            log.lookahead(
                step,
                lambda step=step: dict(zip(NAMES, model.losses(step), strict=True)),
                shared=[model.shared],
                optimizer=model.optimizer,
                heads=dict(zip(NAMES, ([head] for head in model.heads), strict=True)),
            )
            model.step(step)
    run = open_run(tmp_path / log.id)
    before, after = run.signal("losses").values, run.signal("lookahead_losses").values
    np.testing.assert_allclose(before, [row[0] for row in answers.SGD], **EXACT)
    np.testing.assert_allclose(1 - after / before[:, None, :], [row[1] for row in answers.SGD], **EXACT)
    gram = run.signal("gram").values
    np.testing.assert_allclose(cosine_of_gram(gram), [row[3] for row in answers.SGD], **EXACT)
    np.testing.assert_array_equal(run.signal("learning_rate").values, [0.05] * len(answers.SGD))


def test_a_proximal_step_moves_the_shared_part_and_the_own_head():
    # 1 - L_after / L_before of the first of three single-task steps from the initial weights, lr 0.05
    wanted = [0.10248255574431242, -0.006701766220783556, 0.020813843870000293]
    access = Model(lr=0.05).access(0)
    found = 1 - access.proximal_losses() / access.losses()
    np.testing.assert_allclose(found[0], wanted, **EXACT)


def test_others_feel_of_a_proximal_step_only_its_shared_part():
    access = Model(lr=0.05).access(0)
    off_diagonal = ~np.eye(3, dtype=bool)
    np.testing.assert_array_equal(
        access.proximal_losses()[off_diagonal], access.lookahead_losses()[off_diagonal]
    )
    assert (np.diagonal(access.proximal_losses()) < np.diagonal(access.lookahead_losses())).all()


def test_every_diagonal_of_a_proximal_step_is_the_loss_after_a_real_step_of_that_task():
    for task in range(3):
        model = Model(lr=0.05, momentum=0.9, weight_decay=0.01)
        model.step(0)
        wanted = np.diagonal(model.access(1).proximal_losses())[task]
        model.optimizer.zero_grad(set_to_none=True)
        model.losses(1)[task].backward()
        model.optimizer.step()
        np.testing.assert_allclose(model.losses(1)[task].item(), wanted, rtol=0, atol=1e-12)


def pcgrad(gram: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    method = METHODS["pcgrad"]
    return weigh_gram(method, gram, None, rng, method.settings())[0]


@pytest.mark.parametrize(
    ("matrix", "wanted"),
    [
        # two gradients: the closed form, which no order of projections can change
        ([[3.0, 1.0, 0.0], [-1.0, 0.5, 0.0]], [0.75, 2.75, 0.0]),
        # a zero gradient in the middle is never projected onto
        (
            [[1.0, -1.0, 0.0, 2.0], [0.0, 0.0, 0.0, 0.0], [-1.0, 0.5, 1.0, -1.0]],
            [-0.4935897435897435, -0.5448717948717949, 2.0769230769230766, 1.0897435897435899],
        ),
        # gradients that agree are simply added
        ([[1.0, 0.0], [1.0, 1.0]], [2.0, 1.0]),
    ],
)
def test_pcgrad_gives_the_direction_of_torchjd_and_conflictfree(matrix, wanted):
    gradients = np.array(matrix)
    for seed in range(5):
        weights = pcgrad(gradients @ gradients.T, np.random.default_rng(seed))
        np.testing.assert_allclose(weights @ gradients, wanted, rtol=0, atol=1e-12)


def test_pcgrad_of_three_gradients_averages_to_the_mean_over_orders():
    # Mean direction over all orders of projection, computed by enumeration
    wanted = [-0.2984000000000001, 2.4312000000000005, 2.549032258064516, 2.7128516129032256, 0.6056]
    gradients = np.array(
        [[1.0, 2.0, -1.0, 0.5, 0.0], [-2.0, 1.0, 0.5, 0.0, 1.0], [0.5, -1.5, 2.0, 1.0, -0.5]]
    )
    rng = np.random.default_rng(0)
    found = [pcgrad(gradients @ gradients.T, rng) @ gradients for _ in range(4000)]
    np.testing.assert_allclose(np.mean(found, axis=0), wanted, rtol=0, atol=0.02)


def test_pcgrad_leaves_absent_tasks_out():
    gram = np.full((3, 3), np.nan)
    gram[np.ix_([0, 2], [0, 2])] = [[10.0, -2.5], [-2.5, 1.25]]
    weights = pcgrad(gram, np.random.default_rng(0))
    np.testing.assert_allclose(weights, [1.25, 0.0, 3.0], rtol=0, atol=1e-12)
