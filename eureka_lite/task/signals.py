"""Signals: the one language between physics and learning.

Bottom of the package beside `store`: this file knows no engine, no reward and no learner. A signal is a named, typed,
documented quantity of one world; all signals of a task stand side by side in one float32 row, `signals[world, column]`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

Kind = Literal["scalar", "vec3", "quat", "vector"]
KIND_SIZES: dict[str, int | None] = {"scalar": 1, "vec3": 3, "quat": 4, "vector": None}
FOLD_OPERATIONS = ("max", "min", "sum", "mean", "first", "count_rising", "time_since", "held_for")


@dataclass(frozen=True)
class Source:
    """Where the columns of a signal come from.

    `kind` is one of SOURCE_KINDS; `names` are MJCF sensor or joint names, the quantity of the auxiliary physics, or the
    expression in the reward language for `expr` and `fold`; `operation` is the fold's.
    """

    kind: str
    names: tuple[str, ...] = ()
    operation: str | None = None


SOURCE_KINDS = ("sensor", "joint_pos", "joint_vel", "action", "last_action", "time", "liquid", "expr", "fold")


@dataclass(frozen=True)
class Signal:
    """One named quantity of one world.

    Attributes:
        name: lower case, says what it measures.
        kind: scalar, vec3, quat (w, x, y, z) or vector.
        size: number of columns.
        unit: SI unit, "1" for a pure number or share.
        frame: "world", the body it is expressed in, or "" where a frame means nothing.
        doc: one line for people and language models.
        source: what fills it.
        labels: names of a vector's elements, empty if it has none.
        range: lower and upper value that the quantity can take, if known.
        column: first column in the row.
    """

    name: str
    kind: Kind
    size: int
    unit: str
    frame: str
    doc: str
    source: Source
    labels: tuple[str, ...] = ()
    range: tuple[float, float] | None = None
    column: int = 0

    @property
    def columns(self) -> slice:
        """The signal's columns in a row."""
        return slice(self.column, self.column + self.size)


@dataclass(frozen=True)
class SignalTable:
    """The signals of a task in the order of their columns."""

    signals: tuple[Signal, ...]
    _by_name: dict[str, Signal] = field(default_factory=dict, repr=False, compare=False)

    @staticmethod
    def of(signals: list[Signal]) -> SignalTable:
        """Lay signals out one after the other and return their table."""
        placed, column = [], 0
        for signal in signals:
            placed.append(replace(signal, column=column))
            column += signal.size
        return SignalTable(tuple(placed), {signal.name: signal for signal in placed})

    @property
    def width(self) -> int:
        """Number of columns of a row."""
        return sum(signal.size for signal in self.signals)

    def __iter__(self) -> Iterator[Signal]:
        return iter(self.signals)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __getitem__(self, name: str) -> Signal:
        """The signal of that name; KeyError with the nearest right name if there is none."""
        try:
            return self._by_name[name]
        except KeyError:
            raise KeyError(f"no signal {name!r}{did_you_mean(name, self.names)}") from None

    @property
    def names(self) -> tuple[str, ...]:
        """Names in column order."""
        return tuple(signal.name for signal in self.signals)

    def reading(self, columns: Iterable[int]) -> tuple[Signal, ...]:
        """The signals that any of `columns` belongs to, in the order of the table."""
        wanted = set(columns)
        return tuple(signal for signal in self if wanted.intersection(range(signal.column, signal.columns.stop)))

    def column_names(self) -> list[str]:
        """One name per column: `time`, `cup_pos[2]`, `joint_vel.pitch`."""
        names = []
        for signal in self.signals:
            if signal.kind == "scalar":
                names.append(signal.name)
            elif signal.labels:
                names += [f"{signal.name}.{label}" for label in signal.labels]
            else:
                names += [f"{signal.name}[{i}]" for i in range(signal.size)]
        return names


def did_you_mean(name: str, choices: list[str] | tuple[str, ...] | dict) -> str:
    """Return "; did you mean 'x'?" for the nearest of `choices`, or "; one of a, b, c" if none is near."""
    choices = list(choices)
    near = difflib.get_close_matches(name, choices, n=1, cutoff=0.5)
    if near:
        return f"; did you mean {near[0]!r}?"
    return f"; there are: {', '.join(choices)}" if choices else ""
