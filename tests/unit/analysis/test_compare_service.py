import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from affinity.analysis.affinity import affinity_matrix
from affinity.analysis.compare import compare_view, prediction_check, t_interval
from affinity.analysis.compare_runs import compare_runs
from affinity.analysis.overview import overview
from affinity.core.errors import NotEnoughData, NotRecorded
from affinity.core.types import Grouping
from affinity.grouping import write_grouping
from affinity.runs.reader import Run
from tests.unit.analysis.run_folders import planted_run, write_run

TASKS = ("a", "b", "c", "d")
GROUPING = Grouping.partition(TASKS, ["ac", "bd"])


def row(
    arm: str, tasks: Sequence[str], loss: Sequence[float], *, seed: int = 0, **more: object
) -> dict[str, object]:
    return {
        "arm": arm,
        "group": None,
        "tasks": list(tasks),
        "serve": list(tasks),
        "seed": seed,
        "steps": 10,
        "passes": 10,
        "parameters": 1000,
        "seconds": 2.0,
        "loss": dict(zip(tasks, loss, strict=True)),
        "metric": {task: 1 - value / 2 for task, value in zip(tasks, loss, strict=True)},
        **more,
    }


def trainings(
    seed: int, *, group: Sequence[float], joint: float = 1.0, single: float = 0.8
) -> list[dict[str, object]]:
    found = [row("joint", TASKS, [joint] * 4, seed=seed)]
    found += [row("single", task, [single], seed=seed) for task in TASKS]
    found += [row("group", "ac", [group[0], group[2]], seed=seed)]
    return [*found, row("group", "bd", [group[1], group[3]], seed=seed)]


def rerun(folder: Path, rows: Sequence[dict[str, object]], **options: object) -> Run:
    settings = {"grouping": json.loads(write_grouping(GROUPING)), "seeds": [0]}
    return write_run(folder, TASKS, {}, kind="rerun", trainings=rows, settings=settings, **options)


def test_gains_are_relative_to_the_reference_of_the_same_seed(tmp_path: Path) -> None:
    rows = [row for seed in range(3) for row in trainings(seed, group=[0.5, 0.5, 0.9, 1.0 + 0.1 * seed])]
    view = compare_view(rerun(tmp_path / "rerun-run", rows))
    gains = {(gain.against, gain.task): gain for gain in view.gains}
    assert gains["joint", "a"].value == pytest.approx(0.5)
    assert gains["single", "a"].value == pytest.approx(0.375)
    assert gains["joint", "d"].value == pytest.approx(-0.1)
    assert gains["joint", "a"].metric_gain == pytest.approx(0.25)
    assert [gains["joint", task].outcome for task in TASKS] == ["win", "win", "win", "tie"]
    assert view.seeds == (0, 1, 2)


def test_the_mean_over_tasks_has_a_paired_t_interval_over_seeds(tmp_path: Path) -> None:
    rows = [row for seed in range(3) for row in trainings(seed, group=[0.5 + 0.1 * seed] * 4)]
    total = compare_view(rerun(tmp_path / "rerun-run", rows)).totals[0]
    assert total.value == pytest.approx(0.4)
    # Three values 0.5, 0.4, 0.3: s = 0.1, t(2) at 97.5 % = 4.302653.
    assert total.high - total.value == pytest.approx(4.302652729911275 * 0.1 / np.sqrt(3))
    assert (total.wins, total.ties, total.losses) == (4, 0, 0)


def test_one_seed_gives_a_value_without_an_interval(tmp_path: Path) -> None:
    view = compare_view(rerun(tmp_path / "rerun-run", trainings(0, group=[0.5, 1.5, 1.0, 1.0])))
    assert np.isnan(view.gains[0].low)
    assert [gain.outcome for gain in view.gains[:4]] == ["win", "loss", "tie", "tie"]
    assert view.caveats[0].startswith("No interval with one seed")


def test_costs_add_up_over_the_networks_of_an_arm(tmp_path: Path) -> None:
    rows = [row for seed in range(2) for row in trainings(seed, group=[0.5] * 4)]
    costs = {cost.arm: cost for cost in compare_view(rerun(tmp_path / "rerun-run", rows)).costs}
    assert (costs["group"].networks, costs["group"].parameters, costs["group"].seconds) == (2, 2000, 4.0)
    assert (costs["single"].networks, costs["single"].passes) == (4, 40)


def test_a_diverged_training_is_missing_and_named(tmp_path: Path) -> None:
    rows = [row for seed in range(2) for row in trainings(seed, group=[float("nan"), 0.5, 0.5, 0.5])]
    view = compare_view(rerun(tmp_path / "rerun-run", rows))
    assert view.gains[0].outcome == "missing"
    assert view.totals[0].value == pytest.approx(0.5)
    assert any("Without a finite loss in both arms: a." in caveat for caveat in view.caveats)


def test_a_rerun_in_progress_compares_what_is_there(tmp_path: Path) -> None:
    rows = [row("group", "ac", [0.5, 0.5]), row("joint", TASKS, [1.0] * 4)]
    view = compare_view(rerun(tmp_path / "rerun-run", rows))
    outcomes = {gain.task: gain.outcome for gain in view.gains}
    assert outcomes == {"a": "win", "b": "missing", "c": "win", "d": "missing"}
    assert [total.against for total in view.totals] == ["joint"]


def test_lines_that_are_not_trainings_are_passed_over(tmp_path: Path) -> None:
    odd = [{}, {"arm": "group", "seed": "x"}, {"arm": "group", "seed": 0, "serve": "a", "loss": 3}]
    view = compare_view(rerun(tmp_path / "rerun-run", [*odd, *trainings(0, group=[0.5] * 4)]))
    assert view.gains[0].value == pytest.approx(0.5)


def test_before_the_first_training_there_is_nothing_to_compare(tmp_path: Path) -> None:
    with pytest.raises(NotEnoughData, match="no network of the grouping"):
        compare_view(rerun(tmp_path / "rerun-run", []))


def test_a_run_that_is_no_rerun_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotRecorded, match="not a rerun"):
        compare_view(planted_run(tmp_path / "planted-run"))


def test_predictions_are_checked_against_the_real_gains(tmp_path: Path) -> None:
    run = planted_run(tmp_path / "planted-run")
    names = dict(zip(TASKS, run.tasks, strict=True))
    grouping = Grouping.partition(run.tasks, [[run.tasks[0], run.tasks[2]], [run.tasks[1], run.tasks[3]]])
    rows = [
        {
            **one,
            "serve": [names[task] for task in one["serve"]],
            "loss": {names[t]: v for t, v in one["loss"].items()},
        }
        for one in trainings(0, group=[0.5, 0.6, 0.7, 0.9])
    ]
    settings = {"grouping": json.loads(write_grouping(grouping))}
    view = compare_view(
        write_run(tmp_path / "rerun-run", run.tasks, {}, kind="rerun", trainings=rows, settings=settings)
    )
    check = prediction_check(view, affinity_matrix(run, "lookahead"))
    assert check.same_sign == 3
    assert "3 of 4 tasks" in check.sentence


def test_t_intervals_need_two_values() -> None:
    assert np.isnan(t_interval(np.array([1.0]))[1])
    assert np.isnan(t_interval(np.array([np.nan]))[0])
    assert t_interval(np.array([1.0, np.nan, 1.0])) == (1.0, 1.0, 1.0)


def test_runs_with_different_tasks_are_compared_over_their_union(tmp_path: Path) -> None:
    first = planted_run(tmp_path / "planted-one", tasks=2)
    second = planted_run(tmp_path / "planted-two", tasks=3, seed=1)
    comparison = compare_runs([first, second])
    assert comparison.tasks == ("task 0", "task 1", "task 2")
    assert comparison.shared == ("task 0", "task 1")
    assert comparison.present.tolist() == [[True, True, False], [True, True, True]]
    assert np.isnan(comparison.metrics[0, 2])
    assert comparison.metrics[1, 0] == 0.9
    assert len(set(comparison.labels)) == 2


def test_only_settings_that_differ_are_listed(tmp_path: Path) -> None:
    shared = {"lr": 0.1, "model_settings": {"width": 8}}
    first = write_run(tmp_path / "run-number-1", "ab", {}, settings=shared, seed=0)
    second = write_run(
        tmp_path / "run-number-2", "ab", {}, settings={**shared, "model_settings": {"width": 16}}, seed=0
    )
    differences = compare_runs([first, second]).differences
    assert [(one.name, one.values) for one in differences] == [("model_settings.width", ("8", "16"))]


def test_comparing_no_run_is_refused() -> None:
    with pytest.raises(NotEnoughData, match="choose at least one"):
        compare_runs([])


def test_the_overview_answers_who_helps_and_who_hurts(tmp_path: Path) -> None:
    answer = overview(planted_run(tmp_path / "planted-run"))
    assert answer.helps is not None
    assert answer.hurts is not None
    assert answer.helps.affected in answer.sentences[0]
    assert "Groups" in answer.next_step


@pytest.mark.parametrize(
    ("signals", "expected"),
    [({}, "Log the tasks' losses"), ({"losses": {0: [1.0, 1.0]}}, "")],
    ids=["nothing recorded", "one step of losses"],
)
def test_the_overview_of_a_poor_run_says_what_to_do(tmp_path: Path, signals: dict, expected: str) -> None:
    answer = overview(write_run(tmp_path / "poor-run", "ab", signals))
    assert answer.helps is None
    assert expected in answer.next_step
    assert answer.next_step


def test_the_overview_of_noise_claims_nothing(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    rows = {step: rng.normal(size=(2, 2)) for step in range(6)}
    answer = overview(write_run(tmp_path / "noise-run", "ab", {"my_matrix": rows}, sense="affinity"))
    assert answer.sentences == ("None of 2 pairs can be told from zero yet.",)


def test_the_overview_of_a_rerun_points_to_the_comparison(tmp_path: Path) -> None:
    assert "Compare" in overview(rerun(tmp_path / "rerun-run", [])).next_step
