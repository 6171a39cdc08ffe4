import importlib
import sys
from pathlib import Path

import pytest

from affinity.core.catalogue import Catalogue
from affinity.core.entry import Probe
from affinity.core.errors import SettingsError

ENTRY = """
from affinity.core.entry import Probe
{name} = Probe(key="{key}", title="t", summary="s", observe=print, axes=(), cost="none")
"""


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A function that puts files on a shelf and opens it."""
    folder = tmp_path / "a_shelf"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)

    def opened(**files: str) -> Catalogue[Probe]:
        for name, text in files.items():
            (folder / f"{name}.py").write_text(text)
        importlib.invalidate_caches()
        return Catalogue(importlib.import_module("a_shelf"), Probe)

    yield opened
    for name in [name for name in sys.modules if name.split(".")[0] == "a_shelf"]:
        del sys.modules[name]


def test_entries_are_found_by_scanning_in_alphabetical_order(shelf):
    found = shelf(b=ENTRY.format(name="P", key="b"), a=ENTRY.format(name="P", key="a"), _hidden="raise 1")
    assert list(found) == ["a", "b"]


def test_a_file_without_an_entry_fails_loudly(shelf):
    with pytest.raises(
        ImportError, match=r"a_shelf\.empty must hold exactly one Probe whose key is 'empty'; found none"
    ):
        shelf(empty="x = 1")


def test_a_key_that_is_not_the_file_name_fails_loudly(shelf):
    with pytest.raises(ImportError, match=r"key is 'right'; found \['wrong'\]"):
        shelf(right=ENTRY.format(name="P", key="wrong"))


def test_two_entries_in_one_file_fail_loudly(shelf):
    with pytest.raises(ImportError, match=r"found \['two', 'two'\]"):
        shelf(two=ENTRY.format(name="P", key="two") + ENTRY.format(name="Q", key="two"))


def test_an_unknown_key_lists_the_known_ones(shelf):
    with pytest.raises(SettingsError, match=r"'c' is not one of the a_shelf\. Known: a\."):
        shelf(a=ENTRY.format(name="P", key="a")).find("c")
