"""A checked program: what it computes, and how it is recognized."""

from __future__ import annotations

from dataclasses import dataclass

from eureka_lite.reward.graph import Operation

MAX_COMPONENTS = 32


@dataclass(frozen=True)
class Call:
    """A function call of the text that became several operations: what people read instead of these.

    Attributes:
        function: its name in the table, or `pow`, `floordiv`, `mod` of the operators.
        arguments: indexes of operations; several for a vector.
        element: which element of the function's vector this is; None of a number.
    """

    function: str
    arguments: tuple[tuple[int, ...], ...]
    element: int | None = None


@dataclass(frozen=True)
class Program:
    """A program of the reward language that passed the check.

    Attributes:
        name: of its function.
        source: the text as it was given.
        outputs: component names of a reward; `("total",)` where it returns one number alone; element names otherwise.
        has_total: the total is computed by the program instead of being the sum of the components.
        is_reward: results are (total, *components), else the elements of one value.
        operations: see `graph`.
        results: indexes into `operations`.
        constants: numeric literals, arguments of the kernel.
        uses_prev: it reads the row before.
        hash: 16 hex digits of what it computes: names, comments and the order of terms do not matter.
        structure_hash: the same without the constants.
        notes: what was left out of the text.
        names: (index of an operation, variable of the text that held it first).
        calls: (index of an operation, the call of the text that it is the value of).
    """

    name: str
    source: str
    outputs: tuple[str, ...]
    has_total: bool
    is_reward: bool
    operations: tuple[Operation, ...]
    results: tuple[int, ...]
    constants: tuple[float, ...]
    uses_prev: bool
    hash: str
    structure_hash: str
    notes: tuple[str, ...] = ()
    names: tuple[tuple[int, str], ...] = ()
    calls: tuple[tuple[int, Call], ...] = ()

    @property
    def signal_columns(self) -> tuple[int, ...]:
        """Columns of the rows that it reads."""
        read = {int(o.value or 0) for o in self.operations if o.name in ("signal", "prev")}
        return tuple(sorted(read))
