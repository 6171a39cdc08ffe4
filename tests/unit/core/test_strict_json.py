import json
import math
from pathlib import Path

import numpy as np
import pytest

from affinity.core import strict_json
from affinity.core.errors import Unreadable
from affinity.core.strict_json import dumps, loads, read_object, to_json, write_atomic


def test_missing_and_infinite_values_are_written_as_null():
    values = {"a": math.nan, "b": np.array([1.0, np.inf, -np.inf]), "c": np.float32("nan")}
    assert json.loads(dumps(values)) == {"a": None, "b": [1.0, None, None], "c": None}


@pytest.mark.parametrize("token", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
def test_tokens_and_numbers_that_are_not_finite_are_read_as_null(token):
    assert loads(f'{{"x": [{token}, 1.5]}}', "here") == {"x": [None, 1.5]}


def test_numpy_numbers_and_bools_become_plain_ones():
    assert to_json([np.int64(3), np.bool_(True), np.float64(0.5)]) == [3, True, 0.5]
    assert type(to_json(np.bool_(True))) is bool


def test_a_value_without_a_json_form_is_an_error():
    with pytest.raises(TypeError, match="object has no JSON form"):
        dumps({"x": object()})


def test_half_a_surrogate_pair_neither_enters_nor_leaves():
    assert loads(r'{"a": "x\ud800y"}', "here") == {"a": "x?y"}
    assert json.loads(dumps({"\udcff": "\udcff"})) == {"?": "?"}
    assert loads(r'["\ud83d\ude00"]', "here") == ["😀"]


@pytest.mark.parametrize("deep", ["[" * 10_000 + "]" * 10_000, '{"a":' * 10_000 + "1" + "}" * 10_000])
def test_json_nested_ten_thousand_deep_is_refused(deep):
    with pytest.raises(Unreadable, match="nested"):
        loads(deep, "upload.json")


def test_the_deepest_allowed_nesting_is_read():
    assert loads("[" * 63 + "1" + "]" * 63, "here")
    with pytest.raises(Unreadable, match="64 levels"):
        loads("[" * 64 + "1" + "]" * 64, "here")


def test_an_integer_of_ten_thousand_digits_is_refused():
    with pytest.raises(Unreadable, match="impossible number"):
        loads("1" * 10_000, "here")


def test_what_is_not_json_names_place_and_line():
    with pytest.raises(Unreadable) as caught:
        loads('{"a": 1,\n "b": }', "run.json")
    assert caught.value.where == "run.json, line 2"


def test_a_byte_order_mark_is_ignored(tmp_path: Path):
    (tmp_path / "x.json").write_bytes(b'\xef\xbb\xbf{"a": 1}')
    assert read_object(tmp_path / "x.json") == {"a": 1}


@pytest.mark.parametrize("content", [b"", b"[]", b"null", b"\xff\xfe{", b"{", b'"text"'])
def test_a_file_without_an_object_is_refused(tmp_path: Path, content: bytes):
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(Unreadable):
        read_object(tmp_path / "x.json")


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path):
    for path in (tmp_path / "none.json", tmp_path):
        with pytest.raises(Unreadable, match="cannot be read"):
            read_object(path)


def test_a_file_beyond_the_limit_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(strict_json, "MAX_BYTES", 10)
    (tmp_path / "x.json").write_text('{"a": "longer"}')
    with pytest.raises(Unreadable, match="larger than 10 bytes"):
        read_object(tmp_path / "x.json")


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path: Path):
    path = tmp_path / "x.json"
    write_atomic(path, {"a": 1})
    with pytest.raises(TypeError):
        write_atomic(path, {"a": object()})
    assert read_object(path) == {"a": 1}
    assert [found.name for found in tmp_path.iterdir()] == ["x.json"]
