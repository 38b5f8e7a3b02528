"""A small signal table, and the value of a program on one row, by the real kernel."""

from __future__ import annotations

import numpy as np
import warp as wp

from eureka_lite.reward import Program, check
from eureka_lite.reward.kernel import compile_program
from eureka_lite.task.signals import Signal, SignalTable, Source

wp.config.log_level = wp.LOG_WARNING

TABLE = SignalTable.of([
    Signal("x", "scalar", 1, "m", "world", "a number", Source("time")),
    Signal("y", "scalar", 1, "1", "", "another number", Source("time")),
    Signal("pos", "vec3", 3, "m", "world", "a point", Source("sensor")),
    Signal("goal", "vec3", 3, "m", "world", "another point", Source("sensor")),
    Signal("turn", "quat", 4, "1", "world", "a rotation", Source("sensor")),
    Signal("joint", "vector", 4, "rad", "", "joints", Source("joint_pos"), ("a", "b", "c", "knee")),
])  # fmt: skip

ROW = {"x": 2.0, "y": -0.5, "pos": (1.0, 2.0, 3.0), "goal": (1.0, 0.0, 3.0),
       "turn": (np.cos(0.25), np.sin(0.25), 0.0, 0.0), "joint": (0.1, 0.2, 0.3, 0.4)}  # fmt: skip


def row(table: SignalTable = TABLE, **values: float | tuple[float, ...]) -> np.ndarray:
    """One row [columns] with ROW's numbers, or the given ones."""
    found = np.zeros(table.width, np.float32)
    for signal in table:
        found[signal.columns] = values.get(signal.name, ROW.get(signal.name, 0.0))
    return found


def run(program: Program, now: np.ndarray, before: np.ndarray | None = None) -> np.ndarray:
    """Results of a program on rows [columns] or [W, columns]: [results] or [W, results]."""
    rows = np.atleast_2d(now).astype(np.float32)
    prev = rows if before is None else np.atleast_2d(before).astype(np.float32)
    constants = np.array([program.constants or (0.0,)], np.float32)
    out = wp.zeros((len(rows), len(program.results)), dtype=float, device="cpu")
    arrays = [wp.array(a, dtype=float, device="cpu") for a in (rows, prev, constants)]
    compile_program(program).launch(*arrays, 0, 0, len(rows), out, 0)
    return out.numpy() if np.ndim(now) == 2 else out.numpy()[0]


def value(expression: str, before: np.ndarray | None = None, **values: float | tuple[float, ...]) -> np.ndarray | float:
    """What an expression over `s` and `prev` is worth on one row."""
    program = check(f"def f(s, prev):\n    return {expression}\n", TABLE, function="f", returns="value")
    found = run(program, row(**values), before)
    return float(found[0]) if len(found) == 1 else found


def reward(source: str, before: np.ndarray | None = None, **values: float | tuple[float, ...]) -> dict[str, float]:
    """Total and components of a reward on one row."""
    program = check(source, TABLE)
    return dict(zip(("total", *program.outputs), run(program, row(**values), before).tolist(), strict=True))
