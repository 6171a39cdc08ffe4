"""The whole line as an analyst clicks it: train, see, group, export, retrain, compare."""

import json
import re
import time
from pathlib import Path

import pytest
from harness import chromium, page, serve, settle, shoot, sideways
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

PAGES = (
    "try_method",
    "methods",
    "",
    "runs",
    "train",
    "affinity",
    "conflicts",
    "groups",
    "compare",
    "validate",
)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    home = tmp_path_factory.mktemp("library") / "runs"
    home.mkdir()
    with serve(home) as running:
        yield running


@pytest.fixture(scope="module")
def browser():
    with chromium() as opened:
        yield opened


def test_an_analyst_gets_from_nothing_to_a_verified_grouping(server, browser, tmp_path):
    with page(browser) as tab:
        tab.set_default_timeout(30_000)
        _first_paint(tab, server.url)
        _train(tab, server.url)
        _see(tab)
        _group_and_export(tab, tmp_path)
        _retrain_and_compare(tab)
        _pictures(browser, tab.url, server.url)


def _first_paint(tab: Page, url: str) -> None:
    began = time.monotonic()
    tab.goto(url)
    tab.wait_for_selector("h1")
    print(f"\nfirst paint after the server is up: {time.monotonic() - began:.2f} s")
    settle(tab)
    expect(tab.get_by_role("heading", level=1)).to_have_text("Which tasks should learn together?")


def _train(tab: Page, url: str) -> None:
    tab.get_by_role("link", name="Train", exact=True).click()
    settle(tab)
    _fill(tab, "Steps", "60")
    _fill(tab, "Name (optional)", "browser walk")
    began = time.monotonic()
    tab.get_by_role("button", name="Start training").dblclick()
    expect(tab.get_by_role("heading", name="Training now")).to_be_visible()
    tab.goto(f"{url}/train")  # a reload loses nothing
    expect(tab.get_by_text("Last training: browser walk")).to_be_visible(timeout=90_000)
    print(f"training of 60 steps, from the click to the result: {time.monotonic() - began:.1f} s")
    tab.get_by_role("link", name="See who helps whom").click()


def _see(tab: Page) -> None:
    expect(tab.get_by_role("heading", level=1)).to_have_text("Who helps whom?")
    settle(tab)
    run = _query(tab, "run")
    assert run, "the link names the run"
    tab.locator(".js-plotly-plot").first.wait_for()
    cell = tab.locator(".js-plotly-plot").first.locator(".scatterlayer .points path").nth(4)
    cell.click(force=True)
    tab.wait_for_url(re.compile("source=|affected="))
    settle(tab)
    began = time.monotonic()
    tab.reload()
    settle(tab)
    print(f"opening the run cold from its link: {time.monotonic() - began:.2f} s")
    assert _query(tab, "run") == run
    tab.get_by_role("link", name="Conflicts", exact=True).click()
    expect(tab.get_by_role("heading", level=1)).to_have_text("Where do gradients fight?")
    settle(tab)


def _group_and_export(tab: Page, folder: Path) -> None:
    tab.get_by_role("link", name="Groups", exact=True).click()
    expect(tab.get_by_role("heading", level=1)).to_have_text("Which tasks should train together?")
    settle(tab)
    tab.get_by_role("button", name="Move a task").click()
    tab.get_by_role("button", name="Move", exact=True).click()
    expect(tab.get_by_text("Edited by hand")).to_be_visible()
    assert _query(tab, "grouping")
    tab.keyboard.press("Escape")
    tab.get_by_role("button", name="Undo").click()
    settle(tab)
    _fill(tab, "Name", "from the walk")
    with tab.expect_download() as download:
        tab.get_by_role("button", name="Export as JSON").click()
    target = folder / "grouping.json"
    download.value.save_as(target)
    grouping = json.loads(target.read_text(encoding="utf-8"))
    assert grouping["schema"] == "affinity.grouping/1"
    assert sorted(task for group in grouping["groups"] for task in group["serve"]) == sorted(
        task["id"] for task in grouping["tasks"]
    )


def _retrain_and_compare(tab: Page) -> None:
    _fill(tab, "Seeds", "2")
    began = time.monotonic()
    tab.get_by_role("button", name="Retrain these groups").click()
    expect(tab.get_by_role("heading", level=1)).to_have_text("Did the grouping help?")
    expect(tab.get_by_text("What each way of training costs")).to_be_visible(timeout=180_000)
    expect(tab.get_by_role("heading", name="Training now")).to_be_hidden(timeout=180_000)
    settle(tab)
    print(f"retraining with two seeds, from the click to the verdict: {time.monotonic() - began:.1f} s")


def _pictures(browser, link: str, url: str) -> None:
    query = link.partition("?")[2]
    for width in ("desktop", "wide", "phone"):
        for theme in ("light", "dark"):
            with page(browser, width=width, theme=theme) as tab:
                for name in PAGES:
                    tab.goto(f"{url}/{name}?{query}")
                    settle(tab)
                    assert tab.get_by_text("Something went wrong").count() == 0
                    assert sideways(tab) <= 0, f"{name or 'start'} scrolls sideways at {width}"
                    shoot(tab, f"{name or 'start'}-{width}-{theme}")


def _fill(tab: Page, label: str, value: str) -> None:
    field = tab.get_by_label(label, exact=True).first
    field.fill(value)
    field.press("Enter")
    settle(tab)


def _query(tab: Page, name: str) -> str:
    found = re.search(rf"[?&]{name}=([^&]+)", tab.url)
    return found.group(1) if found else ""
