"""A real server on a free port and a real Chromium: what the browser tests stand on."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
SCREENSHOTS = Path(__file__).parent / "screenshots"
CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = [
    "--no-sandbox",
    "--headless",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
WIDTHS = {"desktop": (1280, 900), "wide": (1920, 1080), "phone": (390, 844)}


@dataclass(frozen=True)
class Server:
    """A running app.

    Attributes:
        url: its address.
        home: its library of runs.
        pid: its process.
        start_seconds: time from the start of the process until it answered.
    """

    url: str
    home: Path
    pid: int
    start_seconds: float


@contextmanager
def serve(home: Path) -> Iterator[Server]:
    """Start the app on a free port with its own library."""
    port = _free_port()
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    environment = {**os.environ, "AFFINITY_HOME": str(home)}
    log = (home.parent / "server.log").open("ab")
    began = time.monotonic()
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
    )
    url = f"http://127.0.0.1:{port}"
    try:
        _wait_until_up(url, process)
        yield Server(url=url, home=home, pid=process.pid, start_seconds=time.monotonic() - began)
    finally:
        process.terminate()
        process.wait(10)
        log.close()


@contextmanager
def chromium() -> Iterator[Browser]:
    """Debian's Chromium without a window."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@contextmanager
def page(browser: Browser, *, width: str = "desktop", theme: str = "light") -> Iterator[Page]:
    """A fresh browser session of a width and a theme."""
    wide, high = WIDTHS[width]
    context = browser.new_context(
        viewport={"width": wide, "height": high}, color_scheme=theme, accept_downloads=True
    )
    opened = context.new_page()
    yield opened
    context.close()


def settle(opened: Page, *, timeout: float = 30.0) -> None:
    """Wait until the script has run and nothing is drawn any more."""
    opened.wait_for_selector("h1", timeout=timeout * 1000)
    opened.wait_for_function(
        """() => {
            const app = document.querySelector('[data-testid="stApp"]');
            const busy = app && app.getAttribute('data-test-script-state');
            const stale = document.querySelector('[data-stale="true"], [data-testid="stSkeleton"]');
            return app && busy !== 'running' && busy !== 'initial' && !stale;
        }""",
        timeout=timeout * 1000,
    )
    opened.wait_for_timeout(250)


def shoot(opened: Page, name: str) -> Path:
    """A picture of the whole page, however long it is."""
    SCREENSHOTS.mkdir(exist_ok=True)
    high = opened.evaluate(
        """() => {
            const main = document.querySelector('[data-testid="stMain"]');
            return main ? main.scrollHeight : document.body.scrollHeight;
        }"""
    )
    size = opened.viewport_size
    opened.set_viewport_size({"width": size["width"], "height": int(min(max(high, size["height"]), 6000))})
    opened.wait_for_timeout(500)
    target = SCREENSHOTS / f"{name}.png"
    opened.screenshot(path=target)
    opened.set_viewport_size(size)
    return target


def sideways(opened: Page) -> float:
    """How many pixels of the page lie outside the window to the right."""
    return float(
        opened.evaluate(
            """() => {
                const main = document.querySelector('[data-testid="stMain"]');
                return Math.max(document.documentElement.scrollWidth - window.innerWidth,
                                main ? main.scrollWidth - main.clientWidth : 0);
            }"""
        )
    )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_up(url: str, process: subprocess.Popen, *, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if process.poll() is not None:
            raise RuntimeError("the server ended while starting; see server.log")
        with suppress(OSError), urllib.request.urlopen(f"{url}/_stcore/health", timeout=1) as answer:
            if answer.status == 200:
                return
        time.sleep(0.05)
    raise RuntimeError("the server did not answer in time")
