"""Expressions of a program: from Python's syntax tree to operations of the graph.

Nothing is executed: names are looked up in tables, and whatever is not in a table is a Problem. After a mistake the
value is Unknown, which keeps quiet, so that one check reports all mistakes.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from eureka_lite.reward.graph import Graph
from eureka_lite.reward.language import FUNCTIONS, NAMED_CONSTANTS, Builder, Function, Parameter
from eureka_lite.reward.problems import Problem
from eureka_lite.reward.program import Call
from eureka_lite.reward.values import (
    Components,
    Group,
    Number,
    Row,
    Truth,
    Unknown,
    Unset,
    Value,
    Vector,
    describe,
)
from eureka_lite.task.signals import SignalTable, did_you_mean

MAX_STEPS = 50_000
LARGEST = 1e30
LARGEST_STATIC = 1_000_000
BINARY = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div"}
COMPARE = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne"}
STATIC: dict[type, Callable] = {
    ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b,
    ast.Lt: lambda a, b: a < b, ast.LtE: lambda a, b: a <= b, ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b, ast.Eq: lambda a, b: a == b, ast.NotEq: lambda a, b: a != b,
}  # fmt: skip

Scope = dict[str, Value]


class TooLong(Exception):
    """Checking took more than MAX_STEPS: helper functions or loops multiply."""


class Expressions:
    """Evaluates expressions of one program.

    Attributes:
        graph: what the expressions become.
        literals: value of each constant slot; one slot per literal of the text.
        problems: mistakes so far.
        constants: named constants of the module.
        names: node -> the variable that held it first, for people who read what is emitted.
        calls: node -> the call of a function that it is the value of, for the same people.
        call_helper: called for functions that the program defines.
    """

    def __init__(self, signals: SignalTable, lines: list[str]) -> None:
        self.signals, self._lines = signals, lines
        self.graph = Graph()
        self.builder = Builder(self.graph)
        self.literals: list[float] = []
        self.problems: list[Problem] = []
        self.constants: Scope = {}
        self.names: dict[int, str] = {}
        self.calls: dict[int, Call] = {}
        self.helpers: dict[str, ast.FunctionDef] = {}
        self.call_helper: Callable[[ast.Call, list[Value], dict[str, Value]], Value] | None = None
        self._slots: dict[tuple[int, int], int] = {}
        self._steps = 0

    # --- mistakes and limits ------------------------------------------------------------------------------------

    def problem(self, node: ast.AST, code: str, message: str, hint: str = "") -> Unknown:
        """Note a mistake once per place."""
        line, start = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        text = self._lines[line - 1] if line <= len(self._lines) else ""
        column = len(text.encode()[:start].decode(errors="ignore"))
        end = getattr(node, "end_col_offset", start + 1) if getattr(node, "end_lineno", line) == line else len(text)
        found = Problem(line, column + 1, max(1, end - start), code, message, hint)
        if not any((p.line, p.column, p.code) == (found.line, found.column, found.code) for p in self.problems):
            self.problems.append(found)
        return Unknown()

    def tick(self) -> None:
        """Count a step of the check."""
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise TooLong

    # --- expressions --------------------------------------------------------------------------------------------

    def value(self, node: ast.expr, scope: Scope) -> Value:
        """The value of an expression."""
        self.tick()
        evaluate = getattr(self, f"_{type(node).__name__.lower()}", None)
        if evaluate is None:
            return self.problem(node, "syntax", f"{called(node)} is not part of the reward language", _ADVICE)
        return evaluate(node, scope)

    def number(self, node: ast.expr, scope: Scope, what: str = "here") -> int | None:
        """The node of an expression that has to be a number; None after a mistake."""
        return self.as_number(self.value(node, scope), node, what)

    def truth(self, node: ast.expr, scope: Scope) -> Truth | None:
        """An expression that has to be true or false."""
        value = self.value(node, scope)
        if isinstance(value, Truth):
            return value
        if not isinstance(value, Unknown):
            self.problem(node, "type", f"{describe(value)} where a condition is needed", "compare it, as in x > 0.0")
        return None

    def as_number(self, value: Value, node: ast.AST, what: str = "here") -> int | None:
        """A value as one number: truth values count 1 or 0, a vector of one element is its element."""
        if isinstance(value, Number):
            return value.node
        if isinstance(value, Truth):
            return self.builder("float", value.node)
        if isinstance(value, Vector) and len(value.nodes) == 1:
            return value.nodes[0]
        if not isinstance(value, Unknown):
            hint = "take norm(...), dot(...) or one element of it" if isinstance(value, Vector) else ""
            self.problem(node, "type", f"{describe(value)} where a number is needed {what}", hint)
        return None

    def merge(self, condition: Truth, a: Value, b: Value) -> Value | None:
        """a where the condition holds, else b; None if they are of different kinds."""
        if condition.static is not None:
            return a if condition.static else b
        build, c = self.builder, condition.node
        if a == b:
            return a
        if isinstance(a, Unknown) or isinstance(b, Unknown):
            return Unknown()
        if isinstance(a, Truth) and isinstance(b, Truth):
            return Truth(build("or", build("and", c, a.node), build("and", build("not", c), b.node)))
        if isinstance(a, Components) and isinstance(b, Components):
            if a.parts.keys() != b.parts.keys():
                return None
            return Components({name: build("where", c, a.parts[name], b.parts[name]) for name in a.parts})
        if isinstance(a, Group) and isinstance(b, Group) and len(a.items) == len(b.items):
            items = [self.merge(condition, x, y) for x, y in zip(a.items, b.items, strict=True)]
            return None if None in items else Group(tuple(item for item in items if item is not None))
        if isinstance(a, Vector) and isinstance(b, Vector) and len(a.nodes) == len(b.nodes):
            nodes = tuple(build("where", c, x, y) for x, y in zip(a.nodes, b.nodes, strict=True))
            return Vector(nodes, a.kind if a.kind == b.kind else "vector", a.labels)
        if isinstance(a, Number | Truth) and isinstance(b, Number | Truth):
            x, y = (v.node if isinstance(v, Number) else build("float", v.node) for v in (a, b))
            return Number(build("where", c, x, y))
        return None

    # --- leaves -------------------------------------------------------------------------------------------------

    def _constant(self, node: ast.Constant, scope: Scope, negative: bool = False) -> Value:
        value = node.value
        if isinstance(value, bool):
            one = self.builder.literal(1.0)
            return Truth(self.builder("eq" if value else "ne", one, one), value)
        if not isinstance(value, int | float):
            return self.problem(node, "syntax", f"{called(node)} is not part of the reward language")
        if not abs(value) <= LARGEST:
            return self.problem(node, "limit", f"a number of more than {LARGEST:g} in size")
        value = -value if negative else value
        place = (node.lineno, node.col_offset)
        if place not in self._slots:
            self._slots[place] = len(self.literals)
            self.literals.append(float(value))
        return Number(self.graph.add("constant", value=self._slots[place]), value)

    def _name(self, node: ast.Name, scope: Scope) -> Value:
        for known in (scope, self.constants):
            if node.id in known:
                value = known[node.id]
                if isinstance(value, Unset):
                    return self.problem(node, "unset", f"{node.id!r} has no value of one kind on every way to here",
                                        f"give {node.id!r} a value before the `if`")  # fmt: skip
                return value
        if node.id in NAMED_CONSTANTS:
            return Number(self.builder.literal(NAMED_CONSTANTS[node.id]))
        if node.id in FUNCTIONS or node.id in self.helpers:
            return self.problem(node, "type", f"{node.id!r} is a function", f"call it, as in {node.id}(...)")
        near = did_you_mean(node.id, [*scope, *self.constants, *NAMED_CONSTANTS])
        return self.problem(node, "name", f"unknown name {node.id!r}{near}")

    def _attribute(self, node: ast.Attribute, scope: Scope) -> Value:
        base = self.value(node.value, scope)
        if isinstance(base, Row):
            return self.signal(node.attr, node, base)
        if isinstance(base, Vector):
            return self._label(base, node.attr, node)
        if isinstance(base, Unknown):
            return base
        return self.problem(node, "attribute", f"{describe(base)} has no {node.attr!r}")

    def signal(self, name: str, node: ast.AST, row: Row = Row("signal")) -> Value:  # noqa: B008  frozen
        """A signal of a row."""
        if name not in self.signals:
            return self.problem(node, "signal", f"unknown signal {name!r}{did_you_mean(name, self.signals.names)}")
        signal = self.signals[name]
        first = signal.column
        nodes = tuple(self.graph.add(row.which, value=first + i) for i in range(signal.size))
        return Number(nodes[0]) if signal.kind == "scalar" else Vector(nodes, signal.kind, signal.labels)

    def _label(self, vector: Vector, name: str, node: ast.AST) -> Value:
        labels = vector.labels or {"vec3": ("x", "y", "z"), "quat": ("w", "x", "y", "z")}.get(vector.kind, ())
        if name in labels:
            return Number(vector.nodes[labels.index(name)])
        return self.problem(
            node, "attribute", f"{describe(vector)} has no element {name!r}{did_you_mean(name, labels)}"
        )

    def _subscript(self, node: ast.Subscript, scope: Scope) -> Value:
        base = self.value(node.value, scope)
        if isinstance(base, Unknown):
            return base
        index = node.slice
        if isinstance(index, ast.Constant) and isinstance(index.value, str):
            if isinstance(base, Row):
                return self.signal(index.value, node, base)
            if isinstance(base, Vector):
                return self._label(base, index.value, node)
            if isinstance(base, Components):
                if index.value in base.parts:
                    return Number(base.parts[index.value])
                return self.problem(
                    node, "name", f"no component {index.value!r}{did_you_mean(index.value, base.parts)}"
                )
        items = base.nodes if isinstance(base, Vector) else base.items if isinstance(base, Group) else None
        if items is None:
            return self.problem(node, "type", f"{describe(base)} has no elements")
        if isinstance(index, ast.Slice):
            return self._sliced(base, index, scope, node)
        at = self.whole(index, scope)
        if at is None:
            return Unknown()
        if not -len(items) <= at < len(items):
            return self.problem(node, "index", f"index {at} of {describe(base)}", f"0 to {len(items) - 1}")
        return Number(base.nodes[at]) if isinstance(base, Vector) else base.items[at]  # type: ignore[union-attr]

    def _sliced(self, base: Value, index: ast.Slice, scope: Scope, node: ast.AST) -> Value:
        parts = [None if part is None else self.whole(part, scope) for part in (index.lower, index.upper, index.step)]
        if any(
            part is None and given for part, given in zip(parts, (index.lower, index.upper, index.step), strict=True)
        ):
            return Unknown()
        if parts[2] == 0 or not isinstance(base, Vector):
            return self.problem(node, "index", "a slice of vectors, with a step that is not 0, is needed")
        nodes = base.nodes[slice(*parts)]
        return Vector(nodes) if nodes else self.problem(node, "index", "the slice is empty")

    def whole(self, node: ast.expr, scope: Scope) -> int | None:
        """A whole number that the text alone tells: an index, a loop bound."""
        value = self.value(node, scope)
        if isinstance(value, Number) and isinstance(value.static, int):
            return value.static
        if not isinstance(value, Unknown):
            self.problem(node, "index", "an index or loop bound must be a whole number known from the text")
        return None

    # --- operators ----------------------------------------------------------------------------------------------

    def _unaryop(self, node: ast.UnaryOp, scope: Scope) -> Value:
        if isinstance(node.op, ast.Not):
            truth = self.truth(node.operand, scope)
            if truth is None:
                return Unknown()
            return Truth(self.builder("not", truth.node), None if truth.static is None else not truth.static)
        if isinstance(node.op, ast.Invert):
            return self.problem(node, "syntax", "~ is not part of the reward language", "use not")
        operand, negative = node.operand, isinstance(node.op, ast.USub)
        if negative and isinstance(operand, ast.Constant) and not isinstance(operand.value, bool):
            return self._constant(operand, scope, negative=True)
        value = self.value(operand, scope)
        if not negative or isinstance(value, Unknown):
            return value
        if isinstance(value, Vector):
            return Vector(tuple(self.builder("neg", n) for n in value.nodes), value.kind, value.labels)
        x = self.as_number(value, operand)
        static = value.static if isinstance(value, Number) else None
        return Unknown() if x is None else Number(self.builder("neg", x), None if static is None else -static)

    def _binop(self, node: ast.BinOp, scope: Scope) -> Value:
        a, b = self.value(node.left, scope), self.value(node.right, scope)
        return self.arithmetic(node.op, a, b, node)

    def arithmetic(self, operator: ast.operator, a: Value, b: Value, node: ast.AST) -> Value:
        """a operator b, element by element where one is a vector."""
        if isinstance(a, Unknown) or isinstance(b, Unknown):
            return Unknown()
        kind = type(operator)
        if kind not in (*BINARY, ast.Pow, ast.Mod, ast.FloorDiv):
            name = _OTHER_OPERATORS.get(kind.__name__, kind.__name__)
            return self.problem(node, "syntax", f"the operator {name} is not part of the reward language", _ADVICE)
        static = b.static if isinstance(b, Number) else None

        def combine(x: int, y: int) -> int:
            if kind is ast.Pow:
                return self._noted("pow", self.builder.power(x, y, static), x, y)
            if kind in (ast.Mod, ast.FloorDiv):  # on floats, as Python's: no whole number is divided anywhere
                quotient = self._noted("floordiv", self.builder("floor", self.builder("div", x, y)), x, y)
                if kind is ast.FloorDiv:
                    return quotient
                return self._noted("mod", self.builder("sub", x, self.builder("mul", y, quotient)), x, y)
            return self.builder(BINARY[kind], x, y)

        result = self._each([a, b], node, combine)
        known = [v.static for v in (a, b) if isinstance(v, Number) and v.static is not None]
        if isinstance(result, Number) and len(known) == 2 and kind in STATIC:
            static = STATIC[kind](*known)
            return Number(result.node, static if abs(static) <= LARGEST_STATIC else None)
        return result

    def _each(self, values: list[Value], node: ast.AST, combine: Callable[..., int]) -> Value:
        """Apply `combine` to numbers, or element by element where values are vectors of one size."""
        vectors = [v for v in values if isinstance(v, Vector)]
        sizes = {len(v.nodes) for v in vectors if len(v.nodes) > 1}
        if len(sizes) > 1:
            shown = " and ".join(describe(v) for v in vectors)
            return self.problem(node, "type", f"{shown} do not fit together element by element")
        if not vectors:
            nodes = [self.as_number(v, node) for v in values]
            return Unknown() if None in nodes else Number(combine(*nodes))
        size = max(len(v.nodes) for v in vectors)
        columns: list[tuple[int, ...]] = []
        for value in values:
            if isinstance(value, Vector) and len(value.nodes) == size:
                columns.append(value.nodes)
                continue
            x = self.as_number(value, node)
            if x is None:
                return Unknown()
            columns.append((x,) * size)
        longest = next(v for v in vectors if len(v.nodes) == size)
        kinds = {v.kind for v in vectors if len(v.nodes) == size}
        return Vector(tuple(combine(*parts) for parts in zip(*columns, strict=True)),
                      longest.kind if len(kinds) == 1 else "vector", longest.labels)  # fmt: skip

    def _boolop(self, node: ast.BoolOp, scope: Scope) -> Value:
        truths = [self.truth(part, scope) for part in node.values]
        known = [truth for truth in truths if truth is not None]
        if len(known) < len(truths):
            return Unknown()
        name = "and" if isinstance(node.op, ast.And) else "or"
        whole = known[0].node
        for truth in known[1:]:
            whole = self.builder(name, whole, truth.node)
        return Truth(whole)

    def _compare(self, node: ast.Compare, scope: Scope) -> Value:
        values = [self.value(part, scope) for part in (node.left, *node.comparators)]
        whole: Truth | None = None
        for operator, a, b, part in zip(node.ops, values, values[1:], node.comparators, strict=False):
            if type(operator) not in COMPARE:
                return self.problem(node, "syntax", "`in` and `is` are not part of the reward language", "use == or !=")
            x, y = self.as_number(a, part, "to compare"), self.as_number(b, part, "to compare")
            if x is None or y is None:
                return Unknown()
            static = None
            if isinstance(a, Number) and isinstance(b, Number) and a.static is not None and b.static is not None:
                static = bool(STATIC[type(operator)](a.static, b.static))
            step = Truth(self.builder(COMPARE[type(operator)], x, y), static)
            whole = step if whole is None else Truth(self.builder("and", whole.node, step.node))
        return whole or Unknown()

    def _ifexp(self, node: ast.IfExp, scope: Scope) -> Value:
        condition = self.truth(node.test, scope)
        a, b = self.value(node.body, scope), self.value(node.orelse, scope)
        if condition is None:
            return Unknown()
        merged = self.merge(condition, a, b)
        if merged is None:
            return self.problem(node, "type", f"{describe(a)} on one side and {describe(b)} on the other")
        return merged

    def _tuple(self, node: ast.Tuple | ast.List, scope: Scope) -> Value:
        return Group(tuple(self.value(item, scope) for item in node.elts))

    _list = _tuple

    def _dict(self, node: ast.Dict, scope: Scope) -> Value:
        parts: dict[str, int] = {}
        named: set[str | None] = set()
        for key, item in zip(node.keys, node.values, strict=True):
            name = self.component_name(key, node)
            value = self.number(item, scope, f"as component {name!r}")
            if name is not None and name in named:
                self.problem(key or node, "component", f"the component {name!r} is there twice")
            named.add(name)
            if name is not None and value is not None:
                parts[name] = value
        return Components(parts)

    def component_name(self, key: ast.expr | None, node: ast.AST) -> str | None:
        """The literal name of a component."""
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            name = key.value
            if name.isascii() and name.replace("_", "").replace(" ", "").replace("-", "").isalnum() and len(name) <= 40:
                return name
            self.problem(key, "component", f"a component's name has letters, digits and _ only, not {name[:40]!r}")
            return None
        self.problem(key or node, "component", "the name of a component must be a text in quotes")
        return None

    # --- calls --------------------------------------------------------------------------------------------------

    def _call(self, node: ast.Call, scope: Scope) -> Value:
        if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            return self.problem(node, "syntax", "* and ** in a call are not part of the reward language")
        if not isinstance(node.func, ast.Name):
            return self._method(node, scope)
        name = node.func.id
        arguments = [self.value(a, scope) for a in node.args]
        keywords = {str(k.arg): self.value(k.value, scope) for k in node.keywords}
        if name in self.helpers and self.call_helper is not None:
            return self.call_helper(node, arguments, keywords)
        if name == "dict" and not arguments:
            return self._dict(ast.copy_location(ast.Dict([ast.Constant(k.arg) for k in node.keywords],
                                                         [k.value for k in node.keywords]), node), scope)  # fmt: skip
        if name not in (*FUNCTIONS, "len"):
            near = did_you_mean(name, [*FUNCTIONS, *self.helpers])
            return self.problem(node.func, "function", f"unknown function {name!r}{near}")
        if any(isinstance(v, Unknown) for v in (*arguments, *keywords.values())):
            return Unknown()
        if name == "len":
            if len(arguments) == 1 and not keywords and isinstance(arguments[0], Vector | Group):
                size = len(arguments[0].nodes if isinstance(arguments[0], Vector) else arguments[0].items)
                return Number(self.builder.literal(size), size)
            return self.problem(node, "arguments", "len takes one vector")
        return self._apply(FUNCTIONS[name], arguments, keywords, node)

    def _method(self, node: ast.Call, scope: Scope) -> Value:
        """values() of a dict of components; the methods of arrays are functions by now."""
        func = node.func
        if not isinstance(func, ast.Attribute):
            return self.problem(func, "syntax", "only functions can be called, by their name")
        receiver = self.value(func.value, scope)
        if isinstance(receiver, Components) and func.attr == "values" and not node.args and not node.keywords:
            return Group(tuple(Number(n) for n in receiver.parts.values()))
        if isinstance(receiver, Unknown):
            return receiver
        return self.problem(func, "attribute", f"{describe(receiver)} has no {func.attr!r} to call")

    def _as_vector(self, value: Value, node: ast.AST) -> Value:
        if isinstance(value, Vector | Unknown):
            return value
        if isinstance(value, Group) and value.items:
            nodes = [self.as_number(item, node) for item in value.items]
            known = tuple(n for n in nodes if n is not None)
            return Vector(known, "vec3" if len(known) == 3 else "vector") if len(known) == len(nodes) else Unknown()
        hint = "of a number take abs(...)" if isinstance(value, Number) else ""
        return self.problem(node, "type", f"{describe(value)} where a vector is needed", hint)

    def _noted(self, function: str, result: int | list[int], *arguments: int | list[int]) -> Any:
        """Return the result of a call and remember what call it was."""
        given = tuple((a,) if isinstance(a, int) else tuple(a) for a in arguments)
        flat = {node for group in given for node in group}
        for i, node in enumerate([result] if isinstance(result, int) else result):
            operation = self.graph.operations[node]
            if node not in flat and operation.arguments and (operation.name != function or function == "where"):
                self.calls.setdefault(node, Call(function, given, None if isinstance(result, int) else i))
        return result

    def _apply(self, function: Function, given: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
        if function.variadic and len(given) == 1 and not keywords and isinstance(given[0], Vector | Group):
            vector = self._as_vector(given[0], node)
            if not isinstance(vector, Vector):
                return vector
            result = function.build(self.builder, *vector.nodes)
            return self._wrapped(function, self._noted(function.name, result, list(vector.nodes)), vector)
        arguments = self._bound(function, given, keywords, node)
        if arguments is None:
            return Unknown()
        parameters = list(function.parameters) + [function.parameters[-1]] * (len(arguments) - len(function.parameters))
        if any(p.kind == "each" for p in parameters):
            return self._apply_each(function, parameters, arguments, node)
        shaped = [self._shaped(p, v, node, function) for p, v in zip(parameters, arguments, strict=True)]
        if any(part is None for part in shaped):
            return Unknown()
        sizes = {len(part) for part in shaped if isinstance(part, list)}
        if len(sizes) > 1 and all(p.kind == "vector" for p in parameters):
            return self.problem(node, "type", f"{function.name} needs vectors of one size, not {sorted(sizes)}")
        result = function.build(self.builder, *shaped)
        return self._wrapped(function, self._noted(function.name, result, *shaped), arguments[0])

    @staticmethod
    def _wrapped(function: Function, result: int | list[int], first: Value) -> Value:
        """What a function's build returned, as a value."""
        if isinstance(result, int):
            return Number(result)
        kind = function.result
        if kind == "vector":
            kind = first.kind if isinstance(first, Vector) else "vec3" if len(result) == 3 else "vector"
        return Vector(tuple(result), kind)

    def _bound(
        self, function: Function, given: list[Value], keywords: dict[str, Value], node: ast.Call
    ) -> list[Value] | None:
        """Arguments in the order of the parameters, defaults filled in."""
        names = [p.name for p in function.parameters]
        if len(given) > len(names) and not function.variadic:
            self.problem(node, "arguments", f"{len(given)} arguments", f"it is {function.signature}")
            return None
        bound: dict[str, Value] = dict(zip(names, given, strict=False))
        for name, value in keywords.items():
            if name not in names or name in bound:
                why = "is given twice" if name in bound else "is not a parameter"
                self.problem(node, "arguments", f"{name!r} {why} of {function.name}", f"it is {function.signature}")
                return None
            bound[name] = value
        for parameter in function.parameters:
            if parameter.name not in bound:
                if parameter.default is None:
                    self.problem(node, "arguments", f"{parameter.name!r} is missing", f"it is {function.signature}")
                    return None
                bound[parameter.name] = Number(self.builder.literal(parameter.default), parameter.default)
        return [*(bound[name] for name in names), *given[len(names) :]]

    def _apply_each(
        self, function: Function, parameters: list[Parameter], arguments: list[Value], node: ast.Call
    ) -> Value:
        fixed: dict[int, int] = {}
        for i, (parameter, value) in enumerate(zip(parameters, arguments, strict=True)):
            if parameter.kind == "truth":
                if not isinstance(value, Truth):
                    what = f"{describe(value)} where {parameter.name!r} of {function.name} is needed"
                    return self.problem(node, "type", what, "compare it, as in x > 0.0")
                fixed[i] = value.node
        rest = [
            self._as_vector(v, node) if isinstance(v, Group) else v for i, v in enumerate(arguments) if i not in fixed
        ]

        def combine(*nodes: int) -> int:
            remaining = iter(nodes)
            given = [fixed[i] if i in fixed else next(remaining) for i in range(len(arguments))]
            return self._noted(function.name, function.build(self.builder, *given), *given)

        if function.name == "pow" and isinstance(arguments[1], Number):
            static = arguments[1].static
            return self._each(rest, node, lambda x, y: self._noted("pow", self.builder.power(x, y, static), x, y))
        return self._each(rest, node, combine)

    def _shaped(self, parameter: Parameter, value: Value, node: ast.AST, function: Function) -> int | list[int] | None:
        if parameter.kind == "number":
            return self.as_number(value, node, f"as {parameter.name!r} of {function.name}")
        vector = self._as_vector(value, node)
        if not isinstance(vector, Vector):
            return None
        size = {"vec3": 3, "quat": 4}.get(parameter.kind)
        if size is not None and len(vector.nodes) != size:
            self.problem(node, "type", f"{describe(vector)} where {function.name} needs a {parameter.kind}")
            return None
        return list(vector.nodes)


_ADVICE = (
    "it has numbers, vectors, if/else, for over range(...), + - * / // % **, comparisons and the functions of its table"
)
_OTHER_OPERATORS = {"MatMult": "@", "LShift": "<<", "RShift": ">>", "BitAnd": "&", "BitOr": "|", "BitXor": "^"}


def called(node: ast.AST) -> str:
    """What a person calls a piece of syntax."""
    if isinstance(node, ast.Constant):
        kind = type(node.value).__name__
        return {
            "str": "a text",
            "bytes": "a text",
            "NoneType": "None",
            "ellipsis": "...",
            "complex": "a complex number",
        }.get(kind, kind)
    name = type(node).__name__
    return {"Lambda": "lambda", "ListComp": "a comprehension", "GeneratorExp": "a comprehension", "Set": "a set",
            "DictComp": "a comprehension", "SetComp": "a comprehension", "JoinedStr": "an f-string",
            "NamedExpr": ":=", "Starred": "*", "Await": "await", "Yield": "yield", "While": "while", "With": "with",
            "Try": "try", "Import": "import", "ImportFrom": "import", "ClassDef": "class", "Global": "global",
            "Nonlocal": "nonlocal", "AsyncFunctionDef": "async",
            "Raise": "raise", "Assert": "assert", "Delete": "del", "Match": "match",
            "FunctionDef": "a function inside a function",
            }.get(name, name)  # fmt: skip
