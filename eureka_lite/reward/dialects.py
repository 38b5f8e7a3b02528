"""Dialects: what people and models write for NumPy, torch, JAX or Warp, rewritten to the language itself.

A pass over the syntax tree before the check. It only renames and drops; it computes nothing and evaluates nothing, and
new nodes keep the place of the old, so that mistakes are shown where they were written. A spelling whose meaning is not
certain in a program of one world (a reduction over worlds, a cast to whole numbers) is refused here.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

MODULES = {"np", "numpy", "math", "torch", "wp", "warp", "jnp", "jax", "F", "functional"}
DECORATORS = {"script", "jit", "njit", "compile", "staticmethod", "func", "vmap", "no_grad", "inference_mode"}
# other names of functions of the language; prefixes such as torch.linalg. are gone before this is looked up
NAMES = {
    "absolute": "abs", "fabs": "abs", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2",
    "power": "pow", "float_power": "pow", "amin": "min", "fmin": "min", "minimum": "min", "amax": "max", "fmax": "max",
    "maximum": "max", "clip": "clamp", "length": "norm", "vector_norm": "norm", "dist": "distance", "vdot": "dot",
    "inner": "dot", "vec3f": "vec3", "rint": "round", "expit": "sigmoid", "quat_rotate": "rotate",
    "quat_apply": "rotate", "quat_rotate_inverse": "rotate_inverse", "quat_apply_inverse": "rotate_inverse",
    "quat_rotate_inv": "rotate_inverse", "quat_mul": "quat_multiply", "quat_inverse": "quat_conjugate",
    "quat_inv": "quat_conjugate",
}  # fmt: skip
REDUCTIONS = {"sum", "mean", "min", "max"}
ALONG = {"cross": 2, "dot": 2, "normalize": 1, "cosine_similarity": 2}  # arguments before the dimension
LAST = {"dim", "axis"}
WITHOUT_EFFECT = {"device", "requires_grad", "keepdim", "keepdims", "out", "copy"}
# methods and functions that change how a value is stored, not what it is
SAME = {"float", "double", "half", "item", "detach", "clone", "copy", "cpu", "cuda", "numpy", "to", "contiguous",
        "squeeze", "unsqueeze", "astype", "type", "float32", "float64", "tensor", "as_tensor", "array", "asarray",
        "stop_gradient", "view_as", "expand_as"}  # fmt: skip
STACKS = {"tensor", "as_tensor", "array", "asarray", "stack", "hstack", "vec3", "FloatTensor"}
WHOLE = {"int", "long", "int32", "int64", "uint8", "bool", "int8", "int16", "short"}


@dataclass
class _Spelling:
    """A call as it was written: whose function, on what; `of_pair`: only the values of a (values, indices) are used."""

    node: ast.Call
    name: str
    origin: str
    arguments: list[ast.expr]
    keywords: list[ast.keyword]
    of_pair: bool


@dataclass
class Dialects(ast.NodeTransformer):
    """The pass over one module.

    Attributes:
        problem: (node, code, message, hint) for what is refused.
        notes: what was left out.
        imported: local name -> name in the language, of imports from the known modules.
    """

    problem: Callable[..., Any]
    notes: list[str] = field(default_factory=list)
    imported: dict[str, str] = field(default_factory=dict)
    _modules: set[str] = field(default_factory=lambda: set(MODULES))
    _foreign: dict[str, str] = field(default_factory=dict)
    _shadowed: set[str] = field(default_factory=set)
    _functions: dict[str, ast.FunctionDef] = field(default_factory=dict)

    # --- the module -----------------------------------------------------------------------------------------------

    def rewritten(self, tree: ast.Module) -> ast.Module:
        """The module in the language's own words."""
        body = self._flat(tree.body)
        latest = {node.name: node for node in body if isinstance(node, ast.FunctionDef)}
        self._functions = latest
        used = {n.id for f in latest.values() for n in ast.walk(f) if isinstance(n, ast.Name)}
        kept: list[ast.stmt] = []
        for node in body:
            if isinstance(node, ast.FunctionDef):
                if latest[node.name] is node:
                    kept.append(self.visit(node))
                else:
                    self._note(node, f"{node.name} is defined again below; the last one counts")
            elif isinstance(node, ast.Assign | ast.AnnAssign) and self._needed(node, used, body):
                kept.append(self.visit(node))
            elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
                self._note(node, "outside of functions only constants and imports count; this is left out")
        return ast.Module(kept, [])

    def _flat(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The statements without imports, and with the functions of classes in the place of the classes."""
        found: list[ast.stmt] = []
        for node in body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                self._import(node)
            elif isinstance(node, ast.ClassDef) and any(isinstance(n, ast.FunctionDef) for n in node.body):
                self._note(node, f"the class {node.name} is left out, its functions are kept")
                methods = [n for n in node.body if not (isinstance(n, ast.FunctionDef) and n.name.startswith("__"))]
                found += self._flat(methods)
            else:
                found.append(node)
        return found

    def _needed(self, node: ast.Assign | ast.AnnAssign, used: set[str], body: list[ast.stmt]) -> bool:
        """Whether a function, or another constant, reads what is assigned."""
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}
        others = {n.id for other in body if other is not node and isinstance(other, ast.Assign | ast.AnnAssign)
                  for n in ast.walk(other.value or other) if isinstance(n, ast.Name)}  # fmt: skip
        return bool(names & (used | others))

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            source = (node.module or "") if isinstance(node, ast.ImportFrom) else alias.name
            name, known = alias.asname or alias.name, source.split(".")[0] in MODULES
            if isinstance(node, ast.Import) or (known and name in MODULES):
                if known:
                    self._modules.add(name.split(".")[0])
                else:
                    self._modules.discard(name.split(".")[0])
                    self._foreign[name.split(".")[0]] = source
            elif known:
                self.imported[name] = alias.name
            else:
                self._foreign[name] = source
        self._note(node, "the import is left out; all functions are there already")

    def _note(self, node: ast.AST, text: str) -> None:
        self.notes.append(f"line {getattr(node, 'lineno', 1)}: {text}")

    # --- functions ------------------------------------------------------------------------------------------------

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Drop annotations and the decorators that mean nothing here."""
        for decorator in node.decorator_list:
            name = decorator.func if isinstance(decorator, ast.Call) else decorator
            if _last_name(name) not in DECORATORS:
                self.problem(decorator, "syntax", "decorators are not part of the reward language", "leave it out")
        for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
            argument.annotation = None
        node.decorator_list, node.returns = [], None
        arguments = {argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
        stored = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        before, self._shadowed = self._shadowed, arguments | stored
        node.body = [self.visit(statement) for statement in node.body]
        self._shadowed = before
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        """`a: float = 1.0` is `a = 1.0`; the annotation is not looked at."""
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        return ast.copy_location(ast.Assign([self.visit(node.target)], self.visit(node.value)), node)

    # --- names ----------------------------------------------------------------------------------------------------

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """A name that was imported under another."""
        if node.id in self._foreign and node.id not in self._shadowed and isinstance(node.ctx, ast.Load):
            self.problem(node, "name", f"{node.id!r} comes from {self._foreign[node.id]!r}, which is not there",
                         "use the functions of the language")  # fmt: skip
        if node.id in self.imported and node.id not in self._shadowed:
            return _at(node, ast.Name(self._renamed(self.imported[node.id]), node.ctx))
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Prefixes: np.pi is pi."""
        if self._is_module(node.value):
            return _at(node, ast.Name(node.attr, node.ctx))
        pair = self._pair(node.value) if node.attr == "values" else None
        if pair is not None:
            return pair
        node.value = self.visit(node.value)
        return node

    def _is_module(self, node: ast.expr) -> bool:
        """np, torch.linalg, torch.nn.functional."""
        name = _root_name(node)
        return name in self._modules and name not in self._shadowed

    def _renamed(self, name: str) -> str:
        return NAMES.get(name, name) if name not in self._functions else name

    # --- elements -------------------------------------------------------------------------------------------------

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """x[:, 0] and x[..., 0] are x[0]: the first index of a batch counts worlds."""
        pair = self._pair(node.value) if isinstance(node.slice, ast.Constant) and node.slice.value == 0 else None
        if pair is not None:
            return pair
        index = node.slice
        if isinstance(index, ast.Tuple):
            items = [item for item in index.elts if not (isinstance(item, ast.Constant) and item.value is None)]
            rest = items[1:] if items and _is_everything(items[0]) else None
            if rest is None or len(rest) > 1:
                self.problem(index, "index", "of several indexes only the last may select, after : or ...",
                             "write x[:, 0] or x[0]")  # fmt: skip
                return node
            return self.visit(node.value if not rest or _is_everything(rest[0]) else
                              _at(node, ast.Subscript(node.value, rest[0], node.ctx)))  # fmt: skip
        if isinstance(index, ast.Constant) and index.value in (None, ...):
            return self.visit(node.value)
        self.generic_visit(node)
        return node

    def _pair(self, node: ast.expr) -> ast.expr | None:
        """torch.max(x, dim=-1) is a pair of values and indices: its values are max(x)."""
        if not (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("min", "max")
        ):
            return None
        with_dim = any(k.arg == "dim" for k in node.keywords) or len(node.args) > self._is_module(node.func.value)
        return self._call(node, of_pair=True) if with_dim else None

    # --- operators ------------------------------------------------------------------------------------------------

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """& and | of conditions, as arrays need them."""
        self.generic_visit(node)
        if isinstance(node.op, ast.BitAnd | ast.BitOr):
            operator = ast.And() if isinstance(node.op, ast.BitAnd) else ast.Or()
            return _at(node, ast.BoolOp(operator, [node.left, node.right]))
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        """~ of a condition."""
        self.generic_visit(node)
        return _at(node, ast.UnaryOp(ast.Not(), node.operand)) if isinstance(node.op, ast.Invert) else node

    # --- calls ----------------------------------------------------------------------------------------------------

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Functions and methods of array libraries as functions of the language."""
        return self._call(node)

    def _call(self, node: ast.Call, of_pair: bool = False) -> ast.expr:
        func = node.func
        if isinstance(func, ast.Attribute) and self._is_own(func):
            return self._own(node, func)
        origin, name, arguments = self._origin(func), _last_name(func), list(node.args)
        if isinstance(func, ast.Name):
            self.visit_Name(func)
            name = self.imported.get(func.id, name) if origin else name
        own = not origin and name in self._functions
        if own or not name or name in ("dict", "range", "values", "items", "keys", "update"):
            self.generic_visit(node)
            return node
        if isinstance(func, ast.Attribute) and origin == "method":
            arguments.insert(0, func.value)
        return self._function(_Spelling(node, name, origin, arguments, list(node.keywords), of_pair))

    def _origin(self, func: ast.expr) -> str:
        """Whose function it is: a module's name, "method", or "" for a bare name."""
        if isinstance(func, ast.Attribute):
            return _root_name(func.value) if self._is_module(func.value) else "method"
        imported = isinstance(func, ast.Name) and func.id in self.imported and func.id not in self._shadowed
        return "import" if imported else ""

    def _is_own(self, func: ast.Attribute) -> bool:
        return isinstance(func.value, ast.Name) and func.value.id in ("self", "cls") and func.attr in self._functions

    def _own(self, node: ast.Call, func: ast.Attribute) -> ast.expr:
        """self.near(x) is near(self, x), or near(x) of a static function."""
        names = [argument.arg for argument in self._functions[func.attr].args.args]
        first = [func.value] if names[:1] in (["self"], ["cls"]) else []
        called = _at(node, ast.Call(_at(func, ast.Name(func.attr, ast.Load())), first + node.args, node.keywords))
        self.generic_visit(called)
        return called

    def _function(self, call: _Spelling) -> ast.expr:
        node, name, arguments = call.node, call.name, call.arguments
        if name in WHOLE:
            self.problem(node, "function", f"{name} makes whole numbers or truth values",
                         "the reward language has floats: use floor(...), or compare")  # fmt: skip
            return node
        call.keywords = [k for k in call.keywords if k.arg not in WITHOUT_EFFECT and not self._is_type(k)]
        if name in STACKS and arguments and isinstance(arguments[0], ast.List | ast.Tuple):
            return self._stacked(call, arguments[0].elts)
        if name in ("zeros", "ones") and len(arguments) == 1:
            return self._filled(call)
        if name in SAME and arguments and (call.origin or name in STACKS):
            return self._same(call)
        call.name = self._renamed(name)
        if call.origin and call.name == "smoothstep" and len(call.arguments) == 3:  # (low, high, x) elsewhere
            call.arguments = [call.arguments[2], *call.arguments[:2]]
        if call.name == "norm":
            return self._norm(call)
        if call.name in REDUCTIONS:
            self._over_elements(call)
        elif call.name in ALONG:
            call.keywords = [k for k in call.keywords if not (k.arg in LAST and _is_last(k.value))]
            if call.origin and len(call.arguments) > ALONG[call.name] and _is_last(call.arguments[-1]):
                call.arguments.pop()
        return self._spelled(call)

    def _spelled(self, call: _Spelling) -> ast.expr:
        """The call in the language's words."""
        keywords = {str(k.arg): k.value for k in call.keywords}
        rewrite = _REWRITES.get(call.name)
        found = rewrite(call.arguments, keywords) if rewrite else None
        if found is None:
            name = _at(call.node.func, ast.Name(call.name, ast.Load()))
            found = _at(call.node, ast.Call(name, call.arguments, call.keywords))
        for part in ast.walk(found):
            if "lineno" in part._attributes and not hasattr(part, "lineno"):
                ast.copy_location(part, call.node)
        self.generic_visit(found)
        return found

    def _stacked(self, call: _Spelling, numbers: list[ast.expr]) -> ast.expr:
        """Several numbers as one vector."""
        self._check_dims([*call.arguments[1:], *(k.value for k in call.keywords if k.arg in LAST)])
        call.name, call.arguments, call.keywords = "vector", numbers, []
        return self._spelled(call)

    def _filled(self, call: _Spelling) -> ast.expr:
        size = call.arguments[0]
        if not (isinstance(size, ast.Constant) and isinstance(size.value, int) and 1 <= size.value <= 64):
            self.problem(call.node, "arguments", f"{call.name} of a size that the text does not tell",
                         "write 0.0 or 1.0, or vec3(...)")  # fmt: skip
            return call.node
        call.arguments = [_at(size, ast.Constant(float(call.name == "ones"))) for _ in range(size.value)]
        call.name, call.keywords = "vector", []
        return self._spelled(call)

    def _same(self, call: _Spelling) -> ast.expr:
        """What only changes how a value is stored is the value."""
        if any(_is_whole(argument) for argument in call.arguments[1:]):
            self.problem(call.node, "function", "a cast to whole numbers; the reward language has floats only")
        return self.visit(call.arguments[0])

    def _norm(self, call: _Spelling) -> ast.expr:
        """norm(x), norm(x, dim=-1), norm(x, 2, -1), norm(x, p=1)."""
        given = {k.arg: k.value for k in call.keywords}
        order = given.pop("p", None) or given.pop("ord", None)
        dims = [given.pop(word) for word in LAST if word in given]
        if call.origin and len(call.arguments) > 1:
            order, dims, call.arguments = call.arguments[1], call.arguments[2:] + dims, call.arguments[:1]
        self._check_dims(dims)
        call.keywords = [k for k in call.keywords if k.arg in given]
        if isinstance(order, ast.Constant) and order.value == 1:
            call.name, call.arguments = "sum", [_named("abs", *call.arguments)]
        elif order is not None and not (isinstance(order, ast.Constant) and order.value in (2, None)):
            self.problem(order, "arguments", "norms of order 1 and 2 only", "leave the order out")
        return self._spelled(call)

    def _over_elements(self, call: _Spelling) -> None:
        """dim=-1 means over the elements of a vector; what would run over worlds is refused."""
        dims = [k.value for k in call.keywords if k.arg in LAST]
        pair = any(k.arg == "dim" for k in call.keywords)
        call.keywords = [k for k in call.keywords if k.arg not in LAST]
        extremes = _last_name(call.node.func) in ("min", "max", "amin", "amax") and call.origin not in ("wp", "warp")
        if call.origin and len(call.arguments) == 2:
            if call.name in ("sum", "mean") or (extremes and ast.unparse(call.arguments[1]) in ("-1", "0", "1")):
                dims.append(call.arguments.pop())
                pair = pair or call.origin == "torch"
        self._check_dims(dims)
        if pair and not call.of_pair and _last_name(call.node.func) in ("min", "max"):
            self.problem(call.node, "type", f"{call.name} over a dimension gives values and indices",
                         "write .values after it, or leave the dimension out")  # fmt: skip

    def _check_dims(self, dims: list[ast.expr]) -> None:
        for value in dims:
            if not _is_last(value):
                self.problem(value, "arguments", "the first dimension counts worlds, and a reward is of one world",
                             "use dim=-1, or leave it out")  # fmt: skip

    def _is_type(self, keyword: ast.keyword) -> bool:
        if keyword.arg != "dtype":
            return False
        if _is_whole(keyword.value):
            self.problem(keyword.value, "type", "whole numbers; the reward language has floats only", "leave it out")
        return True


def _last_name(func: ast.expr) -> str:
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


def _root_name(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _is_whole(node: ast.expr) -> bool:
    return _last_name(node) in WHOLE


def _is_last(node: ast.expr) -> bool:
    """The last dimension of an array of worlds, or all of them of one world."""
    return ast.unparse(node) in ("-1", "1", "(-1,)", "[-1]", "None", "(1,)", "[1]")


def _at(place: ast.AST, node: Any) -> Any:
    """A new node in the place of an old one."""
    return ast.copy_location(node, place)


def _is_everything(node: ast.expr) -> bool:
    """: or ..."""
    if isinstance(node, ast.Slice):
        return node.lower is None and node.upper is None and node.step is None
    return isinstance(node, ast.Constant) and node.value is ...


def _named(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


BOUNDS = {"min", "a_min", "low", "min_val", "max", "a_max", "high", "max_val"}


def _bounded(arguments: list[ast.expr], keywords: dict[str, ast.expr]) -> ast.expr | None:
    """clamp with one bound is max or min."""
    if not set(keywords) <= BOUNDS:
        return None
    low = next((keywords[k] for k in ("min", "a_min", "low", "min_val") if k in keywords), None)
    high = next((keywords[k] for k in ("max", "a_max", "high", "max_val") if k in keywords), None)
    rest = arguments[1:]
    low = low or (rest.pop(0) if rest else None)
    high = high or (rest.pop(0) if rest else None)
    if rest or not arguments:
        return None
    given = [bound for bound in (low, high) if bound is not None and not _is_none(bound)]
    if len(given) == 2:
        return _named("clamp", arguments[0], *given)
    if len(given) == 1:
        return _named("min" if low is None or _is_none(low) else "max", arguments[0], given[0])
    return None


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _logical(operator: ast.boolop) -> Callable[[list[ast.expr], dict[str, ast.expr]], ast.expr | None]:
    return lambda arguments, keywords: ast.BoolOp(operator, arguments) if len(arguments) == 2 and not keywords else None


def _cosine(arguments: list[ast.expr], keywords: dict[str, ast.expr]) -> ast.expr | None:
    known = len(arguments) == 2 and not keywords
    return _named("dot", *(_named("normalize", a) for a in arguments)) if known else None


_REWRITES: dict[str, Callable[[list[ast.expr], dict[str, ast.expr]], ast.expr | None]] = {
    "clamp": _bounded,
    "clamp_min": lambda a, k: _bounded(a[:1], k or dict(zip(["min"], a[1:2], strict=False))),
    "clamp_max": lambda a, k: _bounded(a[:1], k or dict(zip(["max"], a[1:2], strict=False))),
    "logical_and": _logical(ast.And()),
    "logical_or": _logical(ast.Or()),
    "logical_not": lambda a, k: ast.UnaryOp(ast.Not(), a[0]) if len(a) == 1 and not k else None,
    "relu": lambda a, k: _named("max", a[0], ast.Constant(0.0)) if len(a) == 1 and not k else None,
    "hypot": lambda a, k: _named("norm", _named("vector", *a)) if len(a) == 2 and not k else None,
    "cosine_similarity": _cosine,
}
