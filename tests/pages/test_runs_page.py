"""The list of runs: open, rename, delete after a question, upload, download."""

from builder import build_run
from texts import all_text

from affinity.analysis.page_groupings import forget, keep, kept
from affinity.core.types import Grouping
from affinity.runs.archive import pack
from affinity.runs.library import Library


def test_a_run_gets_another_name(home, open_page):
    build_run(home, "good-run-0001", label="old")
    app = open_page("runs")
    app.text_input(key="label_good-run-0001").set_value("![new](http://h/x.png)").run()
    app.button(key="save_label").click().run()
    assert not app.exception
    assert Library(home).open("good-run-0001").info.label == "![new](http://h/x.png)"


def test_a_run_is_deleted_only_after_a_question(home, open_page):
    build_run(home, "good-run-0001")
    app = open_page("runs")
    app.button(key="delete").click().run()
    assert (home / "good-run-0001").exists()
    app.button(key="delete_yes").click().run()
    assert not app.exception
    assert not (home / "good-run-0001").exists()


def test_an_uploaded_run_is_added_under_a_new_id(home, open_page, tmp_path):
    build_run(tmp_path / "elsewhere", "good-run-0001", label="from a colleague")
    data = pack(Library(tmp_path / "elsewhere").open("good-run-0001"))
    app = open_page("runs")
    app.file_uploader[0].set_value(("run.zip", data, "application/zip")).run()
    assert not app.exception
    labels = [item.info.label for item in Library(home).list() if item.info]
    assert labels == ["from a colleague"]


def test_a_file_that_is_no_run_is_explained(home, open_page):
    app = open_page("runs")
    app.file_uploader[0].set_value(("run.zip", b"no zip at all", "application/zip")).run()
    assert not app.exception
    assert app.error
    assert Library(home).list() == ()


def test_samples_cannot_be_deleted(home, open_page, tmp_path):
    build_run(tmp_path / "samples", "sample-run-001", label="a sample")
    app = open_page("runs")
    assert "read-only" in all_text(app)
    assert not [button for button in app.button if button.key == "delete"]


def test_groupings_are_kept_with_their_run(home):
    build_run(home, "good-run-0001")
    library = Library(home)
    run = library.open("good-run-0001")
    grouping = Grouping.partition(run.tasks, [run.tasks[:2], run.tasks[2:]])
    name = keep(library, run, grouping, label="halves")
    assert [(item.id, item.grouping.label) for item in kept(library, run)] == [(name, "halves")]
    assert kept(library, run)[0].grouping.groups == grouping.groups
    forget(library, run, "../../good-run-0001/run")
    assert kept(library, run)
    forget(library, run, name)
    assert kept(library, run) == ()
    assert [item.id for item in library.list()] == ["good-run-0001"]
