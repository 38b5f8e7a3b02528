"""The bundled tasks, loaded once, and variants of them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from eureka_lite.resources import tasks_folder
from eureka_lite.task.load import load_task
from eureka_lite.task.task import InitialState, Task


@cache
def task(name: str) -> Task:
    """A bundled task."""
    return load_task(tasks_folder() / name)


def still(name: str, *randomized: str, at: float | None = None, start: bool = False) -> Task:
    """A task without pushes whose only randomizations are those named, drawn at the value `at`."""
    whole = task(name)
    kept = [r for r in whole.randomization if r.name in randomized]
    if at is not None:
        kept = [replace(r, train=(at, at), test=(at, at)) for r in kept]
    initial = whole.initial if start else InitialState({}, {}, {})
    return replace(whole, randomization=tuple(kept), pushes=(), initial=initial)
