"""Trust in a suggestion: intervals of the mean gain, the second best, other measures, cost, long searches."""

import itertools
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from affinity.analysis.affinity import affinity_matrix
from affinity.analysis.background_search import BackgroundSearches
from affinity.analysis.collected import collect
from affinity.analysis.grouping_compare import compare_groupings
from affinity.analysis.grouping_cost import budget_hint, longer_result, memory_megabytes, search_cost
from affinity.analysis.grouping_evidence import gain_interval, gain_series, held_out_gain
from affinity.analysis.grouping_limits import Limits
from affinity.analysis.grouping_search import Search
from affinity.analysis.grouping_trust import measures_sentence, moved_tasks, next_best, other_measures
from affinity.analysis.groups import groups_view, suggest
from affinity.analysis.page_groups import Wish, measures_page, stability_page, suggestion
from affinity.core.errors import GroupingError, NotRecorded
from affinity.core.types import AffinityMatrix, Group, Grouping
from tests.unit.analysis.run_folders import planted_run, write_run

NAN = float("nan")
NAMES = tuple("abcdefgh")


def noise_run(folder: Path, *, mean: float = 0.0, steps: int = 60, seed: int = 0):
    rng = np.random.default_rng(seed)
    rows = {step: mean + rng.normal(size=(6, 6)) for step in range(steps)}
    return write_run(folder, "abcdef", {"noise_matrix": rows}, sense="affinity")


def test_the_series_is_the_mean_over_tasks_of_the_mean_over_mates():
    values = np.array([[[9.0, 1.0, 3.0], [2.0, 9.0, NAN], [4.0, 5.0, 9.0]]])
    all_together = Grouping.partition("abc", ["abc"])
    # onto a: (2 + 4) / 2; onto b: (1 + 5) / 2; onto c: 3, the other is missing
    assert gain_series(values, all_together) == pytest.approx([(3 + 3 + 3) / 3])
    # c alone gains 0; onto a: 2; onto b: 1
    assert gain_series(values, Grouping.partition("abc", ["ab", "c"])) == pytest.approx([(2 + 1 + 0) / 3])
    helped = (Group(train=("a", "b"), serve=("b",)), Group(train=("a", "c"), serve=("a", "c")))
    # onto b from a: 1; onto a from c: 4; onto c from a: 3
    assert gain_series(values, Grouping(tasks=("a", "b", "c"), groups=helped)) == pytest.approx([8 / 3])


@pytest.mark.parametrize("mean", [0.0, 0.3])
def test_the_interval_of_the_mean_gain_covers_it(tmp_path: Path, mean: float):
    grouping = Grouping.partition("abcdef", ["abc", "def"])
    hits = 0
    for seed in range(60):
        run = noise_run(tmp_path / f"noise-run-{seed}", mean=mean, seed=seed)
        collected = collect(run, "noise_matrix")
        score = float(np.nanmean(gain_series(collected.values, grouping)))
        low, high = gain_interval(collected, "mean", grouping, score)
        hits += low <= mean <= high
    assert hits >= 51  # 95 % of 60 is 57; fewer than 51 has a chance below one in a thousand


def test_one_step_has_no_interval(tmp_path: Path):
    collected = collect(noise_run(tmp_path / "noise-run-1"), "noise_matrix")
    low, high = gain_interval(collected, "last", Grouping.partition("abcdef", ["abc", "def"]), 0.1)
    assert np.isnan([low, high]).all()


def test_the_best_of_noise_does_not_help_on_other_steps(tmp_path: Path):
    sure = 0
    for seed in range(20):
        run = noise_run(tmp_path / f"noise-run-{seed}", seed=seed)
        collected = collect(run, "noise_matrix")
        search = Search(groups=3)
        found = held_out_gain(collected, search, search.named(np.mean(collected.values, axis=0), run.tasks))
        assert found is not None
        sure += found[1] > 0
    assert sure <= 4
    planted = planted_run(tmp_path / "planted-run", tasks=6)
    collected = collect(planted, "lookahead")
    found = held_out_gain(collected, Search(groups=2), suggest(planted, 2))
    assert found is not None
    assert found[1] > 0


def test_few_steps_hold_nothing_out(tmp_path: Path):
    run = noise_run(tmp_path / "noise-run-1", steps=7)
    grouping = Grouping.partition("abcdef", ["abc", "def"])
    assert held_out_gain(collect(run, "noise_matrix"), Search(groups=2), grouping) is None


def test_no_evidence_is_said_and_alone_is_better_is_said():
    matrix = AffinityMatrix(tasks=("a", "b"), values=np.array([[1.0, 0.1], [0.1, 1.0]]))
    pair = Grouping.partition("ab", ["ab"])
    assert "no evidence that grouping helps" in groups_view(matrix, pair, bounds=(-0.1, 0.3)).sentence
    assert "no evidence" not in groups_view(matrix, pair, bounds=(0.05, 0.3)).sentence
    harm = AffinityMatrix(tasks=("a", "b"), values=np.array([[1.0, -0.1], [-0.1, 1.0]]))
    assert "Alone is better" in groups_view(harm, suggest(harm, 2)).sentence
    assert "Alone is better" in groups_view(harm, pair).sentence


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("overlap", [False, True])
def test_the_second_best_is_second_of_all(seed: int, overlap: bool):
    values = np.random.default_rng(seed).normal(size=(5, 5))
    matrix = AffinityMatrix(tasks=tuple("abcde"), values=values)
    search = Search(groups=3, overlap=overlap)
    best = search.grouping(matrix)
    found = next_best(matrix, search, best)
    assert found.exact
    assert found.lost >= -1e-12
    if overlap:
        return
    totals = {}
    for labels in itertools.product(range(3), repeat=5):
        groups = frozenset(frozenset(t for t in range(5) if labels[t] == k) for k in set(labels))
        gains = [
            sum(values[u, t] for u in group if u != t) / max(1, len(group) - 1)
            for group in groups
            for t in group
        ]
        totals[groups] = sum(gains) / 5
    first, second, *_ = sorted(totals.values(), reverse=True)
    assert best.score == pytest.approx(first)
    assert found.lost == pytest.approx(first - second)
    assert found.moves == moved_tasks(best, found.grouping)


def test_many_tasks_try_every_move_of_one_task():
    values = np.random.default_rng(0).normal(size=(12, 12))
    matrix = AffinityMatrix(tasks=tuple("abcdefghijkl"), values=values)
    search = Search(groups=4)
    found = next_best(matrix, search, search.grouping(matrix))
    assert not found.exact
    assert len(found.moves) == 1
    assert found.lost >= -1e-12
    assert found.sentence.startswith("Of all groupings that move one task")


def test_moved_tasks_match_networks_before_they_count():
    before = Grouping.partition("abcde", ["abc", "de"])
    assert moved_tasks(before, Grouping.partition("abcde", ["de", "abc"])) == ()
    assert moved_tasks(before, Grouping.partition("abcde", ["dec", "ab"])) == ("c",)
    assert moved_tasks(before, Grouping.partition("abcde", ["ab", "c", "de"])) == ("c",)


def test_other_measures_are_judged_by_their_own_numbers():
    left = AffinityMatrix(tasks=tuple("abcd"), values=np.kron(np.eye(2), np.ones((2, 2))) - 0.5)
    right = AffinityMatrix(tasks=tuple("abcd"), values=np.kron(np.ones((2, 2)), np.eye(2)) - 0.5)
    shown = Grouping.partition("abcd", ["ab", "cd"])
    one, other, broken = other_measures(
        [("one", left), ("other", right), ("broken", NotRecorded("nothing recorded."))],
        Search(groups=2),
        shown,
    )
    assert (one.agreement, one.regret) == (pytest.approx(1.0), pytest.approx(0.0))
    assert other.agreement < 0
    assert other.regret == pytest.approx(0.5 - -0.5)
    assert broken.problem == "nothing recorded."
    assert "1 of 2 measures choose exactly these networks. other disagrees most" in measures_sentence(
        (one, other, broken)
    )
    assert measures_sentence((one,)).startswith("This run has no second measure")


def test_pages_answer_for_a_run(tmp_path: Path):
    run = planted_run(tmp_path / "planted-run", tasks=6)
    wish = Wish(
        signal="lookahead", split="train", reduce="mean", networks=2, algorithm="exact", overlap=False
    )
    found = suggestion(run, wish, affinity_matrix(run, "lookahead"))
    assert found.provenance["run"] == "planted-run"
    stable = stability_page(run, wish, found)
    assert "100 % of 100 redrawn trainings" in stable.sentence
    assert "no evidence" not in stable.sentence
    assert any(item.title for item in measures_page(run, wish, found, found).measures)


def test_side_by_side_compares_step_by_step(tmp_path: Path):
    run = planted_run(tmp_path / "planted-run", tasks=6)
    good = suggest(run, 2)
    bad = Grouping.partition(run.tasks, [run.tasks])
    matrix = affinity_matrix(run, "lookahead")
    answer = compare_groupings(
        run, matrix, (("bad", bad), ("good", good)), signal="lookahead", split="train", reduce="mean"
    )
    assert [item.name for item in answer.compared] == ["bad", "good"]
    assert answer.compared[1].score > answer.compared[0].score
    assert answer.sentence.startswith("good promises most")
    assert "cannot be told apart" not in answer.sentence
    same = compare_groupings(
        run, matrix, (("one", good), ("two", good)), signal="lookahead", split="train", reduce="mean"
    )
    assert same.agreements == (("one", "two", 1.0),)
    assert "cannot be told apart" in same.sentence


def test_large_searches_are_announced_and_small_ones_are_not():
    assert search_cost(9, 3, overlap=True, seconds=4) == ""
    told = search_cost(25, 4, overlap=True, seconds=30)
    assert told.startswith("25 tasks into at most 4 overlapping networks: up to 90 MB and up to 30 s")
    assert memory_megabytes(100) > memory_megabytes(40) > memory_megabytes(20)


def test_what_a_longer_search_brought_is_said():
    quick = Grouping.partition("ab", ["ab"], score=0.1, bound=0.3, seconds=4.0)
    told = longer_result(quick, replace(quick, score=0.15, bound=0.2, seconds=30.0))
    assert told == (
        "The longer search found a score 0.05 higher in 30 s, and that none can score above +0.2."
    )
    assert "no better grouping" in longer_result(quick, quick)
    assert "no lower bound" in longer_result(quick, quick)
    assert "proved" in longer_result(quick, replace(quick, optimal=True))


def test_a_mean_without_a_budget_is_explained():
    grouping = Grouping.partition(NAMES, ["abcdefgh"])
    assert "falls into pairs and triples" in budget_hint(grouping, 8, Limits())
    assert budget_hint(grouping, 3, Limits()) == ""
    assert budget_hint(grouping, 8, Limits(price=0.1)) == ""
    assert budget_hint(grouping, 8, Limits(objective="correlation")) == ""


def waited(searches: BackgroundSearches, key: str, search, *, seconds: float = 5.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = searches.ask(key, search).found
        if found is not None:
            return found
        time.sleep(0.01)
    raise AssertionError("the search did not end")


def test_a_long_search_runs_once_and_is_stopped_with_its_best():
    searches, calls, best = BackgroundSearches(), [], Grouping.partition("ab", ["ab"])

    def search(cancelled):
        calls.append(threading.current_thread())
        while not cancelled():
            time.sleep(0.005)
        return best

    first = searches.ask("key", search)
    assert first.found is None
    assert searches.ask("key", search).found is None
    searches.stop("key")
    assert waited(searches, "key", search) is best
    assert len(calls) == 1
    assert calls[0] is not threading.current_thread()


def test_a_search_that_nobody_asks_about_is_given_up(monkeypatch):
    monkeypatch.setattr("affinity.analysis.background_search.ABANDONED_SECONDS", 0.05)
    searches, ended = BackgroundSearches(), threading.Event()

    def search(cancelled):
        while not cancelled():
            time.sleep(0.005)
        ended.set()
        return Grouping.partition("ab", ["ab"])

    searches.ask("key", search)
    assert ended.wait(5)
    time.sleep(0.05)
    # Its early answer must not pass for the answer of the whole time.
    assert searches.ask("key", search).found is None
    searches.stop("key")


def test_an_error_of_a_long_search_is_raised_to_who_asks():
    searches = BackgroundSearches()

    def search(cancelled):
        raise GroupingError("no grouping meets the constraints.")

    with pytest.raises(GroupingError, match="no grouping meets"):
        waited(searches, "key", search)


def test_a_solver_stops_soon_after_it_is_told_to():
    values = np.random.default_rng(0).normal(size=(30, 30))
    matrix = AffinityMatrix(tasks=tuple(f"t{at}" for at in range(30)), values=values)
    end = time.monotonic() + 0.5
    started = time.monotonic()
    found = suggest(matrix, 5, overlap=True, seconds=60, cancel=lambda: time.monotonic() > end)
    assert time.monotonic() - started < 10
    assert found.score is not None
    assert found.bound is None or found.bound >= found.score
