"""A small TOML writer, since the standard library only reads TOML.

Bottom of the package: imports nothing of ours. What it writes, `tomllib` reads back equal.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def to_toml(data: dict[str, Any]) -> str:
    """Write `data` as a TOML document: str, int, float, bool, Path (as its text), lists and nested tables.

    None is left out, as TOML has none; a lone surrogate becomes the replacement character. Raises TypeError for
    anything else, with the key it stands at, and for None in a list, where leaving it out would move the others.
    """
    lines: list[str] = []
    _write_table(data, (), lines)
    return "\n".join(lines).lstrip("\n") + "\n"


def _write_table(table: dict[str, Any], path: tuple[str, ...], lines: list[str]) -> None:
    """Plain values come first: after a sub-table's header they would belong to the sub-table."""
    if path:
        lines.extend(["", f"[{'.'.join(map(_key, path))}]"])
    for key, value in table.items():
        if value is not None and not isinstance(value, dict):
            lines.append(f"{_key(key)} = {_value(value, (*path, str(key)))}")
    for key, value in table.items():
        if isinstance(value, dict):
            _write_table(value, (*path, str(key)), lines)


def _value(value: Any, path: tuple[str, ...]) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        return float.__repr__(value)
    if isinstance(value, str | Path):
        return _quoted(str(value))
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(item, (*path, str(index))) for index, item in enumerate(value))}]"
    if isinstance(value, dict):
        items = [f"{_key(key)} = {_value(item, (*path, str(key)))}" for key, item in value.items() if item is not None]
        return f"{{{', '.join(items)}}}"
    raise TypeError(f"{'.'.join(path)}: TOML cannot hold {value!r} ({type(value).__name__})")


def _key(key: Any) -> str:
    text = str(key)
    return text if _BARE_KEY.fullmatch(text) else _quoted(text)


def _quoted(text: str) -> str:
    return f'"{"".join(map(_character, text))}"'


def _character(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    code = ord(character)
    if code < 0x20 or code == 0x7F:
        return f"\\u{code:04x}"
    return "\ufffd" if 0xD800 <= code <= 0xDFFF else character
