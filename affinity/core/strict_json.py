"""Strict JSON: NaN and infinity are written as null, files are replaced in one piece."""

import json
import math
import os
import tempfile
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from affinity.core.errors import Unreadable

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

MAX_DEPTH = 64
MAX_BYTES = 50_000_000


def to_json(value: object) -> Json:
    """Plain JSON values: arrays become lists, dataclasses objects, NaN and infinity null.

    Raises:
        TypeError: the value has no JSON form.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _encodable(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, np.ndarray):
        return to_json(value.tolist())
    if isinstance(value, Mapping):
        return {_encodable(str(key)): to_json(item) for key, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_json(item) for item in value]
    raise TypeError(f"{type(value).__name__} has no JSON form")


def dumps(value: object, *, indent: int | None = None) -> str:
    """Strict JSON text of `value`; see `to_json`."""
    return json.dumps(to_json(value), allow_nan=False, ensure_ascii=False, indent=indent)


def loads(text: str, where: str) -> Json:
    """Parse JSON text; NaN, Infinity and numbers beyond the largest float are read as null.

    Raises:
        Unreadable: not JSON, or nested deeper than 64 levels; names the line.
    """
    try:
        value: Json = json.loads(text, parse_constant=lambda _token: None, parse_float=_finite)
    except json.JSONDecodeError as error:
        raise Unreadable(f"not valid JSON ({error.msg})", f"{where}, line {error.lineno}") from error
    except (RecursionError, ValueError) as error:
        raise Unreadable("JSON is nested too deeply or holds an impossible number", where) from error
    if _depth(value) > MAX_DEPTH:
        raise Unreadable(f"JSON is nested deeper than {MAX_DEPTH} levels", where)
    # Half of a surrogate pair can only come from an escape; no file or terminal could hold it.
    return to_json(value) if "\\u" in text else value


def read_object(path: Path) -> dict[str, Json]:
    """The JSON object in a file.

    Raises:
        Unreadable: the file is missing or too large, is not UTF-8 JSON, or holds something other than an
            object.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise Unreadable(f"larger than {MAX_BYTES:,} bytes", path.name)
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable("not UTF-8 text", path.name) from error
    except OSError as error:
        raise Unreadable(f"cannot be read ({error.strerror})", path.name) from error
    value = loads(text, path.name)
    if not isinstance(value, dict):
        raise Unreadable("expected a JSON object", path.name)
    return value


def write_atomic(path: Path, value: object) -> None:
    """Write strict JSON beside `path`, then put it in place, so a reader never sees half a file."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(dumps(value, indent=1) + "\n")
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _finite(token: str) -> float | None:
    value = float(token)
    return value if math.isfinite(value) else None


def _encodable(text: str) -> str:
    """`text` with a question mark for every half of a surrogate pair, which UTF-8 cannot hold."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _depth(value: Json) -> int:
    """Nesting depth, found without recursion so that hostile input cannot exhaust the stack."""
    deepest, level = 0, [value]
    while level and deepest <= MAX_DEPTH:
        deepest += 1
        level = [
            child
            for item in level
            if isinstance(item, list | dict)
            for child in (item.values() if isinstance(item, dict) else item)
        ]
    return deepest
