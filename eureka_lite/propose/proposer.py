"""The Proposer protocol: who writes reward functions.

A proposer gets what is known and returns one reply text per asked id. It may not train, measure or rank. A new proposer
is one file that implements this protocol.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from eureka_lite.task.task import Task


@dataclass(frozen=True)
class Parent:
    """A candidate of an earlier generation that the next ones may build on.

    Attributes:
        id: candidate id.
        source: its reward program.
        feedback: the reflection text written after it was trained.
        fitness: mean on the selection worlds.
    """

    id: str
    source: str
    feedback: str
    fitness: float


@dataclass(frozen=True)
class Request:
    """What a proposer may know.

    Attributes:
        generation: 1 for the first.
        ids: one reply is wanted for each of these candidate ids.
        seed: of the run; a proposer derives its random numbers from seed, generation and index.
        goal: the person's words.
        task: the task.
        ranges: per signal, the lowest and highest value of each column in random rollouts.
        parents: candidates so far that trained, best first; empty in the first generation.
        failures: id -> reason for the candidates of the last generation that failed.
        seen: canonical hashes of all programs so far.
    """

    generation: int
    ids: tuple[str, ...]
    seed: int
    goal: str
    task: Task
    ranges: dict[str, list[tuple[float, float]]]
    parents: tuple[Parent, ...] = ()
    failures: tuple[tuple[str, str], ...] = ()
    seen: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Reply:
    """One answer.

    Attributes:
        id: the candidate id it was asked for.
        prompt: what was asked, as text for `prompt.md`.
        text: the reply, or None if none came.
        error: one line why none came or why it can't be used, or None.
        model: which model or grammar wrote it.
        parents: ids of the candidates it was built from.
        prompt_tokens: None if unknown.
        completion_tokens: None if unknown.
    """

    id: str
    prompt: str
    text: str | None
    error: str | None
    model: str
    parents: tuple[str, ...] = ()
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class Proposer(Protocol):
    """Writes reward functions.

    `propose` yields exactly one Reply per id of the request, in any order, as they arrive; a reply that failed carries
    its error instead of raising. It raises ProposerError only where going on makes no sense (a refused key).
    """

    name: str
    models: tuple[str, ...]

    def propose(self, request: Request) -> Iterator[Reply]:
        """Yield one reply per id."""
        ...


class ProposerError(RuntimeError):
    """No proposal can be had: what was wrong and what to do."""
