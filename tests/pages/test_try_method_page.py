"""The page that tries methods: its first answer, links, and links that ask for nonsense."""

import pytest
from texts import all_text


def test_the_first_look_shows_who_is_stuck(open_page):
    app = open_page("try_method")
    assert not app.exception
    assert not app.error
    text = all_text(app)
    assert "MGDA brings 2 of 5 to the front and leaves 3 stuck" in text
    assert "RP-MGDA brings all 5 starts to the front" in text
    ends = app.dataframe[0].value
    assert len(ends) == 15
    assert set(ends["Outcome"]) == {"on the front", "stuck"}
    assert len(app.get("plotly_chart")) == 2


def test_a_link_restores_problem_methods_and_settings(open_page):
    app = open_page(
        "try_method",
        toy=_title("quartic_bowls"),
        tried=_method("config"),
        toy_steps="50",
        toy_starts="3",
    )
    assert not app.exception
    assert not app.error
    ends = app.dataframe[0].value
    assert list(ends["Start"]) == [1, 2, 3]
    assert set(ends["Method"]) == {_method("config")}


def test_fewer_steps_are_drawn_with_the_slider(open_page):
    app = open_page("try_method")
    app.select_slider(key="toy_shown").set_value(1).run()
    assert not app.exception
    assert "MGDA" in all_text(app)


@pytest.mark.parametrize(
    "query",
    [
        {"toy": "nowhere"},
        {"tried": "nothing"},
        {"toy_steps": "-5"},
        {"toy_steps": "9999999"},
        {"toy_lr": "nan"},
        {"toy_starts": "1000"},
        {"toy_optimizer": "<b>"},
    ],
)
def test_nonsense_in_a_link_is_forgotten(open_page, query):
    app = open_page("try_method", **query)
    assert not app.exception
    assert "Traceback" not in all_text(app)


def test_a_learning_rate_that_is_too_large_loses_the_way_and_says_so(open_page):
    app = open_page(
        "try_method", toy=_title("quartic_bowls"), tried=_method("joint"), toy_lr="5", toy_steps="40"
    )
    assert not app.exception
    assert "lost" in all_text(app)


def test_without_a_method_the_page_says_what_to_do(open_page):
    app = open_page("try_method")
    app.multiselect(key="tried").set_value([]).run()
    assert not app.exception
    assert "No method is chosen" in all_text(app)


def _title(key: str) -> str:
    from affinity.problems import PROBLEMS

    return PROBLEMS[key].title


def _method(key: str) -> str:
    from affinity.methods import METHODS

    return METHODS[key].title
