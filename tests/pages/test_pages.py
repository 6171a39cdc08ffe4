"""Every page with a good run, with none, with a broken one, with hostile names and with many tasks."""

import time

import pytest
from builder import HOSTILE, break_run, build_run
from texts import all_text, markdown_of

from pages.ui.menu import PAGES

KEYS = [page.key for page in PAGES]
RUN_PAGES = ["home", "affinity", "conflicts", "groups", "compare"]


@pytest.mark.parametrize("key", KEYS)
def test_every_page_works_with_a_run(home, open_page, key):
    build_run(home, "good-run-0001")
    app = open_page(key, run="good-run-0001")
    assert not app.exception
    assert not app.error
    assert app.title[0].value == next(page.question for page in PAGES if page.key == key)


@pytest.mark.parametrize("key", KEYS)
def test_every_page_says_what_to_do_when_there_is_no_run(home, open_page, key):
    app = open_page(key)
    assert not app.exception
    assert not app.error
    assert key in ("train", "validate", "methods", "try_method") or "Train my first run" in _links(app)


@pytest.mark.parametrize("key", RUN_PAGES)
def test_a_broken_run_shows_its_reason(home, open_page, key):
    break_run(home, "broken-run-001")
    build_run(home, "good-run-0001")
    app = open_page(key, run="broken-run-001")
    assert not app.exception
    assert "run.json" in app.error[0].value.replace("\\", "")


def test_a_broken_run_does_not_break_the_list(home, open_page):
    break_run(home, "broken-run-001")
    build_run(home, "good-run-0001")
    app = open_page("runs")
    assert not app.exception
    assert not app.error
    frame = app.dataframe[0].value
    assert set(frame["State"]) == {"finished", "cannot be read"}


@pytest.mark.parametrize("key", KEYS)
def test_hostile_names_reach_no_page_as_markup(home, open_page, key):
    build_run(home, "hostile-run-01", tasks=HOSTILE, label=HOSTILE[2])
    app = open_page(key, run="hostile-run-01")
    assert not app.exception
    assert not app.error
    for text in markdown_of(app):
        for name in HOSTILE[:-2]:
            assert name not in text, f"{name} is not escaped in: {text}"


def test_names_are_still_readable_on_the_page(home, open_page):
    build_run(home, "hostile-run-01", tasks=HOSTILE)
    app = open_page("groups", run="hostile-run-01")
    text = all_text(app)
    assert all(name in text for name in HOSTILE)


@pytest.mark.parametrize("key", RUN_PAGES)
def test_a_hundred_tasks_are_shown_in_time(home, open_page, key):
    build_run(home, "hundred-run-01", tasks=[f"task {number}" for number in range(100)], steps=4)
    began = time.monotonic()
    app = open_page(key, run="hundred-run-01")
    assert not app.exception
    assert not app.error
    assert time.monotonic() - began < 25


def test_a_link_to_a_run_that_is_not_there_says_so(home, open_page):
    build_run(home, "good-run-0001")
    app = open_page("affinity", run="another-run-99")
    assert not app.exception
    assert "not in your library" in app.warning[0].value


def test_a_run_without_affinity_says_what_to_do(home, open_page):
    folder = build_run(home, "empty-run-0001")
    for path in folder.glob("*.arrows"):
        path.unlink()
    app = open_page("affinity", run="empty-run-0001")
    assert not app.exception
    assert "What to do" in app.error[0].value


def test_a_lone_task_is_no_reason_to_fail(home, open_page):
    build_run(home, "lonely-run-001", tasks=["only"])
    for key in RUN_PAGES:
        app = open_page(key, run="lonely-run-001")
        assert not app.exception
        assert "Something went wrong" not in all_text(app)


def _links(app):
    return " ".join(link.proto.label for link in app.get("page_link"))
