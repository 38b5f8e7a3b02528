"""An exported reward is one file that runs without this package and computes what trained."""

import subprocess
import sys

import numpy as np
import pytest

from eureka_lite.export.reward import LANGUAGES, export_reward
from eureka_lite.reward import check
from tests.reward.programs import rows
from tests.reward.rows import run
from tests.tasks import task

ROWS = 50
PROGRAMS = {
    "pour_cup": "def reward(s, prev):\n    q = s.cup_quat\n    up = up_vector(q)\n    far = norm(s.lip_pos - s.target_pos)\n"
    "    turned = sign(yaw(q)) * acos(up.z)\n    bonus = float(far < 0.5) + min(s.time, 1.0)\n"
    "    return {'near': exp(-far / 0.2), 'turned': -turned, 'bonus': bonus, 'const': 0.5, 'gain': s.cup_up[2] - prev.cup_up[2]}\n",
    "cartpole": "def reward(s, prev):\n    np = s.pole_angle\n    one = np * 2.0\n    if abs(np) > 0.5 or s.cart_pos > 1.0:\n"
    "        one = -1.0\n    return one, {'lambda': one, 'a-b': s.action[0] ** 2 * round(s.time), 'c d': sign(s.cart_vel)}\n",
}
DRIVERS = {
    "numpy": "s, prev = ({n: d[:, a] if k == 's' else d[:, a:b] for n, k, a, b in T} for d in (now, before))\n"
    "total, parts = R.reward(s, prev)\nout = np.stack([total, *parts.values()], 1)\n",
    "torch": "import torch\ns, prev = ({n: torch.from_numpy((d[:, a] if k == 's' else d[:, a:b]).copy()) for n, k, a, b in T} for d in (now, before))\n"
    "total, parts = R.reward(s, prev)\nout = np.stack([x.numpy() for x in (total, *parts.values())], 1)\n",
    "warp": "import warp as wp\narrays = [wp.array(x, dtype=float, device='cpu') for x in (now, before, np.array([list(R.CONSTANTS.values())], np.float32))]\n"
    "out = wp.zeros((len(now), 1 + len(R.COMPONENTS)), dtype=float, device='cpu')\n"
    "wp.launch(R.program, dim=len(now), inputs=[*arrays, 0, 0, out, 0], device='cpu')\nout = out.numpy()\n",
}


@pytest.mark.parametrize("xyzw", [False, True], ids=["wxyz", "xyzw"])
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_it_runs_elsewhere_and_computes_the_same(name, language, xyzw, tmp_path):
    whole = task(name)
    program = check(PROGRAMS[name], whole.signals)
    (tmp_path / "exported.py").write_text(export_reward(program, whole, language, xyzw))
    now, before = rows(whole.signals, ROWS, 1), rows(whole.signals, ROWS, 2)
    expected = run(program, now, before)
    if xyzw:
        for signal in (s for s in whole.signals if s.kind == "quat"):
            for block in (now, before):
                block[:, signal.columns] = np.roll(block[:, signal.columns], -1, axis=1)
    np.savez(tmp_path / "rows.npz", now=now, before=before)
    columns = [(s.name, s.kind[0] if s.kind == "scalar" else "v", s.column, s.column + s.size) for s in whole.signals]
    (tmp_path / "driver.py").write_text(
        f"import sys\nimport numpy as np\nimport exported as R\nT = {columns!r}\n"
        "rows = np.load('rows.npz')\nnow, before = rows['now'], rows['before']\n"
        f"{DRIVERS[language]}np.save('out.npy', out)\nassert not any('eureka' in m for m in sys.modules)\n"
    )
    subprocess.run([sys.executable, "driver.py"], cwd=tmp_path, check=True, capture_output=True, timeout=120)
    found = np.load(tmp_path / "out.npy")
    assert found.shape == expected.shape
    assert found == pytest.approx(expected, rel=2e-5, abs=2e-5, nan_ok=True)


def test_the_file_names_its_signals_and_where_it_comes_from():
    whole = task("pour_cup")
    text = export_reward(check(PROGRAMS["pour_cup"], whole.signals), whole, "numpy", True, "g01c02 of a run")
    for part in ("g01c02 of a run", "cup_quat [4]", "x, y, z, w", "lip_pos [3]: m, world frame", whole.goal):
        assert part in text
    assert "far = np.sqrt(" in text


def test_text_of_a_task_cannot_leave_the_docstring():
    from dataclasses import replace

    whole = replace(task("cartpole"), goal='x"""\nimport os\nos.abort()\n"""\\')
    text = export_reward(check(PROGRAMS["cartpole"], whole.signals), whole, "numpy")
    assert compile(text, "x", "exec")
    space: dict = {}
    exec(text, space)
    assert "os" not in space
