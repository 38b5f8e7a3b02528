"""Derived signals: `expr` is an expression of the row, `fold` the memory of one over the episode."""

from dataclasses import replace

import numpy as np
import pytest

from eureka_lite.reward.problems import RewardError
from eureka_lite.reward.task_programs import task_programs
from eureka_lite.sim.world import World
from eureka_lite.task.signals import FOLD_OPERATIONS, Signal, SignalTable, Source
from tests.tasks import task


def derived(name: str, text: str, fold: str | None = None, size: int = 1) -> Signal:
    kind = "scalar" if size == 1 else "vec3" if size == 3 else "vector"
    return Signal(name, kind, size, "1", "", "a test", Source("fold" if fold else "expr", (text,), fold))


def extended(*signals: Signal, functions: str = ""):
    whole = task("cartpole")
    functions = f"{whole.functions}\n\n{functions}"
    return replace(whole, signals=SignalTable.of([*whole.signals, *signals]), functions=functions)


def expected(operation: str, values: list[float], dt: float) -> float:
    """The fold of an episode's values, written the slow way."""
    above = [value > 0.0 for value in values]
    match operation:
        case "max" | "min" | "sum":
            return {"max": max, "min": min, "sum": sum}[operation](values)
        case "mean":
            return float(np.mean(values))
        case "first":
            return values[0]
        case "count_rising":
            return sum(b and not a for a, b in zip(above, above[1:], strict=False))
        case "time_since":
            return dt * above[::-1].index(True) if any(above) else dt * (len(values) - 1)
        case "held_for":
            held = above[::-1].index(False) if not all(above) else len(values) - 1
            return dt * held
    raise AssertionError(operation)


def test_expressions_and_folds_follow_the_row():
    table = [
        derived("tip", "vec3(s.cart_pos + reach * sin(s.pole_angle), height(s), 0.0)", size=3),
        derived("wobble", "sin(5.0 * s.time) + s.tip[0]  # a remark"),
        *(derived(f"wobble_{operation}", "s.wobble", operation) for operation in FOLD_OPERATIONS),
    ]
    whole = extended(*table, functions="reach = 0.5\n\ndef height(s):\n    return reach * cos(s.pole_angle)")
    whole = replace(whole, control=replace(whole.control, episode_s=1.0), terminates=None)
    world = World(whole, [None], 4, "train", None, 1)
    world.reset()
    signals, seen = world.task.signals, [[] for _ in range(4)]
    ends = 0
    for t in range(120):
        rows = world.signals.numpy().copy()
        for w, row in enumerate(rows):
            row = {s.name: row[s.columns] for s in signals}
            if row["time"][0] == 0.0:
                ends += len(seen[w]) > 0
                seen[w].clear()
            angle = row["pole_angle"][0]
            tip = [row["cart_pos"][0] + 0.5 * np.sin(angle), 0.5 * np.cos(angle), 0.0]
            assert row["tip"] == pytest.approx(tip, abs=1e-6)
            assert row["wobble"][0] == pytest.approx(np.sin(5.0 * row["time"][0]) + tip[0], abs=1e-5)
            seen[w].append(float(row["wobble"][0]))
            for operation in FOLD_OPERATIONS:
                right = expected(operation, seen[w], whole.control.dt)
                assert row[f"wobble_{operation}"][0] == pytest.approx(right, rel=1e-4, abs=1e-5), (operation, t)
        world.policy.fill_(float(np.sin(0.3 * t)))
        world.step()
    world.close()
    assert ends >= 8


MISTAKES = [
    (derived("x", "cos(s.pole_angel)"), ["task.toml: signals.x.expr:1:5", "pole_angle"]),
    (derived("x", "cos(s.pole_angle"), ["signals.x.expr", "not an expression"]),
    (derived("x", "y = 1.0"), ["signals.x.expr", "not an expression"]),
    (derived("x", "coz(s.pole_angle)"), ["signals.x.expr:1:1", "'cos'"]),
    (derived("x", "vec3(1.0, 2.0, 3.0)"), ["signals.x.expr", "3 elements", "vec3"]),
    (derived("x", "1.0", size=3), ["signals.x.expr", "1 element", "the signal 3"]),
    (derived("x", "s.x + 1.0"), ["signals.x.expr", "reads x"]),
    (derived("x", "bad(s)"), ["functions.py", "wrong"]),
    (derived("x", "vec3(1.0, 2.0, 3.0)", "max"), ["signals.x.of"]),
    (derived("x", "1.0) + __import__('os').getpid("), ["signals.x.expr"]),
    (derived("x", "__import__('os').getpid()"), ["signals.x.expr"]),
]


@pytest.mark.parametrize(("signal", "said"), MISTAKES, ids=[f"{m[0].source.kind} {m[0].source.names[0]}" for m in MISTAKES])  # fmt: skip
def test_a_mistake_is_named(signal, said):
    with pytest.raises(RewardError) as caught:
        task_programs(extended(signal, functions="def bad(s):\n    return s.wrong"))
    for part in said:
        assert part in str(caught.value)


def test_an_expression_reads_only_what_is_computed_before_it():
    early, late = derived("early", "s.late * 2.0"), derived("late", "s.cart_pos")
    with pytest.raises(RewardError, match=r"signals\.early\.expr.*reads late.*above"):
        task_programs(extended(early, late))
    task_programs(extended(late, early))
