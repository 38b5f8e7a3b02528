"""`check` and `export` on the command line."""

import json
import subprocess
import sys

import numpy as np
import pytest

from tests.end_to_end.command import TINY, environment, only_run, run

GOOD = (
    "import numpy as np\n\ndef reward(s):\n    return {'up': np.cos(s.pole_angle), 'calm': -0.5 * s.pole_rate ** 2}\n"
)
BAD = "def reward(s):\n    a = s.pole_angel\n    return {'a': nrom(s.action)}\n"


def test_a_reward_is_accepted(tmp_path):
    (tmp_path / "r.py").write_text(GOOD)
    said = run(tmp_path, "check", "r.py", "--task", "cartpole").stdout
    for part in (
        "line 1: the import is left out",
        "components:\n  up = cos(s.pole_angle)\n  calm = -0.5 * s.pole_rate ** 2",
        "constants: calm_weight = -0.5",
        "signals: pole_angle, pole_rate; not used: cart_pos",
    ):
        assert part in said
    found = json.loads(run(tmp_path, "check", "r.py", "--task", "cartpole", "--json").stdout)
    assert found["accepted"] and found["verdict"] == "accepted" and found["errors"] == []
    assert (found["components"], found["signals"], found["constants"]) == (
        ["up", "calm"],
        ["pole_angle", "pole_rate"],
        [-0.5],
    )
    assert len(found["hash"]) == 16


def test_a_reward_is_refused_with_all_its_errors(tmp_path):
    (tmp_path / "r.py").write_text(BAD)
    refused = run(tmp_path, "check", "r.py", "--task", "cartpole", code=1)
    assert refused.stdout == "" and "r.py:2:" in refused.stderr and "r.py:3:" in refused.stderr
    found = json.loads(run(tmp_path, "check", "r.py", "--task", "cartpole", "--json", code=1).stdout)
    assert not found["accepted"] and found["hash"] is None
    assert [(e["line"], e["code"]) for e in found["errors"]] == [(2, "signal"), (3, "function")]
    assert "pole_angle" in found["errors"][0]["message"]


@pytest.mark.parametrize(
    ("reply", "verdict", "code"),
    [
        (f"Sure:\n```python\n{GOOD}```\nDone.", "accepted", 0),
        (f"```python\n{BAD}```", "refused", 1),
        ("I cannot.", "refused", 1),
        ("```python\ndef reward(s):\n    a = s.pole", "truncated", 1),
    ],
)
def test_a_reply_is_judged(reply, verdict, code, tmp_path):
    (tmp_path / "reply.md").write_text(reply)
    found = json.loads(run(tmp_path, "check", "reply.md", "--task", "cartpole", "--reply", "--json", code=code).stdout)
    assert found["verdict"] == verdict
    assert found["block"]


def test_what_is_piped_in_is_checked(tmp_path):
    command = [sys.executable, "-m", "eureka_lite", "check", "-", "--task", "cartpole"]
    for source, code in ((GOOD, 0), (BAD, 1)):
        done = subprocess.run(
            command, input=source, text=True, cwd=tmp_path, env=environment(), capture_output=True, timeout=60
        )
        assert done.returncode == code, done.stderr


def test_wrong_use(tmp_path):
    (tmp_path / "r.py").write_text(GOOD)
    assert "numpy, torch, warp" in run(tmp_path, "check", "r.py", "--task", "cartpole", "--emit", "cuda", code=2).stderr
    assert "cannot be read" in run(tmp_path, "check", "missing.py", "--task", "cartpole", code=2).stderr
    assert "cartpole" in run(tmp_path, "check", "r.py", "--task", "cartpol", code=2).stderr


def test_the_reward_of_a_run_leaves_as_code(tmp_path):
    run(tmp_path, "design", "balance the pole", *TINY, "--generations", "1", "--final-seeds", "1")
    best = json.loads((only_run(tmp_path) / "ranking.json").read_text())["candidates"][0]["id"]
    text = run(tmp_path, "export", "last", best, "--reward", "numpy").stdout
    space: dict = {}
    exec(text, space)
    table = {"cart_pos": 1, "cart_vel": 1, "pole_angle": 1, "pole_rate": 1, "action": 2, "last_action": 2, "time": 1}
    total, parts = space["reward"]({n: np.zeros((5, 1)[:d], np.float32) for n, d in table.items()})
    assert total.shape == (5,) and parts
    assert "written to r.py" in run(tmp_path, "export", "last", best, "--reward", "torch", "--file", "r.py").stdout
    assert "import torch" in (tmp_path / "r.py").read_text()
    assert "there are" in run(tmp_path, "export", "last", "g09c09", "--reward", "torch", code=1).stderr
    assert "xyzw" in run(tmp_path, "export", "last", best, "--reward", "torch", "--quat", "wzyx", code=2).stderr
