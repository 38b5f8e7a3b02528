"""From data to text that is safe and short enough for a terminal.

Knows nothing of runs. Replies, reasons and goals come from elsewhere: nothing of them may reach the terminal as a
command, so every text goes through `printable` and is shown as plain rich.text.Text, never as markup.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

_ESCAPE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"  # CSI: colours, cursor moves
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"  # OSC, DCS and other strings
    r"|\x1b[ -/]*[0-~]?"
)
_HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
_MARKS = {"Mn", "Me"}


@dataclass(frozen=True)
class Glyphs:
    """The drawing characters that a terminal has."""

    spark: str
    bar: str
    bar_left: str
    rule: str
    best: str
    dot: str
    ellipsis: str


UNICODE = Glyphs("▁▂▃▄▅▆▇█", "━", "─", "─", "★", "·", "…")
ASCII = Glyphs("_.-=+*%#", "#", "-", "-", "*", "|", "~")


def printable(value: object, lines: bool = False) -> str:
    """Make any text harmless on a terminal.

    Escape sequences go with all they carry; control and invisible characters (among them those that turn the writing
    direction) go, and so do more than two combining marks in a row. White space becomes single spaces; with `lines`,
    line breaks and indentation stay.
    """
    text = _ESCAPE.sub("", value if isinstance(value, str) else str(value))
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", "    ")
    kept: list[str] = []
    marks = 0
    for character in text:
        category = unicodedata.category(character)
        marks = marks + 1 if category in _MARKS else 0
        if character == "\n":
            kept.append(character)
        elif category in _HIDDEN:
            kept.append("\n" if category in ("Zl", "Zp") else "")
        elif marks <= 2:
            kept.append(character)
    text = "".join(kept)
    return text.strip("\n") if lines else " ".join(text.split())


def number(value: float | None, unknown: str = "-") -> str:
    """Write a measured value with about three digits: 0.912, 15.3, 12,400, 1.2e-05."""
    if value is None or not math.isfinite(value):
        return unknown
    size = abs(value)
    if size >= 1e7 or 0.0 < size < 0.0005:
        return f"{value:.1e}"
    if size >= 1000:
        return f"{value:,.0f}"
    return f"{value:.{1 if size >= 100 else 2 if size >= 10 else 3}f}"


def count(value: float | None, unknown: str = "-", short: bool = False) -> str:
    """Write a count: 950, 39,400 (39k if `short`), 2.4M, 1.1G."""
    if value is None or not math.isfinite(value):
        return unknown
    for unit, size in (("T", 1e12), ("G", 1e9), ("M", 1e6)):
        if abs(value) >= size:
            return f"{value / size:.1f}{unit}"
    return f"{value / 1e3:.0f}k" if short and abs(value) >= 1e4 else f"{value:,.0f}"


def duration(seconds: float | None, unknown: str = "-") -> str:
    """Write a time span: 0:07, 12:34, 3:02:01, 2 d 4 h."""
    if seconds is None or not math.isfinite(seconds):
        return unknown
    whole = max(0, int(seconds))
    if whole >= 100 * 3600:
        return f"{whole // 86400} d {whole % 86400 // 3600} h"
    hours, rest = divmod(whole, 3600)
    return f"{hours}:{rest // 60:02}:{rest % 60:02}" if hours else f"{rest // 60}:{rest % 60:02}"


def roughly(seconds: float | None) -> str:
    """Write an estimate of a time span no finer than it is known: about 20 s, 3 min, 1 h 20 min."""
    if seconds is None or not math.isfinite(seconds):
        return "unknown"
    if seconds < 90:
        return f"{max(10, round(seconds / 10) * 10)} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(round(minutes / 10) * 10, 60)
    return f"{hours} h {minutes} min" if hours < 48 else f"{hours // 24} d {hours % 24} h"


def clock_time(seconds: float) -> str:
    """Write a moment as local time of day; blank if there is no such moment."""
    try:
        return f"{datetime.fromtimestamp(seconds):%H:%M:%S}"
    except (OverflowError, ValueError, OSError):
        return "--:--:--"


def sparkline(
    values: Sequence[float | None],
    width: int,
    low: float,
    high: float,
    expected: int = 0,
    glyphs: Glyphs = UNICODE,
) -> str:
    """Draw a curve in at most `width` characters, its height on the scale `low` to `high`.

    `expected` values fill the whole width, so that the line grows as the values come in; more values than characters
    are averaged. Unknown values leave a gap.
    """
    total = max(len(values), expected)
    if not values or width < 1:
        return ""
    per = max(1.0, total / width)
    drawn = []
    for place in range(math.ceil(len(values) / per)):
        group = [
            v for v in values[int(place * per) : max(int(place * per) + 1, int((place + 1) * per))] if v is not None
        ]
        finite = [v for v in group if math.isfinite(v)]
        drawn.append(_level(sum(finite) / len(finite), low, high, glyphs.spark) if finite else " ")
    return "".join(drawn)[:width]


def _level(value: float, low: float, high: float, levels: str) -> str:
    span = high - low
    share = (value - low) / span if span > 0.0 and math.isfinite(span) else 0.5
    return levels[min(len(levels) - 1, int(min(max(share, 0.0), 1.0) * len(levels)))]
