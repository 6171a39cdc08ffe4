"""The training form starts a worker, once, and the page follows it."""

import time

from texts import all_text

from affinity.runs.library import Library


def wait_until_done(home, *, seconds=90.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        runs = Library(home).list()
        if runs and not any(item.status.live for item in runs):
            return runs
        time.sleep(0.3)
    raise AssertionError("the training did not end")


def test_a_double_click_starts_one_training_and_its_result_is_offered(home, open_page):
    app = open_page("train")
    app.number_input(key="train_steps").set_value(4).run()
    app.button(key="start_training").click().run()
    app.button(key="start_training").click().run()
    assert not app.exception
    assert len(Library(home).list()) == 1
    runs = wait_until_done(home)
    assert runs[0].status.state == "finished", runs[0].status
    app = open_page("train")
    assert "Last training" in all_text(app)


def test_settings_that_do_not_fit_are_explained(home, open_page):
    app = open_page("train")
    app.multiselect(key="train_probes").set_value([]).run()
    assert not app.exception
    assert not app.error


def test_repeats_are_runs_with_seeds_of_their_own(home, open_page):
    app = open_page("train")
    app.number_input(key="train_steps").set_value(2).run()
    app.number_input(key="train_seeds").set_value(2).run()
    app.button(key="start_training").click().run()
    assert not app.exception
    runs = wait_until_done(home)
    assert sorted(item.info.seed for item in runs) == [0, 1]
