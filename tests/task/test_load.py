"""A mistake in a task folder is reported with file, key and the nearest right name."""

import re
import shutil

import pytest

from eureka_lite.resources import tasks_folder
from eureka_lite.task.load import load_task
from eureka_lite.task.task import TaskError

MISTAKES = [
    # task, file, pattern to replace, replacement, what the message says
    ("cartpole", "task.toml", 'joint_pos = "hinge"', 'joint_pos = "hing"', ["task.toml", "signals.pole_angle", "'hinge'"]),
    ("cartpole", "task.toml", 'unit = "rad"\n', "", ["signals.pole_angle", "unit"]),
    ("cartpole", "task.toml", 'field = "gravity_z"', 'field = "gravity"', ["randomization.gravity", "'gravity_z'"]),
    ("cartpole", "task.toml", 'field = "joint_damping"\ntarget = "hinge"', 'field = "joint_damping"\ntarget = "pole"', ["randomization.pole_damping", "target"]),
    ("cartpole", "task.toml", "cart_pos = 0.002", "cart_poss = 0.002", ["observation", "'cart_pos'"]),
    ("cartpole", "task.toml", 'over = "mean"', 'over = "average"', ["fitness.over", "mean"]),
    ("cartpole", "task.toml", "rate_hz = 50", "rate_hz = 33", ["control.rate_hz"]),
    ("cartpole", "task.toml", "rate_hz = 50", 'rate_hz = "fast"', ["control.rate_hz", "number"]),
    ("cartpole", "task.toml", "format = 1", "format = 2", ["format"]),
    ("cartpole", "task.toml", "steps = 160000", "step = 160000", ["learning", "'steps'"]),
    ("cartpole", "task.toml", "hidden = 32", "hidden = 0", ["learning.hidden"]),
    ("cartpole", "task.toml", 'profile = ["cart_pos"', 'profile = ["cart_po"', ["reflection.profile", "'cart_pos'"]),
    ("cartpole", "task.toml", "train = [0.85, 1.15]", "train = [1.15, 0.85]", ["randomization.gravity.train"]),
    ("cartpole", "task.toml", "[pushes.pole]", "[pushes.pol]", ["pushes.pol", "'pole'"]),
    ("cartpole", "task.toml", "format = 1", "format = 1\nformatt = 1", ["formatt"]),
    ("cartpole", "task.toml", "format = 1", "format = = 1", ["TOML"]),
    ("cartpole", "task.toml", "slider = [-0.1, 0.1]", "slide = [-0.1, 0.1]", ["initial.joints", "'slider'"]),
    ("cartpole", "scene.xml", '<joint name="hinge"', '<joint nam="hinge"', ["scene.xml", "MuJoCo"]),
    ("cartpole", "scene.xml", 'ctrllimited="true" ctrlrange="-1 1"', "", ["scene.xml", "push", "ctrlrange"]),
    ("cartpole", "task.toml", "train = [0.0, 0.04]", "train = [0.0, 40.0]", ["randomization.action_delay", "episode"]),
    ("pour_cup", "task.toml", 'sensor = "lip_pos"', 'sensor = "lip"', ["signals.lip_pos", "'lip_pos'"]),
    ("pour_cup", "task.toml", 'liquid = "in:cup"', 'liquid = "in:cups"', ["signals.liquid_in_cup", "'in:cup'"]),
    ("pour_cup", "task.toml", 'source = "cup"', 'source = "mug"', ["liquid.source"]),
    ("pour_cup", "task.toml", "particle_radius = 0.011", "particle_radius = 0.11", ["liquid.particle_radius"]),
    ("pour_cup", "task.toml", 'site = "target"', 'site = "targett"', ["liquid.containers.target.site", "'target'"]),
    ("pour_cup", "task.toml", "target = [0.10, 0.22]", "targe = [0.10, 0.22]", ["initial.rings", "'target'"]),
    ("pour_cup", "task.toml", 'labels = ["x", "y", "z", "pitch"]', 'labels = ["x", "y", "z"]', ["signals.joint_pos", "labels"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "file", "old", "new", "said"), MISTAKES, ids=[f"{m[0]}-{m[3][:30]!r}" for m in MISTAKES]
)
def test_a_mistake_is_named(name, file, old, new, said, tmp_path):
    folder = tmp_path / name
    shutil.copytree(tasks_folder() / name, folder)
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1))
    with pytest.raises(TaskError) as caught:
        load_task(folder)
    message = str(caught.value)
    assert "\n" not in message.strip()
    for part in said:
        assert part in message


@pytest.mark.parametrize("missing", ["task.toml", "scene.xml", "functions.py"])
def test_a_missing_file_is_named(missing, tmp_path):
    folder = tmp_path / "cartpole"
    shutil.copytree(tasks_folder() / "cartpole", folder)
    (folder / missing).unlink()
    with pytest.raises(TaskError, match=re.escape(missing)):
        load_task(folder)


def test_the_bundled_tasks_are_what_their_pages_promise():
    cartpole, pour = load_task(tasks_folder() / "cartpole"), load_task(tasks_folder() / "pour_cup")
    assert cartpole.signals.names == tuple("cart_pos cart_vel pole_angle pole_rate action last_action time".split())
    assert pour.signals.names == tuple(
        "cup_pos cup_quat cup_up lip_pos target_pos joint_pos joint_vel liquid_in_cup liquid_in_target liquid_spilled "
        "liquid_in_air action last_action time".split()
    )
    assert cartpole.control.episode_s == 10.0
    assert pour.liquid.particles >= 32
    assert {c[1] for c in pour.liquid.containers.values()} == {0.04}
    assert pour.initial.rings["target"] == (0.10, 0.22)
    assert pour.fitness.range == (0.0, 1.0)


def test_the_hash_is_of_the_whole_folder(tmp_path):
    folder = tmp_path / "cartpole"
    shutil.copytree(tasks_folder() / "cartpole", folder)
    first = load_task(folder).hash
    assert first == load_task(tasks_folder() / "cartpole").hash
    human = folder / "rewards" / "human.py"
    human.write_text(human.read_text() + "# changed\n")
    assert load_task(folder).hash != first
