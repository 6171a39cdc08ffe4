"""Task names are untrusted data: one rule cleans them, one rule tells equal ones apart."""

import unicodedata
from collections.abc import Iterable

from affinity.core.errors import DatasetError

MAX_NAME_LENGTH = 200
MAX_TASKS = 500

_BIDI_CONTROLS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def clean_name(name: str) -> str:
    """NFC form of `name` without control or bidirectional characters, at most 200 long; never empty."""
    kept = (
        " " if character in "\t\n\r" else character
        for character in str(name)
        if character in "\t\n\r"
        or (unicodedata.category(character) not in {"Cc", "Cs"} and character not in _BIDI_CONTROLS)
    )
    # Composed last: what was stripped may have stood between a letter and its accent.
    composed = unicodedata.normalize("NFC", "".join(kept))
    return composed.strip()[:MAX_NAME_LENGTH].rstrip() or "unnamed"


def unique_names(names: Iterable[str]) -> tuple[str, ...]:
    """Cleaned names; the second of two equal ones becomes `name (2)`.

    Raises:
        DatasetError: more than 500 names.
    """
    cleaned = [clean_name(name) for name in names]
    if len(cleaned) > MAX_TASKS:
        raise DatasetError(f"{len(cleaned)} tasks are more than the limit of {MAX_TASKS}.")
    taken = set(cleaned)
    seen: set[str] = set()
    result: list[str] = []
    for name in cleaned:
        candidate, number = name, 1
        while candidate in seen or (number > 1 and candidate in taken):
            number += 1
            candidate = f"{name} ({number})"
        seen.add(candidate)
        result.append(candidate)
    return tuple(result)
