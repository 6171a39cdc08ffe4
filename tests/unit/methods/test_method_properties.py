"""What each method's paper promises, on gradients of many shapes."""

import numpy as np
import pytest

from affinity.core.errors import SettingsError
from affinity.core.linalg import min_norm_weights, projected_onto_simplex
from affinity.methods import METHODS, direction
from affinity.methods.rp_mgda import partition


def step(name: str, matrix: np.ndarray, **settings: object) -> np.ndarray:
    method = METHODS[name]
    return direction(matrix, method, method.settings.from_json(settings)).direction


def matrices() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(7)
    return {
        "independent": rng.normal(size=(5, 12)),
        "of very different sizes": rng.normal(size=(4, 9)) * np.array([[1.0], [10.0], [0.1], [3.0]]),
        "more tasks than parameters": rng.normal(size=(6, 3)) + 0.4,
        "nearly parallel": rng.normal(size=(1, 8)) + 1e-4 * rng.normal(size=(4, 8)),
        "two opposite": np.array([[1.0, 0.0, 0.0], [-2.0, 0.0, 0.0], [0.3, 1.0, 0.0]]),
    }


EVERY_MATRIX = pytest.mark.parametrize("matrix", matrices().values(), ids=list(matrices()))


@pytest.mark.parametrize("name", ["mgda", "upgrad", "dualproj"])
@EVERY_MATRIX
def test_no_task_is_hurt(name: str, matrix: np.ndarray) -> None:
    found = step(name, matrix)
    products = matrix @ found
    assert (products >= -1e-7 * np.linalg.norm(matrix, axis=1) * np.linalg.norm(matrix, axis=1).max()).all()


@EVERY_MATRIX
def test_mgda_is_the_shortest_convex_combination(matrix: np.ndarray) -> None:
    found = step("mgda", matrix)
    square = found @ found
    assert (matrix @ found >= square - 1e-8 * np.square(matrix).sum(axis=1).max()).all()
    assert np.linalg.norm(found) <= np.linalg.norm(matrix, axis=1).min() + 1e-9
    assert np.linalg.norm(found) <= np.linalg.norm(matrix.mean(axis=0)) + 1e-9


@EVERY_MATRIX
def test_upgrad_and_dualproj_are_fixed_points_of_their_projection(matrix: np.ndarray) -> None:
    found = step("dualproj", matrix)
    again = step("dualproj", np.vstack([matrix, found * (len(matrix) + 1) - matrix.sum(axis=0)]))
    mean = matrix.mean(axis=0)
    # The projection is the nearest point: what was added is orthogonal to it.
    assert (found - mean) @ found == pytest.approx(0.0, abs=1e-7 * (1 + mean @ mean))
    assert np.isfinite(again).all()


def test_config_has_equal_positive_cosines_for_independent_gradients() -> None:
    for matrix in (matrices()["independent"], matrices()["of very different sizes"]):
        found = step("config", matrix)
        cosines = matrix @ found / np.linalg.norm(matrix, axis=1) / np.linalg.norm(found)
        assert cosines.min() > 0
        np.testing.assert_allclose(cosines, cosines[0], atol=1e-10)
        # Its length is the sum of the projections onto it.
        assert np.linalg.norm(found) == pytest.approx((matrix @ found).sum() / np.linalg.norm(found))


def test_imtl_has_equal_projections() -> None:
    matrix = matrices()["of very different sizes"]
    projections = matrix @ step("imtl_g", matrix) / np.linalg.norm(matrix, axis=1)
    np.testing.assert_allclose(projections, projections[0], atol=1e-10)


@pytest.mark.parametrize("kind", ["independent", "of very different sizes", "nearly parallel"])
def test_nash_weights_times_gains_are_one(kind: str) -> None:
    matrix = matrices()[kind]
    found = direction(matrix, METHODS["nash_mtl"])
    np.testing.assert_allclose(found.weights * (matrix @ found.direction), 1.0, atol=1e-8)
    assert np.linalg.norm(found.direction) == pytest.approx(np.sqrt(len(matrix)))
    assert np.linalg.norm(step("nash_mtl", matrix, max_norm=0.5)) == pytest.approx(0.5)


@EVERY_MATRIX
def test_cagrad_beats_every_other_step_in_its_ball(matrix: np.ndarray) -> None:
    mean = matrix.mean(axis=0)
    found = step("cagrad", matrix, radius=0.6)
    radius = 0.6 * np.linalg.norm(mean)
    assert np.linalg.norm(found - mean) <= radius * (1 + 1e-8)
    worst = (matrix @ found).min()
    rng = np.random.default_rng(0)
    others = rng.normal(size=(4000, matrix.shape[1]))
    others *= radius * rng.uniform(0, 1, (4000, 1)) / np.linalg.norm(others, axis=1, keepdims=True)
    near = (found - mean) + 0.05 * others
    near *= radius / np.maximum(np.linalg.norm(near, axis=1, keepdims=True), radius)
    for tried in (others, near):
        assert ((mean + tried) @ matrix.T).min(axis=1).max() <= worst + 1e-8
    np.testing.assert_allclose(step("cagrad", matrix, radius=0.0), mean, atol=1e-12)


def test_aligned_gradients_have_the_smallest_singular_value_as_common_length() -> None:
    matrix = matrices()["of very different sizes"]
    left, singular, right = np.linalg.svd(matrix, full_matrices=False)
    np.testing.assert_allclose(
        step("aligned_mtl", matrix), singular[-1] * (left @ right).mean(axis=0), atol=1e-10
    )


def test_gradvac_turns_a_gradient_until_its_cosine_is_the_target() -> None:
    matrix = np.array([[1.0, 0.2, 0.0], [0.4, 1.0, 0.5]])
    gram = matrix @ matrix.T
    method = METHODS["gradvac"]
    target = 0.9
    state = {"targets": [[0.0, target], [-1.0, 0.0]]}  # only the first one is turned
    weights, after = method.weigh(gram, state, np.random.default_rng(0), method.settings())
    turned = weights @ matrix - matrix[1]
    cosine = turned @ matrix[1] / np.linalg.norm(turned) / np.linalg.norm(matrix[1])
    assert cosine == pytest.approx(target)
    before = gram[0, 1] / np.sqrt(gram[0, 0] * gram[1, 1])
    assert after["targets"][0][1] == pytest.approx(0.99 * target + 0.01 * before)


def test_gradvac_starts_as_pcgrad() -> None:
    for matrix in matrices().values():
        np.testing.assert_allclose(
            step("gradvac", matrix, order="index"), step("pcgrad", matrix, order="index"), atol=1e-7
        )


def test_two_tasks_after_pcgrad_are_not_in_conflict() -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        matrix = rng.normal(size=(2, 4))
        assert (matrix @ step("pcgrad", matrix) >= -1e-12).all()


def test_the_partition_of_a_chain_keeps_every_variable_alone() -> None:
    uses = np.array([[1, 1, 0], [0, 1, 1]], dtype=bool)
    assert [block.tolist() for block in partition(uses)] == [[0], [1], [2]]


def test_two_losses_with_two_variables_in_common_merge_them() -> None:
    uses = np.array([[1, 1, 1, 0], [0, 1, 1, 1]], dtype=bool)
    assert sorted(block.tolist() for block in partition(uses)) == [[0], [1, 2], [3]]


def test_a_long_cycle_merges_and_a_tail_does_not() -> None:
    ring = [[0, 1], [1, 2], [2, 3], [3, 0], [3, 4], [4, 5]]
    uses = np.zeros((6, 6), dtype=bool)
    for loss, variables in enumerate(ring):
        uses[loss, variables] = True
    assert sorted(block.tolist() for block in partition(uses)) == [[0, 1, 2, 3], [4], [5]]


def test_partitions_are_finest_forests() -> None:
    import networkx

    rng = np.random.default_rng(1)
    for _ in range(200):
        uses = rng.random((int(rng.integers(1, 6)), int(rng.integers(1, 8)))) < rng.uniform(0.1, 0.6)
        blocks = partition(uses)
        assert sorted(np.concatenate(blocks).tolist()) == list(range(uses.shape[1]))
        assert is_forest(networkx, uses, blocks)
        for block in blocks:  # merged one by one along cycles, never more than they must be
            if len(block) > 1:
                rest = [other for other in blocks if other is not block]
                split = [*rest, *[np.array([one]) for one in block]]
                assert not is_forest(networkx, uses, split)


def is_forest(networkx, uses: np.ndarray, blocks: list[np.ndarray]) -> bool:
    graph = networkx.Graph()
    graph.add_nodes_from(("loss", loss) for loss in range(len(uses)))
    graph.add_nodes_from(("block", number) for number in range(len(blocks)))
    for number, block in enumerate(blocks):
        for loss in np.flatnonzero(uses[:, block].any(axis=1)):
            graph.add_edge(("loss", int(loss)), ("block", number))
    return networkx.is_forest(graph)


def test_rp_mgda_takes_single_losses_by_themselves() -> None:
    matrix = np.array([[2.0, 4.0, 0.0], [0.0, -1.0, 6.0]])
    # The shared coordinate's shortest combination of 4 and -1 is 0; the others move freely.
    np.testing.assert_allclose(step("rp_mgda", matrix), [2.0, 0.0, 6.0], atol=1e-12)
    pulling = np.array([[1.0, 3.0], [-3.0, -1.0]])
    np.testing.assert_allclose(step("rp_mgda", pulling), [-1.0, 1.0], atol=1e-12)
    np.testing.assert_allclose(step("mgda", pulling), [-1.0, 1.0], atol=1e-12)


def test_dwa_gives_more_to_the_loss_that_fell_less() -> None:
    method = METHODS["dwa"]
    settings, rng, state = method.settings.from_json({"window": 2}), np.random.default_rng(0), None
    for losses in ([1.0, 1.0], [1.0, 1.0], [0.5, 0.9], [0.5, 0.9]):
        weights, state = method.weigh(np.array(losses), state, rng, settings)
        np.testing.assert_array_equal(weights, 1.0)
    weights, _ = method.weigh(np.array([0.5, 0.9]), state, rng, settings)
    shares = np.exp(np.array([0.5, 0.9]) / 2)
    np.testing.assert_allclose(weights, 2 * shares / shares.sum())


def test_uncertainty_finds_the_inverse_loss_as_weight() -> None:
    method, losses = METHODS["uncertainty"], np.array([4.0, 0.25, np.nan])
    settings, rng, state = method.settings(), np.random.default_rng(0), None
    for _ in range(3000):
        weights, state = method.weigh(losses, state, rng, settings)
    np.testing.assert_allclose(weights[:2], [0.25, 4.0], rtol=1e-2)
    assert weights[2] == 1.0


def test_smooth_tchebycheff_with_a_warm_up_compares_relative_losses() -> None:
    method = METHODS["stch"]
    settings, rng, state = (
        method.settings.from_json({"warm_up": 2, "mu": 0.5}),
        np.random.default_rng(0),
        None,
    )
    for losses in ([100.0, 1.0], [300.0, 1.0]):
        weights, state = method.weigh(np.array(losses), state, rng, settings)
        np.testing.assert_allclose(weights, 1 / np.array(losses))
    weights, _ = method.weigh(np.array([100.0, 0.5]), state, rng, settings)
    np.testing.assert_allclose(weights, [0.01, 2.0])  # both at half their scale: equal shares of 2 / l


@pytest.mark.parametrize("method", ["famo", "stch", "uncertainty", "dwa", "mgda_fa"])
def test_a_task_that_is_absent_spoils_no_weight(method: str) -> None:
    entry = METHODS[method]
    settings, rng, state = entry.settings(), np.random.default_rng(0), None
    for losses in ([1.0, np.nan, 2.0], [0.9, 1.5, np.nan], [np.nan, 1.4, 1.9]):
        weights, state = entry.weigh(np.array(losses), state, rng, settings)
        assert np.isfinite(weights).all()
        if entry.after_step:
            state = entry.after_step(np.array(losses), np.array(losses) * 0.9, 0.1, state, settings)


@pytest.mark.parametrize(
    ("method", "settings", "word"),
    [
        ("weighted_sum", {"weights": "1, x"}, "not a number"),
        ("weighted_sum", {"weights": "1, -1"}, "negative"),
        ("weighted_sum", {"weights": "1, 2, 3"}, "3 numbers for 2 tasks"),
        ("stch", {"ideal": "0"}, "1 numbers for 2 tasks"),
        ("cagrad", {"radius": 1.5}, "outside"),
        ("pcgrad", {"order": "best"}, "not a choice"),
    ],
)
def test_settings_that_do_not_fit_are_refused_by_name(method: str, settings: dict, word: str) -> None:
    entry = METHODS[method]
    with pytest.raises(SettingsError, match=word):
        direction(np.eye(2), entry, entry.settings.from_json(settings), losses=np.ones(2))


def test_a_method_that_needs_losses_says_so() -> None:
    with pytest.raises(SettingsError, match="there are none"):
        direction(np.eye(2), METHODS["famo"])
    assert direction(np.eye(2), METHODS["joint"]).weights.tolist() == [1.0, 1.0]


def test_the_projection_onto_the_simplex_is_the_nearest_point() -> None:
    rng = np.random.default_rng(0)
    for _ in range(100):
        values = rng.normal(size=5)
        found = projected_onto_simplex(values)
        assert found.min() >= 0
        assert found.sum() == pytest.approx(1.0)
        others = rng.dirichlet(np.ones(5), size=200)
        assert (np.linalg.norm(others - values, axis=1) >= np.linalg.norm(found - values) - 1e-12).all()


def test_mgda_of_two_tasks_is_the_closed_form() -> None:
    rng = np.random.default_rng(4)
    for _ in range(50):
        first, second = rng.normal(size=(2, 3))
        share = np.clip(second @ (second - first) / ((first - second) @ (first - second)), 0, 1)
        gram = np.array([[first @ first, first @ second], [first @ second, second @ second]])
        np.testing.assert_allclose(min_norm_weights(gram), [share, 1 - share], atol=1e-9)
