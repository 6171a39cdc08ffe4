"""Typed access to an untrusted JSON object; every refusal names the field."""

import math
from dataclasses import dataclass
from typing import Self

from affinity.core.errors import Unreadable
from affinity.core.strict_json import Json


@dataclass(frozen=True, slots=True)
class Fields:
    """One JSON object and the place it stands at."""

    content: dict[str, Json]
    where: str

    @classmethod
    def of(cls, value: Json, where: str) -> Self:
        """The object `value`.

        Raises:
            Unreadable: it is something else.
        """
        if not isinstance(value, dict):
            raise Unreadable("expected a JSON object.", where)
        return cls(value, where)

    def value(self, key: str) -> Json:
        """Whatever stands under `key`, or None."""
        return self.content.get(key)

    def text(self, key: str, longest: int, *, default: str | None = None) -> str:
        """A string of at most `longest` characters.

        Raises:
            Unreadable: absent without default, not text, or too long.
        """
        value = self.content.get(key, default)
        if not isinstance(value, str):
            raise Unreadable("expected text.", self._place(key))
        return _short(value, longest, self._place(key))

    def optional_text(self, key: str, longest: int) -> str | None:
        """The same, or None where it is absent or null."""
        return None if self.content.get(key) is None else self.text(key, longest)

    def texts(self, key: str, most: int, longest: int) -> tuple[str, ...]:
        """A list of strings."""
        items = self._list(key, most)
        if not all(isinstance(item, str) for item in items):
            raise Unreadable("expected a list of texts.", self._place(key))
        return tuple(_short(str(item), longest, self._place(key)) for item in items)

    def objects(self, key: str, most: int) -> list["Fields"]:
        """A list of objects."""
        items = self._list(key, most)
        return [Fields.of(item, f"{self._place(key)}[{number}]") for number, item in enumerate(items)]

    def number(self, key: str) -> float | None:
        """A finite number, or None where it is absent or null."""
        value = self.content.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not _finite(value):
            raise Unreadable("expected a finite number or null.", self._place(key))
        return float(value)

    def flag(self, key: str) -> bool:
        """True or false; false where it is absent."""
        value = self.content.get(key, False)
        if not isinstance(value, bool):
            raise Unreadable("expected true or false.", self._place(key))
        return value

    def _list(self, key: str, most: int) -> list[Json]:
        value = self.content.get(key)
        if not isinstance(value, list):
            raise Unreadable("expected a list.", self._place(key))
        if len(value) > most:
            raise Unreadable(f"{len(value)} items are more than the limit of {most}.", self._place(key))
        return value

    def _place(self, key: str) -> str:
        return f"{self.where}, {key}"


def _finite(value: float) -> bool:
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def _short(value: str, longest: int, place: str) -> str:
    if len(value) > longest:
        raise Unreadable(f"{len(value)} characters are more than the limit of {longest}.", place)
    return value
