import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
import pytest

from affinity.analysis.affinity import affinity_matrix, affinity_view, matrix_at, pair_curve
from affinity.analysis.conflicts import conflicts_view
from affinity.analysis.groups import budget_curve, groups_view, stability, suggest
from affinity.core.types import AffinityMatrix
from affinity.figures import conflict_bars, conflicts, groups, heatmap, network, shares, timeline
from affinity.figures._style import HELPS, HURTS, label, ticks
from affinity.runs.reader import Run
from tests.unit.analysis.run_folders import planted_run, write_run

HOSTILE = ("<img src=x onerror=alert(1)>", "$x^2$", "a" * 200, "<b>", "=SUM(A1)", "漢字 & ünïcode")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return planted_run(tmp_path_factory.mktemp("runs") / "planted-run", tasks=6)


@pytest.fixture
def hostile(tmp_path: Path) -> Run:
    rows = {step: np.random.default_rng(step).normal(0.3, 0.1, size=(6, 6)) for step in range(8)}
    grams = {step: np.eye(6) * 2 - 0.3 for step in range(8)}
    signals = {"my_matrix": rows, "gram": grams}
    return write_run(tmp_path / "hostile-run", HOSTILE, signals, sense="affinity")


FIGURES: dict[str, Callable[[Run, str], go.Figure]] = {
    "heatmap": lambda run, signal: heatmap.affinity_heatmap(affinity_view(run, signal)),
    "heatmap by size": lambda run, signal: heatmap.affinity_heatmap(affinity_view(run, signal), signed=False),
    "heatmap of a step": lambda run, signal: heatmap.matrix_heatmap(matrix_at(run, signal, 3)),
    "graph": lambda run, signal: network.task_graph(affinity_view(run, signal)),
    "curves": lambda run, signal: timeline.pair_curves(
        [pair_curve(run, signal, source=run.tasks[0], affected=task) for task in run.tasks[1:3]], step=4
    ),
    "conflict timeline": lambda run, signal: conflicts.conflict_timeline(conflicts_view(run), step=4),
    "magnitude timeline": lambda run, signal: conflicts.magnitude_timeline(conflicts_view(run)),
    "conflict heatmap": lambda run, signal: conflicts.conflict_heatmap(conflicts_view(run)),
    "distribution": lambda run, signal: conflicts.cosine_distribution(conflicts_view(run)),
    "worst pairs": lambda run, signal: conflict_bars.worst_pairs(conflicts_view(run)),
    "layers": lambda run, signal: conflict_bars.layer_bars(conflicts_view(run)),
    "hurt tasks": lambda run, signal: conflict_bars.hurt_bars(conflicts_view(run).hurt),
    "gains": lambda run, signal: groups.gain_bars(
        groups_view(affinity_matrix(run, signal), suggest(run, 2, signal=signal))
    ),
    "budget": lambda run, signal: groups.budget_line(budget_curve(affinity_matrix(run, signal)), chosen=2),
    "stability": lambda run, signal: shares.share_heatmap(
        run.tasks, stability(run, 2, signal=signal, resamples=5), title="grouped together"
    ),
}
EVERY_FIGURE = pytest.mark.parametrize("make", FIGURES.values(), ids=list(FIGURES))


def texts(value: object) -> list[str]:
    """Every text in a figure that is drawn; data that only comes back on a click is not."""
    if isinstance(value, dict):
        return [text for key, item in value.items() if key != "customdata" for text in texts(item)]
    if isinstance(value, list):
        return [text for item in value for text in texts(item)]
    return [value] if isinstance(value, str) else []


@EVERY_FIGURE
def test_every_figure_is_strict_json_and_the_same_when_made_again(run: Run, make: Callable) -> None:
    first, second = make(run, "lookahead").to_json(), make(run, "lookahead").to_json()
    assert first == second
    json.loads(first, parse_constant=lambda token: pytest.fail(f"found {token}"))


@EVERY_FIGURE
def test_every_figure_leaves_background_and_text_colour_to_the_page(run: Run, make: Callable) -> None:
    layout = make(run, "lookahead").layout
    assert layout.paper_bgcolor == layout.plot_bgcolor == "rgba(0, 0, 0, 0)"
    assert layout.font.color is None


@EVERY_FIGURE
def test_no_task_name_can_bring_markup_or_a_formula(hostile: Run, make: Callable) -> None:
    drawn = " ".join(texts(json.loads(make(hostile, "my_matrix").to_json())["data"]))
    drawn += " ".join(
        texts({"axes": json.loads(make(hostile, "my_matrix").to_json())["layout"].get("yaxis", {})})
    )
    assert "<img" not in drawn
    assert "$" not in drawn


def test_labels_escape_markup_drop_formulas_and_are_cut_in_the_middle() -> None:
    assert label("a < b & c > d") == "a &lt; b &amp; c &gt; d"
    assert label("$x$") == "x"
    assert label("$$") == "unnamed"
    assert label("depth_euclidean_of_the_left_camera") == "depth_euclidean…t_camera"
    assert len(label("x" * 200)) == 24


def test_ticks_are_thinned_beyond_25_tasks() -> None:
    assert len(ticks([str(number) for number in range(25)])["tickvals"]) == 25
    assert len(ticks([str(number) for number in range(100)])["tickvals"]) == 25


def test_zero_is_the_neutral_colour_and_the_diagonal_is_left_out(run: Run) -> None:
    view = affinity_view(run, "lookahead")
    cells = heatmap.affinity_heatmap(view).data[0]
    assert (cells.zmin, cells.zmax) == (-view.limit, view.limit)
    assert all(cells.z[position][position] is None for position in range(6))
    assert cells.colorscale[0][1] == HURTS
    assert cells.colorscale[-1][1] == HELPS


def test_rows_are_sources_and_columns_are_affected_tasks() -> None:
    matrix = AffinityMatrix(tasks=("a", "b"), values=np.array([[0.0, 0.5], [-0.25, 0.0]]))
    figure = heatmap.matrix_heatmap(matrix)
    assert figure.data[0].z[0][1] == 0.5
    assert figure.layout.yaxis.title.text == heatmap.SOURCE_TITLE
    assert figure.layout.xaxis.title.text == heatmap.AFFECTED_TITLE
    overlay = figure.data[1]
    first = list(overlay.customdata).index(["a", "b"]) if isinstance(overlay.customdata, list) else 0
    assert list(overlay.customdata[first]) == ["a", "b"]
    assert (overlay.x[first], overlay.y[first]) == (1, 0)
    assert overlay.text[first].startswith("a step on <b>a</b><br>helps <b>b</b>: +0.5")


def test_signs_stand_in_the_cells_of_small_matrices_only(run: Run, tmp_path: Path) -> None:
    small = heatmap.affinity_heatmap(affinity_view(run, "lookahead")).data[0]
    assert small.text[0][1].startswith(("+", "−"))
    large = affinity_view(planted_run(tmp_path / "large-run", tasks=13, steps=6), "cosine")
    assert heatmap.affinity_heatmap(large).data[0].text is None


def test_what_cannot_be_told_from_zero_can_be_hidden(hostile: Run) -> None:
    rng = np.random.default_rng(0)
    matrix = AffinityMatrix(tasks=("a", "b"), values=np.array([[0.0, 0.5], [0.1, 0.0]]))
    hidden = np.array([[False, False], [True, False]])
    cells = heatmap.matrix_heatmap(matrix, hidden=hidden).data[0]
    assert cells.z[1][0] is None
    assert cells.z[0][1] == 0.5
    assert rng is not None


def test_arrows_point_from_source_to_affected_by_colour_and_line_style() -> None:
    values = np.array([[0.0, 0.5, np.nan], [-0.25, 0.0, 0.0], [0.01, 0.0, 0.0]])
    matrix = AffinityMatrix(tasks=("a", "b", "c"), values=values)
    arrows = network.chosen_arrows(matrix, threshold=0.1, certain=None)
    assert [(arrow.source, arrow.affected, arrow.value) for arrow in arrows] == [(0, 1, 0.5), (1, 0, -0.25)]
    only = network.chosen_arrows(matrix, threshold=0.0, certain=values > 0.4)
    assert len(only) == 1


def test_the_graph_draws_heads_at_the_affected_end(run: Run) -> None:
    view = affinity_view(run, "lookahead")
    figure = network.task_graph(view)
    lines = [trace for trace in figure.data if trace.mode == "lines+markers"]
    assert len(lines) == 30
    assert {(line.line.color, line.line.dash) for line in lines} == {(HELPS, "solid"), (HURTS, "dash")}
    assert all(line.marker.symbol == "arrow" and line.marker.size[-1] > 0 for line in lines)


def test_tasks_keep_their_place_when_the_step_changes(run: Run) -> None:
    view = affinity_view(run, "lookahead")
    places = []
    for step in (0, 20):
        figure = network.task_graph(view, matrix=matrix_at(run, "lookahead", step), hide_uncertain=False)
        tasks = next(trace for trace in figure.data if trace.mode == "markers+text")
        places.append((list(tasks.x), list(tasks.y), list(tasks.text)))
    assert places[0] == places[1]


def test_gaps_in_a_curve_are_marked(tmp_path: Path) -> None:
    rows = {step: np.full((2, 2), 0.5) for step in range(12)}
    rows[4] = np.array([[0.5, np.nan], [0.5, 0.5]])
    run = write_run(tmp_path / "gap-run", "ab", {"my_matrix": rows}, sense="affinity")
    figure = timeline.pair_curves([pair_curve(run, "my_matrix", source="a", affected="b")])
    crosses = [trace for trace in figure.data if trace.marker.symbol == "x-thin"]
    assert list(crosses[0].x) == [4]
    assert [trace.y[4] for trace in figure.data if trace.mode == "markers" and len(trace.x) == 12] == [None]


def test_no_curves_make_an_empty_figure_with_words() -> None:
    assert timeline.pair_curves([]).layout.height > 0
    assert timeline.pair_curves_alt([]) == "No pair of tasks is chosen."


def test_a_figure_of_100_tasks_stays_small(tmp_path: Path) -> None:
    view = affinity_view(planted_run(tmp_path / "large-run", tasks=100, steps=6), "lookahead")
    assert len(heatmap.affinity_heatmap(view).to_json()) < 5_000_000
    assert len(network.task_graph(view).to_json()) < 1_000_000


def test_one_task_makes_every_affinity_figure(tmp_path: Path) -> None:
    view = affinity_view(planted_run(tmp_path / "single-run", tasks=1), "lookahead")
    assert heatmap.affinity_heatmap(view).data
    assert network.task_graph(view).data
    assert "0 arrows" in network.task_graph_alt(view)


def test_alternative_texts_say_what_is_shown(run: Run) -> None:
    view, conflict = affinity_view(run, "lookahead"), conflicts_view(run)
    grouped = groups_view(view.matrix, suggest(run, 2))
    spoken = [
        heatmap.affinity_heatmap_alt(view),
        network.task_graph_alt(view),
        timeline.pair_curves_alt([pair_curve(run, "lookahead", source="task 0", affected="task 1")]),
        conflicts.conflict_timeline_alt(conflict),
        conflicts.magnitude_timeline_alt(conflict),
        conflicts.conflict_heatmap_alt(conflict),
        conflicts.cosine_distribution_alt(conflict),
        conflict_bars.worst_pairs_alt(conflict),
        conflict_bars.layer_bars_alt(conflict),
        conflict_bars.hurt_bars_alt(conflict.hurt),
        groups.gain_bars_alt(grouped),
        groups.budget_line_alt(budget_curve(view.matrix)),
        shares.share_heatmap_alt(run.tasks, np.eye(6), title="grouped together"),
    ]
    assert all(text.endswith(".") and len(text) > 30 for text in spoken)
    assert "Rows: the task a step was on" in spoken[0]
