"""Random valid programs over random signal tables, rich in branches, vectors, loops and helpers; and rows for them."""

from __future__ import annotations

import random

import numpy as np

from eureka_lite.task.signals import Signal, SignalTable, Source

UNARY = ["abs", "sqrt", "square", "exp", "log", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "tanh", "sigmoid",
         "floor", "ceil", "round", "sign", "huber"]  # fmt: skip
BINARY = ["atan2", "min", "max", "pow"]
NUMBERS = ["0.0", "1.0", "2.0", "0.5", "0.1", "3.25", "10.0", "-1.0", "1e-3", "7", "2", "100.0", "-0.25", "pi"]


def table(rng: random.Random) -> SignalTable:
    """Two to seven signals of all kinds."""
    signals = [Signal("q0", "scalar", 1, "1", "", "a number", Source("time"))]
    for i in range(1, rng.randint(2, 7)):
        kind = rng.choice(["scalar", "scalar", "vec3", "vec3", "quat", "vector"])
        size = {"scalar": 1, "vec3": 3, "quat": 4}.get(kind) or rng.randint(2, 5)
        labels = tuple("abcde"[:size]) if kind == "vector" and rng.random() < 0.5 else ()
        signals.append(Signal(f"q{i}", kind, size, "1", "", "a test", Source("sensor"), labels))
    return SignalTable.of(signals)


class Writer:
    """Writes one program; variables are tracked by kind: "n" for a number, or the size of a vector."""

    def __init__(self, rng: random.Random, signals: SignalTable) -> None:
        self.rng, self.signals = rng, signals
        self.helpers: dict[str, tuple[list, object]] = {}
        self.vectors: dict[str, int] = {}
        self.numbers: list[str] = []
        self.rows = ["s", "prev"]
        self.count = 0

    def program(self) -> str:
        """The text of a module."""
        rng, text = self.rng, ""
        if rng.random() < 0.3:
            text += f"SCALE = {rng.choice(NUMBERS)}\n\n"
            constants = ["SCALE"]
        else:
            constants = []
        for i in range(rng.randint(0, 2)):
            text += self.helper(f"helper{i}", constants)
        self.numbers, self.vectors, self.rows = list(constants), {}, ["s", "prev"]
        body = self.block(rng.randint(2, 6), 1)
        names = [f"part{i}" for i in range(rng.randint(1, 4))]
        form = rng.random()
        if form < 0.6:
            body.append("return {" + ", ".join(f'"{n}": {self.number(3)}' for n in names) + "}")
        elif form < 0.8:
            body.append("parts = {}")
            body += [f'parts["{n}"] = {self.number(3)}' for n in names]
            body.append(f"return {self.number(2)}, parts" if rng.random() < 0.5 else "return parts")
        else:
            parts = ", ".join(f'"{n}": {self.number(2)}' for n in names)
            body += [f"if {self.truth(1)}:", "    return {" + parts + "}"]
            body.append("return {" + ", ".join(f'"{n}": {self.number(2)}' for n in names) + "}")
        return text + "def reward(s, prev):\n" + "".join(f"    {line}\n" for line in body)

    def helper(self, name: str, constants: list[str]) -> str:
        """A function of numbers and vectors."""
        kinds = [self.rng.choice(["n", "n", 3]) for _ in range(self.rng.randint(1, 3))]
        self.numbers = [f"a{i}" for i, kind in enumerate(kinds) if kind == "n"] + constants
        self.vectors = {f"a{i}": 3 for i, kind in enumerate(kinds) if kind == 3}
        self.rows = []
        body = self.block(self.rng.randint(0, 2), 1)
        body.append(f"return {self.number(2)}")
        self.helpers[name] = (kinds, "n")
        return (f"def {name}({', '.join(f'a{i}' for i in range(len(kinds)))}):\n"
                + "".join(f"    {line}\n" for line in body) + "\n\n")  # fmt: skip

    def block(self, statements: int, depth: int) -> list[str]:
        """Lines of statements."""
        lines: list[str] = []
        for _ in range(statements):
            lines += self.statement(depth)
        return lines

    def new(self) -> str:
        """A new variable."""
        self.count += 1
        return f"v{self.count}"

    def statement(self, depth: int) -> list[str]:
        """An assignment, a branch or a loop."""
        rng, kind = self.rng, self.rng.random()
        if kind < 0.35 or depth > 2:
            name = self.new()
            line = f"{name} = {self.number(3)}"
            self.numbers.append(name)
            return [line]
        if kind < 0.5:
            name, size = self.new(), rng.choice([3, 3, 2, 4])
            line = f"{name} = {self.vector(size, 2)}"
            self.vectors[name] = size
            return [line]
        if kind < 0.58 and self.numbers:
            own = [n for n in self.numbers if n.startswith("v")]
            return [f"{rng.choice(own)} {rng.choice(['+=', '*=', '-='])} {self.number(2)}"] if own else []
        if kind < 0.65:
            a, b = self.new(), self.new()
            line = f"{a}, {b} = {self.number(2)}, {self.number(2)}"
            self.numbers += [a, b]
            return [line]
        if kind < 0.88:
            name = self.new()
            lines = [f"{name} = {self.number(2)}", f"if {self.truth(2)}:"]
            self.numbers.append(name)
            kept_numbers, kept_vectors = list(self.numbers), dict(self.vectors)
            for head in ["", *(["elif"] if rng.random() < 0.3 else []), *(["else"] if rng.random() < 0.5 else [])]:
                self.numbers, self.vectors = list(kept_numbers), dict(kept_vectors)
                if head:
                    lines.append(f"elif {self.truth(1)}:" if head == "elif" else "else:")
                inner = self.block(rng.randint(0, 2), depth + 1)
                lines += [f"    {line}" for line in [*inner, f"{name} = {self.number(2)}"]]
            self.numbers, self.vectors = kept_numbers, kept_vectors
            return lines
        name = self.new()
        lines = [f"{name} = {self.number(1)}"]
        self.numbers.append(name)
        size = rng.randint(2, 4)
        candidates = [v for v, n in self.vectors.items() if n >= size]
        term = f"{rng.choice(candidates)}[i]" if candidates else "i"
        lines += [f"for i in range({size}):", f"    {name} += {term} * {self.number(1)}"]
        return lines

    def leaf(self) -> str:
        """A number without operations."""
        rng = self.rng
        choices = [rng.choice(NUMBERS)]
        choices += [rng.choice(self.numbers)] * 2 if self.numbers else []
        if self.vectors:
            name = rng.choice(list(self.vectors))
            choices.append(f"{name}[{rng.randrange(-self.vectors[name], self.vectors[name])}]")
        for row in self.rows:
            signal = rng.choice(list(self.signals))
            at = rng.randrange(signal.size)
            if signal.kind == "scalar":
                choices += [f"{row}.{signal.name}"] * 2
            else:
                choices += [
                    f"{row}.{signal.name}.{signal.labels[at]}" if signal.labels else f"{row}.{signal.name}[{at}]"
                ] * 2
        return rng.choice(choices)

    def number(self, depth: int) -> str:
        """An expression of one number."""
        rng = self.rng
        if depth <= 0 or rng.random() < 0.15:
            return self.leaf()
        kind, n = rng.random(), lambda: self.number(depth - 1)
        if kind < 0.35:
            return f"({n()} {rng.choice(['+', '-', '*', '/', '+', '-', '*'])} {n()})"
        if kind < 0.5:
            return f"{rng.choice(UNARY)}({n()})"
        if kind < 0.56:
            return f"{rng.choice(BINARY)}({n()}, {n()})"
        if kind < 0.6:
            return f"({n()}) ** {rng.choice(['2', '3', '0.5', '-1'])}"
        if kind < 0.64:
            return rng.choice(["clamp({}, 0.0, 1.0)", "smoothstep({}, -1.0, 2.0)", "tolerance({}, 0.0, 1.0, 0.5)",
                               "lerp({}, 1.0, 0.3)", "tolerance({}, -1.0, 1.0)", "-{}"]).format(n())  # fmt: skip
        if kind < 0.72:
            return f"({n()} if {self.truth(depth - 1)} else {n()})"
        if kind < 0.76:
            return f"where({self.truth(depth - 1)}, {n()}, {n()})"
        if kind < 0.92:
            size = rng.choice([2, 3, 3, 3])
            function = rng.choice(["norm", "sum", "mean", "max", "min", "dot", "distance"] + ["angle"] * (size == 3))
            first, second = self.vector(size, depth - 1), self.vector(size, depth - 1)
            pair = function in ("dot", "distance", "angle") and first != second
            return f"{function if pair or second != first else 'sum'}({first}{f', {second}' if pair else ''})"
        if kind < 0.95 and self.helpers and self.rows:
            name = rng.choice(list(self.helpers))
            kinds = self.helpers[name][0]
            return f"{name}({', '.join(n() if k == 'n' else self.vector(3, depth - 1) for k in kinds)})"
        quats = [f"{row}.{s.name}" for row in self.rows for s in self.signals if s.kind == "quat"]
        if quats:
            q = rng.choice(quats)
            other = rng.choice(quats)
            return rng.choice([f"yaw({q})", f"up_vector({q})[2]", *([f"quat_angle({q}, {other})"] * (other != q))])
        return n()

    def vector(self, size: int, depth: int) -> str:
        """An expression of a vector."""
        rng = self.rng
        known = [v for v, n in self.vectors.items() if n == size]
        known += [f"{row}.{s.name}" for row in self.rows for s in self.signals if s.size == size and s.kind != "quat"]
        if known and (depth <= 0 or rng.random() < 0.5):
            return rng.choice(known)
        make = "vec3" if size == 3 else "vector"
        kind = rng.random()
        if depth <= 0 or kind < 0.3:
            return f"{make}({', '.join(self.leaf() for _ in range(size))})"
        if kind < 0.6:
            first, second = self.vector(size, depth - 1), self.vector(size, depth - 1)
            return f"({first} {rng.choice('+-*' if first != second else '+*')} {second})"
        if kind < 0.75:
            return f"({self.vector(size, depth - 1)} * {self.number(depth - 1)})"
        if kind < 0.85:
            return f"{rng.choice(['normalize', 'abs', 'tanh'])}({self.vector(size, depth - 1)})"
        if size == 3:
            return f"cross({self.vector(3, depth - 1)}, {self.vector(3, depth - 1)})"
        return f"{make}({', '.join(self.number(depth - 1) for _ in range(size))})"

    def truth(self, depth: int) -> str:
        """A condition."""
        rng = self.rng
        if depth <= 0 or rng.random() < 0.5:
            return f"{self.number(1)} {rng.choice(['<', '<=', '>', '>='])} {self.leaf()}"
        kind = rng.random()
        if kind < 0.3:
            return f"({self.truth(depth - 1)} and {self.truth(depth - 1)})"
        if kind < 0.6:
            return f"({self.truth(depth - 1)} or {self.truth(depth - 1)})"
        if kind < 0.75:
            return f"not ({self.truth(depth - 1)})"
        return f"{self.leaf()} < {self.number(1)} <= {self.leaf()}"


def write(seed: int) -> tuple[str, SignalTable]:
    """Program number `seed`."""
    rng = random.Random(seed)
    signals = table(rng)
    return Writer(rng, signals).program(), signals


def rows(signals: SignalTable, count: int, seed: int) -> np.ndarray:
    """float32 [count, columns]: ordinary, zero, tiny, huge, equal and antiparallel values."""
    rng = np.random.default_rng(seed)
    found = rng.normal(0.0, 1.0, (count, signals.width))
    found[1::16] = rng.choice([0.0, 1.0, -1.0], (len(found[1::16]), signals.width))
    found[2::8] *= 10.0 ** rng.uniform(-6, 0, (len(found[2::8]), signals.width))
    found[3::8] *= 10.0 ** rng.uniform(0, 4, (len(found[3::8]), signals.width))
    found[0] = 0.0
    vectors = [s for s in signals if s.kind == "vec3"]
    for a, b in zip(vectors, vectors[1:], strict=False):
        found[4::8, b.columns] = found[4::8, a.columns]
        found[5::8, b.columns] = -found[5::8, a.columns]
    for s in signals:
        if s.kind == "quat":
            length = np.linalg.norm(found[:, s.columns], axis=1, keepdims=True)
            found[:, s.columns] = np.where(
                length > 1e-6, found[:, s.columns] / np.maximum(length, 1e-6), [1.0, 0.0, 0.0, 0.0]
            )
    return found.astype(np.float32)
