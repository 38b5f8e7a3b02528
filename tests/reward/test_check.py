"""The hash of a program, its notes, and the fixed rewards of `tests/rewards`."""

from pathlib import Path

import pytest

from eureka_lite.resources import tasks_folder
from eureka_lite.reward import check
from eureka_lite.reward.kernel import compile_program, warp_source
from eureka_lite.task.load import load_task
from tests.reward.rows import TABLE

REWARDS = sorted((Path(__file__).parent.parent / "rewards").glob("*/*.py"))
BASE = "def reward(s, prev):\n    d = norm(s.pos - s.goal)\n    return {'near': 0.5 * exp(-d / 0.1), 'calm': -0.01 * s.x}\n"


def program(source: str):
    return check(source, TABLE)


@pytest.mark.parametrize(
    "same",
    [
        BASE.replace("d ", "far ").replace("-d", "-far"),
        BASE + "# a remark\n",
        BASE.replace("0.5 * exp(-d / 0.1)", "exp(-d / 0.1) * 0.5"),
        BASE.replace("def reward(s, prev):", "import math\nfrom typing import Dict\n\ndef reward(state, last):").replace("s.", "state."),
        BASE.replace("norm(s.pos - s.goal)", "distance(s.pos, s.goal)"),
        "def far(a, b):\n    return norm(a - b)\n\n" + BASE.replace("norm(s.pos - s.goal)", "far(s.pos, s.goal)"),
        BASE.replace("0.5 *", "HALF *").replace("def", "HALF = 0.5\ndef", 1),
    ],
)  # fmt: skip
def test_names_remarks_and_order_do_not_change_the_hash(same):
    assert program(same).hash == program(BASE).hash


@pytest.mark.parametrize("other", [BASE.replace("0.5", "0.6"), BASE.replace("0.1)", "0.2)")])
def test_constants_change_the_hash_but_not_the_structure(other):
    assert program(other).hash != program(BASE).hash
    assert program(other).structure_hash == program(BASE).structure_hash


@pytest.mark.parametrize(
    "other", [BASE.replace("exp", "tanh"), BASE.replace("s.goal", "prev.pos"), BASE.replace("-0.01", "0.01")]
)
def test_what_computes_something_else_has_another_hash(other):
    assert program(other).hash != program(BASE).hash


def test_programs_that_differ_in_constants_only_share_a_kernel():
    a, b = program(BASE), program(BASE.replace("0.5", "0.6"))
    assert warp_source(a) == warp_source(b)
    assert a.constants != b.constants


def test_what_is_left_out_is_noted():
    notes = program("import numpy as np\ndef unused(x):\n    return x\n" + BASE).notes
    assert any("line 1" in note for note in notes)
    assert any("unused" in note for note in notes)


def test_nothing_of_the_text_gets_into_the_kernel():
    source = warp_source(
        program(BASE.replace("'near'", "'a strange name'").replace("d ", "evil ").replace("-d", "-evil"))
    )
    assert "strange" not in source
    assert "evil" not in source


@pytest.fixture(scope="module")
def tasks():
    return {name: load_task(tasks_folder() / name) for name in ("cartpole", "pour_cup")}


@pytest.mark.parametrize("path", REWARDS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_fixed_reward_is_accepted_and_compiles(path, tasks):
    found = check(path.read_text(), tasks[path.parent.name].signals, file=str(path))
    assert found.outputs
    compile_program(found)


def test_there_are_nine_fixed_rewards_per_task():
    assert len(REWARDS) == 18
