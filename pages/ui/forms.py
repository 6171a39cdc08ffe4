"""A form drawn from a Settings dataclass, so that the page and the code that reads it cannot drift apart."""

from collections.abc import Mapping, Sequence

import streamlit as st

from affinity.core.settings import SettingField, Settings, describe
from pages.ui import messages


def draw(
    settings: type[Settings],
    prefix: str,
    *,
    only: Sequence[str] = (),
    titles: Mapping[str, str] | None = None,
    defaults: Mapping[str, object] | None = None,
    columns: int = 1,
) -> dict[str, object]:
    """Draw one widget a field and return the values; what the bounds forbid cannot be entered.

    Args:
        settings: the settings class.
        prefix: starts the widgets' keys, so that two forms on a page do not meet.
        only: fields to draw, in this order; all when empty.
        titles: labels that say more than the field's name.
        defaults: first values that differ from the class's own.
        columns: how many widgets stand side by side.
    """
    fields = {field.name: field for field in describe(settings)}
    names = tuple(only) or tuple(fields)
    values: dict[str, object] = {}
    places = st.columns(columns) if columns > 1 else [st.container()]
    for position, name in enumerate(names):
        field = fields[name]
        start = (defaults or {}).get(name, field.default)
        label = (titles or {}).get(name, field.title)
        with places[position % len(places)]:
            values[name] = _widget(field, f"{prefix}_{name}", label=label, start=start)
    return values


def _widget(field: SettingField, key: str, *, label: str, start: object) -> object:
    help_text = messages.md(field.help) or None
    if field.kind is bool:
        return st.toggle(label, value=bool(start), key=key, help=help_text, persist_state="session")
    if field.kind is tuple:
        return _list_widget(field, key, label=label, start=start)
    if field.choices:
        position = field.choices.index(str(start)) if start in field.choices else 0
        return st.selectbox(label, field.choices, position, key=key, help=help_text, persist_state="session")
    if field.kind in (int, float):
        return _number(field, key, label=label, start=start)
    text = st.text_input(label, str(start or ""), 200, key, help=help_text, persist_state="session")
    return text or (None if field.optional else "")


def _number(field: SettingField, key: str, *, label: str, start: object) -> float | int | None:
    convert = field.kind
    value = None if start is None else convert(start)
    low = None if field.low is None else convert(field.low)
    high = None if field.high is None else convert(field.high)
    return st.number_input(
        label,
        low,
        high,
        value,
        step=1 if field.kind is int else None,
        format=None if field.kind is int else "%g",
        key=key,
        help=messages.md(field.help) or None,
        placeholder="automatic" if field.optional else None,
        persist_state="session",
    )


def _list_widget(field: SettingField, key: str, *, label: str, start: object) -> tuple[object, ...]:
    help_text = messages.md(field.help) or None
    chosen = list(start) if isinstance(start, tuple) else []
    if field.choices:
        return tuple(
            st.multiselect(label, field.choices, chosen, key=key, help=help_text, persist_state="session")
        )
    shown = ", ".join(str(item) for item in chosen)
    text = st.text_input(label, shown, 500, key, help=help_text, persist_state="session") or ""
    return tuple(_item(part.strip()) for part in text.split(",") if part.strip())


def _item(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
