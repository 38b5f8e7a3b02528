"""The task's own functions as checked programs: fitness, termination, derived signals."""

from __future__ import annotations

from dataclasses import dataclass

from eureka_lite.reward.check import check
from eureka_lite.reward.program import Program
from eureka_lite.task.task import Task


@dataclass(frozen=True)
class TaskPrograms:
    """The task's own functions, checked."""

    fitness: Program
    terminates: Program | None
    derived: tuple[tuple[str, Program], ...]


def task_programs(task: Task) -> TaskPrograms:
    """Check the task's functions.

    Raises:
        RewardError: with file, line and column of every mistake.
    """
    file = str(task.folder / "functions.py")
    derived = []
    for signal in task.signals:
        if signal.source.kind in ("expr", "fold"):
            returns = "scalar" if signal.source.kind == "fold" else "value"
            program = check(task.functions, task.signals, function=signal.source.names[0], returns=returns, file=file)
            derived.append((signal.name, program))
    fitness = check(task.functions, task.signals, function=task.fitness.function, returns="scalar", file=file)
    terminates = None
    if task.terminates:
        terminates = check(task.functions, task.signals, function=task.terminates, returns="bool", file=file)
    return TaskPrograms(fitness, terminates, tuple(derived))
