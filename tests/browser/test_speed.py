"""A hundred tasks over ten thousand steps on disk: how long the reader waits, and what the server needs."""

import time
from pathlib import Path

import psutil
import pytest
from harness import chromium, page, serve, settle
from playwright.sync_api import Page

pytestmark = pytest.mark.browser

RUN = "big-run-000001"
TASKS = [f"label {number:03d} of a set" for number in range(100)]


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    from builder import build_run

    folder = tmp_path_factory.mktemp("big") / "runs"
    build_run(folder, RUN, tasks=TASKS, steps=1000)
    return folder


def test_a_large_run_answers_quickly(home):
    with serve(home) as server, chromium() as browser, page(browser) as tab:
        tab.goto(f"{server.url}/?run={RUN}")
        settle(tab, timeout=120)
        _timed("affinity, first time", tab, lambda: _link(tab, "Affinity"))
        _timed("start page", tab, lambda: _link(tab, "Start"))
        _timed("affinity again", tab, lambda: _link(tab, "Affinity"))
        _timed("one step", tab, lambda: tab.get_by_text("One step", exact=True).click())
        slider = tab.get_by_role("slider", name="Step")
        for _ in range(3):
            _timed("step slider", tab, lambda: slider.press("ArrowLeft"))
        arrows = tab.get_by_role("slider", name="Strongest arrows")
        for _ in range(2):
            _timed("threshold", tab, lambda: arrows.press("ArrowLeft"))
        _timed("conflicts", tab, lambda: _link(tab, "Conflicts"))
        _timed("groups", tab, lambda: _link(tab, "Groups"))
        memory = psutil.Process(server.pid).memory_info().rss / 1e6
        print(f"memory of the server: {memory:.0f} MB")
        assert memory < 900


def _timed(what: str, tab: Page, act) -> None:
    began = time.monotonic()
    act()
    tab.wait_for_timeout(30)
    settle(tab, timeout=120)
    print(f"{what}: {time.monotonic() - began - 0.28:.2f} s")


def _link(tab: Page, name: str) -> None:
    tab.get_by_role("link", name=name, exact=True).click()
