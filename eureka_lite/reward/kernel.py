"""The Warp back end: a checked program as a compiled kernel.

The text that is compiled is written here from the program's operations; nothing of the program's own text gets into it.
"""

from __future__ import annotations

import hashlib
import linecache
from typing import Any

import warp as wp

from eureka_lite.reward import warp_functions
from eureka_lite.reward.language import OPERATIONS
from eureka_lite.reward.program import Program

FUNCTIONS = {name: value for name, value in vars(warp_functions).items() if isinstance(value, wp.Function)}
HEAD = """def program(
    signals: wp.array2d(dtype=float), prev: wp.array2d(dtype=float), constants: wp.array2d(dtype=float),
    candidate: int, first: int, out: wp.array2d(dtype=float), column: int
):
    w = first + wp.tid()
"""


def warp_source(program: Program, columns: dict[int, int] | None = None) -> str:
    """The kernel's text: one line per operation, then the results; `columns` moves columns of the rows."""
    lines = []
    for i, operation in enumerate(program.operations):
        value = operation.value
        if operation.name in ("signal", "prev") and columns:
            value = columns.get(int(value or 0), value)
        lines.append(f"    v{i} = {_spelled(operation.name, operation.arguments, value)}")
    lines += [f"    out[w, column + {i}] = v{result}" for i, result in enumerate(program.results)]
    return HEAD + "\n".join(lines) + "\n"


def _spelled(name: str, arguments: tuple[int, ...], value: float | int | None) -> str:
    if name in ("signal", "prev"):
        return f"{'signals' if name == 'signal' else 'prev'}[w, {int(value or 0)}]"
    if name == "constant":
        return f"constants[candidate, {int(value or 0)}]"
    if name == "literal":
        return f"float({float(value or 0.0)!r})"
    return OPERATIONS[name].warp.format(*(f"v{a}" for a in arguments))


class Kernel:
    """A compiled program; programs of the same text share one module."""

    def __init__(self, kernel: wp.Kernel) -> None:
        self._kernel = kernel
        self._recorded: dict[tuple[int, ...], Any] = {}

    def launch(
        self, signals: wp.array, prev: wp.array, constants: wp.array, candidate: int, first_world: int, worlds: int,
        out: wp.array, out_column: int,
    ) -> None:  # fmt: skip
        """Compute out[w, out_column + i] for `worlds` worlds from `first_world` on; constants are row `candidate`.

        A reward's results are its total and its components, any other program's the elements of its value.
        """
        key = (id(signals), id(prev), id(constants), candidate, first_world, worlds, id(out), out_column)
        if key not in self._recorded:
            arrays = (signals, prev, constants, out)  # kept, so that no other array gets their ids
            recorded = wp.launch(
                self._kernel, dim=worlds, device=signals.device, block_dim=1, record_cmd=True,
                inputs=[signals, prev, constants, candidate, first_world, out, out_column],
            )  # fmt: skip
            self._recorded[key] = (recorded, arrays)
        self._recorded[key][0].launch()


def compile_program(program: Program) -> Kernel:
    """Compile for the CPU; about 0.1 s, or nothing where the cache on disk has it."""
    return compile_together([program])[0]


def compile_programs(programs: list[Program]) -> list[Kernel]:
    """Compile one after the other; each is a module of its own, so that none depends on its siblings."""
    return [compile_program(program) for program in programs]


def compile_together(programs: list[Program]) -> list[Kernel]:
    """Compile as one module, several times as fast as one each; what fails fails for all."""
    wp.init()
    sources = [warp_source(program) for program in programs]
    name = f"reward_{hashlib.sha256(chr(0).join(sources).encode()).hexdigest()[:16]}"
    module = wp.get_module(name)
    keys = {source: "program" if i == 0 else f"program{i}" for i, source in enumerate(dict.fromkeys(sources))}
    if not module.kernels:
        module.options.update({"enable_backward": False, "max_unroll": 1})
        for source, key in keys.items():
            _kernel(source.replace("def program(", f"def {key}(", 1), key, module)
        module.load("cpu", block_dim=1)
    return [Kernel(module.kernels[keys[source]]) for source in sources]


def _kernel(source: str, key: str, module: Any) -> wp.Kernel:
    """Build a kernel of the module from its text."""
    file = f"<{module.name}.{key}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    space: dict[str, Any] = {"wp": wp, "__name__": module.name, **FUNCTIONS}
    exec(compile(source, file, "exec"), space)  # noqa: S102  our own text, see the head of this file
    return wp.Kernel(space[key], key=key, module=module, options={"enable_backward": False})
