import unicodedata

import pytest

from affinity.core.errors import DatasetError
from affinity.core.names import clean_name, unique_names


def test_a_name_without_anything_odd_stays_as_it_is():
    assert clean_name("Tiefe (Süd), 深さ") == "Tiefe (Süd), 深さ"


@pytest.mark.parametrize(
    "odd", ["\u202eevil", "\u200eevil", "\x00evil", "\x1b[31mevil", "ev\x7fil", "\ud800evil"]
)
def test_control_bidi_and_broken_characters_are_stripped(odd):
    assert "evil" in clean_name(odd)
    assert clean_name(odd).isprintable()


def test_a_line_break_becomes_a_space():
    assert clean_name("two\nlines\tand a tab") == "two lines and a tab"


def test_two_spellings_of_one_letter_become_one():
    assert clean_name("e\u0301") == clean_name("\u00e9") == "\u00e9"


def test_a_stripped_character_between_letter_and_accent_does_not_keep_them_apart():
    assert clean_name("e\u200e\u0301") == "\u00e9"


@pytest.mark.parametrize("name", ["e\u200e\u0301", " \x00 a", "x" * 500, "", "\u202e", "a \u0301"])
def test_cleaning_twice_changes_nothing_more(name):
    once = clean_name(name)
    assert clean_name(once) == once
    assert unicodedata.is_normalized("NFC", once)


@pytest.mark.parametrize("empty", ["", "   ", "\x00", "\u202e\u202d"])
def test_a_name_is_never_empty(empty):
    assert clean_name(empty) == "unnamed"


def test_a_name_is_at_most_200_characters_long():
    assert len(clean_name("x" * 5000)) == 200


def test_the_second_of_two_equal_names_gets_a_number():
    assert unique_names(["a", "a", "a\u200e"]) == ("a", "a (2)", "a (3)")


def test_a_number_that_is_already_taken_is_skipped():
    assert unique_names(["a", "a (2)", "a"]) == ("a", "a (2)", "a (3)")


def test_unique_names_survive_a_second_time():
    names = unique_names(["x" * 300, "x" * 299, "", "", "y (2)", "y", "y"])
    assert len(set(names)) == 7
    assert unique_names(names) == names


def test_more_than_500_tasks_are_refused():
    with pytest.raises(DatasetError, match="501 tasks"):
        unique_names(["x"] * 501)
