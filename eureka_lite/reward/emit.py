"""A checked program as NumPy or torch code for batches of worlds, to be read and used without this package.

The text is written from the program's operations and the signal table; of the program's own text only names of
variables and components are taken. `source_text` gives a function `reward(s, prev=None, c=CONSTANTS)`: `s` and `prev`
are dicts of arrays, [worlds] for scalars and [worlds, n] for vectors; it returns the total [worlds] and a dict of
components [worlds].
"""

from __future__ import annotations

import builtins
import keyword
from dataclasses import dataclass, field
from typing import Literal

from eureka_lite.reward.constants import constant_names, free_name
from eureka_lite.reward.language import OPERATIONS
from eureka_lite.reward.program import Program
from eureka_lite.task.signals import Signal, SignalTable

Backend = Literal["numpy", "torch"]
WIDTH = 96
LEAVES = ("signal", "prev", "constant", "literal")
TAKEN = {*dir(builtins), *keyword.kwlist, "np", "torch", "s", "prev", "c", "one", "zero", "signum", "worlds",
         "device", "components", "reward", "CONSTANTS"}  # fmt: skip
ATOMS = {name for name, spelling in OPERATIONS.items() if spelling.of("numpy").endswith(")")}  # written as calls
CHAINS = {
    ("add", "add"),
    ("add", "sub"),
    ("sub", "add"),
    ("sub", "sub"),
    ("mul", "mul"),
    ("add", "mul"),
    ("add", "div"),
    ("sub", "mul"),
    ("sub", "div"),
}  # (outer, inner) that read the same without brackets
XYZW = (3, 0, 1, 2)  # column of w, x, y, z in a quaternion that is stored as x, y, z, w


def source_text(program: Program, signals: SignalTable, backend: Backend, xyzw: bool = False) -> str:
    """The text of a reward's function; with `xyzw` quaternion signals are read in the order x, y, z, w."""
    return _Emitter(program, signals, backend, xyzw).text()


def _identifier(wanted: str, taken: set[str]) -> str:
    """A name that is free; notes it as taken."""
    base = wanted if wanted.isidentifier() and wanted.isascii() else "v"
    return free_name(f"{base}_" if base in TAKEN else base, taken)


@dataclass
class _Emitter:
    program: Program
    signals: SignalTable
    backend: Backend
    xyzw: bool
    lines: list[str] = field(default_factory=list)

    def text(self) -> str:
        """The whole function."""
        program = self.program
        uses = [0] * len(program.operations)
        for operation in program.operations:
            for argument in operation.arguments:
                uses[argument] += 1
        for result in program.results:
            uses[result] += 1
        self.taken: set[str] = set()
        self.local = {(which, s.name): _identifier(("prev_" if which == "prev" else "") + s.name, self.taken)
                      for which in ("signal", "prev") for s in self._read(which)}  # fmt: skip
        self.constants = constant_names(program)
        texts: list[str] = []
        names = dict(zip(program.results[1:], program.outputs, strict=True)) | dict(program.names)
        for i, operation in enumerate(program.operations):
            text = self._spelled(i, texts)
            named = i in names and operation.name not in LEAVES
            if named or (uses[i] > 1 and operation.name not in LEAVES) or len(text) > WIDTH:
                variable = _identifier(names.get(i, f"v{i}"), self.taken)
                self.lines.append(f"{variable} = {text}")
                text = variable
            texts.append(text)
        return self._function(texts)

    def _read(self, which: str) -> tuple[Signal, ...]:
        return self.signals.reading(int(o.value or 0) for o in self.program.operations if o.name == which)

    def _spelled(self, index: int, texts: list[str]) -> str:
        operation = self.program.operations[index]
        if operation.name in ("signal", "prev"):
            return self._element(operation.name, int(operation.value or 0))
        if operation.name == "constant":
            return f'c["{self.constants[int(operation.value or 0)]}"]'
        if operation.name == "literal":
            return self._number(repr(float(operation.value or 0.0)))
        arguments = [self._nested(a, texts, operation.name, place) for place, a in enumerate(operation.arguments)]
        return OPERATIONS[operation.name].of(self.backend).format(*arguments)

    def _number(self, text: str) -> str:
        """A float32 of the back end."""
        return f"np.float32({text})" if self.backend == "numpy" else f"torch.tensor({text}, device=device)"

    def _nested(self, index: int, texts: list[str], outer: str, place: int) -> str:
        """An argument, in brackets where it needs them."""
        inner = self.program.operations[index].name
        plain = inner in LEAVES or inner in ATOMS or outer in ATOMS or texts[index].isidentifier()
        chain = (outer, inner) in CHAINS and (place == 0 or inner in ("mul", "div"))
        return texts[index] if plain or chain else f"({texts[index]})"

    def _element(self, which: str, column: int) -> str:
        (signal,) = self.signals.reading([column])
        name, at = self.local[which, signal.name], column - signal.column
        if signal.kind == "scalar":
            return name
        return f"{name}[..., {XYZW[at] if self.xyzw and signal.kind == 'quat' else at}]"

    def _function(self, texts: list[str]) -> str:
        program, numpy = self.program, self.backend == "numpy"
        total, *components = (texts[r] for r in program.results)
        head = ["prev = s if prev is None else prev"] if program.uses_prev else []
        for (which, signal), name in self.local.items():
            head.append(f'{name} = {"s" if which == "signal" else "prev"}["{signal}"]')
        head.append("worlds = next(iter(s.values())).shape[:1]")
        if not numpy:
            head.append("device = next(iter(s.values())).device")
        if program.constants:
            head.append(f"c = {{name: {self._number('value')} for name, value in c.items()}}")
        if any(o.name == "float" for o in program.operations):
            head.append(f"one, zero = {self._number('1.0')}, {self._number('0.0')}")
        every = f"{'np' if numpy else 'torch'}.broadcast_to({{}}, worlds)"
        body = [*head, *self.lines, "components = {"]
        body += [f'    "{name}": {every.format(text)},' for name, text in zip(program.outputs, components, strict=True)]
        body += ["}", f"return {every.format(total)}, components"]
        return "def reward(s, prev=None, c=CONSTANTS):\n" + "".join(f"    {line}\n" for line in body)
