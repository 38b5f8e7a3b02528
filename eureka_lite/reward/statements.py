"""Statements of a program: assignments, branches, unrolled loops, returns and calls of helper functions.

Both sides of an `if` are computed and the right values selected, loops are unrolled, helpers inlined: what is left is
one straight list of operations.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from eureka_lite.reward.expressions import Expressions, Scope, called
from eureka_lite.reward.values import Components, Group, Number, Truth, Unknown, Unset, Value, Vector, describe

MAX_ITERATIONS = 1000
MAX_CALLS = 20


class Statements:
    """Runs function bodies on scopes; `visited` collects the helpers that were called."""

    def __init__(self, expressions: Expressions) -> None:
        self.expressions = expressions
        self.visited: set[str] = set()
        self._open: list[str] = []
        self._iterations = 0
        expressions.call_helper = self._call_helper

    def call(self, function: ast.FunctionDef, scope: Scope) -> Value:
        """The value that a function returns on a scope of its arguments."""
        self._open.append(function.name)
        value = self.run(function.body, scope)
        self._open.pop()
        if value is None:
            return self.expressions.problem(function, "return", f"{function.name} returns nothing",
                                            "end it with return")  # fmt: skip
        return value

    def defaults(self, function: ast.FunctionDef) -> Scope:
        """The parameters that have a number as default."""
        places = [*function.args.posonlyargs, *function.args.args]
        pairs = [*zip(places[len(places) - len(function.args.defaults) :], function.args.defaults, strict=True),
                 *zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)]  # fmt: skip
        return {argument.arg: self.expressions.value(default, {}) for argument, default in pairs if default is not None}

    def _call_helper(self, node: ast.Call, arguments: list[Value], keywords: dict[str, Value]) -> Value:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        function = self.expressions.helpers[name]
        self.visited.add(name)
        if name in self._open or len(self._open) > MAX_CALLS:
            return self.expressions.problem(node, "recursion", f"{name} calls itself", "use for over range(...)")
        places = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
        names = [*places, *(argument.arg for argument in function.args.kwonlyargs)]
        given: Scope = dict(zip(places, arguments, strict=False)) | keywords
        scope = self.defaults(function) | given
        if len(arguments) > len(places) or len(given) < len(arguments) + len(keywords) or set(scope) != set(names):
            return self.expressions.problem(node, "arguments", f"{name} takes ({', '.join(names)})")
        if any(isinstance(value, Components) for value in scope.values()):
            return self.expressions.problem(node, "type", "a dict of components cannot be handed to a function",
                                            "return numbers from helper functions")  # fmt: skip
        return self.call(function, scope)

    def run(self, body: list[ast.stmt], scope: Scope) -> Value | None:
        """Run statements; the returned value, or None if the end is reached. Changes `scope`."""
        for i, statement in enumerate(body):
            self.expressions.tick()
            if isinstance(statement, ast.Return):
                if statement.value is None:
                    return self.expressions.problem(statement, "return", "it returns nothing")
                return self.expressions.value(statement.value, scope)
            if isinstance(statement, ast.If):
                condition = self.expressions.truth(statement.test, scope)
                if condition is not None and condition.static is not None:
                    chosen = statement.body if condition.static else statement.orelse
                    return self.run([*chosen, *body[i + 1 :]], scope)
                if _returns(statement):
                    return self._either(statement, condition, body[i + 1 :], scope)
                self._branch(statement, condition, scope)
            elif isinstance(statement, ast.For):
                self._loop(statement, scope)
            else:
                self._simple(statement, scope)
        return None

    def _either(self, node: ast.If, condition: Truth | None, rest: list[ast.stmt], scope: Scope) -> Value:
        """An `if` that returns: what follows it belongs to the side that goes on."""
        values = [self.run([*side, *rest], dict(scope)) for side in (node.body, node.orelse)]
        if any(value is None for value in values):
            return self.expressions.problem(node, "return", "there is a way to the end without a return",
                                            "return on every way")  # fmt: skip
        a, b = (value for value in values if value is not None)
        if condition is None:
            return Unknown()
        merged = self.expressions.merge(condition, a, b)
        if merged is None:
            hint = "return the same components on every way, 0.0 where one does not apply"
            return self.expressions.problem(node, "return", f"{describe(a)} on one way and another on the other", hint)
        return merged

    def _branch(self, node: ast.If, condition: Truth | None, scope: Scope) -> None:
        """An `if` that goes on: afterwards every variable is what its side made of it."""
        sides = [dict(scope), dict(scope)]
        self.run(node.body, sides[0])
        self.run(node.orelse, sides[1])
        for name in dict.fromkeys([*sides[0], *sides[1]]):
            a, b = (side.get(name, Unset()) for side in sides)
            if a == b:
                scope[name] = a
            elif condition is None or isinstance(a, Unknown) or isinstance(b, Unknown):
                scope[name] = Unknown()
            elif isinstance(a, Unset) or isinstance(b, Unset):
                scope[name] = Unset()
            else:
                scope[name] = self.expressions.merge(condition, a, b) or Unset()

    def _loop(self, node: ast.For, scope: Scope) -> None:
        """A loop over range(...) or the elements of a vector, unrolled."""
        problem = self.expressions.problem
        if node.orelse or _returns(node) or _has(node, (ast.Break, ast.Continue)):
            problem(node, "syntax", "return, break, continue and else of a loop are not part of the reward language")
            return
        items = self._items(node.iter, scope)
        if items is None:
            return
        for item in items:
            self._iterations += 1
            if self._iterations > MAX_ITERATIONS:
                problem(node, "limit", f"the loops run more than {MAX_ITERATIONS} times together")
                return
            self._assign(node.target, item, scope)
            self.run(node.body, scope)

    def _items(self, node: ast.expr, scope: Scope) -> list[Value] | None:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
            bounds = [self.expressions.whole(argument, scope) for argument in node.args]
            known = [bound for bound in bounds if bound is not None]
            if len(known) < len(bounds):
                return None
            if node.keywords or not 1 <= len(known) <= 3 or (len(known) == 3 and known[2] == 0):
                self.expressions.problem(node, "arguments", "range needs one to three whole numbers, the step not 0")
                return None
            count = range(*known)
            if len(count) > MAX_ITERATIONS:
                self.expressions.problem(node, "limit", f"the loop runs more than {MAX_ITERATIONS} times")
                return None
            return [Number(self.expressions.builder.literal(i), i) for i in count]
        value = self.expressions.value(node, scope)
        if isinstance(value, Vector):
            return [Number(n) for n in value.nodes]
        if isinstance(value, Group):
            return list(value.items)
        if not isinstance(value, Unknown):
            self.expressions.problem(node, "syntax", "a loop runs over range(...) with whole numbers, or over a vector")
        return None

    def _simple(self, node: ast.stmt, scope: Scope) -> None:
        value = self.expressions.value
        if isinstance(node, ast.Assign):
            assigned = value(node.value, scope)
            if isinstance(assigned, Components) and (len(node.targets) > 1 or isinstance(node.value, ast.Name)):
                self.expressions.problem(node, "type", "a second name for the same dict", "keep one name for it")
            for target in node.targets:
                self._assign(target, assigned, scope)
        elif isinstance(node, ast.AnnAssign):
            if node.value is not None:
                self._assign(node.target, value(node.value, scope), scope)
        elif isinstance(node, ast.AugAssign):
            before = value(node.target, scope)
            self._assign(
                node.target, self.expressions.arithmetic(node.op, before, value(node.value, scope), node), scope
            )
        elif (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)) or isinstance(node, ast.Pass):
            pass  # a docstring
        else:
            hint = "its result is not used" if isinstance(node, ast.Expr) else ""
            what = "a statement without effect" if isinstance(node, ast.Expr) else called(node)
            self.expressions.problem(node, "syntax", f"{what} is not part of the reward language", hint)

    def _assign(self, target: ast.expr, value: Value, scope: Scope) -> None:
        expressions = self.expressions
        if isinstance(target, ast.Name):
            scope[target.id] = value
            self._name(target.id, value)
        elif isinstance(target, ast.Tuple | ast.List):
            items: Sequence[Value] | None = None
            if isinstance(value, Group):
                items = list(value.items)
            elif isinstance(value, Vector):
                items = [Number(n) for n in value.nodes]
            if isinstance(value, Unknown):
                items = [value] * len(target.elts)
            if items is None or len(items) != len(target.elts):
                expressions.problem(target, "type", f"{describe(value)} cannot be taken apart into {len(target.elts)}")
                items = [Unknown()] * len(target.elts)
            for part, item in zip(target.elts, items, strict=True):
                self._assign(part, item, scope)
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            owner = expressions.value(target.value, scope)
            if isinstance(owner, Components):
                name = expressions.component_name(target.slice, target)
                node = expressions.as_number(value, target, f"as component {name!r}")
                if name is not None and node is not None:
                    scope[target.value.id] = Components({**owner.parts, name: node})
            elif not isinstance(owner, Unknown):
                expressions.problem(target, "type", "elements cannot be changed", "build a new vector")
        else:
            expressions.problem(target, "syntax", "only variables and components can be assigned to")

    def _name(self, name: str, value: Value) -> None:
        """Remember what a node is called in the text."""
        names = self.expressions.names
        if isinstance(value, Number | Truth):
            names.setdefault(value.node, name)
        elif isinstance(value, Vector):
            parts = value.labels or ("xyz" if value.kind == "vec3" else "wxyz" if value.kind == "quat" else None)
            for i, node in enumerate(value.nodes):
                names.setdefault(node, f"{name}_{parts[i] if parts else i}")


def _returns(node: ast.stmt) -> bool:
    return _has(node, (ast.Return,))


def _has(node: ast.AST, kinds: tuple[type, ...]) -> bool:
    return any(isinstance(part, kinds) for part in ast.walk(node))
