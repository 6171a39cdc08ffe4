"""One number a task from a setting's text."""

import numpy as np

from affinity.core.errors import SettingsError
from affinity.core.types import FloatArray


def numbers(text: str, where: str) -> list[float]:
    """The numbers in `1, 0.5, 2`.

    Raises:
        SettingsError: one of them is not a finite number.
    """
    found = []
    for part in text.split(","):
        if part.strip():
            try:
                value = float(part)
            except ValueError:
                value = np.nan
            if not np.isfinite(value):
                raise SettingsError(
                    f"{part.strip()[:40]!r} is not a number.", where, "Write for example 1, 0.5"
                )
            found.append(value)
    return found


def one_a_task(text: str, count: int, where: str, *, default: float) -> FloatArray:
    """(N,) the numbers of a setting, or the default for every task where it is empty.

    Raises:
        SettingsError: not as many numbers as tasks.
    """
    found = numbers(text, where)
    if found and len(found) != count:
        raise SettingsError(
            f"{len(found)} numbers for {count} tasks.", where, "Give one for each, in their order."
        )
    return np.array(found) if found else np.full(count, default)
