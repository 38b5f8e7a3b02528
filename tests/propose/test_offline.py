"""The offline grammar: valid, different, repeatable, and blind to names."""

import ast
import re
from dataclasses import replace

import pytest

from eureka_lite.propose.offline import Offline
from eureka_lite.propose.proposer import Parent
from eureka_lite.propose.sketch import read_sketch
from eureka_lite.reward import check, extract
from eureka_lite.task.signals import SignalTable
from tests.propose.asking import ranges, request
from tests.tasks import task

FOREIGN = Parent("g01c09", "def reward(s):\n    r = {}\n    r['a'] = s.time\n    return r\n", "", 0.9)


def programs(asked) -> list[str]:
    return [extract(reply.text).code for reply in Offline().propose(asked)]


def generations(name: str, seed: int) -> list[list[str]]:
    """Three generations, each with the one before as parents in its order."""
    found, parents, seen = [], (), set()
    for generation in (1, 2, 3):
        sources = programs(request(name, generation=generation, parents=parents, seed=seed, seen=frozenset(seen)))
        seen |= {check(source, task(name).signals).hash for source in sources}
        found.append(sources)
        parents = tuple(Parent(f"g{generation:02d}c{i:02d}", s, "", 1.0 / (i + 1)) for i, s in enumerate(sources, 1))
    return found


@pytest.mark.parametrize("name", ["cartpole", "pour_cup"])
@pytest.mark.parametrize("seed", range(5))
def test_programs_are_valid_and_different(name, seed):
    hashes = [check(source, task(name).signals).hash for sources in generations(name, seed) for source in sources]
    assert len(set(hashes)) == len(hashes)


def test_the_same_seed_writes_the_same_and_another_another():
    assert generations("pour_cup", 3) == generations("pour_cup", 3)
    assert generations("pour_cup", 3) != generations("pour_cup", 4)


@pytest.mark.parametrize("name", ["cartpole", "pour_cup"])
def test_renaming_signals_changes_nothing_but_the_names(name):
    whole = task(name)
    new = {signal.name: f"q{i}" for i, signal in enumerate(whole.signals)}
    table = SignalTable.of([replace(signal, name=new[signal.name], doc="") for signal in whole.signals])

    def renamed(text: str) -> str:
        return re.sub(r"\b(s|prev|state|last)\.(\w+)", lambda m: f"{m[1]}.{new.get(m[2], m[2])}", text)

    other = replace(whole, signals=table, functions=renamed(whole.functions), name="other", goal="", words=(),
                    observation={new[n]: v for n, v in whole.observation.items()})  # fmt: skip
    known = {new[n]: v for n, v in ranges(name).items()}
    before = programs(request(name))
    after = programs(request(name, whole=other, known=known))
    table_before, table_after = whole.signals, table
    assert [check(s, table_before).hash for s in before] == [check(s, table_after).hash for s in after]


def test_children_name_their_parents():
    first = programs(request("pour_cup"))
    parents = tuple(Parent(f"g01c0{i}", s, "", 1.0 / (i + 1)) for i, s in enumerate(first, 1))
    replies = list(Offline().propose(request("pour_cup", generation=2, parents=parents)))
    assert replies[0].parents == ("g01c01",)
    assert any(len(reply.parents) == 2 for reply in replies)
    assert any(reply.parents == () for reply in replies)


def test_a_parent_that_another_hand_wrote_does_not_stop_it():
    sources = programs(request("cartpole", generation=2, parents=(FOREIGN,)))
    assert len(sources) == 6
    for source in sources:
        check(source, task("cartpole").signals)


def test_a_sketch_reads_back_what_it_wrote():
    for source in programs(request("pour_cup")):
        sketch = read_sketch(source)
        assert sketch is not None
        signals = task("pour_cup").signals
        assert check(sketch.source(), signals).hash == check(source, signals).hash


CONDITIONS = [
    ("s.pole_angle < 0.1", "0.1 - s.pole_angle"),
    ("1.0 if s.cart_pos >= 0.5 else 0.0", "s.cart_pos - 0.5"),
    ("not s.cart_pos > 0.5", "-(s.cart_pos - 0.5)"),
    ("s.cart_pos > 0.5 and s.cart_vel > 0.1", "min(s.cart_pos - 0.5, s.cart_vel - 0.1)"),
]


@pytest.mark.parametrize(("condition", "margin"), CONDITIONS, ids=[c[0] for c in CONDITIONS])
def test_a_fitness_of_yes_or_no_also_pays_for_coming_nearer(condition, margin):
    whole = task("cartpole")
    function = f"def {whole.fitness.function}(s):\n    return {condition}\n"
    whole = replace(whole, functions=function, terminates=None)
    texts = [text for seed in range(4) for text in programs(request("cartpole", whole=whole, seed=seed))]
    for text in texts:
        check(text, whole.signals)
    dense = ast.unparse(ast.parse(margin))
    bare = [text.replace("(", "").replace(")", "") for text in texts]
    assert sum(dense.replace("(", "").replace(")", "") in text for text in bare) >= len(texts) // 3


def test_thresholds_of_comparisons_are_not_tuned():
    sketch = read_sketch('def reward(s):\n    return {"a": 2.5 * (s.x > 0.95), "b": 0.5 * s.y}\n')
    assert [node.value for node in sketch.numbers()] == [2.5, 0.5]
