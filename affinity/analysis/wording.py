"""Numbers and lists in sentences, in one place so that all views speak alike."""

import math
from collections.abc import Sequence

import numpy as np


def number(value: float, *, digits: int = 3, missing: str = "unknown") -> str:
    """Significant digits with a sign, as in `+0.0123`, and no powers of ten between 1e-7 and 1e7.

    Args:
        value: any number.
        digits: how many significant digits.
        missing: what stands for NaN.
    """
    if math.isnan(value):
        return missing
    if not value:
        return "0"
    if not 1e-7 <= abs(value) < 1e7:
        return f"{value:+.{digits}g}"
    return np.format_float_positional(
        value, precision=digits, unique=False, fractional=False, trim="-", sign=True
    )


def percent(share: float) -> str:
    """A share in per cent, as in `12 %` or `0.4 %`; `unknown` for a missing value."""
    if math.isnan(share):
        return "unknown"
    size = abs(100 * share)
    return f"{100 * share:.0f} %" if size >= 10 or size == 0 else f"{100 * share:.2g} %"


def signed_percent(share: float) -> str:
    """The same with a sign, as in `+12 %`."""
    return ("+" if share > 0 else "") + percent(share)


def interval(low: float, high: float) -> str:
    """An interval, as in `+0.01 to +0.03`; empty where there is none."""
    return "" if math.isnan(low) or math.isnan(high) else f"{number(low)} to {number(high)}"


def plural(count: int, noun: str) -> str:
    """`1 step`, `2 steps`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def listing(items: Sequence[str], *, most: int = 4) -> str:
    """`a, b and c`; beyond `most` items the rest is counted."""
    shown = list(items[:most])
    if len(items) > most:
        shown = [*items[: most - 1], f"{len(items) - most + 1} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}" if shown else ""
