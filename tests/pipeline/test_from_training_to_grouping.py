"""The main line on the command line: train, find the groups, and be right where the right answer is known."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from affinity.cli import main
from affinity.core.config import TrainConfig
from affinity.runs.library import Library

Ask = Callable[..., Any]


@pytest.fixture
def ask(library: Library, capsys: pytest.CaptureFixture[str]) -> Ask:
    """A function that runs a command with --json and gives its answer."""

    def answer(*arguments: object) -> Any:
        capsys.readouterr()
        assert main([*map(str, arguments), "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return answer


def as_sets(groups: list[list[str]]) -> set[frozenset[str]]:
    return {frozenset(group) for group in groups}


PLANTED = {frozenset({"a1", "a2", "a3"}), frozenset({"b1", "b2", "b3"}), frozenset({"c1", "c2", "c3"})}


def test_the_planted_groups_are_found_with_the_defaults(ask: Ask):
    run = ask("train", "--dataset", "planted", "--device", "cpu")["run"]
    answer = ask("group", run, "--groups", 3)
    assert as_sets(answer["groups"]) == PLANTED
    assert answer["optimal"] is True


@pytest.mark.slow
@pytest.mark.parametrize("signal", ["lookahead", "proximal", "cosine"])
def test_the_planted_groups_are_found_for_five_seeds_of_five(ask: Ask, signal: str):
    for seed in range(5):
        for data_seed in {0, seed}:
            more = ("--set", f"data_seed={data_seed}", "--device", "cpu")
            run = ask("train", "--dataset", "planted", "--seeds", seed, *more)["run"]
            assert as_sets(ask("group", run, "--signal", signal, "--groups", 3)["groups"]) == PLANTED


@pytest.mark.slow
def test_the_planted_groups_are_found_among_binary_and_mixed_tasks(ask: Ask):
    for kind in ("mixed", "binary"):
        run = ask("train", "--dataset", "planted", "--set", f"dataset.kind={kind}", "--device", "cpu")["run"]
        assert as_sets(ask("group", run, "--groups", 3)["groups"]) == PLANTED


def digit_accuracy(library: Library, run_id: str) -> float:
    run = library.open(run_id)
    metrics = run.signal("validation_metric", split="validation").values
    return float(metrics[-1, run.tasks.index("digit")])


def test_digits_read_ten_classes_at_over_95_percent_with_the_defaults(ask: Ask, library: Library):
    run = ask("train", "--dataset", "digits", "--device", "cpu")["run"]
    assert digit_accuracy(library, run) > 0.95


@pytest.mark.slow
def test_digits_read_ten_classes_at_over_95_percent_for_five_seeds_of_five(ask: Ask, library: Library):
    for seed in range(5):
        for data_seed in {0, seed}:
            more = ("--set", f"data_seed={data_seed}", "--device", "cpu")
            run = ask("train", "--dataset", "digits", "--seeds", seed, *more)["run"]
            assert digit_accuracy(library, run) > 0.95, (seed, data_seed)


def test_what_was_recorded_does_not_depend_on_how_often_it_is_read(ask: Ask, library: Library):
    run_id = ask("train", "--dataset", "planted", "--steps", 20, "--device", "cpu")["run"]
    first, second = ask("matrix", run_id), ask("matrix", run_id)
    assert first == second
    np.testing.assert_array_equal(first["matrix"], ask("matrix", library.home / run_id)["matrix"])


def test_two_trainings_of_one_config_give_one_matrix(ask: Ask):
    runs = [ask("train", "--dataset", "planted", "--steps", 20, "--device", "cpu")["run"] for _ in range(2)]
    first, second = (ask("matrix", run)["matrix"] for run in runs)
    assert first == second


@pytest.mark.slow
def test_a_run_in_a_zip_gives_the_same_groups(
    ask: Ask, library: Library, tiny_config: Callable[..., TrainConfig]
):
    from affinity.runs.archive import pack, unpack

    run_id = ask("train", "--dataset", "planted", "--device", "cpu")["run"]
    copy = unpack(pack(library.open(run_id)), library)
    assert ask("matrix", copy)["matrix"] == ask("matrix", run_id)["matrix"]
    assert as_sets(ask("group", copy, "--groups", 3)["groups"]) == PLANTED
