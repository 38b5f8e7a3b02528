"""A checked program as a graph of scalar operations.

Loops are unrolled, helper functions inlined and branches turned into selections before this, so a program is a straight
list of operations on numbers and truth values, each computed once. Back ends only spell operations.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

MAX_OPERATIONS = 2000
COMMUTATIVE = {"add", "mul", "min", "max", "eq", "ne", "and", "or"}


@dataclass(frozen=True)
class Operation:
    """One operation.

    Attributes:
        name: a key of `language.OPERATIONS`, or `signal`, `prev` (of a column), `constant` (of a slot), `literal`.
        arguments: indexes of earlier operations.
        value: column, slot or number of the four leaf operations.
    """

    name: str
    arguments: tuple[int, ...] = ()
    value: float | int | None = None


class TooLarge(Exception):
    """The program has more operations than MAX_OPERATIONS."""


@dataclass
class Graph:
    """Operations in the order in which they can be computed; equal ones are stored once."""

    operations: list[Operation] = field(default_factory=list)
    _known: dict[Operation, int] = field(default_factory=dict)

    def add(self, name: str, *arguments: int, value: float | int | None = None) -> int:
        """Return the index of an operation, new or known.

        Raises:
            TooLarge: there are too many.
        """
        # repr tells 0.0 from -0.0 and 1 from 1.0, which compare equal
        operation = Operation(name, arguments, value)
        key = Operation(name + (f" {value!r}" if value is not None else ""), arguments)
        if key not in self._known:
            if len(self.operations) >= 4 * MAX_OPERATIONS:
                raise TooLarge
            self._known[key] = len(self.operations)
            self.operations.append(operation)
        return self._known[key]

    def pruned(
        self, results: list[int]
    ) -> tuple[tuple[Operation, ...], tuple[int, ...], tuple[int, ...], dict[int, int]]:
        """Drop what the results do not need.

        Returns:
            operations, results as indexes into them, the old slots of the constants in their new order, and
            old index -> new index.

        Raises:
            TooLarge: what is left is too much.
        """
        needed, stack = set(), list(results)
        while stack:
            index = stack.pop()
            if index not in needed:
                needed.add(index)
                stack += self.operations[index].arguments
        if len(needed) > MAX_OPERATIONS:
            raise TooLarge
        used = [self.operations[i].value for i in needed if self.operations[i].name == "constant"]
        slots = tuple(sorted(int(slot) for slot in used if slot is not None))
        place: dict[int, int] = {}
        kept: list[Operation] = []
        for index in sorted(needed):
            old = self.operations[index]
            value = slots.index(int(old.value)) if old.name == "constant" and old.value is not None else old.value
            place[index] = len(kept)
            kept.append(Operation(old.name, tuple(place[a] for a in old.arguments), value))
        return tuple(kept), tuple(place[r] for r in results), slots, place


def digests(operations: tuple[Operation, ...], constants: tuple[float, ...] | None) -> list[str]:
    """What each operation computes, as 64 hex digits; None leaves constants out."""
    found: list[str] = []
    for operation in operations:
        value = operation.value
        if operation.name == "constant":
            value = None if constants is None else constants[int(operation.value or 0)]
        arguments = [found[a] for a in operation.arguments]
        if operation.name in COMMUTATIVE:
            arguments.sort()
        kind = "constant" if operation.name == "literal" else operation.name
        if kind == "constant" and value is not None:
            value = float(value)
        text = f"{kind}|{value!r}|{'|'.join(arguments)}"
        found.append(hashlib.sha256(text.encode()).hexdigest())
    return found


def digest(operations: tuple[Operation, ...], results: tuple[int, ...], constants: tuple[float, ...] | None) -> str:
    """16 hex digits of what is computed, whatever its names, order of terms and lines; None leaves constants out."""
    known = digests(operations, constants)
    parts = sorted(known[r] for r in results)
    return hashlib.sha256("|".join(parts).encode()).hexdigest()[:16]
