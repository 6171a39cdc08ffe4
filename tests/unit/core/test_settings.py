from dataclasses import dataclass
from typing import ClassVar

import pytest

from affinity.core.config import TrainConfig
from affinity.core.errors import SettingsError
from affinity.core.settings import Settings, describe, setting
from affinity.core.strict_json import dumps, loads


@dataclass(frozen=True, kw_only=True)
class Example(Settings):
    where: ClassVar[str] = "example"

    count: int = setting(3, low=1, high=10, help="How many.")
    rate: float = setting(0.5, low=0.0, high=1.0, help="How fast.")
    loud: bool = setting(False, help="Whether it is loud.")
    kind: str = setting("a", choices=("a", "b"), help="Which.")
    names: tuple[str, ...] = setting((), help="Which ones.")
    limit: int | None = setting(None, help="An end, or none.")


def message(**values: object) -> str:
    with pytest.raises(SettingsError) as caught:
        Example.from_json(values)
    return str(caught.value)


def test_text_becomes_what_the_field_holds():
    made = Example.from_json({"count": " 7 ", "rate": "1e-1", "loud": "TRUE", "names": "x, y,", "limit": "9"})
    assert made == Example(count=7, rate=0.1, loud=True, names=("x", "y"), limit=9)


def test_a_whole_number_is_kept_exactly():
    assert Example.from_json({"limit": 9_007_199_254_740_993}).limit == 9_007_199_254_740_993


@pytest.mark.parametrize("count", ["three", "1.5", 2.5, True, [1], "inf", "nan", None, "1" * 400])
def test_what_is_no_whole_number_is_refused_by_name(count):
    assert "is not a whole number. How many." in message(count=count)


@pytest.mark.parametrize(
    ("rate", "reason"), [("fast", "not a number"), (False, "not a number"), ("nan", "outside")]
)
def test_what_is_no_number_is_refused(rate, reason):
    assert f"example.rate: {rate!r}" in message(rate=rate) or "nan is outside 0 to 1" in message(rate=rate)
    assert reason in message(rate=rate)


def test_a_number_out_of_range_names_field_value_and_range():
    assert message(count=11) == "example.count: 11 is outside 1 to 10. How many."


def test_a_wrong_choice_lists_the_choices():
    assert message(kind="c") == "example.kind: 'c' is not a choice. Choose from: a, b."


def test_an_unknown_name_lists_the_known_ones():
    assert message(cuont=1).startswith("example: unknown setting 'cuont'. Known: count, rate, loud")


@pytest.mark.parametrize("loud", ["yes", 1, 0, None])
def test_only_true_and_false_are_bools(loud):
    assert "is not true or false" in message(loud=loud)


@pytest.mark.parametrize("names", [[1], [["a"]], [None], {"a": 1}, 5, None])
def test_a_list_of_text_holds_text_only(names):
    assert "is not a list of text" in message(names=names)


def test_a_long_value_is_cut_in_the_message():
    assert len(message(count="x" * 10_000)) < 200


def test_construction_checks_as_well():
    with pytest.raises(SettingsError, match="not text"):
        Example(kind=5)
    with pytest.raises(SettingsError, match="not a whole number"):
        Example(count=1.5)


def test_fields_are_described_for_forms():
    found = {field.name: field for field in describe(Example)}
    assert found["limit"].optional
    assert found["names"].items is str
    assert (found["count"].low, found["count"].high, found["count"].title) == (1, 10, "Count")


def test_a_config_survives_json():
    config = TrainConfig.from_json(
        {
            "dataset_settings": {"groups": 4, "kind": "mixed"},
            "tasks": ["a1", "b1"],
            "probes": [],
            "lr": "0.05",
        }
    )
    assert TrainConfig.from_json(loads(dumps(config), "here")) == config


def test_seeds_of_one_sweep_share_their_hash_and_settings_change_it():
    base = TrainConfig()
    assert base.hash == TrainConfig(seed=5, device="cpu", threads=4).hash
    assert base.hash != TrainConfig(lr=0.2).hash
    assert base.hash != TrainConfig(dataset_settings=(("seedless", 1),)).hash


@pytest.mark.parametrize(
    "bad",
    [
        {"dataset_settings": [1, 2]},
        {"dataset_settings": "groups=3"},
        {"dataset_settings": [["a", 1, 2]]},
        {"dataset_settings": [[1, 2]]},
        {"tasks": [1]},
        {"probes": [["gram"]]},
        {"lr": 0},
        {"lr": 1e999},
        {"batch": 1},
        {"steps": 0},
        {"optimizer": "lion"},
        {"dataset": 3},
        {"device": "tpu"},
        {"seed": -1},
    ],
)
def test_a_config_from_an_upload_fails_with_a_setting_named(bad):
    with pytest.raises(SettingsError) as caught:
        TrainConfig.from_json(bad)
    assert str(caught.value).startswith(f"train.{next(iter(bad))}: ")
