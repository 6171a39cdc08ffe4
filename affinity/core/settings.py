"""Settings are frozen dataclasses whose fields carry their bounds and help.

The command line, the forms and the run log all read the same description, so they cannot drift apart.
"""

import dataclasses
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from affinity.core.errors import SettingsError
from affinity.core.strict_json import Json, to_json

MAX_SHOWN = 80


def setting(
    default: Any,  # noqa: ANN401 - the type stands on the field itself
    *,
    help: str,
    low: float | None = None,
    high: float | None = None,
    choices: tuple[str, ...] = (),
) -> Any:  # noqa: ANN401
    """A dataclass field with a default, one sentence of help, inclusive bounds or fixed choices."""
    metadata = {"help": help, "low": low, "high": high, "choices": choices}
    return dataclasses.field(default=default, metadata=metadata)


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingField:
    """One field of a settings class, as a form or a command line needs it.

    `items` is the type of a list's items, and None for other kinds.
    """

    name: str
    kind: type
    items: type | None
    optional: bool
    default: object
    help: str
    low: float | None
    high: float | None
    choices: tuple[str, ...]

    @property
    def title(self) -> str:
        """The name in words: `weight_decay` becomes `Weight decay`."""
        return self.name.replace("_", " ").capitalize()


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Base of every settings class; validated when it is made.

    Raises:
        SettingsError: on construction, when a value is out of range or not a choice.
    """

    where: ClassVar[str] = "settings"

    def __post_init__(self) -> None:
        for field in describe(type(self)):
            _check(field, getattr(self, field.name), self.where)

    @classmethod
    def from_json(cls, values: Mapping[str, object]) -> Self:
        """Settings from untrusted values.

        Text is converted where the field is a number, a bool or a list of texts, which are separated by
        commas.

        Raises:
            SettingsError: an unknown name, a wrong type, or a value out of range.
        """
        described = {field.name: field for field in describe(cls)}
        unknown = sorted(set(values) - set(described))
        if unknown:
            known = ", ".join(described) or "none"
            raise SettingsError(f"unknown setting '{unknown[0]}'.", cls.where, f"Known: {known}.")
        converted = {name: _convert(described[name], value, cls.where) for name, value in values.items()}
        return cls(**converted)

    def to_json(self) -> dict[str, Json]:
        """Every field as plain JSON; `from_json` gives the same settings back."""
        return {field.name: to_json(getattr(self, field.name)) for field in dataclasses.fields(self)}


@dataclass(frozen=True, kw_only=True)
class NoSettings(Settings):
    """For entries that have nothing to set."""


def describe(settings: type[Settings]) -> tuple[SettingField, ...]:
    """The fields of a settings class, in order."""
    hints = typing.get_type_hints(settings)
    described = []
    for field in dataclasses.fields(settings):
        kind, optional = _unwrap(hints[field.name])
        metadata = field.metadata
        described.append(
            SettingField(
                name=field.name,
                kind=kind,
                items=_item_kind(hints[field.name]),
                optional=optional,
                default=field.default,
                help=metadata.get("help", ""),
                low=metadata.get("low"),
                high=metadata.get("high"),
                choices=metadata.get("choices", ()),
            )
        )
    return tuple(described)


def _unwrap(hint: object) -> tuple[type, bool]:
    """The plain type behind `X | None` and `tuple[X, ...]`, and whether None is allowed."""
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        kinds = [kind for kind in typing.get_args(hint) if kind is not type(None)]
        return _unwrap(kinds[0])[0], True
    return (origin or hint), False  # type: ignore[return-value]


def _item_kind(hint: object) -> type | None:
    """The type of the items of `tuple[X, ...]`, also behind `| None`."""
    origin, inside = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return _item_kind(inside[0])
    return _unwrap(inside[0])[0] if origin is tuple else None


def _convert(field: SettingField, value: object, where: str) -> object:
    if value is None and field.optional:
        return None
    try:
        if field.kind is bool and isinstance(value, str):
            return {"true": True, "false": False}[value.strip().lower()]
        if field.kind is tuple:
            return _converted_list(field, value)
        if field.kind is int and isinstance(value, float | str):
            if float(value) != int(float(value)):
                raise ValueError
            return int(float(value))
        if field.kind is float and not isinstance(value, bool) and isinstance(value, int | float | str):
            return float(value)
    except (KeyError, ValueError, OverflowError):
        pass
    else:
        if isinstance(value, field.kind):
            return value
    raise _wrong_kind(field, value, where)


def _converted_list(field: SettingField, value: object) -> tuple[object, ...]:
    if isinstance(value, str) and field.items is str:
        return tuple(part.strip() for part in value.split(",") if part.strip())
    if isinstance(value, Mapping) and field.items is tuple:
        return tuple(value.items())
    if not isinstance(value, list | tuple) or not _fitting_items(field, value):
        raise ValueError
    return tuple(value)


def _fitting_items(field: SettingField, items: Iterable[object]) -> bool:
    """Every item has the type of the list's items; a tuple among them is a (name, value) pair."""
    if field.items is tuple:
        return all(
            isinstance(item, list | tuple) and len(item) == 2 and isinstance(item[0], str) for item in items
        )
    return field.items is None or all(isinstance(item, field.items) for item in items)


def _wrong_kind(field: SettingField, value: object, where: str) -> SettingsError:
    shown = repr(value) if len(repr(value)) <= MAX_SHOWN else f"{repr(value)[:MAX_SHOWN]}..."
    kind = f"{_article(field.kind)} of text" if field.items is str else _article(field.kind)
    return SettingsError(f"{shown} is not {kind}.", f"{where}.{field.name}", field.help)


def _check(field: SettingField, value: object, where: str) -> None:
    place = f"{where}.{field.name}"
    if value is None and field.optional:
        return
    accepted = int | float if field.kind is float else field.kind
    if not isinstance(value, accepted) or (isinstance(value, bool) and field.kind is not bool):
        raise _wrong_kind(field, value, where)
    if isinstance(value, tuple) and not _fitting_items(field, value):
        raise _wrong_kind(field, value, where)
    if field.choices:
        chosen = value if isinstance(value, tuple) else (value,)
        for item in chosen:
            if item not in field.choices:
                raise SettingsError(
                    f"{item!r} is not a choice.", place, f"Choose from: {', '.join(field.choices)}."
                )
    if isinstance(value, int | float):
        low = field.low if field.low is not None else float("-inf")
        high = field.high if field.high is not None else float("inf")
        if not low <= value <= high:  # also false for NaN
            raise SettingsError(f"{value} is outside {low:g} to {high:g}.", place, field.help)


def _article(kind: type) -> str:
    names = {int: "a whole number", float: "a number", bool: "true or false", str: "text", tuple: "a list"}
    return names.get(kind, kind.__name__)
