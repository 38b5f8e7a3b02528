"""The one table of the reward language: its operations, its functions, its named constants.

Checker, back ends, prompts and error hints read it. Functions are built from operations, so a back end spells the
operations only. A NaN goes through every function; comparisons with it are false.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from eureka_lite.reward.graph import Graph


@dataclass(frozen=True)
class Spelling:
    """How each back end writes an operation on its arguments {0}, {1}, {2}; None where it is written as in Warp.

    `edge` says what it gives where mathematics has no answer, in every back end.
    """

    warp: str
    numpy: str | None = None
    torch: str | None = None
    edge: str = ""

    def of(self, backend: str) -> str:
        """The spelling of a back end: warp, numpy or torch."""
        return getattr(self, backend) or self.warp


def _same(name: str, edge: str = "", numpy: str | None = None) -> Spelling:
    return Spelling(f"wp.{name}({{0}})", f"np.{numpy or name}({{0}})", f"torch.{name}({{0}})", edge)


# our own functions in Warp let NaN through where Warp's swallow it: see `warp_functions`
OPERATIONS: dict[str, Spelling] = {
    "add": Spelling("{0} + {1}"),
    "sub": Spelling("{0} - {1}"),
    "mul": Spelling("{0} * {1}"),
    "div": Spelling("{0} / {1}", edge="x / 0 is inf or -inf by the sign of x, 0 / 0 is NaN"),
    "neg": Spelling("-{0}"),
    "pow": Spelling("wp.pow({0}, {1})", "np.power({0}, {1})", "torch.pow({0}, {1})",
                    "NaN for a negative base and a broken exponent"),
    "abs": _same("abs"),
    "min": Spelling("minimum({0}, {1})", "np.minimum({0}, {1})", "torch.minimum({0}, {1})", "NaN if one is"),
    "max": Spelling("maximum({0}, {1})", "np.maximum({0}, {1})", "torch.maximum({0}, {1})", "NaN if one is"),
    "sqrt": _same("sqrt", "NaN below 0"),
    "exp": _same("exp", "inf above 88"),
    "log": _same("log", "-inf at 0, NaN below"),
    "sin": _same("sin"),
    "cos": _same("cos"),
    "tan": _same("tan"),
    "asin": Spelling("arcsine({0})", "np.arcsin(np.clip({0}, -1.0, 1.0))",
                     "torch.asin(torch.clamp({0}, -1.0, 1.0))", "x is clamped to [-1, 1]"),
    "acos": Spelling("arccosine({0})", "np.arccos(np.clip({0}, -1.0, 1.0))",
                     "torch.acos(torch.clamp({0}, -1.0, 1.0))", "x is clamped to [-1, 1]"),
    "atan": _same("atan", numpy="arctan"),
    "atan2": Spelling("wp.atan2({0}, {1})", "np.arctan2({0}, {1})", "torch.atan2({0}, {1})", "0 at (0, 0)"),
    "tanh": _same("tanh"),
    "floor": _same("floor"),
    "ceil": _same("ceil"),
    "round": Spelling("wp.rint({0})", "np.rint({0})", "torch.round({0})", "halves go to the even number"),
    "sign": Spelling("signum({0})", "np.sign({0})", "signum({0})", "0 at 0, NaN of NaN"),
    "lt": Spelling("{0} < {1}", edge="false with NaN"),
    "le": Spelling("{0} <= {1}", edge="false with NaN"),
    "gt": Spelling("{0} > {1}", edge="false with NaN"),
    "ge": Spelling("{0} >= {1}", edge="false with NaN"),
    "eq": Spelling("{0} == {1}", edge="false with NaN"),
    "ne": Spelling("{0} != {1}", edge="true with NaN"),
    "and": Spelling("{0} and {1}", "{0} & {1}", "{0} & {1}"),
    "or": Spelling("{0} or {1}", "{0} | {1}", "{0} | {1}"),
    "not": Spelling("not {0}", "~{0}", "~{0}"),
    "where": Spelling("wp.where({0}, {1}, {2})", "np.where({0}, {1}, {2})", "torch.where({0}, {1}, {2})"),
    "float": Spelling("wp.where({0}, 1.0, 0.0)", "np.where({0}, one, zero)", "torch.where({0}, one, zero)"),
}  # fmt: skip

NAMED_CONSTANTS = {"pi": math.pi, "tau": math.tau}


@dataclass(frozen=True)
class Parameter:
    """A parameter: `kind` is number, truth, vector, vec3, quat or each (numbers and vectors, element by element)."""

    name: str
    kind: str
    default: float | None = None


@dataclass(frozen=True)
class Function:
    """A function of the language.

    Attributes:
        name: as it is called.
        parameters: in order.
        result: number, truth, vec3, quat, vector or each.
        doc: one line.
        build: (builder, *arguments) -> node, or nodes of a vector; arguments are nodes, vectors come as lists of nodes.
        variadic: the last parameter may be repeated.
    """

    name: str
    parameters: tuple[Parameter, ...]
    result: str
    doc: str
    build: Callable[..., Any]
    variadic: bool = False

    @property
    def signature(self) -> str:
        """As it is written: `clamp(x, low, high)`."""
        shown = [p.name + (f"={p.default:g}" if p.default is not None else "") for p in self.parameters]
        return f"{self.name}({', '.join(shown)}{', ...' if self.variadic else ''})"


class Builder:
    """Writes operations into a graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def __call__(self, name: str, *arguments: int) -> int:
        """One operation on nodes; what depends on the sign of a zero sees zeros without sign."""
        if name == "div":
            x, y = arguments
            return self.graph.add(name, x, self.unsigned(y))
        if name == "atan2":
            return self.graph.add(name, *map(self.unsigned, arguments))
        if name == "pow":
            return self._pow(*arguments)
        return self.graph.add(name, *arguments)

    def _pow(self, x: int, y: int) -> int:
        """x ** y; IEEE 754 has NaN ** 0 and 1 ** NaN as 1, here NaN goes through."""
        power = self.graph.add("pow", self.unsigned(x), y)
        for part in (y, x):
            if self.graph.operations[part].name not in ("constant", "literal"):
                power = self("where", self("ne", part, part), part, power)
        return power

    def unsigned(self, x: int) -> int:
        """x with 0 for -0: back ends differ in the sign of zeros, and 1 / x must not hang on it."""
        if self.graph.operations[x].name in ("constant", "literal", "exp", "abs"):
            return x
        return self.graph.add("add", x, self.literal(0.0))

    def literal(self, value: float) -> int:
        """A number that is part of the language, not of the program."""
        return self.graph.add("literal", value=float(value))

    def power(self, base: int, exponent: int, static: float | None) -> int:
        """base ** exponent; small whole exponents become products, halves roots."""
        if static is not None and static == int(static) and 1 <= abs(static) <= 8:
            product = base
            for _ in range(int(abs(static)) - 1):
                product = self("mul", product, base)
            return product if static > 0 else self("div", self.literal(1.0), product)
        if static == 0.5:
            return self("sqrt", base)
        return self("pow", base, exponent)

    def sum(self, nodes: list[int]) -> int:
        """The sum of at least one node, from left to right."""
        total = nodes[0]
        for node in nodes[1:]:
            total = self("add", total, node)
        return total

    def dot(self, a: list[int], b: list[int]) -> int:
        """The scalar product."""
        return self.sum([self("mul", x, y) for x, y in zip(a, b, strict=True)])

    def norm(self, v: list[int]) -> int:
        """The Euclidean length."""
        return self("sqrt", self.dot(v, v))

    def clamp(self, x: int, low: int, high: int) -> int:
        """x between low and high."""
        return self("max", self("min", x, high), low)

    def cross(self, a: list[int], b: list[int]) -> list[int]:
        """The vector product of two vectors of 3."""
        return [self("sub", self("mul", a[i], b[j]), self("mul", a[j], b[i])) for i, j in ((1, 2), (2, 0), (0, 1))]

    def rotate(self, q: list[int], v: list[int]) -> list[int]:
        """v turned by the unit quaternion (w, x, y, z): v + 2 w (u x v) + 2 u x (u x v)."""
        t = [self("add", c, c) for c in self.cross(q[1:], v)]
        second = self.cross(q[1:], t)
        return [self("add", self("add", v[i], self("mul", q[0], t[i])), second[i]) for i in range(3)]

    def conjugate(self, q: list[int]) -> list[int]:
        """The inverse of a unit quaternion."""
        return [q[0], *(self("neg", c) for c in q[1:])]


def _normalize(b: Builder, v: list[int]) -> list[int]:
    length = b.norm(v)
    zero = b("eq", length, b.literal(0.0))
    return [b("where", zero, x, b("div", x, length)) for x in v]


def _sigmoid(b: Builder, x: int) -> int:
    half = b.literal(0.5)
    return b("mul", half, b("add", b.literal(1.0), b("tanh", b("mul", half, x))))


def _smoothstep(b: Builder, x: int, low: int, high: int) -> int:
    t = b.clamp(b("div", b("sub", x, low), b("sub", high, low)), b.literal(0.0), b.literal(1.0))
    return b("mul", b("mul", t, t), b("sub", b.literal(3.0), b("add", t, t)))


def _huber(b: Builder, x: int, delta: int) -> int:
    size = b("abs", x)
    inside = b("mul", b.literal(0.5), b("mul", x, x))
    outside = b("mul", delta, b("sub", size, b("mul", b.literal(0.5), delta)))
    return b("where", b("le", size, delta), inside, outside)


def _tolerance(b: Builder, x: int, low: int, high: int, margin: int) -> int:
    outside = b("max", b("max", b("sub", low, x), b("sub", x, high)), b.literal(0.0))
    scaled = b("mul", b.literal(math.sqrt(-2.0 * math.log(0.1))), b("div", outside, margin))
    soft = b("exp", b("mul", b.literal(-0.5), b("mul", scaled, scaled)))
    hard = b("where", b("ne", outside, outside), outside, b.literal(0.0))
    falling = b("where", b("gt", margin, b.literal(0.0)), soft, hard)
    return b("where", b("eq", outside, b.literal(0.0)), b.literal(1.0), falling)


def _angle(b: Builder, a: list[int], c: list[int]) -> int:
    return b("atan2", b.norm(b.cross(a, c)), b.dot(a, c))


def _quat_multiply(b: Builder, p: list[int], q: list[int]) -> list[int]:
    turned = b.cross(p[1:], q[1:])
    scalar = b("sub", b("mul", p[0], q[0]), b.dot(p[1:], q[1:]))
    mixed = [b("add", b("mul", p[0], q[i]), b("mul", q[0], p[i])) for i in (1, 2, 3)]
    return [scalar, *(b("add", m, t) for m, t in zip(mixed, turned, strict=True))]


def _quat_angle(b: Builder, p: list[int], q: list[int]) -> int:
    between = _quat_multiply(b, b.conjugate(p), q)
    angle = b("atan2", b.norm(between[1:]), b("abs", between[0]))
    return b("add", angle, angle)


def _up(b: Builder, q: list[int]) -> list[int]:
    return b.rotate(q, [b.literal(0.0), b.literal(0.0), b.literal(1.0)])


def _yaw(b: Builder, q: list[int]) -> int:
    w, x, y, z = q
    two, one = b.literal(2.0), b.literal(1.0)
    sine = b("mul", two, b("add", b("mul", w, z), b("mul", x, y)))
    cosine = b("sub", one, b("mul", two, b("add", b("mul", y, y), b("mul", z, z))))
    return b("atan2", sine, cosine)


def _operation(name: str) -> Callable[..., int]:
    return lambda b, *arguments: b(name, *arguments)


def _fold(name: str) -> Callable[..., int]:
    def build(b: Builder, first: int, *others: int) -> int:
        for other in others:
            first = b(name, first, other)
        return first

    return build


def _function(signature: str, result: str, doc: str, build: Callable[..., Any]) -> Function:
    """From `clamp(x: each, low: each, high: each = 1)`."""
    name, _, rest = signature.removesuffix(")").partition("(")
    variadic = rest.endswith(", ...")
    parameters = []
    for part in rest.removesuffix(", ...").split(", "):
        left, _, default = part.partition("=")
        parameter, _, kind = left.partition(":")
        parameters.append(Parameter(parameter.strip(), kind.strip() or "each", float(default) if default else None))
    return Function(name, tuple(parameters), result, doc, build, variadic)


_ALL = (
    _function("abs(x)", "each", "size without sign", _operation("abs")),
    _function("sqrt(x)", "each", "square root; NaN below 0", _operation("sqrt")),
    _function("square(x)", "each", "x * x", lambda b, x: b("mul", x, x)),
    _function("exp(x)", "each", "e to the power of x", _operation("exp")),
    _function("log(x)", "each", "natural logarithm; -inf at 0, NaN below", _operation("log")),
    _function("log1p(x)", "each", "log(1 + x)", lambda b, x: b("log", b("add", b.literal(1.0), x))),
    _function("sin(x)", "each", "sine of radians", _operation("sin")),
    _function("cos(x)", "each", "cosine of radians", _operation("cos")),
    _function("tan(x)", "each", "tangent of radians", _operation("tan")),
    _function("asin(x)", "each", "inverse sine; x is clamped to [-1, 1]", _operation("asin")),
    _function("acos(x)", "each", "inverse cosine; x is clamped to [-1, 1]", _operation("acos")),
    _function("atan(x)", "each", "inverse tangent", _operation("atan")),
    _function("atan2(y, x)", "each", "angle of the point (x, y), 0 at the origin", _operation("atan2")),
    _function("tanh(x)", "each", "hyperbolic tangent, between -1 and 1", _operation("tanh")),
    _function("sigmoid(x)", "each", "1 / (1 + exp(-x))", _sigmoid),
    _function("floor(x)", "each", "largest whole number below", _operation("floor")),
    _function("ceil(x)", "each", "smallest whole number above", _operation("ceil")),
    _function("round(x)", "each", "nearest whole number; halves go to the even one", _operation("round")),
    _function("sign(x)", "each", "-1, 0 or 1", _operation("sign")),
    _function("pow(x, y)", "each", "x ** y", _operation("pow")),
    _function("min(a, b, ...)", "each", "smallest; of one vector its smallest element", _fold("min")),
    _function("max(a, b, ...)", "each", "largest; of one vector its largest element", _fold("max")),
    _function("clamp(x, low, high)", "each", "x kept between low and high", Builder.clamp),
    _function("lerp(a, b, t)", "each", "a + (b - a) * t",
              lambda b, x, y, t: b("add", x, b("mul", b("sub", y, x), t))),
    _function("where(condition: truth, a, b)", "each", "a where the condition is true, else b", _operation("where")),
    _function("smoothstep(x, low, high)", "each", "0 below low, 1 above high, smooth between", _smoothstep),
    _function("huber(x, delta=1)", "each", "x*x/2 up to delta, then straight", _huber),
    _function("tolerance(x, low, high, margin=0)", "each",
              "1 between low and high, falling to 0.1 at `margin` outside (dm_control, gaussian)", _tolerance),
    _function("float(x: number)", "number", "a truth value as 1 or 0", lambda b, x: x),
    _function("vec3(x: number, y: number, z: number)", "vec3", "a vector of three numbers",
              lambda b, x, y, z: [x, y, z]),
    _function("vector(x: number, ...)", "vector", "a vector of numbers", lambda b, *x: list(x)),
    _function("zeros_like(x)", "each", "0, or a vector of zeros", lambda b, x: b.literal(0.0)),
    _function("ones_like(x)", "each", "1, or a vector of ones", lambda b, x: b.literal(1.0)),
    _function("sum(v: vector)", "number", "sum of the elements", lambda b, v: b.sum(v)),
    _function("mean(v: vector)", "number", "mean of the elements",
              lambda b, v: b("div", b.sum(v), b.literal(len(v)))),
    _function("norm(v: vector)", "number", "length of a vector", lambda b, v: b.norm(v)),
    _function("dot(a: vector, b: vector)", "number", "scalar product", lambda b, v, w: b.dot(v, w)),
    _function("distance(a: vector, b: vector)", "number", "norm(a - b)",
              lambda b, v, w: b.norm([b("sub", x, y) for x, y in zip(v, w, strict=True)])),
    _function("cross(a: vec3, b: vec3)", "vec3", "vector product", lambda b, v, w: b.cross(v, w)),
    _function("normalize(v: vector)", "vector", "v / norm(v); a zero vector stays zero", _normalize),
    _function("angle(a: vec3, b: vec3)", "number", "angle between two vectors, 0 to pi", _angle),
    _function("rotate(q: quat, v: vec3)", "vec3", "v turned by q (w, x, y, z)", lambda b, q, v: b.rotate(q, v)),
    _function("rotate_inverse(q: quat, v: vec3)", "vec3", "v turned back by q",
              lambda b, q, v: b.rotate(b.conjugate(q), v)),
    _function("quat_multiply(p: quat, q: quat)", "quat", "q first, then p", _quat_multiply),
    _function("quat_conjugate(q: quat)", "quat", "the opposite rotation", lambda b, q: b.conjugate(q)),
    _function("quat_angle(p: quat, q: quat)", "number", "angle of the rotation between p and q, 0 to pi", _quat_angle),
    _function("up_vector(q: quat)", "vec3", "where q turns (0, 0, 1)", _up),
    _function("yaw(q: quat)", "number", "heading about the vertical, -pi to pi", _yaw),
)  # fmt: skip

FUNCTIONS: dict[str, Function] = {f.name: f for f in _ALL}


def function_table() -> Iterator[Function]:
    """Every function once, in the order of the documentation."""
    return iter(_ALL)
