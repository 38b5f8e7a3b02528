"""Reading fields that may be missing or of the wrong type.

A screen outlives the versions of what it shows, and a damaged file is still worth looking at: these never raise.
"""

from __future__ import annotations

import math
from typing import Any

from eureka_lite.report.text import printable


def number_of(data: Any, *keys: str) -> float | None:
    """Read the first of `keys` that holds a finite number."""
    for key in keys:
        value = mapping(data).get(key)
        if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300:
            if math.isfinite(value):
                return float(value)
    return None


def text_of(data: Any, key: str, default: str = "") -> str:
    """Read a text as one harmless line; numbers become text."""
    value = mapping(data).get(key)
    return printable(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else default


def texts_of(data: Any, key: str) -> list[str]:
    """Read a list of texts, or one text as a list."""
    value = mapping(data).get(key)
    items = value if isinstance(value, list | tuple) else [value]
    return [printable(item) for item in items if isinstance(item, str | int | float) and not isinstance(item, bool)]


def mapping(value: Any) -> dict[str, Any]:
    """Return `value` if it is a table, else an empty one."""
    return value if isinstance(value, dict) else {}


def interval_of(fit: Any) -> tuple[float, float] | None:
    """Read the 95 % interval of a fit."""
    bounds = mapping(fit).get("ci95")
    if not isinstance(bounds, list | tuple) or len(bounds) != 2:
        return None
    low, high = (number_of({"bound": bound}, "bound") for bound in bounds)
    return None if low is None or high is None else (low, high)
