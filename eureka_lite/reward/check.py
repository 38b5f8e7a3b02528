"""From text to a checked program, or to all its mistakes.

The text is parsed with `ast` and walked; it is never compiled or run as Python. What comes out is a graph of scalar
operations (`graph`), so whatever passes can neither loop for ever nor read past a row.
"""

from __future__ import annotations

import ast
import warnings
from dataclasses import replace
from typing import Literal

from eureka_lite.reward.dialects import Dialects
from eureka_lite.reward.expressions import Expressions, Scope, TooLong
from eureka_lite.reward.graph import MAX_OPERATIONS, TooLarge, digest
from eureka_lite.reward.problems import RewardError
from eureka_lite.reward.program import MAX_COMPONENTS, Call, Program
from eureka_lite.reward.statements import Statements
from eureka_lite.reward.values import Components, Group, Number, Row, Truth, Unknown, Value, Vector, describe
from eureka_lite.task.signals import SignalTable, did_you_mean

MAX_BYTES = 20_000
MAX_NODES = 5_000
MAX_DEPTH = 100
ALIASES = {"reward": ("compute_reward", "reward_function", "reward_fn", "get_reward")}

PREVIOUS = {"prev", "previous", "last", "prev_state", "previous_state", "last_state", "prev_s", "s_prev", "last_obs"}
ROWS = {"s", "state", "obs", "row", "signals", *PREVIOUS}

Returns = Literal["components", "scalar", "bool", "value"]


def check(
    source: str,
    signals: SignalTable,
    *,
    function: str = "reward",
    returns: Returns = "components",
    file: str = "reward.py",
) -> Program:
    """Check one function of a text in the reward language.

    Args:
        source: the text; helper functions and named constants may stand beside the function.
        signals: what `s` and `prev` have.
        function: its name.
        returns: what it has to return: reward components, one number, a condition, or a number or vector.
        file: its name in error messages.

    Raises:
        RewardError: with every mistake.
    """
    lines = source.splitlines()
    expressions = Expressions(signals, lines)
    statements = Statements(expressions)
    checker = _Check(expressions, statements, function, returns)
    try:
        tree = _parse(source, file)
        if checker.is_small(tree):
            tree = checker.collect(tree)
        if not expressions.problems:
            value = checker.run(tree)
            if not expressions.problems:
                program = checker.program(value, source)
                if program is not None:
                    return program
    except TooLarge:
        where = checker.definition or ast.parse("0").body[0]
        expressions.problem(where, "limit", f"it unrolls to more than {MAX_OPERATIONS} operations", "make it shorter")
    except TooLong:
        where = checker.definition or ast.parse("0").body[0]
        expressions.problem(where, "limit", "helper functions and loops multiply to too many steps", "make it shorter")
    raise RewardError(file, source, expressions.problems)


def _parse(source: str, file: str) -> ast.Module:
    nowhere = Expressions(SignalTable.of([]), source.splitlines())
    start = ast.Pass(lineno=1, col_offset=0)
    if len(source.encode("utf-8", "replace")) > MAX_BYTES:
        nowhere.problem(start, "limit", f"the text has more than {MAX_BYTES:,} bytes")
        raise RewardError(file, source, nowhere.problems)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except SyntaxError as error:
        place = ast.Pass(lineno=error.lineno or 1, col_offset=max(0, (error.offset or 1) - 1))
        nowhere.problem(place, "syntax", f"not valid Python: {error.msg}")
    except (ValueError, UnicodeError) as error:
        nowhere.problem(start, "syntax", f"not valid Python: {error}")
    except (RecursionError, MemoryError):
        nowhere.problem(start, "limit", "it is nested too deeply")
    raise RewardError(file, source, nowhere.problems)


class _Check:
    """The walk over one module."""

    def __init__(self, expressions: Expressions, statements: Statements, function: str, returns: Returns) -> None:
        self.expressions, self.statements, self.function, self.returns = expressions, statements, function, returns
        self.definition: ast.FunctionDef | None = None
        self.notes: list[str] = []

    def is_small(self, tree: ast.Module) -> bool:
        """Check size and depth; what follows may recurse."""
        stack: list[tuple[ast.AST, int]] = [(tree, 0)]
        count = 0
        while stack:
            node, depth = stack.pop()
            count += 1
            if depth > MAX_DEPTH or count > MAX_NODES:
                what = f"nested more than {MAX_DEPTH} deep" if depth > MAX_DEPTH else f"more than {MAX_NODES} parts"
                self.expressions.problem(node, "limit", f"the program has {what}")
                return False
            stack += [(child, depth + 1) for child in ast.iter_child_nodes(node)]
        return True

    def collect(self, tree: ast.Module) -> ast.Module:
        """Rewrite dialects, collect the functions and find the one that counts."""
        dialects = Dialects(self.expressions.problem)
        tree = dialects.rewritten(tree)
        self.notes += dialects.notes
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                self._function(node)
        helpers = self.expressions.helpers
        defined = [name for name in (self.function, *ALIASES.get(self.function, ())) if name in helpers]
        if not defined and self.function in ALIASES:
            defined = [name for name in helpers if self.function in name.lower()][-1:]
        if defined:
            self.definition = helpers[defined[0]]
        else:
            near = did_you_mean(self.function, list(helpers))
            first = tree.body[0] if tree.body else ast.Pass(lineno=1, col_offset=0)
            self.expressions.problem(first, "missing", f"there is no function {self.function!r}{near}",
                                     f"write def {self.function}(s):")  # fmt: skip
        return tree

    def _function(self, node: ast.FunctionDef) -> None:
        problem = self.expressions.problem
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None and not _is_number(default):
                problem(default, "syntax", "only numbers can be default values", "leave it out")
        if node.args.vararg or node.args.kwarg:
            problem(node, "syntax", "* and ** parameters are not part of the reward language")
        self.expressions.helpers[node.name] = node

    def run(self, tree: ast.Module) -> Value:
        """The value that the function returns."""
        for node in tree.body:
            if isinstance(node, ast.Assign):
                self.statements.run([node], self.expressions.constants)
        assert self.definition is not None
        scope = self._arguments(self.definition)
        value = Unknown() if scope is None else self.statements.call(self.definition, scope)
        for helper in self.expressions.helpers.values():
            if helper is not self.definition and helper.name not in self.statements.visited:
                self.notes.append(f"line {helper.lineno}: {helper.name} is never called")
        return value

    def _arguments(self, definition: ast.FunctionDef) -> Scope | None:
        """Parameters that name signals are these signals, the others the row and the row before."""
        scope, rows = self.statements.defaults(definition), [Row("signal"), Row("prev")]
        signals, strangers = self.expressions.signals, []
        given = [a for a in (*definition.args.posonlyargs, *definition.args.args, *definition.args.kwonlyargs)
                 if a.arg not in scope]  # fmt: skip
        for argument in given:
            if argument.arg == "self":
                scope["self"] = rows[0]
            elif argument.arg in signals:
                scope[argument.arg] = self.expressions.signal(argument.arg, argument)
            else:
                strangers.append(argument)
        if any(a.arg in signals for a in given) and not all(a.arg in ROWS for a in strangers):
            for argument in strangers:
                if argument.arg not in ROWS:
                    near = did_you_mean(argument.arg, signals.names)
                    self.expressions.problem(argument, "signal", f"unknown signal {argument.arg!r}{near}")
            return None
        if len(strangers) > 2 or not given:
            self.expressions.problem(
                definition, "arguments", f"{definition.name} takes the row and the row before, or signals by name",
                f"write def {self.function}(s): or def {self.function}(s, prev):",
            )  # fmt: skip
            return None
        strangers.sort(key=lambda argument: argument.arg in PREVIOUS)
        if len(strangers) == 1 and strangers[0].arg in PREVIOUS:
            rows = rows[1:]
        scope |= {argument.arg: row for argument, row in zip(strangers, rows, strict=False)}
        return scope

    def program(self, value: Value, source: str) -> Program | None:
        """The program of the returned value; None if it is not what is asked for."""
        outputs, results, has_total = self._results(value)
        if self.expressions.problems:
            return None
        operations, kept, slots, place = self.expressions.graph.pruned(results)
        constants = tuple(self.expressions.literals[slot] for slot in slots)
        return Program(
            name=self.function, source=source, outputs=outputs, has_total=has_total,
            is_reward=self.returns == "components", operations=operations, results=kept, constants=constants,
            uses_prev=any(o.name == "prev" for o in operations), hash=digest(operations, kept, constants),
            structure_hash=digest(operations, kept, None), notes=tuple(self.notes),
            names=tuple((place[node], name) for node, name in self.expressions.names.items() if node in place),
            calls=tuple((place[node], _moved(call, place)) for node, call in self.expressions.calls.items()
                        if node in place and all(a in place for group in call.arguments for a in group)),
        )  # fmt: skip

    def _results(self, value: Value) -> tuple[tuple[str, ...], list[int], bool]:
        """Names, nodes, and whether the total is the program's own."""
        expressions, where = self.expressions, self.definition or ast.Pass(lineno=1, col_offset=0)
        if self.returns == "components":
            return self._reward(value, where)
        if self.returns == "bool":
            if isinstance(value, Truth):
                return (self.function,), [expressions.builder("float", value.node)], False
            expressions.problem(
                where, "type", f"{self.function} returns {describe(value)}", "it has to return a condition"
            )
        elif self.returns == "value" and isinstance(value, Vector):
            return tuple(f"{self.function}[{i}]" for i in range(len(value.nodes))), list(value.nodes), False
        else:
            node = expressions.as_number(value, where, f"as the value of {self.function}")
            if node is not None:
                return (self.function,), [node], False
        return (), [], False

    def _reward(self, value: Value, where: ast.AST) -> tuple[tuple[str, ...], list[int], bool]:
        expressions = self.expressions
        total: int | None = None
        if isinstance(value, Group) and len(value.items) == 2 and any(isinstance(v, Components) for v in value.items):
            first, second = value.items
            if isinstance(first, Components):
                first, second = second, first
            total, value = expressions.as_number(first, where, "as the total"), second
        if isinstance(value, Components):
            if not value.parts or len(value.parts) > MAX_COMPONENTS:
                expressions.problem(where, "component", f"{len(value.parts)} components",
                                    f"a reward has 1 to {MAX_COMPONENTS} named components")  # fmt: skip
                return (), [], False
            parts = list(value.parts.values())
            has_total = total is not None
            return tuple(value.parts), [expressions.builder.sum(parts) if total is None else total, *parts], has_total
        if isinstance(value, Number | Truth | Vector) and total is None:
            node = expressions.as_number(value, where, "as the reward")
            return ("total",), [] if node is None else [node, node], True
        if not isinstance(value, Unknown):
            expressions.problem(where, "type", f"{self.function} returns {describe(value)}",
                                'return a dict of named components, as in {"near": 1.0}')  # fmt: skip
        return (), [], False


def _moved(call: Call, place: dict[int, int]) -> Call:
    return replace(call, arguments=tuple(tuple(place[a] for a in group) for group in call.arguments))


def _is_number(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)
