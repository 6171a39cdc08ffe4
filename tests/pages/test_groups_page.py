"""Regrouping by hand, and what becomes of the result."""

from builder import build_run
from texts import all_text

from affinity.analysis.page_groupings import kept
from affinity.runs.library import Library


def opened(home, open_page):
    build_run(home, "good-run-0001")
    return open_page("groups", run="good-run-0001")


def test_the_suggestion_separates_the_two_halves(home, open_page):
    app = opened(home, open_page)
    assert "alpha and beta; gamma and delta" in all_text(app)
    assert "Proven best" in all_text(app)


def test_a_task_is_moved_and_moved_back(home, open_page):
    app = opened(home, open_page)
    app.selectbox(key="move_task").set_value("beta").run()
    app.selectbox(key="move_target").set_value(1).run()
    app.button(key="apply_Move").click().run()
    assert not app.exception
    assert "Edited by hand" in all_text(app)
    app.button(key="undo").click().run()
    assert "Edited by hand" not in all_text(app)


def test_networks_are_merged_and_split(home, open_page):
    app = opened(home, open_page)
    app.button(key="apply_Merge").click().run()
    assert "Network 2" not in all_text(app).replace("with Network 2", "")
    app.multiselect(key="split_tasks").set_value(["alpha"]).run()
    app.button(key="apply_Split").click().run()
    assert not app.exception
    assert "Network 2" in all_text(app)
    app.button(key="reset").click().run()
    assert "Edited by hand" not in all_text(app)


def test_a_grouping_is_saved_shown_and_deleted(home, open_page):
    app = opened(home, open_page)
    app.text_input(key="grouping_name").set_value("<b>mine</b>").run()
    app.button(key="keep_grouping").click().run()
    run = Library(home).open("good-run-0001")
    assert [item.grouping.label for item in kept(Library(home), run)] == ["<b>mine</b>"]
    app.button(key="show_saved").click().run()
    app.button(key="forget_saved").click().run()
    assert not app.exception
    assert kept(Library(home), run) == ()


def test_an_imported_grouping_is_shown(home, open_page):
    app = opened(home, open_page)
    app.file_uploader[0].set_value(("g.txt", b"alpha,gamma|beta,delta", "text/plain")).run()
    assert not app.exception
    assert "Edited by hand" in all_text(app)


def test_a_file_that_is_no_grouping_is_explained(home, open_page):
    app = opened(home, open_page)
    app.file_uploader[0].set_value(("g.json", b'{"schema": "other"', "application/json")).run()
    assert not app.exception
    assert app.error


def test_a_run_from_elsewhere_is_not_retrained(home, open_page):
    app = opened(home, open_page)
    assert "Only a training that was made here" in all_text(app)


def test_limits_in_a_link_reach_the_search(home, open_page):
    build_run(home, "good-run-0001")
    query = {
        "price": "0.001",
        "min_gain": "-1.0",
        "largest": "3",
        "objective": "Sum of helpful minus harmful pairs",
    }
    app = open_page("groups", run="good-run-0001", rules="t0.2_a1.3", **query)
    assert not app.exception
    assert not app.error
    assert app.number_input(key="price").value == 0.001
    assert app.number_input(key="largest").value == 3
    assert app.selectbox(key="objective").value == "correlation"
    assert "Together: alpha, gamma" in all_text(app)
    assert "Apart: beta, delta" in all_text(app)


def test_a_minimum_gain_in_a_link_leaves_tasks_alone(home, open_page):
    build_run(home, "good-run-0001")
    app = open_page("groups", run="good-run-0001", min_gain="5.0", networks="4")
    assert app.number_input(key="min_gain").value == 5.0
    assert "Alone is better" in all_text(app)


def test_tasks_are_kept_together_and_the_rule_is_removed(home, open_page):
    app = opened(home, open_page)
    app.multiselect(key="rule_tasks").set_value(["alpha", "delta"]).run()
    app.button(key="rule_Keep together").click().run()
    assert not app.exception
    assert app.query_params["rules"] == "t0.3"
    assert "alpha and beta; gamma and delta" not in all_text(app)
    app.button(key="together_0").click().run()
    assert "alpha and beta; gamma and delta" in all_text(app)


def test_limits_that_no_grouping_keeps_are_explained(home, open_page):
    build_run(home, "good-run-0001")
    for query in (
        {"rules": "t0.1_a0.1"},
        {"rules": "a0.1.2.3", "networks": "2"},
        {"smallest": "3", "largest": "2"},
        {"largest": "1", "networks": "2"},
        {"rules": "t0.99"},
        {"rules": "nonsense"},
    ):
        app = open_page("groups", run="good-run-0001", **query)
        assert not app.exception
        assert app.error, query


def test_values_of_limits_that_make_no_sense_are_forgotten(home, open_page):
    build_run(home, "good-run-0001")
    query = {
        "price": "-3",
        "largest": "99",
        "smallest": "x",
        "min_gain": "nan",
        "objective": "measured",
        "seconds": "9",
    }
    app = open_page("groups", run="good-run-0001", **query)
    assert not app.exception
    assert not app.error


def test_a_price_is_shown_beside_the_gain(home, open_page):
    build_run(home, "good-run-0001")
    app = open_page("groups", run="good-run-0001", price="0.5")
    assert "One network trains all tasks" in all_text(app)
    assert any(metric.label.endswith("minus prices") for metric in app.metric)


def test_a_budget_of_every_task_is_explained(home, open_page):
    build_run(home, "good-run-0001")
    assert "pairs and triples" in all_text(open_page("groups", run="good-run-0001", networks="4"))
    assert "pairs and triples" not in all_text(open_page("groups", run="good-run-0001", networks="1"))


def test_a_task_helps_in_a_second_network_and_is_served_there(home, open_page):
    app = opened(home, open_page)
    app.selectbox(key="help_task").set_value("alpha").run()
    app.button(key="apply_Add").click().run()
    assert not app.exception
    assert app.query_params["grouping"] == "0.1_h0.2.3"
    app.button(key="apply_Serve from there").click().run()
    assert app.query_params["grouping"] == "h0.1_0.2.3"
    app.button(key="apply_Remove helper").click().run()
    assert app.query_params["grouping"] == "1_0.2.3"
    for _ in range(3):
        app.button(key="undo").click().run()
    assert "Edited by hand" not in all_text(app)


def test_a_hand_made_grouping_that_breaks_a_limit_is_warned_about(home, open_page):
    build_run(home, "good-run-0001")
    app = open_page("groups", run="good-run-0001", largest="2", grouping="0.1.2_3")
    assert "network 1 has 3 tasks" in all_text(app)


def test_pasted_text_is_read(home, open_page):
    for text in ("alpha,gamma|beta,delta", "{'alpha': 0, 'gamma': 0, 'beta': 1, 'delta': 1}", "ABAB"):
        app = opened(home, open_page)
        app.text_area[0].set_value(text).run()
        app.button(key="read_pasted").click().run()
        assert not app.exception
        assert app.query_params["grouping"] == "0.2_1.3", text


def test_pasted_text_that_is_code_is_refused(home, open_page):
    app = opened(home, open_page)
    app.text_area[0].set_value("[__import__('os').getcwd()]").run()
    app.button(key="read_pasted").click().run()
    assert not app.exception
    assert app.error


def test_saved_groupings_stand_side_by_side(home, open_page):
    app = opened(home, open_page)
    app.text_input(key="grouping_name").set_value("*mine*").run()
    app.button(key="keep_grouping").click().run()
    run = Library(home).open("good-run-0001")
    (saved,) = kept(Library(home), run)
    app.query_params["grouping"] = "0.1.2.3"
    app.run()
    app.multiselect(key="compared").set_value(["suggested", "shown", saved.id]).run()
    assert not app.exception
    assert not app.error
    assert "promises most" in all_text(app)
    assert "lead over" in all_text(app)
    # A saved grouping that is deleted leaves the comparison.
    app.button(key="forget_saved").click().run()
    assert not app.exception
    assert app.multiselect(key="compared").value == ["suggested", "shown"]


def opened_boxes(home, open_page, **query):
    build_run(home, "good-run-0001")
    app = open_page("groups", run="good-run-0001", **query)
    for key in ("budget_open", "stable_open", "second_open", "measures_open"):
        app.session_state[key] = True
    return app.run()


def test_trust_is_told_in_sentences(home, open_page):
    app = opened_boxes(home, open_page, networks="2")
    assert not app.exception
    assert not app.error
    text = all_text(app)
    assert "redrawn trainings" in text
    assert "The second-best grouping scores" in text
    assert "measures choose" in text


def test_trust_survives_limits_and_overlap(home, open_page):
    app = opened_boxes(home, open_page, networks="3", overlap="true", rules="a0.1", price="0.001")
    assert not app.exception
    assert not app.error


def test_a_large_search_is_announced_and_can_take_longer(home, open_page, monkeypatch):
    monkeypatch.setattr("affinity.analysis.page_groups.SECONDS", 0.3)
    monkeypatch.setattr("pages.ui.group_search.SECONDS", 0.3)
    build_run(home, "large-run-0001", tasks=[f"t{at:02d}" for at in range(40)], steps=4)
    app = open_page("groups", run="large-run-0001", networks="9")
    assert not app.exception
    assert "40 tasks into at most 9 networks: up to" in all_text(app)
    app = open_page("groups", run="large-run-0001", networks="9", seconds="30 seconds")
    assert not app.exception
    stop = [button for button in app.button if button.label == "Stop and use the best so far"]
    assert stop
    stop[0].click().run()
    assert not app.exception
