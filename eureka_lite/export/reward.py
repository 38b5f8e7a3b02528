"""A reward program as one self-contained file for NumPy, torch or Warp that imports nothing of this package."""

from __future__ import annotations

import inspect
from typing import Literal

from eureka_lite.reward.emit import XYZW, constant_names, source_text
from eureka_lite.reward.program import Program
from eureka_lite.task.task import Task

Language = Literal["numpy", "torch", "warp"]
LANGUAGES = ("numpy", "torch", "warp")

_SIGNUM = '''def signum(x):
    """-1, 0 or 1; NaN of NaN."""
    return torch.where(torch.isnan(x), x, torch.sign(x))


'''
_FEED = {
    "numpy": """Feed it arrays of float32, one row per world, as from a Gymnasium vector environment:
    s = {{'{first}': ...}}                    # {shape}
    total, components = reward(s, prev)     # prev: the same of the step before; None in the first step""",
    "torch": """Feed it float32 tensors, one row per environment. In Isaac Lab or mjlab, inside a reward term:
    s = {{'{first}': env.scene[...].data...}}  # {shape}
    total, components = reward(s, prev)     # prev: the same of the step before; None in the first step""",
    "warp": """Feed it arrays [worlds, columns] with the signals side by side in the columns of the table:
    constants = wp.array([list(CONSTANTS.values())], dtype=float)
    out = wp.zeros((worlds, 1 + len(COMPONENTS)), dtype=float)     # the total, then the components
    wp.launch(program, dim=worlds, inputs=[signals, prev, constants, 0, 0, out, 0])""",
}


def export_reward(program: Program, task: Task, language: Language, xyzw: bool = False, origin: str = "") -> str:
    """The file's text.

    Args:
        program: a checked reward of the task.
        task: names, units and order of its signals go into the file's docstring.
        language: numpy, torch or warp.
        xyzw: quaternion signals are handed over as x, y, z, w (Isaac Lab 3, Warp) instead of w, x, y, z (MuJoCo).
        origin: where the reward comes from, for the docstring.
    """
    used = task.signals.reading(program.signal_columns)
    first = used[0] if used else next(iter(task.signals))
    shape = "[worlds]" if first.kind == "scalar" else f"[worlds, {first.size}]"
    head = [f"Reward of the task {task.name}{f', {origin}' if origin else ''}.", "", task.goal, "",
            "Signals that it reads:"]  # fmt: skip
    for s in used:
        size = "" if s.kind == "scalar" else f" [{s.size}]"
        order = f" ({'x, y, z, w' if xyzw else 'w, x, y, z'})" if s.kind == "quat" else ""
        place = f" column {s.column}" if language == "warp" else ""
        head.append(f"    {s.name}{size}{place}: {s.unit}{f', {s.frame} frame' if s.frame else ''}, {s.doc}{order}")
    head += ["", *_FEED[language].format(first=first.name, shape=shape).split("\n")]
    about = "\n".join(head).replace("\\", "/").replace('"', "'")
    text = f'"""{about}\n"""\n'
    names = constant_names(program)
    table = ["CONSTANTS = {", *(f'    "{n}": {v!r},' for n, v in zip(names, program.constants, strict=True)), "}"]
    if language == "warp":
        listed = f"{_lines(table)}COMPONENTS = {list(program.outputs)!r}\n"
        return f"{text}\nimport warp as wp\n\n{listed}\n\n{_warp(program, task, xyzw)}"
    library = "import numpy as np" if language == "numpy" else "import torch"
    signum = _SIGNUM if language == "torch" and any(o.name == "sign" for o in program.operations) else ""
    return f"{text}\n{library}\n\n{_lines(table)}\n\n{signum}{source_text(program, task.signals, language, xyzw)}"


def _lines(table: list[str]) -> str:
    return "\n".join(table) + "\n"


def _warp(program: Program, task: Task, xyzw: bool) -> str:
    """The kernel that trained, with the functions that it calls."""
    from eureka_lite.reward.kernel import FUNCTIONS, warp_source

    columns = {s.column + i: s.column + XYZW[i] for s in task.signals if s.kind == "quat" and xyzw for i in range(4)}
    source = warp_source(program, columns)
    called = [function.func for name, function in FUNCTIONS.items() if f"{name}(" in source and function.func]
    helpers = "".join(f"{inspect.getsource(f).strip()}\n\n\n" for f in called)
    return f"{helpers}@wp.kernel\n{source}"
