"""What an expression of the reward language can be while a program is checked."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Number:
    """A float of the world. `static` is its value where the text alone tells it (literals, loop variables)."""

    node: int
    static: float | int | None = None


@dataclass(frozen=True)
class Truth:
    """True or false; `static` where the text alone tells it."""

    node: int
    static: bool | None = None


@dataclass(frozen=True)
class Vector:
    """Numbers with an order; kind is vec3, quat (w, x, y, z) or vector."""

    nodes: tuple[int, ...]
    kind: str = "vector"
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Row:
    """The signals of this step ("signal") or of the one before ("prev")."""

    which: str


@dataclass(frozen=True)
class Group:
    """Several values in brackets."""

    items: tuple[Value, ...]


@dataclass(frozen=True)
class Components:
    """The dict of named reward components: name -> node."""

    parts: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Unset:
    """A variable that has a value on some ways through the program only."""


@dataclass(frozen=True)
class Unknown:
    """What follows from a mistake that has been noted already."""


Value = Number | Truth | Vector | Row | Group | Components | Unset | Unknown

NAMES = {Number: "a number", Truth: "a truth value", Row: "a row of signals", Group: "several values",
         Components: "a dict of components", Unset: "unset", Unknown: "unknown"}  # fmt: skip


def describe(value: Value) -> str:
    """The kind of a value for error messages."""
    if isinstance(value, Vector):
        return f"a {value.kind}" if value.kind != "vector" else f"a vector of {len(value.nodes)}"
    return NAMES[type(value)]
