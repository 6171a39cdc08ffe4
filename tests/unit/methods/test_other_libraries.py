"""Against torchjd and conflictfree: we agree where they are right, and not with defaults that are wrong."""

import warnings

import numpy as np
import pytest
import torch
from torchjd import aggregation

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from conflictfree.grad_operator import ConFIG_update, PCGradOperator
    from conflictfree.weight_model import EqualWeight

from affinity.methods import METHODS, direction, weigh_gram

UNEVEN = np.array([[1.0], [10.0], [0.1], [3.0]])


def gradients(tasks: int = 5, parameters: int = 12, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(tasks, parameters)) + 0.1


def ours(name: str, matrix: np.ndarray, **settings: object) -> np.ndarray:
    method = METHODS[name]
    return direction(matrix, method, method.settings.from_json(settings)).direction


def theirs(aggregator: torch.nn.Module, matrix: np.ndarray) -> np.ndarray:
    return aggregator(torch.tensor(matrix)).detach().numpy()


def exact_projector() -> object:
    from torchjd.linalg import QuadprogProjector

    return QuadprogProjector(norm_eps=1e-30, reg_eps=1e-12)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("name", "settings", "aggregator", "exact"),
    [
        ("config", {}, lambda: aggregation.ConFIG(), 1e-9),
        ("imtl_g", {}, lambda: aggregation.IMTLG(), 1e-9),
        ("aligned_mtl", {}, lambda: aggregation.AlignedMTL(), 1e-9),
        ("aligned_mtl", {"scale": "median"}, lambda: aggregation.AlignedMTL(scale_mode="median"), 1e-9),
        # Frank-Wolfe still errs after 20,000 rounds where a weight is zero; see the test of lengths below.
        ("mgda", {}, lambda: aggregation.MGDA(epsilon=1e-12, max_iters=20_000), 5e-3),
        ("upgrad", {}, lambda: aggregation.UPGrad(projector=exact_projector()), 1e-8),
        ("dualproj", {}, lambda: aggregation.DualProj(projector=exact_projector()), 1e-8),
    ],
)
def test_where_torchjd_is_right_the_direction_is_the_same(
    name: str, settings: dict, aggregator, exact: float, seed: int
) -> None:
    matrix = gradients(seed=seed)
    np.testing.assert_allclose(ours(name, matrix, **settings), theirs(aggregator(), matrix), atol=exact)


@pytest.mark.parametrize("seed", range(5))
def test_no_combination_of_torchjds_mgda_is_shorter_than_ours(seed: int) -> None:
    matrix = gradients(seed=seed)
    long_search = theirs(aggregation.MGDA(epsilon=1e-12, max_iters=20_000), matrix)
    shortest = np.linalg.norm(ours("mgda", matrix))
    assert shortest <= np.linalg.norm(long_search) <= 1.001 * shortest


@pytest.mark.parametrize("seed", range(5))
def test_config_and_pcgrad_of_conflictfree_are_the_same(seed: int) -> None:
    matrix = gradients(seed=seed)
    rows = torch.tensor(matrix)
    theirs_config = ConFIG_update(rows, weight_model=_SameDtype(), use_least_square=False)
    np.testing.assert_allclose(ours("config", matrix), theirs_config.numpy(), atol=1e-9)
    np.testing.assert_allclose(
        ours("pcgrad", matrix, order="index"), PCGradOperator().calculate_gradient(rows).numpy(), atol=1e-9
    )


class _SameDtype(EqualWeight):
    """Conflictfree's own equal weights are float32 whatever the gradients are."""

    def get_weights(self, gradients: torch.Tensor, *rest: object, **more: object) -> torch.Tensor:
        return torch.ones(len(gradients), dtype=gradients.dtype)


def test_gradvac_follows_torchjd_over_several_steps() -> None:
    # With two tasks there is one order only.
    method, state, rng = METHODS["gradvac"], None, np.random.default_rng(0)
    settings, reference = method.settings.from_json({"rate": 0.5}), aggregation.GradVac(beta=0.5, eps=0.0)
    for seed in range(6):
        matrix = gradients(2, 4, seed)
        weights, state = weigh_gram(method, matrix @ matrix.T, state, rng, settings)
        np.testing.assert_allclose(weights @ matrix, theirs(reference, matrix), atol=1e-8)


def test_upgrad_of_torchjd_conflicts_by_default_with_a_small_gradient_and_ours_does_not() -> None:
    conflicts = 0
    for seed in range(20):
        matrix = gradients(4, 10, seed) * UNEVEN
        lengths = np.linalg.norm(matrix, axis=1)
        conflicts += int((matrix @ theirs(aggregation.UPGrad(), matrix) / lengths).min() < -1e-3)
        assert (matrix @ ours("upgrad", matrix) / lengths).min() > -1e-9
    assert conflicts > 0


def test_upgrad_of_torchjd_is_the_plain_mean_for_small_gradients_and_ours_is_not() -> None:
    matrix = np.array([[3.0, 1.0, 0.0], [-1.0, 0.5, 0.0]]) * 1e-3
    np.testing.assert_allclose(theirs(aggregation.UPGrad(), matrix), matrix.mean(axis=0), atol=1e-12)
    assert (matrix @ matrix.mean(axis=0)).min() < 0
    np.testing.assert_allclose(ours("upgrad", matrix), [0.375e-3, 1.375e-3, 0.0], atol=1e-15)


def test_mgda_of_torchjd_stops_early_by_default_and_hurts_a_task_and_ours_does_not() -> None:
    furthest, hurt = 0.0, 0
    for seed in range(20):
        matrix = gradients(4, 10, seed) * UNEVEN[::-1]
        exact, default = ours("mgda", matrix), theirs(aggregation.MGDA(), matrix)
        furthest = max(furthest, float(np.abs(default - exact).max()))
        hurt += int((matrix @ default).min() < -1e-6)
        assert (matrix @ exact).min() >= exact @ exact - 1e-9
    assert furthest > 1e-3
    assert hurt > 0


@pytest.mark.parametrize(("name", "aggregator"), [("mgda", aggregation.MGDA), ("cagrad", aggregation.CAGrad)])
def test_a_zero_gradient_stops_torchjd_and_not_us(name: str, aggregator) -> None:
    matrix = np.array([[1.0, -1.0, 0.0, 2.0], [0.0, 0.0, 0.0, 0.0], [-1.0, 0.5, 1.0, -1.0]])
    made = aggregator(c=0.5) if name == "cagrad" else aggregator()
    np.testing.assert_allclose(theirs(made, matrix), 0.0, atol=1e-9)
    found = direction(matrix, METHODS[name], tasks=["a", "b", "c"])
    assert (matrix[[0, 2]] @ found.direction).min() > 0.05
    assert found.warnings == ("'b' has a zero gradient: no step serves it.",)


@pytest.mark.parametrize("aggregator", [aggregation.MGDA, aggregation.UPGrad, aggregation.ConFIG])
def test_one_nan_spoils_every_number_of_torchjd_and_none_of_ours(aggregator) -> None:
    matrix = np.vstack([gradients(3, 4), np.full(4, np.nan)])
    assert np.isnan(theirs(aggregator(), matrix)).all()
    name = {"MGDA": "mgda", "UPGrad": "upgrad", "ConFIG": "config"}[aggregator.__name__]
    assert np.isfinite(ours(name, matrix)).all()


def test_float32_gradients_of_norm_1e20_spoil_torchjd_and_not_us() -> None:
    matrix = (gradients(3, 4) * 1e20).astype(np.float32)
    assert not np.isfinite(theirs(aggregation.UPGrad(), matrix)).all()
    np.testing.assert_allclose(
        ours("upgrad", matrix) / 1e20, ours("upgrad", matrix.astype(np.float64) / 1e20), rtol=1e-6
    )


def test_torchjd_draws_from_the_global_random_state_and_we_do_not() -> None:
    matrix = gradients(4)
    torch.manual_seed(0)
    before = torch.get_rng_state()
    theirs(aggregation.PCGrad(), matrix)
    assert not torch.equal(before, torch.get_rng_state())
    torch.manual_seed(0)
    ours("pcgrad", matrix)
    assert torch.equal(before, torch.get_rng_state())
