"""Every method on gradients whose right direction was worked out from its definition."""

import itertools

import numpy as np
import pytest

from affinity.methods import METHODS, NumpyAccess, direction, weigh_gram
from tests.unit.methods.right_answers_methods import METHOD_ANSWERS, SCALARIZATIONS

# answer -> method, settings and how exact the answer is: a solver limits some
ANSWERS = {
    "mgda": ("mgda", {}, 1e-8),
    "config": ("config", {}, 1e-8),
    "config_two_task_closed_form": ("config", {}, 1e-8),
    "pcgrad_index_order": ("pcgrad", {"order": "index"}, 1e-8),
    "imtlg": ("imtl_g", {}, 1e-8),
    "aligned_min": ("aligned_mtl", {}, 1e-8),
    "aligned_rmse": ("aligned_mtl", {"scale": "mean"}, 1e-8),
    "cagrad_c05": ("cagrad", {"radius": 0.5}, 1e-8),
    "cagrad_c04": ("cagrad", {"radius": 0.4}, 1e-8),
    "upgrad": ("upgrad", {}, 1e-8),
    "dualproj": ("dualproj", {}, 1e-8),
    "nash_unclipped": ("nash_mtl", {}, 1e-8),
    "nash_clipped_norm1": ("nash_mtl", {"max_norm": 1.0}, 1e-8),
}
WEIGHTS = {
    "mgda_weights": "mgda",
    "imtlg_weights": "imtl_g",
    "aligned_min_weights": "aligned_mtl",
    "nash_alpha": "nash_mtl",
}
# Left in, the zero gradient is the shortest combination and stops both; we leave it out and say so.
STOPPED_BY_A_ZERO = {"mgda", "mgda_weights", "cagrad_c05", "cagrad_c04"}
CASES = [
    (case, answer)
    for case, content in METHOD_ANSWERS.items()
    for answer in content["directions"]
    if not (case == "a zero gradient" and answer in STOPPED_BY_A_ZERO)
]


@pytest.mark.parametrize(("case", "answer"), [one for one in CASES if one[1] in ANSWERS])
def test_the_direction_is_the_one_of_the_definition(case: str, answer: str) -> None:
    matrix = np.array(METHOD_ANSWERS[case]["matrix"])
    name, settings, exact = ANSWERS[answer]
    found = direction(matrix, METHODS[name], METHODS[name].settings.from_json(settings))
    wanted = METHOD_ANSWERS[case]["directions"][answer]
    np.testing.assert_allclose(found.direction, wanted, rtol=0, atol=exact)
    np.testing.assert_allclose(found.inner_products, matrix @ wanted, rtol=0, atol=10 * exact)


@pytest.mark.parametrize(("case", "answer"), [one for one in CASES if one[1] in WEIGHTS])
def test_the_weights_are_those_of_the_definition(case: str, answer: str) -> None:
    found = direction(np.array(METHOD_ANSWERS[case]["matrix"]), METHODS[WEIGHTS[answer]])
    np.testing.assert_allclose(found.weights, METHOD_ANSWERS[case]["directions"][answer], rtol=0, atol=1e-8)


def test_no_answer_is_left_untested() -> None:
    tested = {*ANSWERS, *WEIGHTS, "pcgrad_expectation", "cagrad_c05_inner_w"}
    assert {answer for _, answer in CASES} <= tested


class InOrder(np.random.Generator):
    """A generator whose permutations are given beforehand."""

    def __init__(self, orders: list[np.ndarray]) -> None:
        super().__init__(np.random.PCG64(0))
        self.orders = orders

    def permuted(self, x: np.ndarray, axis: int | None = None, out: np.ndarray | None = None) -> np.ndarray:
        return np.array([row[order] for row, order in zip(x, self.orders, strict=True)])


@pytest.mark.parametrize("case", METHOD_ANSWERS)
def test_pcgrad_over_all_orders_has_the_known_mean(case: str) -> None:
    gradients = np.array(METHOD_ANSWERS[case]["matrix"])
    method = METHODS["pcgrad"]
    gram = gradients @ gradients.T
    live = int((np.diagonal(gram) > 0).sum())
    orders = [np.array(order) for order in itertools.permutations(range(live - 1))]
    found = [
        weigh_gram(method, gram, None, InOrder([order] * live), method.settings())[0] @ gradients
        for order in orders
    ]
    wanted = METHOD_ANSWERS[case]["directions"]["pcgrad_expectation"]
    np.testing.assert_allclose(np.mean(found, axis=0), wanted, rtol=0, atol=1e-8)


@pytest.mark.parametrize("case", METHOD_ANSWERS)
def test_momentum_config_takes_the_steps_of_the_reference(case: str) -> None:
    matrix = np.array(METHOD_ANSWERS[case]["matrix"])
    method, state, rng = METHODS["momentum_config"], None, np.random.default_rng(0)
    for number, wanted in enumerate(METHOD_ANSWERS[case]["momentum"]):
        now = matrix * 0.5 ** (number // len(matrix))
        found, state = method.step(NumpyAccess(lambda now=now: now), state, rng, method.settings())
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-6)


@pytest.mark.parametrize("mu", SCALARIZATIONS["stch"])
def test_smooth_tchebycheff_weights_are_the_gradient_of_its_value(mu: str) -> None:
    method = METHODS["stch"]
    settings = method.settings.from_json(
        {"mu": mu, "weights": "0.2, 0.5, 0.3", "ideal": "0.1, 0, 0.2"},
    )
    losses = np.array(SCALARIZATIONS["losses"])
    found, _ = method.weigh(losses, None, np.random.default_rng(0), settings)
    np.testing.assert_allclose(
        found, SCALARIZATIONS["stch"][mu]["loss_gradient"], rtol=0, atol=1e-12, err_msg=mu
    )


def test_famo_weights_and_logits_are_the_known_ones() -> None:
    method, answers = METHODS["famo"], SCALARIZATIONS["famo"]
    settings, rng = method.settings(), np.random.default_rng(0)
    losses = np.array(SCALARIZATIONS["losses"])
    weights, state = method.weigh(losses, None, rng, settings)
    np.testing.assert_allclose(weights, answers["loss_gradient"], rtol=0, atol=1e-7)
    state = method.after_step(losses, np.array(answers["losses_after_step"]), 0.1, state, settings)
    np.testing.assert_allclose(state["values"], answers["logits_after_update"], rtol=0, atol=1e-7)
    after, _ = method.weigh(losses, state, rng, settings)
    np.testing.assert_allclose(after, answers["next_loss_gradient"], rtol=0, atol=1e-7)
