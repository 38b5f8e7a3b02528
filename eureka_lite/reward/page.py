"""The page of the language, written from its table: `python -m eureka_lite.reward.page > docs/language.md`."""

from __future__ import annotations

from eureka_lite.reward.check import MAX_BYTES, MAX_DEPTH, MAX_NODES
from eureka_lite.reward.dialects import NAMES
from eureka_lite.reward.graph import MAX_OPERATIONS
from eureka_lite.reward.language import NAMED_CONSTANTS, OPERATIONS, function_table
from eureka_lite.reward.program import MAX_COMPONENTS
from eureka_lite.reward.statements import MAX_ITERATIONS

OPERATORS = {
    "add": "a + b", "sub": "a - b", "mul": "a * b", "div": "a / b", "neg": "-a", "pow": "a ** b", "lt": "a < b",
    "le": "a <= b", "gt": "a > b", "ge": "a >= b", "eq": "a == b", "ne": "a != b", "and": "p and q", "or": "p or q",
    "not": "not p", "where": "a if p else b",
}  # fmt: skip

HEAD = f"""# The reward language

This page is written from the language's table by `python -m eureka_lite.reward.page`.

A reward program is a small part of Python. It is parsed and checked and never run as Python; what passes is a straight
list of operations on float32 numbers, compiled to a kernel. Loops are unrolled, helper functions are inlined, and both
sides of a branch are computed and one selected, so no program can hang, recurse or read past a row.

## Programs

- `def reward(s)` or `def reward(s, prev)`: `s` is the row of signals after a control step, `prev` the row before (the same
  row in the first step of an episode). Parameters that are called like signals are these signals.
- Signals: `s.name`, elements `s.name[2]`, `s.name.label`, slices `s.name[:2]`; indexes are known from the text.
- Statements: assignment, `+=` and the like, tuple unpacking, `if`/`elif`/`else`, `for i in range(...)` with numbers known
  from the text, `for x in vector`, `return`. Helper functions and named constants stand beside the function.
- It returns a dict of 1 to {MAX_COMPONENTS} named components, whose sum is paid; or a total and such a dict; or a total.
- Every number of the text is an argument of the kernel, so programs that differ in numbers only share one.
- Limits: {MAX_BYTES:,} bytes, {MAX_NODES:,} parts, nested {MAX_DEPTH} deep, {MAX_ITERATIONS:,} loop turns, {MAX_OPERATIONS:,} operations after unrolling.

Values are numbers, truth values (1 or 0 where a number is needed), vectors and quaternions (w, x, y, z). Arithmetic and
functions of `x` work on vectors element by element. NaN goes through every operation, comparisons with it are false, and a
result that is not finite is reported with world, step and component, never replaced.
"""


def page() -> str:
    """The page as Markdown."""
    lines = [HEAD, "## Operators\n", "| operator | at the edge |", "|---|---|"]
    lines += [f"| `{text}` | {OPERATIONS[name].edge} |" for name, text in OPERATORS.items()]
    lines += ["| `a // b`, `a % b` | of floats, rounded towards minus infinity, as Python's |", "", "## Functions\n",
              "| function | gives | at the edge | also written |", "|---|---|---|---|"]  # fmt: skip
    for function in function_table():
        others = ", ".join(f"`{name}`" for name, own in NAMES.items() if own == function.name)
        edge = OPERATIONS[function.name].edge if function.name in OPERATIONS else ""
        lines.append(
            f"| `{function.signature}` | {function.doc} | {edge if edge not in function.doc else ''} | {others} |"
        )
    constants = ", ".join(f"`{name}` = {value:.6f}" for name, value in NAMED_CONSTANTS.items())
    lines += ["", f"Constants: {constants}. `len(v)` is the number of elements.", "", "## Dialects\n"]
    lines += [
        "Prefixes `np.`, `math.`, `torch.`, `jnp.`, `wp.` and imports from these modules mean nothing; methods are functions",
        "(`x.norm()`). `dim=-1`, `axis=-1`, `keepdim`, `dtype`, `device` are left out; `x[:, 0]`, `x[..., 0]` are `x[0]`; `&`,",
        "`|`, `~` of conditions are `and`, `or`, `not`; `self.x` is `s.x`. Annotations and docstrings are not looked at, other",
        "statements beside functions are left out with a note. What is not certain in a program of one world is refused: a",
        "reduction over `dim=0`, whole numbers, random numbers, other libraries.\n",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    print(page(), end="")  # noqa: T201
