"""Pages run in this process against a library in a temporary folder, without the shipped samples."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [entry for entry in (str(ROOT), str(Path(__file__).parent)) if entry not in sys.path]

OpenPage = Callable[..., AppTest]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty library, and no samples."""
    folder = tmp_path / "runs"
    folder.mkdir()
    monkeypatch.setenv("AFFINITY_HOME", str(folder))
    monkeypatch.setattr("affinity.runs.library.samples_home", lambda: tmp_path / "samples")
    st.cache_resource.clear()
    return folder


@pytest.fixture
def open_page(home: Path) -> OpenPage:
    """Open a page as a browser would: a fresh session with the URL's parameters."""

    def opened(key: str, **query: str) -> AppTest:
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=30)
        if key != "home":
            app.switch_page(f"pages/{key}.py")
        for name, value in query.items():
            app.query_params[name] = value
        app.run()
        return app

    return opened
