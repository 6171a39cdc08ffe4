from pathlib import Path

import numpy as np
import pytest

import affinity.analysis.collected as collected_module
import affinity.analysis.series as series_module
from affinity.analysis.affinity import (
    affinity_matrix,
    affinity_view,
    colour_limit,
    matrix_at,
    pair_curve,
    rank_agreement,
    recorded_steps,
    signal_choices,
)
from affinity.core.errors import AffinityError, NotEnoughData, NotRecorded, SettingsError
from affinity.runs.reader import Run
from tests.unit.analysis.run_folders import planted_run, write_run

TWO = ("a", "b")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return planted_run(tmp_path / "planted-run")


def pair_run(folder: Path, values: list[np.ndarray], *, sense: str = "affinity", **options: object) -> Run:
    """A run that holds nothing but a recorded matrix a step."""
    rows = {10 * position: value for position, value in enumerate(values)}
    return write_run(folder, TWO, {"my_matrix": rows}, sense=sense, kind="recorded", **options)


def test_choices_are_the_measures_whose_quantities_were_recorded(run: Run) -> None:
    keys = [choice.key for choice in signal_choices(run)]
    assert keys == [
        "lookahead",
        "proximal",
        "lookahead_per_lr",
        "first_order",
        "cosine",
        "loss_correlation",
    ]
    assert all(choice.splits == ("train",) for choice in signal_choices(run))
    assert all(choice.meaning.endswith(".") for choice in signal_choices(run))


def test_a_run_that_recorded_nothing_has_no_choices(tmp_path: Path) -> None:
    empty = write_run(tmp_path / "empty-run", TWO, {})
    assert signal_choices(empty) == ()


def test_a_missing_quantity_is_named_with_what_to_log(tmp_path: Path) -> None:
    run = write_run(tmp_path / "losses-only", TWO, {"losses": {0: np.ones(2)}})
    with pytest.raises(NotRecorded, match=r"needs lookahead_losses.*did not record.*probes lookahead_losses"):
        affinity_matrix(run, "lookahead")


def test_an_unknown_signal_is_refused_with_the_known_ones(run: Run) -> None:
    with pytest.raises(SettingsError, match="Known: cosine"):
        affinity_matrix(run, "nonsense")


def test_the_matrix_is_the_mean_over_steps_by_source_and_affected(run: Run) -> None:
    matrix = affinity_matrix(run, "lookahead")
    losses, after = run.signal("losses").values, run.signal("lookahead_losses").values
    np.testing.assert_allclose(matrix.values, (1 - after / losses[:, None, :]).mean(axis=0), atol=1e-12)
    assert matrix.effect(source="task 0", affected="task 2") == pytest.approx(0.05, abs=0.01)
    assert matrix.effect(source="task 0", affected="task 1") == pytest.approx(-0.03, abs=0.01)
    assert (matrix.count == 40).all()
    assert matrix.span == (0, 39)
    assert (matrix.low <= matrix.values).all()


def test_a_range_of_steps_counts_only_those_steps(run: Run) -> None:
    matrix = affinity_matrix(run, "cosine", first=10, last=19)
    assert matrix.span == (10, 19)
    assert (matrix.count == 10).all()
    with pytest.raises(NotEnoughData, match="from 100 to the end"):
        affinity_matrix(run, "cosine", first=100)


def test_last_takes_each_pairs_last_value_and_has_no_interval(tmp_path: Path) -> None:
    values = [np.full((2, 2), 1.0), np.array([[2.0, np.nan], [2.0, 2.0]])]
    matrix = affinity_matrix(pair_run(tmp_path / "pair-run", values), "my_matrix", reduce="last")
    np.testing.assert_array_equal(matrix.values, [[2.0, 1.0], [2.0, 2.0]])
    assert np.isnan(matrix.low).all()


def test_ema_weighs_late_steps_more_and_does_not_start_at_zero(tmp_path: Path) -> None:
    values = [np.full((2, 2), float(step)) for step in range(100)]
    matrix = affinity_matrix(pair_run(tmp_path / "pair-run", values), "my_matrix", reduce="ema")
    weights = 0.95 ** np.arange(100)[::-1]
    expected = (weights * np.arange(100)).sum() / weights.sum()
    np.testing.assert_allclose(matrix.values, expected)


def test_the_view_answers_in_words_and_ranks_by_lower_bound(run: Run) -> None:
    view = affinity_view(run, "lookahead")
    lows = [row.low for row in view.rows]
    assert lows == sorted(lows, reverse=True)
    assert len(view.rows) == 12
    assert "4 help, 8 hurt and 0 cannot be told from zero" in view.sentence
    assert {row.verdict for row in view.rows} == {"helps", "hurts"}
    assert all(row.sign_confidence > 0.999 for row in view.rows)


def test_planted_camps_stand_side_by_side_in_the_order(run: Run) -> None:
    order = affinity_view(run, "lookahead").order
    assert {frozenset(order[:2]), frozenset(order[2:])} == {
        frozenset({"task 0", "task 2"}),
        frozenset({"task 1", "task 3"}),
    }


def test_noise_alone_is_rarely_called_help_or_harm(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = {step: rng.normal(size=(20, 20)) for step in range(60)}
    names = [f"t{number}" for number in range(20)]
    run = write_run(tmp_path / "noise-run", names, {"noise_matrix": rows}, sense="affinity")
    view = affinity_view(run, "noise_matrix")
    called = sum(row.verdict != "not distinguishable from zero" for row in view.rows)
    assert called / len(view.rows) < 0.08
    assert any("by chance alone" in caveat for caveat in view.caveats)


def test_colours_are_symmetric_and_ignore_the_diagonal(tmp_path: Path) -> None:
    matrix = np.array([[100.0, -0.2], [0.1, 100.0]])
    view = affinity_view(pair_run(tmp_path / "pair-run", [matrix] * 6), "my_matrix")
    assert view.limit == pytest.approx(0.2)
    assert colour_limit(np.full((2, 2), np.nan)) == 1.0


def test_a_step_can_be_read_alone_and_the_nearest_is_taken(tmp_path: Path) -> None:
    values = [np.full((2, 2), float(step)) for step in range(3)]
    run = pair_run(tmp_path / "pair-run", values)
    assert recorded_steps(run, "my_matrix") == (0, 10, 20)
    assert matrix_at(run, "my_matrix", 10).values[0, 1] == 1.0
    assert matrix_at(run, "my_matrix", 14).span == (10, 10)
    assert matrix_at(run, "my_matrix", 999).values[0, 1] == 2.0


def test_measures_of_loss_changes_have_a_value_only_where_a_window_ends(run: Run) -> None:
    assert recorded_steps(run, "loss_correlation") == (20,)
    assert np.isfinite(matrix_at(run, "loss_correlation", 20).values).all()


def test_a_curve_keeps_its_gaps_and_counts_them(tmp_path: Path) -> None:
    values = [np.full((2, 2), 0.5) for _ in range(12)]
    values[4][0, 1] = values[7][0, 1] = np.nan
    curve = pair_curve(pair_run(tmp_path / "pair-run", values), "my_matrix", source="a", affected="b")
    assert curve.missing == 2
    assert np.isnan(curve.values[[4, 7]]).all()
    assert np.isnan(curve.smooth[[4, 7]]).all()
    assert curve.mean == 0.5
    assert "2 without a value" in curve.sentence


def test_a_curve_of_an_unknown_task_is_refused(run: Run) -> None:
    with pytest.raises(AffinityError, match="'nobody' is not a task"):
        pair_curve(run, "cosine", source="nobody", affected="task 0")


def test_measures_agree_by_rank_where_they_should(run: Run) -> None:
    agreement = rank_agreement(run, "lookahead", "proximal")
    assert agreement.mean == pytest.approx(1.0)
    assert [row.best_a for row in agreement.rows] == ["task 2", "task 3", "task 0", "task 1"]
    assert "rank the sources alike" in agreement.sentence


def test_ranks_of_two_tasks_say_nothing(tmp_path: Path) -> None:
    run = pair_run(tmp_path / "pair-run", [np.ones((2, 2))] * 5)
    agreement = rank_agreement(run, "my_matrix", "my_matrix")
    assert np.isnan(agreement.mean)


def test_recorded_matrices_are_choices_and_quantities_are_not(tmp_path: Path) -> None:
    affinity = pair_run(tmp_path / "pair-run-1", [np.ones((2, 2))] * 5)
    quantity = pair_run(tmp_path / "pair-run-2", [np.ones((2, 2))] * 5, sense="lower")
    assert [choice.key for choice in signal_choices(affinity)] == ["my_matrix"]
    assert signal_choices(affinity)[0].recorded
    assert signal_choices(quantity) == ()


def test_a_recorded_matrix_named_like_a_measure_stays_reachable(tmp_path: Path) -> None:
    gram, matrix = np.array([[1.0, 0.5], [0.5, 1.0]]), np.full((2, 2), 7.0)
    signals = {"gram": {0: gram}, "cosine": {0: matrix}}
    run = write_run(tmp_path / "both-run", TWO, signals, sense="affinity")
    keys = {choice.key for choice in signal_choices(run)}
    assert {"cosine", "recorded_cosine"} <= keys
    assert affinity_matrix(run, "cosine").values[0, 1] == 0.5
    assert affinity_matrix(run, "recorded_cosine").values[0, 1] == 7.0


def test_a_matrix_of_another_size_than_the_run_is_not_offered(tmp_path: Path) -> None:
    run = write_run(tmp_path / "odd-run", TWO, {"my_matrix": {0: np.ones((3, 3))}}, sense="affinity")
    assert signal_choices(run) == ()


def test_held_out_values_are_asked_for_by_split(tmp_path: Path) -> None:
    folder = tmp_path / "held-out"
    write_run(folder, TWO, {"losses": {0: [1.0, 1.0]}, "lookahead_losses": {0: [[0.5, 0.5], [0.5, 0.5]]}})
    run = write_run(
        folder,
        TWO,
        {"losses": {0: [2.0, 2.0]}, "lookahead_losses": {0: [[1.8, 1.8], [1.8, 1.8]]}},
        split="validation",
    )
    assert signal_choices(run)[0].splits == ("train", "validation")
    assert affinity_matrix(run, "lookahead").values[0, 1] == 0.5
    held_out = affinity_matrix(run, "lookahead", split="validation")
    assert held_out.values[0, 1] == pytest.approx(0.1)
    assert not any("flatters" in caveat for caveat in held_out.caveats)


def test_a_split_that_was_not_recorded_is_refused(run: Run) -> None:
    with pytest.raises(NotRecorded, match="not recorded on validation data"):
        affinity_matrix(run, "lookahead", split="validation")


def test_a_loss_near_zero_is_left_out_counted_and_said(tmp_path: Path) -> None:
    losses = {step: np.array([1.0, 1.0 if step < 6 else 1e-9]) for step in range(10)}
    after = {step: losses[step][None, :] * np.full((2, 2), 0.9) for step in range(10)}
    run = write_run(tmp_path / "zero-run", TWO, {"losses": losses, "lookahead_losses": after})
    view = affinity_view(run, "lookahead")
    np.testing.assert_array_equal(view.matrix.count, [[10, 6], [10, 6]])
    np.testing.assert_allclose(view.matrix.values, 0.1)
    assert any("below a millionth of its largest value: b 4 times" in caveat for caveat in view.caveats)


def test_signals_recorded_at_different_steps_are_joined_by_step(tmp_path: Path) -> None:
    losses = {step: np.array([1.0 + step, 1.0]) for step in range(21)}
    after = {step: np.full((2, 2), 0.5) for step in range(5, 21, 5)}
    run = write_run(tmp_path / "joined-run", TWO, {"losses": losses, "lookahead_losses": after})
    assert recorded_steps(run, "lookahead") == (5, 10, 15, 20)
    assert matrix_at(run, "lookahead", 10).values[1, 0] == pytest.approx(1 - 0.5 / 11)


def test_seeds_are_averaged_and_the_spread_between_them_counts(tmp_path: Path) -> None:
    seeds = [planted_run(tmp_path / f"planted-{seed}", seed=seed) for seed in range(3)]
    view = affinity_view(seeds, "lookahead")
    values = [affinity_matrix(seed, "lookahead").values for seed in seeds]
    np.testing.assert_allclose(view.matrix.values, np.mean(values, axis=0))
    assert view.runs == 3
    assert (view.matrix.count == 120).all()
    assert "seeds" in view.interval_method


def test_runs_with_other_tasks_are_not_averaged(tmp_path: Path) -> None:
    runs = [planted_run(tmp_path / f"planted-{count}", tasks=count) for count in (3, 4)]
    with pytest.raises(AffinityError, match="same tasks"):
        affinity_matrix(runs, "cosine")


def test_one_task_has_no_pairs_and_says_so(tmp_path: Path) -> None:
    view = affinity_view(planted_run(tmp_path / "single-run", tasks=1), "lookahead")
    assert view.rows == ()
    assert view.sentence == "No pair of different tasks has a value."
    assert view.order == ("task 0",)


def test_hundred_tasks_work(tmp_path: Path) -> None:
    view = affinity_view(planted_run(tmp_path / "large-run", tasks=100, steps=8), "cosine")
    assert len(view.rows) == 9900
    assert sorted(view.order) == sorted(view.matrix.tasks)


def test_a_file_without_one_whole_batch_counts_as_not_recorded(run: Run) -> None:
    path = run.folder / "lookahead_losses.arrows"
    path.write_bytes(path.read_bytes()[:-40])
    broken = Run(run.folder)
    assert "lookahead" not in [choice.key for choice in signal_choices(broken)]
    with pytest.raises(NotRecorded, match="has no values yet"):
        affinity_view(broken, "lookahead")


def test_two_batches_of_which_the_second_broke_keep_the_first(tmp_path: Path) -> None:
    rows = {step: np.full((2, 2), 0.1) for step in range(100)}
    run = write_run(tmp_path / "broken-run", TWO, {"my_matrix": rows}, sense="affinity")
    path = run.folder / "my_matrix.arrows"
    path.write_bytes(path.read_bytes()[:-200])
    view = affinity_view(Run(run.folder), "my_matrix")
    assert view.matrix.count[0, 1] == 64
    assert any("ends in the middle" in caveat for caveat in view.caveats)


@pytest.mark.parametrize("signal", ["lookahead", "first_order", "cosine", "loss_correlation"])
def test_reading_in_small_parts_gives_the_same_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, signal: str
) -> None:
    run = planted_run(tmp_path / "planted-run", steps=200, every=3)
    whole, steps = affinity_matrix(run, signal), recorded_steps(run, signal)
    monkeypatch.setattr(series_module, "PART_BYTES", 8 * 16 * 21)
    parts = affinity_matrix(run, signal)
    np.testing.assert_allclose(parts.values, whole.values, rtol=1e-12)
    np.testing.assert_array_equal(parts.count, whole.count)
    np.testing.assert_allclose(parts.low, whole.low, rtol=1e-9)
    assert recorded_steps(run, signal) == steps


def test_a_run_beyond_the_memory_budget_keeps_exact_means_and_similar_intervals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = planted_run(tmp_path / "planted-run", steps=400)
    whole = affinity_matrix(run, "lookahead")
    monkeypatch.setattr(collected_module, "ROW_BYTES", 8 * 16 * 150)
    small = affinity_matrix(run, "lookahead")
    np.testing.assert_allclose(small.values, whole.values, rtol=1e-12)
    np.testing.assert_array_equal(small.count, whole.count)
    widths = [np.median(matrix.high - matrix.low) for matrix in (small, whole)]
    assert widths[0] == pytest.approx(widths[1], rel=0.3)
    assert any("averages over 4 recorded steps" in caveat for caveat in small.caveats)
