"""Regrouping by hand, and what becomes of the result."""

from builder import build_run
from texts import all_text

from affinity.analysis.page_groupings import kept
from affinity.runs.library import Library


def opened(home, open_page):
    build_run(home, "good-run-0001")
    return open_page("groups", run="good-run-0001")


def test_the_suggestion_separates_the_two_halves(home, open_page):
    app = opened(home, open_page)
    assert "alpha and beta; gamma and delta" in all_text(app)
    assert "Proven best" in all_text(app)


def test_a_task_is_moved_and_moved_back(home, open_page):
    app = opened(home, open_page)
    app.selectbox(key="move_task").set_value("beta").run()
    app.selectbox(key="move_target").set_value(1).run()
    app.button(key="apply_Move").click().run()
    assert not app.exception
    assert "Edited by hand" in all_text(app)
    app.button(key="undo").click().run()
    assert "Edited by hand" not in all_text(app)


def test_networks_are_merged_and_split(home, open_page):
    app = opened(home, open_page)
    app.button(key="apply_Merge").click().run()
    assert "Network 2" not in all_text(app).replace("with Network 2", "")
    app.multiselect(key="split_tasks").set_value(["alpha"]).run()
    app.button(key="apply_Split").click().run()
    assert not app.exception
    assert "Network 2" in all_text(app)
    app.button(key="reset").click().run()
    assert "Edited by hand" not in all_text(app)


def test_a_grouping_is_saved_shown_and_deleted(home, open_page):
    app = opened(home, open_page)
    app.text_input(key="grouping_name").set_value("<b>mine</b>").run()
    app.button(key="keep_grouping").click().run()
    run = Library(home).open("good-run-0001")
    assert [item.grouping.label for item in kept(Library(home), run)] == ["<b>mine</b>"]
    app.button(key="show_saved").click().run()
    app.button(key="forget_saved").click().run()
    assert not app.exception
    assert kept(Library(home), run) == ()


def test_an_imported_grouping_is_shown(home, open_page):
    app = opened(home, open_page)
    app.file_uploader[0].set_value(("g.txt", b"alpha,gamma|beta,delta", "text/plain")).run()
    assert not app.exception
    assert "Edited by hand" in all_text(app)


def test_a_file_that_is_no_grouping_is_explained(home, open_page):
    app = opened(home, open_page)
    app.file_uploader[0].set_value(("g.json", b'{"schema": "other"', "application/json")).run()
    assert not app.exception
    assert app.error


def test_a_run_from_elsewhere_is_not_retrained(home, open_page):
    app = opened(home, open_page)
    assert "Only a training that was made here" in all_text(app)
