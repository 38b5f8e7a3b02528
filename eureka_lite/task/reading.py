"""Reading a TOML table key by key, so that every mistake is reported with file, key and the nearest right name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eureka_lite.task.signals import did_you_mean
from eureka_lite.task.task import TaskError

_MISSING: Any = object()


class Table:
    """A TOML table that knows where it stands and which of its keys were read.

    Every getter raises TaskError if the key is missing (and has no default) or has another type.
    """

    def __init__(self, data: Any, path: Path, where: str) -> None:
        self._path, self._where = path, where
        self._read: set[str] = set()
        if not isinstance(data, dict):
            raise TaskError(f"{path}: {where}: expected a table, found {data!r}")
        self._data: dict[str, Any] = data

    def __contains__(self, key: str) -> bool:
        return key in self._data

    @property
    def empty(self) -> bool:
        """Whether the table has no keys."""
        return not self._data

    def error(self, key: str, why: str, near: tuple[str, tuple[str, ...]] | None = None) -> TaskError:
        """A TaskError about `key`, with the nearest right name where `near` = (name, choices) is given."""
        place = ".".join(part for part in (self._where, key) if part)
        hint = did_you_mean(near[0], near[1]) if near else ""
        return TaskError(f"{self._path}: {place}: {why}{hint}")

    def _get(self, key: str, default: Any, types: tuple[type, ...], what: str) -> Any:
        self._read.add(key)
        value = self._data.get(key, default)
        if value is _MISSING:
            unread = tuple(k for k in self._data if k not in self._read)
            raise self.error(key, f"is missing ({what})" + (f"; the table has {', '.join(unread)}" if unread else ""))
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            raise self.error(key, f"expected {what}, found {value!r}")
        return value

    def text(self, key: str, default: Any = _MISSING) -> str:
        """A string."""
        return self._get(key, default, (str,), "a text")

    def number(self, key: str, default: Any = _MISSING, above: float | None = None) -> float:
        """A finite number, greater than `above` where that is given."""
        value = float(self._get(key, default, (int, float), "a number"))
        if value - value != 0.0 or (above is not None and value <= above):
            raise self.error(
                key, f"expected a finite number{'' if above is None else f' above {above:g}'}, found {value}"
            )
        return value

    def integer(self, key: str, default: Any = _MISSING) -> int:
        """A whole number."""
        return self._get(key, default, (int,), "a whole number")

    def flag(self, key: str) -> None:
        """A key that can only be true."""
        if self._get(key, _MISSING, (bool,), "true") is not True:
            raise self.error(key, "expected true")

    def texts(self, key: str, default: Any = _MISSING) -> list[str]:
        """A list of strings, or one string."""
        value = self._get(key, default, (list, str), "a text or a list of texts")
        items = [value] if isinstance(value, str) else value
        if not all(isinstance(item, str) for item in items):
            raise self.error(key, f"expected texts, found {value!r}")
        return items

    def pair(self, key: str) -> tuple[float, float]:
        """Two finite numbers, the lower one first."""
        value = self._get(key, _MISSING, (list,), "[lowest, highest]")
        good = len(value) == 2 and all(isinstance(v, int | float) and not isinstance(v, bool) for v in value)
        if not good or not float("-inf") < value[0] <= value[1] < float("inf"):
            raise self.error(key, f"expected [lowest, highest], found {value!r}")
        return float(value[0]), float(value[1])

    def choice(self, key: str, choices: tuple[str, ...], default: Any = _MISSING) -> str:
        """One of a few words."""
        return self._known(key, self.text(key, default), choices)

    def name(self, key: str, choices: tuple[str, ...], default: Any = _MISSING) -> str:
        """A name that must exist."""
        return self._known(key, self.text(key, default), choices)

    def names(self, key: str, choices: tuple[str, ...]) -> list[str]:
        """Names that must exist."""
        return [self._known(key, name, choices) for name in self.texts(key)]

    def _known(self, key: str, name: str, choices: tuple[str, ...]) -> str:
        if name not in choices:
            raise self.error(key, f"there is no {name!r}", near=(name, choices))
        return name

    def table(self, key: str, optional: bool = False) -> Table:
        """A table below this one; empty if it is optional and missing."""
        data = self._get(key, {} if optional else _MISSING, (dict,), "a table")
        return Table(data, self._path, ".".join(part for part in (self._where, key) if part))

    def tables(self) -> Iterator[tuple[str, Table]]:
        """All keys as tables."""
        return ((key, self.table(key)) for key in list(self._data))

    def numbers(self, choices: tuple[str, ...]) -> dict[str, float]:
        """All keys as numbers; every key must be one of `choices`."""
        return {self._known(key, key, choices): self.number(key) for key in self._data}

    def pairs(self, choices: tuple[str, ...]) -> dict[str, tuple[float, float]]:
        """All keys as pairs; every key must be one of `choices`."""
        return {self._known(key, key, choices): self.pair(key) for key in self._data}

    def done(self) -> None:
        """Refuse keys that nobody read: they are typing errors."""
        for key in self._data:
            if key not in self._read:
                raise self.error(key, "unknown key", near=(key, tuple(sorted(self._read))))
