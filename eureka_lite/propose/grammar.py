"""The typed grammar of the offline proposer: what a reward may be made of, given a task's signals.

It looks at kinds, units, ranges and the order of signals, never at their names: renaming a signal renames it in the
program and changes nothing else.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from eureka_lite.propose.sketch import Sketch
from eureka_lite.task.signals import Signal
from eureka_lite.task.task import Task

Ranges = dict[str, list[tuple[float, float]]]


@dataclass(frozen=True)
class Pair:
    """Two positions of which one moves against the other; height is what a vertical offset between them can be."""

    mover: Signal
    aim: Signal
    height: tuple[float, float]
    span: float


@dataclass(frozen=True)
class Choice:
    """Where in the grammar a program stands: which pair, and how high its offset; both spread over a generation."""

    pair: int = 0
    height: float = 0.3


class Grammar:
    """The terms that a task's signals allow.

    Args:
        task: its signals and fitness.
        ranges: lowest and highest values of each column in random rollouts.
    """

    def __init__(self, task: Task, ranges: Ranges) -> None:
        self._task, self._ranges = task, ranges
        self.progress = _expression(task)
        self.margin = _margin(ast.parse(self.progress, mode="eval").body)
        self.maximize = task.fitness.direction == "max"
        signals = [s for s in task.signals if s.source.kind not in ("action", "last_action", "time")]
        self.pairs = self._pairs([s for s in signals if s.kind == "vec3" and s.unit == "m"])
        self.directions = [s for s in signals if s.kind == "vec3" and s.unit == "1" and self._moves(s)]
        measured = _signals_in(self.progress)
        self.shares = [s for s in signals if s.kind == "scalar" and s.unit == "1" and self._range(s) is not None
                       and s.name not in measured and self._moves(s)]  # fmt: skip
        self.coordinates = [s for s in signals if s.kind == "scalar" and s.unit in ("m", "rad") and self._moves(s)]
        self.rates = [s for s in signals if s.kind in ("scalar", "vector") and "/s" in s.unit and self._moves(s)]
        self.actions = [s for s in task.signals if s.source.kind == "action"]
        self.last_actions = [s for s in task.signals if s.source.kind == "last_action"]
        self.families: dict[str, Callable[[Sketch, np.random.Generator, Choice], None]] = {}
        if measured:
            self.families |= {"level": self._level, "gain": self._gain}
        if self.pairs:
            self.families["reach"] = self._reach
            if self.directions:
                self.families["posture"] = self._posture
        if task.terminates:
            self.families["alive"] = self._alive
        if self.coordinates:
            self.families |= {"center": self._center, "regulate": self._regulate}
        if self.shares:
            self.families["share"] = self._share
        if self.actions:
            self.families["effort"] = self._effort
        if self.actions and self.last_actions:
            self.families["smooth"] = self._smooth
        if self.rates:
            self.families["still"] = self._still

    # --- what the signals are -----------------------------------------------------------------------------------

    def _range(self, signal: Signal) -> tuple[float, float] | None:
        return signal.range

    def _columns(self, signal: Signal) -> np.ndarray:
        return np.array(self._ranges.get(signal.name) or [(-1.0, 1.0)] * signal.size, float)

    def _moves(self, signal: Signal) -> bool:
        columns = self._columns(signal)
        return bool((columns[:, 1] - columns[:, 0]).max() > 1e-6)

    def _scale(self, signal: Signal) -> float:
        """A typical size of the signal; an angle may wind up, but half a turn is as far as it can be off."""
        size = max(1e-3, float(np.abs(self._columns(signal)).max()))
        return min(size, math.pi) if signal.unit == "rad" else size

    def _span(self, signal: Signal) -> float:
        """The widest range of the signal's columns."""
        columns = self._columns(signal)
        return max(1e-3, float((columns[:, 1] - columns[:, 0]).max()))

    def _pairs(self, positions: list[Signal]) -> list[Pair]:
        """Pairs of positions that move against each other: the one with the wider range is the mover."""
        found: list[tuple[float, Pair]] = []
        for i, a in enumerate(positions):
            for b in positions[i + 1 :]:
                first, second = self._columns(a), self._columns(b)
                spans = first[:, 1] - first[:, 0], second[:, 1] - second[:, 0]
                difference = float(np.abs(spans[0] - spans[1]).max())
                if difference < 0.2 * float(max(spans[0].max(), spans[1].max())):
                    continue  # they move alike: parts of one body, most likely
                mover, aim = (a, b) if spans[0].sum() >= spans[1].sum() else (b, a)
                high, low = self._columns(mover)[2], self._columns(aim)[2]
                height = (max(0.0, float(high[0] - low[1])), max(0.0, float(high[1] - low[0])))
                reach = float(np.linalg.norm((self._columns(mover) - self._columns(aim)[:, ::-1])[:, 1]))
                found.append((difference, Pair(mover, aim, height, max(1e-2, reach))))
        return [pair for _, pair in sorted(found, key=lambda item: -item[0])]

    # --- terms --------------------------------------------------------------------------------------------------

    def _sign(self, better: bool = True) -> str:
        return "" if self.maximize == better else "-"

    def _measure(self, rng: np.random.Generator) -> str:
        """The fitness of one row; where it is a yes or no, as often how far it is from the other answer."""
        if self.margin is None or rng.random() < 0.3:
            return self.progress
        names = _signals_in(self.margin)
        span = sum(self._span(signal) for signal in self._task.signals if signal.name in names)
        return f"({self.margin}) / {_rounded(span)}"

    def _level(self, sketch: Sketch, rng: np.random.Generator, choice: Choice) -> None:
        sketch.add("level", f"{self._sign()}{_draw(rng, 0.3, 2.0)} * ({self._measure(rng)})")

    def _gain(self, sketch: Sketch, rng: np.random.Generator, choice: Choice) -> None:
        now = self._measure(rng)
        before = _renamed(now, {"s": "prev"})
        sketch.add("gain", f"{self._sign()}{_draw(rng, 3.0, 20.0)} * (({now}) - ({before}))")

    def _distance(self, sketch: Sketch, choice: Choice) -> tuple[str, Pair]:
        pair = self.pairs[choice.pair % len(self.pairs)]
        low, high = pair.height
        offset = _rounded(low + (high - low) * choice.height)
        above = f"s.{pair.aim.name} + vec3(0.0, 0.0, {offset})" if offset > 0.0 else f"s.{pair.aim.name}"
        return sketch.define("distance_to_aim", f"norm(s.{pair.mover.name} - ({above}))"), pair

    def _reach(self, sketch: Sketch, rng: np.random.Generator, choice: Choice) -> None:
        name, pair = self._distance(sketch, choice)
        sketch.add("reach", f"{_draw(rng, 0.05, 0.4)} * exp(-{name} / {_draw(rng, 0.1 * pair.span, 0.5 * pair.span)})")

    def _posture(self, sketch: Sketch, rng: np.random.Generator, choice: Choice) -> None:
        """Near the aim, turn a direction away from (or back to) the vertical."""
        name, pair = self._distance(sketch, choice)
        near = f"exp(-{name} / {_draw(rng, 0.05 * pair.span, 0.3 * pair.span)})"
        direction = self.directions[int(rng.integers(len(self.directions)))]
        turned = f"(1.0 - s.{direction.name}[2])" if rng.random() < 0.8 else f"(1.0 + s.{direction.name}[2])"
        sketch.add("posture", f"{_draw(rng, 0.05, 0.4)} * {near} * {turned}")

    def _share(self, sketch: Sketch, rng: np.random.Generator, choice: Choice) -> None:
        share = self.shares[int(rng.integers(len(self.shares)))]
        sign = "-" if rng.random() < 0.7 else ""
        if rng.random() < 0.6:
            sketch.add(
                f"change_of_{share.name}", f"{sign}{_draw(rng, 0.3, 3.0)} * (s.{share.name} - prev.{share.name})"
            )
        else:
            sketch.add(f"share_of_{share.name}", f"{sign}{_draw(rng, 0.02, 0.2)} * s.{share.name}")

    def _alive(self, sketch: Sketch, rng: np.random.Generator, choice: Choice) -> None:
        sketch.add("alive", f"{_draw(rng, 0.5, 2.0)}")

    def _coordinate(self, rng: np.random.Generator) -> Signal:
        return self.coordinates[int(rng.integers(len(self.coordinates)))]

    def _center(self, sketch: Sketch, rng: np.random.Generator, choice: Choice) -> None:
        signal = self._coordinate(rng)
        width = _draw(rng, 0.1 * self._scale(signal), 0.6 * self._scale(signal))
        sketch.add(f"center_{signal.name}", f"{_draw(rng, 0.2, 2.0)} * exp(-(s.{signal.name} / {width}) ** 2)")

    def _regulate(self, sketch: Sketch, rng: np.random.Generator, choice: Choice) -> None:
        signal = self._coordinate(rng)
        weight = _draw(rng, 0.05 / self._scale(signal) ** 2, 1.0 / self._scale(signal) ** 2)
        sketch.add(f"regulate_{signal.name}", f"-{weight} * s.{signal.name} ** 2")

    def _effort(self, sketch: Sketch, rng: np.random.Generator, choice: Choice) -> None:
        action = self.actions[0].name
        sketch.add("effort", f"-{_draw(rng, 1e-3, 1e-2)} * dot(s.{action}, s.{action})")

    def _smooth(self, sketch: Sketch, rng: np.random.Generator, choice: Choice) -> None:
        change = sketch.define("action_change", f"s.{self.actions[0].name} - s.{self.last_actions[0].name}")
        sketch.add("smooth", f"-{_draw(rng, 1e-3, 1e-2)} * dot({change}, {change})")

    def _still(self, sketch: Sketch, rng: np.random.Generator, choice: Choice) -> None:
        signal = self.rates[int(rng.integers(len(self.rates)))]
        weight = _draw(rng, 3e-3 / self._scale(signal) ** 2, 5e-2 / self._scale(signal) ** 2)
        square = f"s.{signal.name} ** 2" if signal.kind == "scalar" else f"dot(s.{signal.name}, s.{signal.name})"
        sketch.add(f"still_{signal.name}", f"-{weight} * {square}")

    # --- programs -----------------------------------------------------------------------------------------------

    def write(self, families: list[str], rng: np.random.Generator, choice: Choice) -> Sketch:
        """A program of the wanted families, as far as the task has them; never empty."""
        sketch = Sketch()
        wanted = [family for family in families if family in self.families]
        for family in wanted or [next(iter(self.families))]:
            self.families[family](sketch, rng, choice)
        return sketch

    def spread(self, index: int, count: int, rng: np.random.Generator) -> Choice:
        """The index-th of `count` choices that cover pairs and heights evenly."""
        height = (index + float(rng.random())) / count
        return replace(Choice(), pair=index, height=height**2)  # low offsets more often: aims are met from just above


def _expression(task: Task) -> str:
    """The fitness function's value as an expression over `s`; "1.0" if it is not a single return."""
    for node in ast.parse(task.functions).body:
        if isinstance(node, ast.FunctionDef) and node.name == task.fitness.function:
            last = node.body[-1]
            plain = [n for n in node.body[:-1] if not isinstance(n, ast.Expr)]
            if isinstance(last, ast.Return) and last.value is not None and not plain:
                called = {c.func.id for c in ast.walk(last) if isinstance(c, ast.Call) and isinstance(c.func, ast.Name)}
                own = {f.name for f in ast.parse(task.functions).body if isinstance(f, ast.FunctionDef)}
                if not called & own:
                    return _renamed(ast.unparse(last.value), {node.args.args[0].arg: "s"})
    return "1.0"


def _margin(node: ast.expr) -> str | None:
    """How far a condition is from changing: positive where it holds; None if the expression is not a condition."""
    match node:
        case ast.Compare(left, [ast.Gt() | ast.GtE()], [right]):
            return f"({ast.unparse(left)}) - ({ast.unparse(right)})"
        case ast.Compare(left, [ast.Lt() | ast.LtE()], [right]):
            return f"({ast.unparse(right)}) - ({ast.unparse(left)})"
        case ast.BoolOp(op, values):
            parts = [_margin(value) for value in values]
            together = "min" if isinstance(op, ast.And) else "max"
            return None if None in parts else f"{together}({', '.join(str(part) for part in parts)})"
        case ast.UnaryOp(ast.Not(), operand):
            part = _margin(operand)
            return None if part is None else f"-({part})"
        case ast.IfExp(test, ast.Constant(1 | 1.0), ast.Constant(0 | 0.0)):
            return _margin(test)
        case _:
            return None


def _signals_in(text: str) -> set[str]:
    nodes = ast.walk(ast.parse(text, mode="eval"))
    attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
    return {node.attr for node in attributes if isinstance(node.value, ast.Name) and node.value.id == "s"}


def _renamed(text: str, names: dict[str, str]) -> str:
    tree = ast.parse(text, mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in names:
            node.id = names[node.id]
    return ast.unparse(tree)


def _draw(rng: np.random.Generator, low: float, high: float) -> float:
    """Log-uniform, two digits."""
    return _rounded(math.exp(rng.uniform(math.log(low), math.log(high))))


def _rounded(x: float) -> float:
    return float(f"{x:.2g}")
