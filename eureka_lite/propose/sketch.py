"""A reward program as parts that can be changed: locals and named components.

Works on syntax trees only; nothing is executed. A program of another shape has no sketch and is left alone.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Sketch:
    """Locals and components of a reward in the order of the text; expressions are Python syntax over `s` and `prev`."""

    locals: dict[str, ast.expr] = field(default_factory=dict)
    components: dict[str, ast.expr] = field(default_factory=dict)

    def define(self, name: str, text: str) -> str:
        """Add a local unless one with the same text is there; returns its name."""
        expression = ast.parse(text, mode="eval").body
        for known, other in self.locals.items():
            if ast.dump(other) == ast.dump(expression):
                return known
        name = _free(name, self.locals)
        self.locals[name] = expression
        return name

    def add(self, name: str, text: str) -> None:
        """Add a component; a name that is taken gets a number."""
        self.components[_free(name, self.components)] = ast.parse(text, mode="eval").body

    def source(self) -> str:
        """The program's text, without locals that no component needs."""
        needed = self._needed()
        body = [f"    {name} = {_text(self.locals[name])}" for name in self.locals if name in needed]
        parts = [f'        "{name}": {_text(part)},' for name, part in self.components.items()]
        return "\n".join(["def reward(s, prev):", *body, "    return {", *parts, "    }"]) + "\n"

    def _needed(self) -> set[str]:
        needed: set[str] = set()
        stack = list(self.components.values())
        while stack:
            for node in ast.walk(stack.pop()):
                if isinstance(node, ast.Name) and node.id in self.locals and node.id not in needed:
                    needed.add(node.id)
                    stack.append(self.locals[node.id])
        return needed

    def numbers(self) -> list[ast.Constant]:
        """The numeric literals that may be tuned: no indexes, zeros, ones, exponents or limits of comparisons."""
        needed = self._needed()
        found: list[ast.Constant] = []
        for expression in (*(self.locals[n] for n in self.locals if n in needed), *self.components.values()):
            skipped: set[int] = set()
            for node in ast.walk(expression):
                if isinstance(node, ast.Subscript):
                    skipped |= {id(part) for part in ast.walk(node.slice)}
                if isinstance(node, ast.Compare):
                    skipped |= {id(part) for part in ast.walk(node)}
                if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
                    skipped |= {id(part) for part in ast.walk(node.right)}
            constants = [node for node in ast.walk(expression) if isinstance(node, ast.Constant)]
            found += [node for node in constants if id(node) not in skipped
                      and isinstance(node.value, float) and node.value not in (0.0, 1.0)]  # fmt: skip
        return found

    def copy(self) -> Sketch:
        """A copy that shares nothing."""
        return copy.deepcopy(self)

    def take(self, other: Sketch, component: str) -> None:
        """Copy a component of another sketch with the locals it needs."""
        names: dict[str, str] = {}

        def renamed(expression: ast.expr) -> ast.expr:
            return _Renamed(lambda old: names.get(old, old)).visit(copy.deepcopy(expression))

        only = Sketch(other.locals, {component: other.components[component]})
        for name in (name for name in other.locals if name in only._needed()):
            names[name] = self.define(name, _text(renamed(other.locals[name])))
        self.components[_free(component, self.components)] = renamed(other.components[component])


class _Renamed(ast.NodeTransformer):
    def __init__(self, new: Callable[[str], str]) -> None:
        self._new = new

    def visit_Name(self, node: ast.Name) -> ast.Name:  # noqa: D102, N802
        return ast.copy_location(ast.Name(self._new(node.id), node.ctx), node)


def read_sketch(source: str) -> Sketch | None:
    """The sketch of a program made of assignments to names and one returned dict; None for any other program."""
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    functions = [node for node in module.body if isinstance(node, ast.FunctionDef)]
    if len(functions) != 1 or functions[0].name != "reward":
        return None
    rows = [argument.arg for argument in functions[0].args.args]
    if not 1 <= len(rows) <= 2:
        return None
    as_usual = dict(zip(rows, ("s", "prev"), strict=False))
    sketch = Sketch()
    for node in functions[0].body:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        node = _Renamed(lambda old: as_usual.get(old, old)).visit(node)
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            if node.targets[0].id in sketch.locals:
                return None
            sketch.locals[node.targets[0].id] = node.value
        elif isinstance(node, ast.Return) and isinstance(node.value, ast.Dict):
            for key, value in zip(node.value.keys, node.value.values, strict=True):
                if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
                    return None
                sketch.components[key.value] = value
            return sketch
        else:
            return None
    return None


def _free(name: str, taken: dict[str, ast.expr]) -> str:
    if name not in taken:
        return name
    stem = re.sub(r"_\d+$", "", name)
    return next(f"{stem}_{i}" for i in range(2, 1000) if f"{stem}_{i}" not in taken)


def _text(expression: ast.expr) -> str:
    return ast.unparse(expression)
