"""What is different between two programs, component by component, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from eureka_lite.reward.constants import constant_names
from eureka_lite.reward.formula import Formula, formulas
from eureka_lite.reward.graph import COMMUTATIVE, Operation, digests
from eureka_lite.reward.program import Program
from eureka_lite.task.signals import SignalTable

Kind = Literal["same", "renamed", "numbers", "scaled", "rewritten", "new", "gone"]


@dataclass(frozen=True)
class Change:
    """What became of one component.

    Attributes:
        component: its name in the second program; in the first for one that is gone.
        kind: same; renamed; numbers (other constants only); scaled (by a factor it did not have); rewritten; new; gone.
        words: what is different, for people.
        before: its formula in the first program, or None.
        after: its formula in the second program, or None.
    """

    component: str
    kind: Kind
    words: str
    before: Formula | None = None
    after: Formula | None = None

    def __str__(self) -> str:
        return f"{self.component}: {self.words}"


def difference(first: Program, second: Program, signals: SignalTable) -> tuple[Change, ...]:
    """The components of `second` in their order, each compared with its counterpart in `first`, then what is gone.

    A counterpart has the same name, or another name and the same computation. A last entry "total" tells of totals
    that the programs compute on their own.
    """
    a, b = _Side.of(first, signals), _Side.of(second, signals)
    left = {name: node for name, node in a.components.items() if name not in b.components}
    changes = []
    for name, node in b.components.items():
        if name in a.components:
            changes.append(_compared(a, b, name, name))
            continue
        twin = next((old for old, other in left.items() if a.structure[other] == b.structure[node]), None)
        if twin is None:
            changes.append(Change(name, "new", f"new; {b.reads(node)}", None, b.formulas[name]))
        else:
            del left[twin]
            changes.append(_compared(a, b, twin, name))
    changes += [Change(name, "gone", "gone", a.formulas[name], None) for name in left]
    return (*changes, *_totals(a, b))


@dataclass(frozen=True)
class _Side:
    """One of the programs, with what its operations are."""

    program: Program
    signals: SignalTable
    formulas: dict[str, Formula]
    components: dict[str, int]
    exact: list[str]
    structure: list[str]
    names: tuple[str, ...]

    @staticmethod
    def of(program: Program, signals: SignalTable) -> _Side:
        operations = program.operations
        components = dict(zip(program.outputs, program.results[1:], strict=True))
        return _Side(program, signals, formulas(program, signals), components, digests(operations, program.constants),
                     digests(operations, None), constant_names(program))  # fmt: skip

    def below(self, node: int) -> set[int]:
        """All operations that a result is made of."""
        needed, stack = set(), [node]
        while stack:
            at = stack.pop()
            if at not in needed:
                needed.add(at)
                stack += self.program.operations[at].arguments
        return needed

    def read(self, node: int) -> dict[str, None]:
        """Names of the signals that a result is made of, those of the row before as `prev.name`."""
        found: dict[str, None] = {}
        for which in ("signal", "prev"):
            operations = [self.program.operations[i] for i in self.below(node)]
            columns = [int(o.value or 0) for o in operations if o.name == which]
            found |= {("prev." if which == "prev" else "") + s.name: None for s in self.signals.reading(columns)}
        return found

    def reads(self, node: int) -> str:
        return f"reads {_listed(list(self.read(node)))}" if self.read(node) else "reads no signal"

    def factor(self, node: int, of: str) -> float | None:
        """The number that a result multiplies something that computes `of` by."""
        operation = self.program.operations[node]
        for constant, rest in (operation.arguments, operation.arguments[::-1]) if operation.name == "mul" else ():
            leaf = self.program.operations[constant]
            if leaf.name == "constant" and self.exact[rest] == of:
                return self.program.constants[int(leaf.value or 0)]
        return None


def _compared(a: _Side, b: _Side, old: str, new: str) -> Change:
    x, y = a.components[old], b.components[new]
    before, after = a.formulas[old], b.formulas[new]
    renamed = "" if old == new else f"was called {old}; "
    if a.exact[x] == b.exact[y]:
        return Change(new, "renamed" if renamed else "same", renamed.rstrip("; ") or "the same", before, after)
    if a.structure[x] == b.structure[y]:
        moved = [f"{name} {_number(v)} -> {_number(w)}" for name, v, w in _numbers(a, b, x, y)]
        return Change(new, "numbers", f"{renamed}other numbers: {_listed(moved)}", before, after)
    factor, divisor = b.factor(y, a.exact[x]), a.factor(x, b.exact[y])
    if factor is not None or divisor is not None:
        words = f"{renamed}now times {_number(factor)}" if factor is not None else f"no longer times {_number(divisor)}"
        return Change(new, "scaled", words, before, after)
    had, has = a.read(x), b.read(y)
    more, less = [n for n in has if n not in had], [n for n in had if n not in has]
    words = ["rewritten"]
    words += [f"now reads {_listed(more)}"] * bool(more) + [f"no longer reads {_listed(less)}"] * bool(less)
    return Change(new, "rewritten", renamed + ", ".join(words), before, after)


def _numbers(a: _Side, b: _Side, x: int, y: int) -> list[tuple[str, float, float]]:
    """The constants that differ between two results of one structure: name in the second, before, after."""
    found: dict[tuple[int, int], tuple[str, float, float]] = {}
    seen: set[tuple[int, int]] = set()
    stack = [(x, y)]
    while stack:
        pair = stack.pop()
        if pair in seen:
            continue
        seen.add(pair)
        one, other = a.program.operations[pair[0]], b.program.operations[pair[1]]
        values = [_value(a, one), _value(b, other)]
        if values[0] is not None and values[1] is not None and values[0] != values[1]:
            slot = int(other.value or 0) if other.name == "constant" else -1
            found[pair] = (b.names[slot] if slot >= 0 else "a number", values[0], values[1])
        arguments = [list(one.arguments), list(other.arguments)]
        if one.name in COMMUTATIVE:  # as `digests` pairs them
            for side, part in zip((a, b), arguments, strict=True):
                part.sort(key=lambda node, side=side: (side.structure[node], side.exact[node]))
        stack += zip(*arguments, strict=True)
    return list(found.values())


def _value(side: _Side, operation: Operation) -> float | None:
    if operation.name == "constant":
        return side.program.constants[int(operation.value or 0)]
    return float(operation.value or 0.0) if operation.name == "literal" else None


def _totals(a: _Side, b: _Side) -> list[Change]:
    """Totals of their own, where they differ."""
    own = [side for side in (a, b) if side.program.has_total and tuple(side.components) != ("total",)]
    if not own or (len(own) == 2 and a.exact[a.program.results[0]] == b.exact[b.program.results[0]]):
        return []
    if len(own) == 2:
        return [Change("(total)", "rewritten", "the total is computed in another way")]
    words = "computes a total of its own" if own[0] is b else "pays the sum of the components again"
    return [Change("(total)", "rewritten", words)]


def _number(value: float | None) -> str:
    return f"{value:.6g}"


def _listed(words: list[str]) -> str:
    return ", ".join(words)
