"""What the README shows is true: its files make a task, its code passes, its commands exist."""

import re
import shlex

import pytest

from eureka_lite.evolve.presets import PRESETS
from eureka_lite.reward import check
from eureka_lite.reward.language import function_table
from eureka_lite.task.fields import FIELDS
from eureka_lite.task.signals import FOLD_OPERATIONS, SOURCE_KINDS
from eureka_lite.task.task import LEARNING
from tests.end_to_end.command import ROOT, only_run, ranking, run
from tests.tasks import task

README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
COMMANDS = [
    line.split("  #")[0].strip()
    for _, block in BLOCKS
    for line in block.splitlines()
    if line.startswith("eureka-lite ")
]


def section(title: str) -> str:
    return README.split(f"\n## {title}\n")[1].split("\n## ")[0]


def test_its_own_task_runs(tmp_path):
    files = re.findall(r"^`(pendulum/\S+)`\n\n```\w+\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert len(files) == 4
    for name, text in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (command,) = (c for c in COMMANDS if "./pendulum" in c)
    tiny = (
        "--candidates",
        "3",
        "--generations",
        "1",
        "--worlds",
        "8",
        "--steps",
        "3000",
        "--final-seeds",
        "1",
        "--plain",
    )
    run(tmp_path, *shlex.split(command)[1:], *tiny)
    found = ranking(only_run(tmp_path))
    assert found["task"] == "pendulum" and found["fitness"]["name"] == "upright"
    assert [c["status"] for c in found["candidates"]] == ["trained"] * 3


@pytest.mark.parametrize("command", COMMANDS)
def test_its_commands_have_these_options(command, tmp_path):
    _, name, *rest = shlex.split(command)
    offered = run(tmp_path, name, "--help").stdout
    for option in (word for word in rest if word.startswith("-")):
        assert re.search(rf"{option}\b", offered), option


def test_its_reward_and_its_mistake_are_as_shown(tmp_path):
    reward = next(block for _, block in BLOCKS if block.startswith("def reward") and "liquid_in_target" in block)
    check(reward, task("pour_cup").signals)
    shown = next(block for _, block in BLOCKS if "did you mean" in block)
    command, _, said = shown.partition("\n")
    (tmp_path / "my_reward.py").write_text(
        "def reward(s, prev):\n    tilt = 1.0 - s.cup_upp[2]\n"
        "    near = exp(-normm(s.lip_pos - s.target_pos) / 0.2)\n    return {'near': near, 'tilt': tilt}\n"
    )
    assert run(tmp_path, *shlex.split(command)[2:], code=1).stderr == said


def test_its_lists_are_complete():
    language, own = section("The reward language"), section("Your own robot")
    for function in function_table():
        assert f"`{function.name}`" in language
    for name in (*FIELDS, *FOLD_OPERATIONS, *SOURCE_KINDS, *LEARNING):
        assert f"`{name}`" in own, name
    quick = PRESETS["quick"]
    assert f"{quick.generations} generations of {quick.candidates}" in README
