"""A link opens the view that it was copied from, in a session that has never seen the run."""

from builder import build_run
from texts import all_text

from affinity.analysis.page_text import from_text, to_text
from affinity.core.types import Group, Grouping


def test_a_link_restores_step_pair_and_threshold(home, open_page):
    build_run(home, "good-run-0001")
    build_run(home, "zzzz-run-0002", label="the newest")
    query = {
        "run": "good-run-0001",
        "reduce": "One step",
        "step": "40",
        "source": "beta",
        "affected": "delta",
    }
    app = open_page("affinity", **query, threshold="3")
    assert app.selectbox(key="pick_run").value == "good-run-0001"
    assert app.slider(key="step").value == 40
    assert app.selectbox(key="source").value == "beta"
    assert app.selectbox(key="affected").value == "delta"
    assert app.slider(key="threshold").value == 3


def test_a_link_restores_an_edited_grouping(home, open_page):
    build_run(home, "good-run-0001")
    app = open_page("groups", run="good-run-0001", grouping="0.2_1.3")
    assert "Edited by hand" in all_text(app)
    assert "alpha and gamma; beta and delta" in all_text(app)


def test_a_spoilt_grouping_in_a_link_is_explained(home, open_page):
    build_run(home, "good-run-0001")
    for text in ("0.1_1.2.3", "0.1_2.3.9", "x'); drop", "0_1_2_3_" * 4000):
        app = open_page("groups", run="good-run-0001", grouping=text)
        assert not app.exception
        assert app.error


def test_values_that_do_not_fit_the_run_are_forgotten(home, open_page):
    build_run(home, "good-run-0001")
    query = {"source": "nobody", "step": "99999", "reduce": "nonsense", "threshold": "-4", "signal": "x"}
    app = open_page("affinity", run="good-run-0001", **query)
    assert not app.exception
    assert not app.error


def test_changing_the_run_keeps_the_page_working(home, open_page):
    build_run(home, "good-run-0001")
    build_run(home, "other-run-0002", tasks=["one", "two", "three"], steps=5)
    query = {
        "run": "good-run-0001",
        "source": "delta",
        "affected": "alpha",
        "reduce": "One step",
        "step": "110",
    }
    app = open_page("affinity", **query)
    app.selectbox(key="pick_run").set_value("other-run-0002").run()
    assert not app.exception
    assert not app.error
    assert app.selectbox(key="source").value in ("one", "two", "three")


def test_the_run_stays_chosen_on_the_next_page(home, open_page):
    build_run(home, "good-run-0001")
    build_run(home, "other-run-0002")
    app = open_page("home", run="good-run-0001")
    for page in ("affinity", "groups", "compare", "runs"):
        app.switch_page(f"pages/{page}.py").run()
        assert app.selectbox(key="pick_run").value == "good-run-0001"


def test_grouping_text_goes_there_and_back():
    tasks = ("a", "b", "c")
    groups = (Group(train=("a", "b"), serve=("a",)), Group(train=("b", "c"), serve=("b", "c")))
    text = to_text(Grouping(tasks=tasks, groups=groups))
    assert text == "0.h1_1.2"
    assert from_text(text, tasks).groups == groups
