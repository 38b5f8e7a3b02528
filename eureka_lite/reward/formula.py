"""A checked program as formulas for people: one line per component, whatever the text's variables and helpers were.

Written from the operations, so it says what is computed; calls of functions are shown as calls. A part that gets too
long is shown as the variable that held it in the text, and defined on a line of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from eureka_lite.reward.program import Call, Program
from eureka_lite.task.signals import SignalTable

LONGEST = 90
DEEPEST = 12
WHOLE, CONDITION, OR, AND, NOT, COMPARE, SUM, PRODUCT, SIGN, POWER, ATOM = range(11)
BINARY = {
    "add": (" + ", SUM), "sub": (" - ", SUM), "mul": (" * ", PRODUCT), "div": (" / ", PRODUCT),
    "floordiv": (" // ", PRODUCT), "mod": (" % ", PRODUCT), "pow": (" ** ", POWER), "and": (" and ", AND),
    "or": (" or ", OR), "lt": (" < ", COMPARE), "le": (" <= ", COMPARE), "gt": (" > ", COMPARE),
    "ge": (" >= ", COMPARE), "eq": (" == ", COMPARE), "ne": (" != ", COMPARE),
}  # fmt: skip
ELEMENTWISE = {"add", "sub", "mul", "div", "neg"}

Piece = tuple[str, int]  # a text and how tightly it binds


@dataclass(frozen=True)
class Formula:
    """What one component computes.

    Attributes:
        text: of the component, as in `exp(-norm(s.a - s.b) / 0.1)`.
        parts: (variable, text) of the parts that were too long, before those that use them.
    """

    text: str
    parts: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return self.text + "".join(f"; {name} = {text}" for name, text in reversed(self.parts))


def formulas(program: Program, signals: SignalTable) -> dict[str, Formula]:
    """The formula of each output of a program."""
    writer = _Writer(program, signals)
    results = program.results[1:] if program.is_reward else program.results
    return {name: writer.formula(node) for name, node in zip(program.outputs, results, strict=True)}


@dataclass
class _Writer:
    program: Program
    signals: SignalTable
    pieces: list[Piece] = field(default_factory=list)
    long: dict[int, str] = field(
        default_factory=dict
    )  # operation -> the whole text of a part that is shown by its name
    used: list[set[int]] = field(default_factory=list)  # long parts in each operation's text

    def __post_init__(self) -> None:
        self.columns = self.signals.column_names()
        self.names, self.calls = dict(self.program.names), dict(self.program.calls)
        self.vectors: dict[tuple[int, ...], Piece | None] = {}
        for node in range(len(self.program.operations)):
            self.seen: set[int] = set()
            text, strength = self._piece(node)
            if len(text) > LONGEST and self.program.operations[node].arguments:
                self.long[node] = text
                text, strength = self.names.get(node, f"part_{node}"), ATOM
            self.pieces.append((text, strength))
            self.used.append(self.seen)

    def formula(self, node: int) -> Formula:
        needed, stack = set(), list(self.used[node])
        while stack:
            part = stack.pop()
            if part not in needed:
                needed.add(part)
                stack += self.used[part]
        parts = tuple((self.pieces[part][0], self.long[part]) for part in sorted(needed - {node}))
        return Formula(self.long.get(node, self.pieces[node][0]), parts)

    def _piece(self, node: int) -> Piece:
        operation = self.program.operations[node]
        if node in self.calls:
            return self._call(self.calls[node])
        if operation.name in ("signal", "prev"):
            return f"{'s' if operation.name == 'signal' else 'prev'}.{self.columns[int(operation.value or 0)]}", ATOM
        if operation.name in ("constant", "literal"):
            value = float(operation.value or 0.0)
            return _number(self.program.constants[int(value)] if operation.name == "constant" else value)
        a, *others = operation.arguments
        if operation.name == "add" and self._is_zero(others[0]):
            return self._taken(a)
        if operation.name == "mul" and others == [a]:
            return f"{self._inside(self._taken(a), ATOM)} ** 2", POWER
        return self._written(operation.name, [self._taken(argument) for argument in operation.arguments])

    def _taken(self, node: int) -> Piece:
        """An argument's text; notes the long parts in it."""
        self.seen |= {node} if node in self.long else self.used[node]
        return self.pieces[node]

    def _written(self, name: str, pieces: list[Piece]) -> Piece:
        """An operation on texts."""
        if name in BINARY:
            between, strength = BINARY[name]
            left = strength + 1 if name == "pow" or strength == COMPARE else strength
            return f"{self._inside(pieces[0], left)}{between}{self._inside(pieces[1], strength + 1)}", strength
        if name == "neg":
            return f"-{self._inside(pieces[0], SIGN)}", SIGN
        if name == "not":
            return f"not {self._inside(pieces[0], NOT)}", NOT
        if name == "where":
            condition, a, b = (self._inside(piece, OR) for piece in pieces)
            return f"{a} if {condition} else {b}", CONDITION
        return f"{name}({', '.join(text for text, _ in pieces)})", ATOM

    @staticmethod
    def _inside(piece: Piece, strength: int) -> str:
        return piece[0] if piece[1] >= strength else f"({piece[0]})"

    def _is_zero(self, node: int) -> bool:
        operation = self.program.operations[node]
        return operation.name == "literal" and operation.value == 0.0

    def _call(self, call: Call) -> Piece:
        pieces = [self._taken(group[0]) if len(group) == 1 else self._vector(group, 0) or self._listed(group)
                  for group in call.arguments]  # fmt: skip
        if call.function in BINARY:
            return self._written(call.function, pieces)
        text = f"{call.function}({', '.join(text for text, _ in pieces)})"
        return (text if call.element is None else f"{text}[{call.element}]"), ATOM

    # --- vectors ------------------------------------------------------------------------------------------------

    def _vector(self, nodes: tuple[int, ...], depth: int) -> Piece | None:
        """Several operations as one vector: a signal, a call, or one operation on vectors; None if it is none."""
        if depth > DEEPEST or len(set(nodes)) == 1:
            return None
        if nodes not in self.vectors:
            self.vectors[nodes] = self._signal(nodes) or self._called(nodes) or self._elementwise(nodes, depth)
        return self.vectors[nodes]

    def _listed(self, nodes: tuple[int, ...]) -> Piece:
        listed = ", ".join(self._taken(node)[0] for node in nodes)
        return (f"{'vec3' if len(nodes) == 3 else 'vector'}({listed})"), ATOM

    def _signal(self, nodes: tuple[int, ...]) -> Piece | None:
        leaves = [self.program.operations[node] for node in nodes]
        names, columns = {leaf.name for leaf in leaves}, [int(leaf.value or 0) for leaf in leaves]
        start, size = min(columns), len(nodes)
        if names not in ({"signal"}, {"prev"}) or columns != list(range(start, start + size)):
            return None
        found = self.signals.reading(columns)
        if len(found) > 1:
            return None
        text, first = f"{'s' if names == {'signal'} else 'prev'}.{found[0].name}", start - found[0].column
        return (text if size == found[0].size else f"{text}[{first}:{first + size}]"), ATOM

    def _called(self, nodes: tuple[int, ...]) -> Piece | None:
        first, *others = (self.calls.get(node) for node in nodes)
        if first is None or [first, *others] != [replace(first, element=i) for i in range(len(nodes))]:
            return None
        return self._call(replace(first, element=None))

    def _elementwise(self, nodes: tuple[int, ...], depth: int) -> Piece | None:
        operations = [self.program.operations[node] for node in nodes]
        name = operations[0].name
        if any(o.name != name for o in operations) or name not in ELEMENTWISE or any(n in self.calls for n in nodes):
            return None
        pieces = []
        for group in zip(*(o.arguments for o in operations), strict=True):
            piece = self._taken(group[0]) if len(set(group)) == 1 else self._vector(group, depth + 1)
            if piece is None and all(self.program.operations[node].name in ("constant", "literal") for node in group):
                piece = self._listed(group)
            if piece is None:
                return None
            pieces.append(piece)
        return self._written(name, pieces)


def _number(value: float) -> Piece:
    negative = math.copysign(1.0, value) < 0.0
    known = {math.pi: "pi", math.tau: "tau"} | ({0.0: "-0.0"} if negative else {})
    return known.get(value, f"{value:.6g}"), SIGN if negative else ATOM
