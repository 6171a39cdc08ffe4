"""Published selections come out to the printed digits; every number is a literal with its source."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from affinity.core.grouping import GroupingProblem, GroupTable
from affinity.grouping import higher_order_table, solve, validate

SHARED = Path(__file__).parents[4] / "shared"

# google-research/google-research, tag/network_selection: Taskonomy affinities, row = affected task.
# Transposed here once, because everything in this package is [source, affected].
TAG_TASKONOMY = np.array(
    [
        [
            11.999321423965947,
            0.11537429894122785,
            0.04891036220837213,
            0.00454724706606927,
            0.008776140044461892,
        ],
        [
            0.41355850961858076,
            7.3276368896443556,
            0.2914147606289435,
            0.01353652075974951,
            0.07395688217092156,
        ],
        [
            0.13982367687578146,
            0.22096194178241185,
            1.070989344832557,
            0.010493772045577332,
            0.07645966827511533,
        ],
        [
            0.021098526716001414,
            0.013365983131803236,
            0.010729013557423,
            0.7338844180545812,
            0.6897358940641894,
        ],
        [
            0.056692022190245474,
            0.03668338077695892,
            0.03600666458561003,
            0.30372134710544996,
            5.9661909882444615,
        ],
    ]
).T


@pytest.mark.parametrize(
    ("groups", "value", "trained"),
    [
        (1, 0.1292923306272447, {(0, 1, 2, 3, 4)}),
        (2, 0.3216958032394596, {(3, 4), (0, 1, 2)}),
        (3, 0.34867039830237195, {(0, 1), (1, 2), (3, 4)}),
        (4, 0.34867039830237195, {(0, 1), (1, 2), (3, 4)}),
    ],
)
def test_task_affinity_grouping_selects_the_published_taskonomy_networks(groups, value, trained):
    problem = GroupingProblem(affinity=TAG_TASKONOMY, groups=groups, overlap=True, objective="tag")
    solution = solve(problem)
    assert solution.score == pytest.approx(value, rel=1e-12)
    assert {train for train, _ in solution.groups} == trained
    assert solution.optimal


# tstandley/taskgrouping, network_selection: losses of setting 1, validation, for each trained subset of
# (semantic, depth, normals, keypoints, edges); selections as printed by the reference program.
STANDLEY = {
    "1": [(1.0, 0.50761, 0.50278), (1.5, 0.4663, 0.46132), (2.0, 0.45686, 0.45224), (2.5, 0.45076, 0.44612),
          (3.0, 0.44702, 0.44235)],
    "3": [(1.0, 0.43448, 0.42998), (1.5, 0.42669, 0.42275), (2.0, 0.41291, 0.40857), (2.5, 0.39099, 0.38776),
          (3.0, 0.3865, 0.38352)],
}  # fmt: skip


@pytest.mark.parametrize("setting", ["1", "3"])
def test_budgeted_selection_prints_the_reference_totals(setting):
    path = SHARED / "data" / "standley_per_group_losses.csv"
    if not path.exists():
        pytest.skip("the published table is not beside the checkout")
    chosen_from, measured_on = (_standley(path, setting, split) for split in ("val", "test"))
    for budget, validation, test in STANDLEY[setting]:
        solution = solve(_measured(chosen_from, budget))
        outcome = np.nanmax(measured_on.scores[list(solution.networks)], axis=0).sum()
        assert round(-solution.score, 5) == validation
        assert round(-outcome, 5) == test
        assert solution.optimal


def _standley(path: Path, setting: str, split: str) -> GroupTable:
    with path.open(encoding="utf-8") as stream:
        rows = [row for row in csv.DictReader(stream) if row["setting"] == setting and row["split"] == split]
    losses = [[float(row[f"loss_task{task}"] or "nan") for task in range(1, 6)] for row in rows]
    costs = [0.5 if row["row_type"] == "single_half_cost" else 1.0 for row in rows]
    groups = tuple(tuple(i for i, bit in enumerate(row["mask"]) if bit == "1") for row in rows)
    return GroupTable(groups=groups, scores=-np.array(losses), costs=np.array(costs))


def _measured(table: GroupTable, budget: float, *, groups: int = 10) -> GroupingProblem:
    size = table.scores.shape[1]
    return GroupingProblem(
        affinity=np.zeros((size, size)),
        groups=groups,
        overlap=True,
        objective="measured",
        table=table,
        budget=budget,
    )


def small_table() -> GroupTable:
    """Three tasks, made up: pairs help, the triple helps task 2 only, half-size singles cost half."""
    nan = np.nan
    rows = {
        (0,): [0.0, nan, nan], (1,): [nan, 0.0, nan], (2,): [nan, nan, 0.0],
        (0, 1): [0.3, 0.2, nan], (0, 2): [-0.1, nan, 0.4], (1, 2): [nan, 0.1, 0.1],
        (0, 1, 2): [0.0, 0.1, 0.5],
    }  # fmt: skip
    costs = [0.5, 0.5, 0.5, 1.0, 1.0, 1.0, 1.0]
    return GroupTable(groups=tuple(rows), scores=np.array(list(rows.values())), costs=np.array(costs))


@pytest.mark.parametrize(("budget", "value"), [(1.0, 0.6), (1.5, 0.6), (2.0, 1.0)])
def test_budgeted_selection_of_a_small_table_is_right_by_hand(budget, value):
    # 1.0: the triple (0 + 0.1 + 0.5). 1.5: a half-size single adds nothing to it, and a pair with a single
    # reaches only 0.5. 2.0: the first pair and the triple, 0.3 + 0.2 + 0.5.
    assert solve(_measured(small_table(), budget)).score == pytest.approx(value)


@pytest.mark.parametrize("budget", [1.0, 1.5, 2.0, 3.0])
def test_a_search_without_time_covers_all_tasks_within_the_budget(budget):
    from affinity.grouping._measured import _greedy_rows, _served_by

    table, problem = small_table(), _measured(small_table(), budget)
    rows = _greedy_rows(problem, table, list(range(len(table.groups))), [0.0] * len(table.groups))
    found = _served_by(problem, table, rows)
    assert sorted(task for _, serve in found.groups for task in serve) == [0, 1, 2]
    assert table.costs[list(found.networks)].sum() <= budget
    assert found.score <= solve(problem).score + 1e-12
    assert not found.optimal
    # Nothing covers three tasks for half a network.
    assert _greedy_rows(_measured(table, 0.5), table, list(range(len(table.groups))), [0.0] * 7) == []


def test_budget_that_cannot_cover_the_tasks_is_refused():
    from affinity.core.errors import GroupingError

    with pytest.raises(GroupingError, match="no choice of networks"):
        solve(_measured(small_table(), 0.5))


def test_higher_order_prediction_is_the_mean_over_the_pairs():
    predicted = higher_order_table(small_table())
    assert predicted.scores[6] == pytest.approx([0.1, 0.15, 0.25])
    assert predicted.scores[3, :2] == pytest.approx([0.3, 0.2])


def test_validation_reports_regret_against_the_best_networks():
    outcome = validate(small_table(), budgets=(1.0, 2.0))
    assert [item.best for item in outcome.outcomes] == pytest.approx([0.6, 1.0])
    assert all(item.regret >= 0 for item in outcome.outcomes)
    assert outcome.compared == 3


def test_shared_vectors_are_reproduced_for_every_objective():
    path = SHARED / "vectors" / "grouping" / "groupings.json"
    if not path.exists():
        pytest.skip("the vectors are not beside the checkout")
    names = {"diag": "higher_order", "zero": "mean_affinity", "forbid": "tag"}
    for case in json.loads(path.read_text(encoding="utf-8")):
        sign = -1.0 if case["sense"] == "min" else 1.0
        affinity = sign * np.array(case["matrix"]).T
        for row in case["results"]:
            matrix, objective = affinity.copy(), row["objective"]
            if objective == "density_no_diag":
                np.fill_diagonal(matrix, 0.0)
            name = {"pair_sum": "correlation"}.get(objective, "density")
            name = names[row["singles"]] if "singles" in row else name
            overlap = objective.startswith("overlap")
            problem = GroupingProblem(affinity=matrix, groups=row["K"], overlap=overlap, objective=name)
            assert solve(problem).score == pytest.approx(
                sign * row.get("mean_per_task", row["total"]), abs=1e-12
            )
