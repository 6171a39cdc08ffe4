"""Names are shown as they are, whatever markdown would make of them."""

import pytest
from builder import HOSTILE

from affinity.core.errors import AffinityError
from pages.ui.messages import md

SPECIAL = "\\`*_{}[]()#+-.!|>~:$<&"


@pytest.mark.parametrize("character", SPECIAL)
def test_every_special_character_is_escaped(character):
    assert md(f"a{character}b").replace("\u2060", "") == f"a\\{character}b"


@pytest.mark.parametrize("name", HOSTILE)
def test_taking_the_escapes_away_gives_the_name_back(name):
    plain = md(name).replace("\u2060", "")
    assert plain.replace("\\", "") == name
    assert name not in md(name) or name == "漢字 ünïcode"


def test_a_name_stays_on_one_line():
    assert md("a\n\n# b") == "a \\# b"


def test_paths_of_the_server_do_not_reach_the_page():
    from streamlit.testing.v1 import AppTest

    def script():
        from affinity.core.errors import AffinityError
        from pages.ui.messages import show_error

        show_error(
            AffinityError("cannot read /home/someone/runs/x.json", "/srv/data/file", "Look in C:\\Users\\me.")
        )

    app = AppTest.from_function(script).run()
    assert "/home" not in app.error[0].value
    assert "srv" not in app.error[0].value
    assert "Users" not in app.error[0].value


def test_a_bug_shows_a_number_and_no_traceback():
    from streamlit.testing.v1 import AppTest

    def script():
        from pages.ui.messages import boundary

        with boundary():
            raise ValueError("secret detail")

    app = AppTest.from_function(script).run()
    assert not app.exception
    assert "Something went wrong" in app.error[0].value
    assert "secret detail" not in app.error[0].value


def test_the_hint_of_an_error_is_shown():
    assert AffinityError("a", hint="b").hint == "b"
