"""The task's own functions as checked programs: fitness, termination, derived signals."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from eureka_lite.reward.check import check
from eureka_lite.reward.problems import Problem, RewardError
from eureka_lite.reward.program import Program
from eureka_lite.task.signals import Signal
from eureka_lite.task.task import Task, TaskError


@dataclass(frozen=True)
class TaskPrograms:
    """The task's own functions, checked."""

    fitness: Program
    terminates: Program | None
    derived: tuple[tuple[str, Program], ...]


def task_programs(task: Task) -> TaskPrograms:
    """Check the task's functions and the expressions of its derived signals.

    Raises:
        RewardError: with file, line and column of every mistake.
    """
    file = str(task.folder / "functions.py")
    fitness = check(task.functions, task.signals, function=task.fitness.function, returns="scalar", file=file)
    terminates = None
    if task.terminates:
        terminates = check(task.functions, task.signals, function=task.terminates, returns="bool", file=file)
    derived = [(s.name, _derived(task, s)) for s in task.signals if s.source.kind in ("expr", "fold")]
    return TaskPrograms(fitness, terminates, tuple(derived))


def human_program(task: Task) -> Program | None:
    """The hand-written reward of the task; None if there is none.

    Raises:
        TaskError: it cannot be read.
        RewardError: with every mistake in it.
    """
    path = task.human_reward
    if not path.exists():
        return None
    try:
        source = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TaskError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    return check(source, task.signals, file=str(path))


def _derived(task: Task, signal: Signal) -> Program:
    """The expression of an `expr` or `fold` signal, which may call the functions of `functions.py`."""
    text, fold = signal.source.names[0], signal.source.kind == "fold"
    file = f"{task.folder / 'task.toml'}: signals.{signal.name}.{'of' if fold else 'expr'}"

    def mistake(message: str, hint: str = "") -> RewardError:
        return RewardError(file, text, [Problem(1, 1, len(text), "signal", message, hint)])

    try:
        ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise mistake(f"not an expression: {error}", 'write one over the row s, as in "norm(s.target_pos)"') from None
    function, before = f"{signal.name}_of_row", "    return ("
    above = f"{task.functions}\n\ndef {function}(s):\n"
    source = f"{above}{before}{text}\n    )\n"
    first = above.count("\n") + 1
    try:
        program = check(source, task.signals, function=function, returns="scalar" if fold else "value", file=file)
    except RewardError as error:
        called = [p for p in error.problems if p.line < first - 1]
        if called:
            raise RewardError(str(task.folder / "functions.py"), task.functions, called) from None
        moved = [replace(p, line=max(1, p.line - first + 1), column=max(1, p.column - len(before) * (p.line <= first)))
                 for p in error.problems]  # fmt: skip
        raise RewardError(file, text, moved) from None
    size = len(program.results)
    if not fold and size != signal.size:
        raise mistake(
            f"it has {size} element{'s' * (size > 1)}, the signal {signal.size}",
            'give the signal kind = "vec3", or kind = "vector" and a size',
        )
    for other in task.signals.reading(program.signal_columns):
        if other.source.kind in ("expr", "fold") and other.column >= signal.column:
            raise mistake(
                f"it reads {other.name}, which is not computed yet", f"move [signals.{other.name}] above this one"
            )
    return program
