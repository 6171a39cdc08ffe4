"""The Validate page: the example, an uploaded table, and tables that cannot be read."""

import pytest
from texts import all_text

GAINS = b"a,b,c\n0,,\n,0,\n,,0\n.2,.1,\n.3,,.2\n,.2,.4\n.3,.1,.2\n"


def uploaded(open_page, content: bytes, name: str = "t.csv", **query: str):
    app = open_page("validate", **query)
    app.file_uploader[0].set_value((name, content, "text/csv")).run()
    return app


def test_without_a_table_the_page_says_what_to_upload(open_page):
    app = open_page("validate")
    assert not app.exception
    assert "There is no table yet" in all_text(app)
    assert "column a task" in all_text(app)


def test_the_example_comes_with_the_samples(home, open_page, monkeypatch):
    from affinity.runs import library

    monkeypatch.setattr("affinity.runs.library.samples_home", lambda: library.Path("sample_runs").resolve())
    app = open_page("validate")
    assert not app.exception
    assert "example" in all_text(app)
    assert "The prediction ranks larger networks well" in all_text(app)


def test_an_uploaded_table_is_judged(open_page):
    app = uploaded(open_page, GAINS)
    assert not app.exception
    assert not app.error
    assert [metric.label for metric in app.metric][:2] == [
        "Rank agreement (Spearman)",
        "Pairs in order (Kendall)",
    ]
    assert list(app.dataframe[0].value["Budget"]) == [1.0, 2.0, 3.0]


def test_the_sense_is_asked_for_and_kept_in_the_link(open_page):
    losses = GAINS.replace(b"0,,", b"1,,")
    app = uploaded(open_page, losses)
    assert "lower or a higher score" in app.error[0].value
    app = uploaded(open_page, losses, sense="Lower is better")
    assert not app.error
    assert app.get("plotly_chart")


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe\x00", b"a,b\n1,2,3\n", b'{"groups": [', b"a,b,c\n0,,\n,0,\n,,0\n1,1,1\n"]
)
def test_a_spoilt_table_is_explained(open_page, content):
    app = uploaded(open_page, content)
    assert not app.exception
    assert app.error


def test_hostile_names_are_shown_as_they_are(open_page):
    app = uploaded(
        open_page, GAINS.replace(b"a,b,c", b"<img src=x onerror=alert(1)>,[x](javascript:alert(1)),:red[c]")
    )
    assert not app.exception
    assert "[x](javascript" not in all_text(app).replace("\\", "")
