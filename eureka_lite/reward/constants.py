"""What the numbers of a program are called: by the variable that holds them, else by what they do in a component."""

from __future__ import annotations

import re

from eureka_lite.reward.language import FUNCTIONS
from eureka_lite.reward.program import Call, Program


def constant_names(program: Program) -> tuple[str, ...]:
    """One identifier per constant.

    `d_max` where a variable holds it; `near_weight` for a factor of the whole component `near`, `near_scale` for what
    something in it is divided by, `near_margin` for an argument of a function, `near_number` for another number in it;
    `number` for one that several components share.
    """
    held, owners = dict(program.names), _owners(program)
    roles = _roles(program)
    taken: set[str] = set()
    names = [""] * len(program.constants)
    for node, operation in enumerate(program.operations):
        if operation.name == "constant":
            slot, owner = int(operation.value or 0), owners.get(node, "")
            names[slot] = held.get(node) or f"{owner}{'_' if owner else ''}{roles.get(node, 'number')}"
    return tuple(free_name(_identifier(name), taken) for name in names)


def free_name(wanted: str, taken: set[str]) -> str:
    """The name, numbered if it is taken; notes it as taken."""
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted}_{number}", number + 1
    taken.add(name)
    return name


def _owners(program: Program) -> dict[int, str]:
    """The only output that a constant is part of."""
    found: dict[int, str] = {}
    several: set[int] = set()
    results = program.results[1:] if program.is_reward else program.results
    for name, result in zip(program.outputs, results, strict=True):
        needed, stack = set(), [result]
        while stack:
            node = stack.pop()
            if node not in needed:
                needed.add(node)
                stack += program.operations[node].arguments
        several |= needed & found.keys()
        found |= dict.fromkeys(needed, name)
    return {node: name for node, name in found.items() if node not in several}


def _roles(program: Program) -> dict[int, str]:
    """What a constant does: parameter of a function, weight of its component, divisor."""
    operations, found = program.operations, {}
    for _, call in program.calls:
        for name, group in zip(_parameters(call), call.arguments, strict=False):
            found |= {node: name for node in group if name and len(group) == 1}
    for operation in operations:
        if operation.name == "div":
            found.setdefault(operation.arguments[1], "scale")
    for result in program.results[1:] if program.is_reward else program.results:
        node = result
        while operations[node].name in ("mul", "div", "neg"):
            if operations[node].name == "mul":
                found |= dict.fromkeys(operations[node].arguments[1:], "weight")
            node = operations[node].arguments[0]
        found[node] = "weight" if node != result else "value"
    return found


def _parameters(call: Call) -> list[str]:
    if call.function == "pow":
        return ["", "power"]
    function = FUNCTIONS.get(call.function)
    names = [p.name for p in function.parameters] if function else []
    return [name if len(name) > 1 else "" for name in names]


def _identifier(name: str) -> str:
    """A component's name as an identifier."""
    found = re.sub(r"\W", "_", name)
    return f"c_{found}" if not found or found[0].isdigit() else found
