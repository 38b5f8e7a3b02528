"""The offline proposer: programs from a typed grammar, then mutated and crossed by what trained best.

No key, no network, no model: the baseline that a language model has to beat.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from eureka_lite.propose.grammar import Choice, Grammar
from eureka_lite.propose.proposer import Reply, Request
from eureka_lite.propose.sketch import Sketch, read_sketch
from eureka_lite.reward import RewardError, check

# What the programs of a first generation are made of, in turn; a family that the task has not is left out.
RECIPES = (
    ("reach", "posture", "gain", "level", "alive", "center"),
    ("reach", "gain", "level", "alive", "regulate", "still"),
    ("reach", "posture", "level", "share", "center", "effort"),
    ("reach", "posture", "gain", "share", "alive", "regulate"),
    ("reach", "level", "smooth", "center", "center"),
    ("gain", "level", "alive", "effort"),
)
ATTEMPTS = 20
PARENTS = 4


class Offline:
    """Writes programs without a model; see `Proposer`."""

    name = "offline"
    models: tuple[str, ...] = ()

    def propose(self, request: Request) -> Iterator[Reply]:
        """Yield one reply per id; the same request gives the same replies."""
        grammar = Grammar(request.task, request.ranges)
        seen = set(request.seen)
        for index, id in enumerate(request.ids):
            rng = np.random.default_rng([request.seed, request.generation, index])
            source, parents, how = self._novel(request, grammar, index, rng, seen)
            prompt = (f"goal: {request.goal}\nsignals: {', '.join(request.task.signals.names)}\n"
                      f"written by the offline grammar: {how}\n")  # fmt: skip
            yield Reply(id, prompt, f"```python\n{source}```\n", None, "grammar", parents)

    def _novel(
        self, request: Request, grammar: Grammar, index: int, rng: np.random.Generator, seen: set[str]
    ) -> tuple[str, tuple[str, ...], str]:
        """A program that was not there before, as far as ATTEMPTS reach."""
        for _ in range(ATTEMPTS):
            sketch, parents, how = self._draft(request, grammar, index, rng)
            source = sketch.source()
            try:
                program = check(source, request.task.signals)
            except RewardError:
                continue  # a parent in an unusual form can lead here
            if program.hash not in seen:
                seen.add(program.hash)
                return source, parents, how
        return grammar.write(list(RECIPES[0]), rng, Choice()).source(), (), "fresh"

    def _draft(
        self, request: Request, grammar: Grammar, index: int, rng: np.random.Generator
    ) -> tuple[Sketch, tuple[str, ...], str]:
        count = len(request.ids)
        parents = [(parent, sketch) for parent in request.parents[:PARENTS] if (sketch := read_sketch(parent.source))]
        turn = index % 6
        if not parents or turn == 5:
            recipe = list(RECIPES[(index + 2 * (request.generation - 1)) % len(RECIPES)])
            return grammar.write(recipe, rng, grammar.spread(index, count, rng)), (), "fresh"
        parent, sketch = parents[0]
        if turn in (0, 1):
            return tuned(sketch, rng), (parent.id,), f"numbers of {parent.id} changed"
        if turn == 4 and len(parents) > 1:
            other, second = parents[1 + int(rng.integers(len(parents) - 1))]
            return crossed(sketch, second, rng), (parent.id, other.id), f"{parent.id} crossed with {other.id}"
        if turn == 3 and len(parents) > 1:
            parent, sketch = parents[1]
        choice = grammar.spread(int(rng.integers(count)), count, rng)
        return restructured(sketch, grammar, rng, choice), (parent.id,), f"a term of {parent.id} replaced or added"


def tuned(sketch: Sketch, rng: np.random.Generator) -> Sketch:
    """A copy with about half of its numbers scaled by up to two or so."""
    child = sketch.copy()
    numbers = child.numbers()
    for number in numbers:
        if rng.random() < 0.5 or len(numbers) == 1:
            number.value = float(f"{float(number.value) * float(np.exp(0.5 * rng.standard_normal())):.2g}")  # type: ignore[arg-type]
    return child


def restructured(sketch: Sketch, grammar: Grammar, rng: np.random.Generator, choice: Choice) -> Sketch:
    """A copy with a new term, in place of an old one in half of the cases."""
    child = sketch.copy()
    if len(child.components) > 1 and rng.random() < 0.5:
        names = list(child.components)
        del child.components[names[int(rng.integers(len(names)))]]
    families = list(grammar.families)
    grammar.families[families[int(rng.integers(len(families)))]](child, rng, choice)
    return child


def crossed(first: Sketch, second: Sketch, rng: np.random.Generator) -> Sketch:
    """A copy of the first with some components of the second."""
    child = first.copy()
    names = list(second.components)
    chosen = [name for name in names if rng.random() < 0.5] or [names[int(rng.integers(len(names)))]]
    for name in chosen:
        if name in child.components and rng.random() < 0.5:
            del child.components[name]
        child.take(second, name)
    return child
