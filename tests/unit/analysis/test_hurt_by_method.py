"""Who would be hurt under each method, on recorded Gram matrices whose answer is known."""

import numpy as np
import pytest

from affinity.analysis.hurt_by_method import MOST_ROWS, hurt_by_method
from affinity.core.errors import NotRecorded
from tests.unit.analysis.run_folders import write_run

# The second task's gradient is short and opposed: the sum follows the first.
OPPOSED = np.array([[4.0, 0.0], [-1.0, 0.5]])
ALIGNED = np.array([[1.0, 0.2], [0.8, -0.1]])


@pytest.fixture
def run_with_grams(tmp_path):
    def made(grams):
        signals = {"losses": {0: np.ones(2)}, "gram": dict(enumerate(grams))} if grams else {}
        return write_run(tmp_path / "gram-run", ["a", "b"], signals or {"losses": {0: np.ones(2)}})

    return made


def rows(view):
    return {row.key: row for row in view.methods}


def test_the_joint_sum_hurts_the_short_gradient_and_upgrad_nobody(run_with_grams):
    view = hurt_by_method(run_with_grams([OPPOSED @ OPPOSED.T, ALIGNED @ ALIGNED.T]))
    found = rows(view)
    assert view.methods[0].key == "joint"
    assert found["joint"].rate == 0.5
    assert found["joint"].mean_hurt == 0.5
    assert found["joint"].tasks[0].task == "b"
    assert found["joint"].tasks[0].hurt == 1
    for key in ("upgrad", "mgda", "config", "pcgrad", "dualproj"):
        assert found[key].rate == 0, key
        assert found[key].promised == 1, key
    assert np.isnan(found["cagrad"].promised)
    assert "hurts somebody in 50%" in view.sentence


def test_without_conflict_no_method_is_needed(run_with_grams):
    view = hurt_by_method(run_with_grams([ALIGNED @ ALIGNED.T] * 3))
    assert rows(view)["joint"].rate == 0
    assert "no method is needed" in view.sentence


def test_methods_that_agree_throughout_are_named(run_with_grams):
    # for two tasks without conflict, projecting changes nothing
    view = hurt_by_method(run_with_grams([ALIGNED @ ALIGNED.T] * 2))
    assert any("PCGrad" in said and "same direction" in said for said in view.caveats)


def test_a_gradient_that_is_missing_spoils_nothing(run_with_grams):
    gram = OPPOSED @ OPPOSED.T
    broken = gram.copy()
    broken[1, :] = broken[:, 1] = np.nan
    view = hurt_by_method(run_with_grams([gram, broken]))
    by_task = {row.task: row for row in rows(view)["joint"].tasks}
    assert by_task["b"].n == 1
    assert by_task["a"].n == 2


def test_many_steps_are_sampled_and_it_is_said(run_with_grams):
    view = hurt_by_method(run_with_grams([OPPOSED @ OPPOSED.T] * (MOST_ROWS // 2 + 50)))
    assert view.steps == MOST_ROWS // 2
    assert view.recorded == MOST_ROWS // 2 + 50
    assert any("evenly spaced" in said for said in view.caveats)


def test_a_run_without_gradients_says_what_to_record(run_with_grams):
    with pytest.raises(NotRecorded, match="gradients were not recorded"):
        hurt_by_method(run_with_grams([]))
