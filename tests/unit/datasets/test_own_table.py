"""The user's own CSV: what is understood, what is refused, and whether the message says where."""

import numpy as np
import pytest

from affinity.core.errors import DatasetError, SettingsError
from affinity.core.names import clean_name
from affinity.datasets import DATASETS
from affinity.datasets._own_table import TableSettings, load_table, summarise_table
from affinity.datasets.own_table import OwnTableSettings, checksum_of


def load(text, targets, seed=0, **settings):
    return load_table(text, targets, settings=TableSettings(**settings), seed=seed)


def table(header, rows, separator=","):
    return "\n".join([header, *(separator.join(map(str, row)) for row in rows)]) + "\n"


NUMBERS = table("x,y,label", [(i, i * 0.5, "ab"[i % 2]) for i in range(40)])


def test_named_columns_become_tasks_and_the_others_inputs():
    arrays = load(NUMBERS, ["y", "label"])
    assert [(task.name, task.kind) for task in arrays.tasks] == [("y", "regression"), ("label", "binary")]
    assert arrays.inputs.shape == (40, 1)


@pytest.mark.parametrize(
    ("cells", "kind", "classes"),
    [
        ([0, 1] * 20, "binary", 2),
        (["no", "yes"] * 20, "binary", 2),
        ([1.5, 2.5] * 20, "binary", 2),
        ([0, 1, 2, 3] * 10, "multiclass", 4),
        (["a", "b", "c", "d"] * 10, "multiclass", 4),
        ([0.5, 1, 1.5, 2] * 10, "regression", 1),
        (list(range(40)), "regression", 1),
    ],
)
def test_the_kind_of_a_task_is_guessed_from_its_values(cells, kind, classes):
    arrays = load(table("x,t", enumerate(cells)), ["t"])
    assert (arrays.tasks[0].kind, arrays.tasks[0].classes) == (kind, classes)


def test_few_rows_of_different_whole_numbers_are_amounts():
    assert load(table("x,t", [(i, i) for i in range(6)]), ["t"]).tasks[0].kind == "regression"


def test_a_guess_can_be_overruled_both_ways():
    text = table("x,counted,coded", [(i, i % 4, i % 20) for i in range(40)])
    arrays = load(text, ["counted", "coded"], amounts=("counted",), classes=("coded",))
    assert [task.kind for task in arrays.tasks] == ["regression", "multiclass"]


def test_a_binary_task_says_which_value_counts_as_one():
    arrays = load(NUMBERS, ["label"])
    assert arrays.tasks[0].description == "Is label 'b' rather than 'a'?"
    assert arrays.targets["label"].tolist() == [0.0, 1.0] * 20


def test_words_as_inputs_become_one_indicator_each():
    text = table("colour,t", [(["red", "green", "blue"][i % 3], i) for i in range(30)])
    assert load(text, ["t"]).inputs.shape == (30, 3)


def test_missing_inputs_become_the_mean_and_missing_targets_stay_unlabelled():
    rows = [(i if i % 5 else "NA", "" if i % 4 == 0 else i / 2, i) for i in range(40)]
    arrays = load(table("x,t,u", rows), ["t", "u"])
    assert (arrays.inputs[::5, 0] == 0).all()
    assert np.isnan(arrays.targets["t"][::4]).all()
    assert not np.isnan(arrays.targets["u"]).any()


def test_a_row_without_any_label_is_left_out():
    text = table("x,t", [(i, "" if i < 10 else i) for i in range(40)])
    assert len(load(text, ["t"]).inputs) == 30


@pytest.mark.parametrize("seed", range(10))
def test_a_class_seen_once_is_trained_on(seed):
    text = table("x,t", [(i, "rare" if i == 7 else "ab"[i % 2]) for i in range(40)])
    arrays = load(text, ["t"], seed=seed)
    assert set(arrays.targets["t"][arrays.train]) == {0, 1, 2}


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_found(separator):
    text = table(separator.join("xyz"), [(i, i + 1, i % 2) for i in range(20)], separator)
    assert load(text, ["z"]).inputs.shape == (20, 2)


def test_a_decimal_comma_is_understood_where_cells_are_not_separated_by_commas():
    text = table("x;t", [(i, f"{i},5") for i in range(20)], ";")
    arrays = load(text, ["t"])
    assert arrays.tasks[0].kind == "regression"
    assert np.allclose(np.diff(arrays.targets["t"]), np.diff(arrays.targets["t"])[0])


def test_quoted_cells_may_hold_separators_and_line_breaks():
    text = 'x,"a, b"\n' + "".join(f'{i},"one\ntwo {i % 2}"\n' for i in range(20))
    arrays = load(text, ["a, b"])
    assert arrays.tasks[0].name == "a, b"
    assert len(arrays.inputs) == 20


def test_windows_line_ends_blank_lines_and_a_byte_order_mark_do_no_harm():
    text = "\ufeffx,t\r\n\r\n" + "".join(f"{i},{i * 2}\r\n\r\n" for i in range(20))
    assert len(load(text, ["t"]).inputs) == 20


HOSTILE = [
    "<script>alert(1)</script>",
    "=cmd|' /C calc'!A0",
    "../../etc/passwd",
    "t\u202egnp",
    "e\u0301",
    "  padded  ",
    "日本語 🙂",
    "'; DROP TABLE tasks; --",
    "x" * 500,
    "nan",
    "{braces} %s $HOME",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_column_names_are_cleaned_and_still_found(name):
    quoted = '"' + name.replace('"', '""') + '"'
    arrays = load(f"x,{quoted}\n" + "".join(f"{i},{i / 3}\n" for i in range(20)), [name])
    assert arrays.tasks[0].name == clean_name(name)
    assert set(arrays.targets) == {clean_name(name)}


def test_equal_and_empty_column_names_are_told_apart():
    text = table("t,t,,x", [(i, i / 2, i % 3, i % 7) for i in range(30)])
    assert [column.name for column in summarise_table(text)] == ["t", "t (2)", "column 3", "x"]
    assert load(text, ["t (2)"]).tasks[0].name == "t (2)"


def test_a_summary_tells_what_each_column_could_be():
    text = table("x,constant,label", [(i / 2, 3, "" if i == 0 else "ab"[i % 2]) for i in range(20)])
    x, constant, label = summarise_table(text)
    assert (x.kind, x.distinct, x.missing) == ("regression", 20, 0)
    assert (constant.kind, constant.distinct) == (None, 1)
    assert (label.kind, label.distinct, label.missing) == ("binary", 2, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "table, line 1: has no header"),
        ("x\n1\n2\n", "table, line 1: has no header with at least two columns"),
        ("x,t\n1,2\n", "has 1 rows below the header"),
        ("x,t\n1,2\n3\n", "table, line 3: 1 cells, but the header has 2"),
        ("x,t\n1,2\n\n3,4,5\n", "table, line 4: 3 cells"),
        ('x,t\n1,2\n"3,4\n', "table, line 3: cannot be read as CSV"),
        ("x,t\n1,2\n2,3\n3,oops\n", "table, line 4, column 't': 'oops' is not a number"),
        ("x,t\n1,2\n2,inf\n3,4\n", "table, line 3, column 't': 'inf' is not a finite number"),
        ("x,t\n1,2\n1_0,3\n3,4\n", "line 3, column 'x': '1_0' is not a number"),
        ("x,t\n1,2\n2,2\n3,2\n", "column 't': is always '2'"),
        ("x,t\n1,\n2,\n3,\n", "column 't': is empty"),
        ("x,t\n1,2\0\n2,3\n", "zero bytes"),
    ],
)
def test_a_bad_table_is_refused_with_place_and_reason(text, message):
    with pytest.raises(DatasetError, match=message):
        load(text, ["t"])


def test_an_unknown_column_is_refused_with_the_columns_there_are():
    with pytest.raises(DatasetError, match=r"no column is called 'z'.*Columns: 'x', 'y', 'label'"):
        load(NUMBERS, ["z"])


@pytest.mark.parametrize(
    ("targets", "settings", "message"),
    [
        ([], {}, "no column is a task"),
        (["x", "y", "label"], {}, "no column is left as an input"),
        (["y"], {"ignore": ("y",)}, "both a task and left out"),
        (["y"], {"ignore": ("w",)}, "no column is called 'w'"),
        (["label"], {"amounts": ("label",)}, "holds words"),
    ],
)
def test_a_choice_of_columns_that_makes_no_sense_is_refused(targets, settings, message):
    with pytest.raises(DatasetError, match=message):
        load(NUMBERS, targets, **settings)


def test_a_column_of_names_is_no_input_unless_it_is_left_out():
    text = table("name,x,t", [(f"person {i}", i, i / 2) for i in range(60)])
    with pytest.raises(DatasetError, match="60 different words are too many"):
        load(text, ["t"])
    assert load(text, ["t"], ignore=("name",)).inputs.shape == (60, 1)


def test_naming_a_task_twice_makes_one_task():
    assert len(load(NUMBERS, ["y", "y"]).tasks) == 1


def test_the_entry_reads_a_file_and_refuses_it_after_a_change(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text(NUMBERS, encoding="utf-8")
    settings = OwnTableSettings(file=str(path), targets=("y",), checksum=checksum_of(path))
    assert len(DATASETS["own_table"].load(settings, 0).inputs) == 40
    path.write_text(NUMBERS + "9,9,a\n", encoding="utf-8")
    with pytest.raises(DatasetError, match=r"mine\.csv: has changed"):
        DATASETS["own_table"].load(settings, 0)


def test_settings_read_back_from_json_load_the_same_table(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text(NUMBERS, encoding="utf-8")
    settings = OwnTableSettings(file=str(path), targets=("y", "label"), ignore=())
    assert OwnTableSettings.from_json(settings.to_json()) == settings


def test_without_a_file_the_entry_says_what_to_choose():
    with pytest.raises(DatasetError, match=r"own_table\.file: no file is chosen"):
        DATASETS["own_table"].load(OwnTableSettings(), 0)


def test_an_unreadable_file_is_named_without_its_folder(tmp_path):
    with pytest.raises(DatasetError, match=r"absent\.csv: cannot be read") as caught:
        load(tmp_path / "absent.csv", ["t"])
    assert str(tmp_path) not in str(caught.value)
    with pytest.raises(DatasetError, match="cannot be read"):
        checksum_of(tmp_path / "absent.csv")


def test_a_folder_instead_of_a_file_is_refused(tmp_path):
    with pytest.raises(DatasetError, match="cannot be read"):
        load(tmp_path, ["t"])


def test_text_that_is_not_utf8_is_refused_with_its_line(tmp_path):
    path = tmp_path / "latin.csv"
    path.write_bytes("x,t\n1,2\n2,ärger\n".encode("latin-1"))
    with pytest.raises(DatasetError, match=r"latin\.csv, line 3: is not UTF-8 text\. Save it as UTF-8"):
        load(path, ["t"])


def test_utf16_with_its_mark_is_read(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text(NUMBERS, encoding="utf-16")
    assert len(load(path, ["y"]).inputs) == 40


def test_a_file_that_is_too_large_is_refused_before_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr("affinity.datasets._csv.MAX_BYTES", 10)
    path = tmp_path / "large.csv"
    path.write_text(NUMBERS, encoding="utf-8")
    with pytest.raises(DatasetError, match="is larger than"):
        load(path, ["y"])
    with pytest.raises(DatasetError, match="is larger than"):
        load(NUMBERS, ["y"])


def test_too_many_columns_are_refused():
    with pytest.raises(DatasetError, match="2001 columns are more than the limit of 2000"):
        load(",".join(f"c{i}" for i in range(2001)) + "\n1\n", ["c0"])


def test_too_many_classes_are_refused():
    text = table("x,t", [(i, f"word {i}") for i in range(1001)])
    with pytest.raises(DatasetError, match="1001 classes are more than the limit of 1000"):
        load(text, ["t"])


def test_a_misspelt_setting_is_refused():
    with pytest.raises(SettingsError, match="unknown setting 'target'"):
        OwnTableSettings.from_json({"target": ["y"]})
