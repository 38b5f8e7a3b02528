"""Requests as the loop makes them."""

from __future__ import annotations

from functools import cache

from eureka_lite.propose.proposer import Parent, Request
from eureka_lite.task.task import Task
from eureka_lite.work.evaluate import random_ranges
from tests.tasks import task


@cache
def ranges(name: str) -> dict:
    """Ranges of the signals in random rollouts."""
    return random_ranges(task(name), 16, 0, 2)


def request(name: str, whole: Task | None = None, generation: int = 1, count: int = 6, parents: tuple[Parent, ...] = (),
            failures: tuple[tuple[str, str], ...] = (), seed: int = 0, known: dict | None = None,
            goal: str = "do it well", seen: frozenset[str] = frozenset()) -> Request:  # fmt: skip
    """A request for `count` replies."""
    ids = tuple(f"g{generation:02d}c{i:02d}" for i in range(1, count + 1))
    return Request(generation, ids, seed, goal, whole or task(name), known or ranges(name), parents, failures, seen)
