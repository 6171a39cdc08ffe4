from pathlib import Path

import numpy as np
import pytest

import affinity.analysis.series as series_module
from affinity.analysis.conflicts import conflicts_view, hurt_tasks, noise_floor
from affinity.core.errors import NotEnoughData, NotRecorded
from affinity.runs.reader import Run
from tests.unit.analysis.run_folders import planted_run, write_run

TWO = ("a", "b")
FIGHT, AGREE = np.array([[1.0, -0.5], [-0.5, 1.0]]), np.array([[1.0, 0.5], [0.5, 4.0]])


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return planted_run(tmp_path / "planted-run")


def gram_run(folder: Path, grams: list[np.ndarray], **signals: object) -> Run:
    tasks = [f"t{number}" for number in range(len(grams[0]))]
    return write_run(folder, tasks, {"gram": dict(enumerate(grams)), **signals})


def test_rates_count_steps_with_their_denominators(tmp_path: Path) -> None:
    view = conflicts_view(gram_run(tmp_path / "gram-run", [FIGHT, FIGHT, AGREE, np.diag([1.0, 0.0])]))
    pair = view.pairs[0]
    assert (pair.conflicts, pair.n) == (2, 3)
    assert view.pooled_rate == pytest.approx(2 / 3)
    assert pair.mean_cosine == pytest.approx((-0.5 - 0.5 + 0.25) / 3)
    np.testing.assert_array_equal(view.conflict_fraction, [1.0, 1.0, 0.0, np.nan])
    np.testing.assert_allclose(view.dominance, [1.0, 1.0, 2.0, 1.0])
    np.testing.assert_array_equal(view.rank, [2, 2, 2, 1])
    assert np.isinf(view.condition_number[3])


def test_a_zero_gradient_is_named_and_does_not_make_the_gap_zero(tmp_path: Path) -> None:
    view = conflicts_view(gram_run(tmp_path / "gram-run", [np.diag([1.0, 0.0])]))
    assert any("zero gradient: t1 at 1 step" in caveat for caveat in view.caveats)
    assert view.pareto_gap[0] == pytest.approx(1.0)


def test_a_gradient_that_is_not_finite_is_named_and_the_others_are_kept(tmp_path: Path) -> None:
    gram = np.full((3, 3), np.nan)
    gram[:2, :2] = FIGHT
    view = conflicts_view(gram_run(tmp_path / "gram-run", [gram]))
    assert any("not finite: t2 at 1 step" in caveat for caveat in view.caveats)
    assert view.comparisons == 1
    assert view.min_cosine[0] == -0.5


def test_the_joint_update_hurts_the_small_task_that_disagrees(tmp_path: Path) -> None:
    big_against_small = np.array([[10.0, -2.5], [-2.5, 1.25]])
    view = conflicts_view(gram_run(tmp_path / "gram-run", [big_against_small, AGREE]))
    assert (view.hurt[0].task, view.hurt[0].hurt, view.hurt[0].n) == ("t1", 1, 2)
    assert view.hurt[1].hurt == 0


def test_another_methods_weights_change_who_is_hurt(tmp_path: Path) -> None:
    run = gram_run(tmp_path / "gram-run", [np.array([[10.0, -2.5], [-2.5, 1.25]])])
    assert hurt_tasks(run, lambda gram: np.array([1.0, 1.0]))[0].rate == 1.0
    assert hurt_tasks(run, lambda gram: np.array([3.0, 10.0]) / 13)[0].rate == 0.0


def test_layers_are_ranked_by_their_conflicts_under_their_names(run: Run) -> None:
    layers = conflicts_view(run).layers
    assert [layer.layer for layer in layers] == ["trunk.2", "trunk.0"]
    assert layers[0].score == 160
    assert layers[0].n == 240
    assert layers[1].score == 0


def test_layers_without_names_are_numbered_and_a_threshold_changes_the_score(tmp_path: Path) -> None:
    layers = {0: np.stack([FIGHT, AGREE])}
    run = gram_run(tmp_path / "gram-run", [FIGHT], layer_gram=layers)
    assert [layer.layer for layer in conflicts_view(run).layers] == ["layer 1", "layer 2"]
    assert conflicts_view(run, layer_threshold=-0.6).layers[0].score == 0


def test_the_noise_floor_is_reported_in_the_caveat(tmp_path: Path) -> None:
    noise = {0: np.array([0.2, 0.4]), 1: np.array([0.4, np.nan])}
    run = gram_run(tmp_path / "gram-run", [FIGHT, AGREE], gradient_noise=noise)
    assert noise_floor(run) == (("t0", pytest.approx(0.3)), ("t1", pytest.approx(0.4)))
    assert "0.30 to 0.40" in conflicts_view(run).caveats[0]


def test_without_a_noise_floor_the_caveat_still_warns(run: Run) -> None:
    assert "did not record how low" in conflicts_view(run).caveats[0]


def test_the_sentence_names_the_worst_pair_and_the_layer(run: Run) -> None:
    sentence = conflicts_view(run).sentence
    assert "67 % of 240 comparisons" in sentence
    assert "Most conflicts lie in trunk.2." in sentence


def test_a_run_without_gradients_says_what_to_log(tmp_path: Path) -> None:
    run = write_run(tmp_path / "losses-only", TWO, {"losses": {0: np.ones(2)}})
    with pytest.raises(NotRecorded, match="Train with the probe gram"):
        conflicts_view(run)


def test_an_empty_range_is_refused(run: Run) -> None:
    with pytest.raises(NotEnoughData, match="in this range"):
        conflicts_view(run, first=1000)


def test_one_task_has_nothing_to_compare(tmp_path: Path) -> None:
    view = conflicts_view(gram_run(tmp_path / "gram-run", [np.ones((1, 1))]))
    assert np.isnan(view.pooled_rate)
    assert view.sentence == "No two tasks have gradients that can be compared."


def test_reading_in_small_parts_gives_the_same_numbers(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = conflicts_view(run)
    monkeypatch.setattr(series_module, "PART_BYTES", 8 * 16 * 7)
    parts = conflicts_view(run)
    np.testing.assert_allclose(parts.pair_cosine, whole.pair_cosine)
    np.testing.assert_array_equal(parts.pair_rate, whole.pair_rate)
    assert [layer.score for layer in parts.layers] == [layer.score for layer in whole.layers]
    np.testing.assert_array_equal(parts.pareto_gap, whole.pareto_gap)


def test_hundred_tasks_sample_the_costly_statistics_and_say_so(tmp_path: Path) -> None:
    view = conflicts_view(planted_run(tmp_path / "large-run", tasks=100, steps=120))
    assert np.isfinite(view.pareto_gap).sum() <= 100
    assert np.isfinite(view.conflict_fraction).all()
    assert any("of 120 steps" in caveat for caveat in view.caveats)
