"""Rules every page obeys: the menu knows it, it is short, it shows no raw HTML, it loads no torch."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from pages.ui.menu import PAGES

ROOT = Path(__file__).resolve().parents[2]
PAGE_FILES = sorted([ROOT / "app.py", *(ROOT / "pages").glob("[a-z]*.py")])
SOURCES = sorted([ROOT / "app.py", *(ROOT / "pages").rglob("*.py")])


def test_the_menu_covers_every_page_file():
    assert {ROOT / page.path for page in PAGES} == set(PAGE_FILES)


def test_every_page_asks_a_question_of_its_own():
    questions = [page.question for page in PAGES]
    assert all(question.endswith("?") for question in questions)
    assert len(set(questions)) == len(questions)


@pytest.mark.parametrize("path", PAGE_FILES, ids=lambda path: path.stem)
def test_a_page_is_short_and_starts_with_the_frame(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 60
    assert f'frame.start("{"home" if path.stem == "app" else path.stem}")' in text


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_no_page_shows_raw_html_or_opens_files(path):
    text = path.read_text(encoding="utf-8")
    forbidden = r"unsafe_allow|st\.html|components\.v|st\.navigation|(?<![.\w])open\(|read_text|write_text"
    assert not re.findall(forbidden, text)


def test_no_page_loads_torch():
    pages = ["app.py", *(f"pages/{path.name}" for path in PAGE_FILES if path.stem != "app")]
    script = (
        "import sys, tempfile, os\n"
        "os.environ['AFFINITY_HOME'] = tempfile.mkdtemp()\n"
        "from streamlit.testing.v1 import AppTest\n"
        "app = AppTest.from_file('app.py', default_timeout=60).run()\n"
        f"for page in {pages[1:]!r}:\n"
        "    app.switch_page(page).run()\n"
        "    assert not app.exception, (page, app.exception)\n"
        "heavy = sorted({name.split('.')[0] for name in sys.modules} & {'torch', 'sklearn', 'ray'})\n"
        "print(heavy)\n"
        "assert 'torch' not in heavy\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr[-2000:]


def test_the_server_is_closed_by_default():
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    server, client = config["server"], config["client"]
    assert server["address"] == "127.0.0.1"
    assert set(server["allowedHosts"]) == {"localhost", "127.0.0.1"}
    assert server["enableXsrfProtection"] is True
    assert server["enableCORS"] is True
    assert server["enableStaticServing"] is False
    assert server["enableAgentApi"] is False
    assert server["maxUploadSize"] <= 20
    assert config["browser"]["gatherUsageStats"] is False
    assert client["showErrorDetails"] == "none"
    assert client["showErrorLinks"] is False
    assert client["disableDataExport"] is True
    assert client["showSidebarNavigation"] is False
    assert client["toolbarMode"] == "viewer"
