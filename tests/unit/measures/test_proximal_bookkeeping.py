import numpy as np
import pytest

from affinity.measures import MEASURES
from affinity.measures._proximal_bookkeeping import track, track_batch, track_run
from tests.unit.measures.right_answers import BOOKKEEPING, PROXIMAL_RUNS

ATTRIBUTIONS = ["lagged", "post", "post_noextra"]


@pytest.mark.parametrize("attribution", ATTRIBUTIONS)
@pytest.mark.parametrize("name", list(BOOKKEEPING))
def test_one_batch_moves_the_map_as_the_sign_rules_say(name: str, attribution: str) -> None:
    case = BOOKKEEPING[name]
    moved = track_batch(
        np.array(case["start"]),
        case["order"],
        losses=np.array(case["losses"]),
        decay=case["decay"],
        attribution=attribution,
    )
    np.testing.assert_allclose(moved, case[attribution], rtol=0, atol=1e-12)


@pytest.mark.parametrize("attribution", ATTRIBUTIONS)
@pytest.mark.parametrize("name", list(PROXIMAL_RUNS))
def test_a_whole_run_ends_at_the_right_map(name: str, attribution: str) -> None:
    case = PROXIMAL_RUNS[name]
    batches = [(order, np.array(losses)) for order, losses in case["batches"]]
    found = track_run(3, batches, decay=case["decay"], attribution=attribution)
    np.testing.assert_allclose(found, case["maps"][attribution], rtol=0, atol=1e-12)


def test_a_single_group_gives_the_same_map_under_every_attribution() -> None:
    losses = np.array([[1.0, 2.0], [0.9, 2.2], [0.8, 2.4]])
    maps = [
        track_batch(
            np.zeros((2, 2)), order, losses=losses[: 2 + (name == "post")], decay=1.0, attribution=name
        )
        for name in ("lagged", "post_noextra")
        for order in ([[0, 1]], [[0, 1], [0, 1]])
    ]
    for other in maps[1:]:
        np.testing.assert_array_equal(maps[0], other)


def test_groups_of_one_task_feed_what_the_proximal_measure_says() -> None:
    losses = np.array([1.0, 2.0, 0.5])
    after = np.array([[0.8, 2.2, 0.5], [1.1, 1.5, 0.6], [1.0, 1.9, 0.7]])
    recorded = {"losses": losses[None], "proximal_losses": after[None]}
    measured = MEASURES["proximal"].compute(recorded)[0]
    start = np.full((3, 3), 9.0)
    for task in range(3):
        moved = track(start, [task], before=losses, after=after[task], decay=1.0)
        np.testing.assert_array_equal(moved[task], np.where(np.isnan(measured[task]), 9.0, measured[task]))


def test_rows_of_other_tasks_and_missing_losses_do_not_move() -> None:
    start = np.arange(9.0).reshape(3, 3)
    before, after = np.array([1.0, np.nan, 1.0]), np.array([0.5, 0.5, np.nan])
    moved = track(start, [0], before=before, after=after, decay=0.5)
    np.testing.assert_array_equal(moved[1:], start[1:])
    np.testing.assert_array_equal(moved[0], [0.25, 1.0, 2.0])
    assert start[0, 0] == 0.0


def test_too_few_rows_of_losses_are_refused() -> None:
    with pytest.raises(ValueError, match="need 3 rows"):
        track_batch(np.zeros((2, 2)), [[0], [1]], losses=np.ones((2, 2)), decay=0.1, attribution="post")
