"""Methods on problems with known answers: walks, outcomes, words, refusals."""

import numpy as np
import pytest

from affinity.analysis.try_method import method_choices, problem_choices, try_methods
from affinity.analysis.try_method_walk import Walker, walk
from affinity.core.errors import SettingsError
from affinity.methods import METHODS
from affinity.problems import PROBLEMS


def walker(key, **changes):
    method = METHODS[key]
    return Walker(
        **{"method": method, "settings": method.settings(), "optimizer": "sgd", "lr": 0.1, **changes}
    )


def test_a_plain_walk_is_gradient_descent_by_hand():
    problem = PROBLEMS["quartic_bowls"]
    places, update = walk(problem, [walker("joint", lr=0.01)], problem.starts, steps=5, keep=range(6))
    theta = problem.starts
    for step in range(6):
        assert np.allclose(places[0, step], theta)
        theta = theta - 0.01 * problem.gradients(theta).sum(axis=1)
    assert np.allclose(update[0], problem.gradients(places[0, -1]).sum(axis=1))


def test_adam_is_torchs_adam():
    torch = pytest.importorskip("torch")
    problem = PROBLEMS["chain"]
    places, _ = walk(problem, [walker("joint", optimizer="adam", lr=0.05)], problem.starts, steps=30)
    theta = torch.tensor(problem.starts, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.Adam([theta], lr=0.05)
    for _ in range(30):
        theta.grad = torch.tensor(problem.gradients(theta.detach().numpy()).sum(axis=1))
        optimizer.step()
    assert np.allclose(places[0, -1], theta.detach().numpy(), atol=1e-12)


def test_walks_side_by_side_do_not_touch_each_other():
    problem = PROBLEMS["two_valleys"]
    walkers = [walker(key) for key in ("famo", "pcgrad", "momentum_config", "gradvac")]
    together, _ = walk(problem, walkers, problem.starts, steps=20)
    for number, one in enumerate(walkers):
        alone, _ = walk(problem, [one], problem.starts, steps=20)
        assert np.array_equal(alone[0], together[number])


@pytest.mark.parametrize("key", list(method_choices()))
def test_every_method_walks_the_chain_without_losing_a_start(key):
    view = try_methods("chain", [key], steps=30)
    assert all(np.isfinite(end.distance) for end in view.ends)


def test_the_chain_names_who_is_stuck_and_who_is_not():
    view = try_methods("chain", ["mgda", "rp_mgda"])
    assert view.sentence == (
        "MGDA brings 2 of 5 to the front and leaves 3 stuck; RP-MGDA brings all 5 starts to the front."
    )
    assert {end.outcome for end in view.ends if end.method == "RP-MGDA"} == {"front"}


def test_a_walk_that_runs_away_is_called_lost_and_leaves_the_others_alone():
    view = try_methods("quartic_bowls", ["joint", "config"], lr=5.0, steps=20)
    assert any(end.outcome == "diverged" for end in view.ends)
    assert "lost" in view.sentence
    assert np.isfinite(view.landscape.height).all()


def test_hurt_losses_are_named_where_a_step_would_raise_them():
    # at (-0.5, 1.9) of the quartic bowls the sum of the gradients points against the first loss
    view = try_methods("two_valleys", ["joint"], steps=1)
    problem = PROBLEMS["two_valleys"]
    for end in view.ends:
        rows = problem.gradients(np.array(end.theta))
        against = rows @ rows.sum(axis=0) < -1e-9
        assert end.hurt == tuple(task for task, bad in zip(problem.tasks, against, strict=True) if bad)
    assert any(end.hurt for end in view.ends)


def test_methods_that_coincide_are_named():
    view = try_methods("pulling_apart", ["mgda", "rp_mgda"])
    assert any("exactly the same way" in sentence for sentence in view.caveats)
    view = try_methods("chain", ["mgda", "rp_mgda"], steps=20)
    assert not any("exactly the same way" in sentence for sentence in view.caveats)


def test_kept_steps_are_few_and_include_both_ends():
    view = try_methods("quartic_bowls", ["joint"], steps=3000)
    assert view.steps[0] == 0
    assert view.steps[-1] == 3000
    assert len(view.steps) <= 201
    assert view.ways[0].theta.shape == (len(view.steps), 4, 2)


def test_random_starts_depend_on_the_seed_alone():
    one, same = (try_methods("chain", ["joint"], steps=5, random_starts=7, seed=4) for _ in range(2))
    other = try_methods("chain", ["joint"], steps=5, random_starts=7, seed=5)
    assert np.array_equal(one.ways[0].theta, same.ways[0].theta)
    assert not np.array_equal(one.ways[0].theta, other.ways[0].theta)


@pytest.mark.parametrize(
    ("problem", "methods", "changes", "said"),
    [
        ("nowhere", ["joint"], {}, "nowhere"),
        ("chain", [], {}, "0 methods"),
        ("chain", ["joint", "mgda", "config", "pcgrad", "cagrad"], {}, "5 methods"),
        ("chain", ["nothing"], {}, "nothing"),
        ("chain", ["jogba"], {}, "only orders samples"),
        ("chain", ["joint"], {"steps": 0}, "steps"),
        ("chain", ["joint"], {"lr": float("nan")}, "learning rate"),
        ("chain", ["joint"], {"random_starts": 51}, "starts"),
    ],
)
def test_what_does_not_fit_is_refused_with_a_reason(problem, methods, changes, said):
    with pytest.raises(SettingsError, match=said):
        try_methods(problem, methods, **changes)


def test_every_problem_can_be_chosen_and_drawn():
    for key in problem_choices():
        view = try_methods(key, ["joint"], steps=3)
        assert np.isfinite(view.landscape.height).all()
        assert view.landscape.front.shape[1] == 2
