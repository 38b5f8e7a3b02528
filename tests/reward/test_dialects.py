"""What people write for NumPy, torch, JAX or Warp means the same as the language's own words, or is refused."""

import pytest

from eureka_lite.reward import RewardError, check
from tests.reward.rows import TABLE

SAME = {
    # written, in the language
    "np.exp(-s.x)": "exp(-s.x)",
    "math.sqrt(s.x) + math.pi": "sqrt(s.x) + pi",
    "torch.exp(-s.x / 0.1)": "exp(-s.x / 0.1)",
    "jnp.tanh(s.x)": "tanh(s.x)",
    "wp.sin(s.x) + wp.pi": "sin(s.x) + pi",
    "wp.max(s.x, 1)": "max(s.x, 1)",
    "wp.smoothstep(0.5, 1.0, s.x)": "smoothstep(s.x, 0.5, 1.0)",
    "smoothstep(s.x, 0.5, 1.0)": "smoothstep(s.x, 0.5, 1.0)",
    "wp.length(s.pos)": "norm(s.pos)",
    "wp.vec3(s.x, 0.0, 1.0) - s.pos": "vec3(s.x, 0.0, 1.0) - s.pos",
    "wp.quat_rotate(s.turn, s.pos)": "rotate(s.turn, s.pos)",
    "torch.norm(s.pos - s.goal, dim=-1)": "norm(s.pos - s.goal)",
    "torch.norm(s.pos - s.goal, p=2, dim=-1)": "norm(s.pos - s.goal)",
    "torch.norm(s.pos, 2, -1)": "norm(s.pos)",
    "torch.norm(s.pos, p=1, dim=1)": "sum(abs(s.pos))",
    "torch.norm(s.pos, dim=-1, keepdim=True)": "norm(s.pos)",
    "torch.linalg.norm(s.pos, dim=-1)": "norm(s.pos)",
    "torch.linalg.vector_norm(s.pos, dim=-1)": "norm(s.pos)",
    "np.linalg.norm(s.pos - s.goal)": "norm(s.pos - s.goal)",
    "jnp.linalg.norm(s.pos, axis=-1)": "norm(s.pos)",
    "s.pos.norm()": "norm(s.pos)",
    "(s.pos - s.goal).norm(dim=-1)": "norm(s.pos - s.goal)",
    "s.pos.norm(2, -1)": "norm(s.pos)",
    "torch.sum(s.pos**2, dim=-1)": "sum(s.pos**2)",
    "torch.sum(torch.square(s.joint), dim=-1)": "sum(square(s.joint))",
    "torch.sum(s.joint, -1)": "sum(s.joint)",
    "s.joint.pow(2).sum(-1)": "sum(s.joint ** 2)",
    "s.joint.square().mean(dim=1)": "mean(square(s.joint))",
    "np.sum(np.square(s.joint))": "sum(square(s.joint))",
    "torch.max(s.pos, dim=-1)[0]": "max(s.pos)",
    "torch.max(s.pos, dim=-1).values": "max(s.pos)",
    "torch.max(s.pos, -1).values": "max(s.pos)",
    "torch.min(s.pos, 1)[0]": "min(s.pos)",
    "s.pos.max(dim=-1)[0]": "max(s.pos)",
    "torch.amax(s.pos, dim=-1)": "max(s.pos)",
    "np.max(s.pos, axis=-1)": "max(s.pos)",
    "torch.max(s.x, s.y)": "max(s.x, s.y)",
    "torch.maximum(s.x, torch.tensor(1.0))": "max(s.x, 1.0)",
    "np.maximum(s.x, 1)": "max(s.x, 1)",
    "np.minimum(s.pos, 1)": "min(s.pos, 1)",
    "torch.where(s.x > 0.5, s.y, torch.zeros_like(s.y))": "where(s.x > 0.5, s.y, zeros_like(s.y))",
    "np.where((s.x > 0.5) & (s.y < 1.0), 1.0, 0.0)": "where(s.x > 0.5 and s.y < 1.0, 1.0, 0.0)",
    "torch.where((s.x > 0.5) | ~(s.y < 1.0), 1.0, 0.0)": "where(s.x > 0.5 or not s.y < 1.0, 1.0, 0.0)",
    "torch.logical_and(s.x > 0.5, s.y < 1.0).float()": "float(s.x > 0.5 and s.y < 1.0)",
    "1.0 if torch.logical_not(s.x > 0.5) else 0.5": "1.0 if not s.x > 0.5 else 0.5",
    "torch.clamp(s.x, 0.5, 1.0)": "clamp(s.x, 0.5, 1.0)",
    "torch.clamp(s.x, min=0.5, max=1.0)": "clamp(s.x, 0.5, 1.0)",
    "torch.clamp(s.x, min=0.5)": "max(s.x, 0.5)",
    "torch.clamp(s.x, max=0.5)": "min(s.x, 0.5)",
    "s.x.clamp(min=0.5)": "max(s.x, 0.5)",
    "torch.clamp_min(s.x, 0.5)": "max(s.x, 0.5)",
    "s.x.clamp_max(0.5)": "min(s.x, 0.5)",
    "np.clip(s.x, None, 2.0)": "min(s.x, 2.0)",
    "np.clip(s.x, a_min=0.5, a_max=2.0)": "clamp(s.x, 0.5, 2.0)",
    "clip(s.x, 0.5, 2.0)": "clamp(s.x, 0.5, 2.0)",
    "s.pos[:, 0]": "s.pos[0]",
    "s.pos[..., 2]": "s.pos[2]",
    "norm(s.pos[:, :2])": "norm(s.pos[:2])",
    "norm(s.pos[..., 0:2])": "norm(s.pos[0:2])",
    "norm(s.pos[:])": "norm(s.pos)",
    "s.pos[:, None] * 2.0": "s.pos * 2.0",
    "s.x[:, None] * s.pos": "s.x * s.pos",
    "s.x.unsqueeze(-1) * s.pos": "s.x * s.pos",
    "s.x.abs()": "abs(s.x)",
    "(s.x > 0.5).float()": "float(s.x > 0.5)",
    "(s.x > 0.5) * 2.0": "float(s.x > 0.5) * 2.0",
    "s.x.item() + float(s.y)": "s.x + s.y",
    "torch.tensor(0.25) * s.x": "0.25 * s.x",
    "torch.tensor(0.25, device=s.x.device, dtype=torch.float32) * s.x": "0.25 * s.x",
    "np.array([1.0, 2.0, 3.0]) - s.pos": "vec3(1.0, 2.0, 3.0) - s.pos",
    "np.array((s.x, s.y)).sum()": "s.x + s.y",
    "torch.stack([s.x, s.y], dim=-1).norm(dim=-1)": "norm(vector(s.x, s.y))",
    "np.zeros(3) + s.pos": "vec3(0.0, 0.0, 0.0) + s.pos",
    "s.x.detach().clone().cpu().numpy()": "s.x",
    "s.x.to(torch.float32)": "s.x",
    "np.float32(s.x)": "s.x",
    "s.x ** 2": "s.x * s.x",
    "np.power(s.x, 3)": "s.x ** 3",
    "np.arctan2(s.x, s.y) + math.fabs(s.y)": "atan2(s.x, s.y) + abs(s.y)",
    "np.arccos(s.y)": "acos(s.y)",
    "np.hypot(s.x, s.y)": "norm(vector(s.x, s.y))",
    "math.dist(s.pos, s.goal)": "distance(s.pos, s.goal)",
    "torch.cross(s.pos, s.goal, dim=-1)": "cross(s.pos, s.goal)",
    "torch.dot(s.pos, s.goal)": "dot(s.pos, s.goal)",
    "torch.nn.functional.normalize(s.pos, dim=-1)": "normalize(s.pos)",
    "F.normalize(s.pos, dim=-1)": "normalize(s.pos)",
    "F.cosine_similarity(s.pos, s.goal, dim=-1)": "dot(normalize(s.pos), normalize(s.goal))",
    "F.relu(s.x - 0.5)": "max(s.x - 0.5, 0.0)",
    "torch.sigmoid(s.x)": "sigmoid(s.x)",
    "np.sign(s.x) + np.round(s.y) + np.rint(s.x)": "sign(s.x) + round(s.y) + round(s.x)",
    "s['x'] + s['pos'][0]": "s.x + s.pos[0]",
    "quat_mul(s.turn, quat_conjugate(s.turn))": "quat_multiply(s.turn, quat_conjugate(s.turn))",
    "quat_apply(s.turn, s.pos)": "rotate(s.turn, s.pos)",
}


def plain(expression: str) -> str:
    return check(f"def f(s, prev):\n    return {expression}\n", TABLE, function="f", returns="value").hash


@pytest.mark.parametrize("written", SAME)
def test_it_means_the_same(written):
    assert plain(written) == plain(SAME[written])


PLAIN = "def reward(s, prev):\n    far = norm(s.pos - s.goal)\n    return {'near': exp(-far), 'calm': -0.5 * s.x}\n"
MODULES = {
    "annotations": "def reward(s: State, prev: 'State') -> Dict[str, float]:\n    far: float = norm(s.pos - s.goal)\n    return {'near': exp(-far), 'calm': -0.5 * s.x}\n",
    "docstrings": '"""About."""\ndef reward(s, prev):\n    """Near.\n\n    More."""\n    far = norm(s.pos - s.goal)\n    return {"near": exp(-far), "calm": -0.5 * s.x}\n',
    "torch.jit.script": "@torch.jit.script\n" + PLAIN,
    "torch.compile": "@torch.compile(mode='max-autotune')\n" + PLAIN,
    "signals as parameters": "def compute_reward(pos, goal, x):\n    far = norm(pos - goal)\n    return {'near': exp(-far), 'calm': -0.5 * x}\n",
    "typed signals as parameters": "def compute_reward(pos: torch.Tensor, goal: torch.Tensor, x: torch.Tensor) -> Tuple[torch.Tensor, Dict]:\n    far = torch.norm(pos - goal, dim=-1)\n    return {'near': torch.exp(-far), 'calm': -0.5 * x}\n",
    "row and signals as parameters": "def reward(s, prev, x):\n    far = norm(s.pos - s.goal)\n    return {'near': exp(-far), 'calm': -0.5 * x}\n",
    "self": "def compute_reward(self):\n    far = norm(self.pos - self.goal)\n    return {'near': exp(-far), 'calm': -0.5 * self.x}\n",
    "class": "import torch\nclass Reward:\n    def __init__(self):\n        self.scale = open('x')\n    def near(self, a, b):\n        return exp(-norm(a - b))\n    @staticmethod\n    def calm(x):\n        return -0.5 * x\n    def compute_reward(self, s):\n        return {'near': self.near(s.pos, s.goal), 'calm': self.calm(s.x)}\n",
    "class with signals of self": "class Env(Base):\n    def far(self):\n        return norm(self.pos - self.goal)\n    def compute_reward(self):\n        return {'near': exp(-self.far()), 'calm': -0.5 * self.x}\n",
    "imports": "import numpy as np\nimport torch.nn.functional as F\nfrom typing import Dict, Tuple\nfrom torch import Tensor\n" + PLAIN.replace("norm", "np.linalg.norm"),
    "imports under other names": "import numpy as num\nfrom math import exp as e_to_the\nfrom torch import norm\n" + PLAIN.replace("exp", "e_to_the").replace("norm(s.pos - s.goal)", "num.linalg.norm(s.pos - s.goal)"),
    "a test call": PLAIN + "\nprint(reward(1, 2))\n",
    "a main guard": PLAIN + "\nif __name__ == '__main__':\n    import os\n    os.remove('x')\n",
    "other statements": "device = torch.device('cuda')\nassert True\nfor i in range(3):\n    print(i)\nwith open('x') as f:\n    pass\n" + PLAIN,
    "two versions": PLAIN.replace("exp", "sin") + "\n\n" + PLAIN,
    "defaults": PLAIN.replace("prev)", "prev, weight=-0.5)").replace("-0.5 *", "weight *"),
    "keyword-only": "def near(a, *, b):\n    return exp(-norm(a - b))\ndef slow(x, scale=-0.5):\n    return scale * x\ndef reward(s):\n    return {'near': near(s.pos, b=s.goal), 'calm': slow(s.x)}\n",
    "whole numbers": "def reward(s):\n    a = 0\n    a = -0.5\n    far = norm(s.pos - s.goal)\n    return {'near': exp(-far), 'calm': a * s.x}\n",
    "dict filled": "def reward(s):\n    r: dict = {}\n    r['near'] = exp(-norm(s.pos - s.goal))\n    r['calm'] = -0.5 * s.x\n    return r\n",
    "dict()": "def reward(s):\n    return dict(near=exp(-norm(s.pos - s.goal)), calm=-0.5 * s.x)\n",
    "total first": "def reward(s):\n    r = {'near': exp(-norm(s.pos - s.goal)), 'calm': -0.5 * s.x}\n    return sum(r.values()), r\n",
    "another name": PLAIN.replace("def reward", "def pour_reward_v2"),
    "tuple unpacking": "def reward(s):\n    far, slow = norm(s.pos - s.goal), -0.5 * s.x\n    return {'near': exp(-far), 'calm': slow}\n",
    "augmented assignment": "def reward(s):\n    calm = s.x\n    calm *= -0.5\n    return {'near': exp(-norm(s.pos - s.goal)), 'calm': calm}\n",
}  # fmt: skip


@pytest.mark.parametrize("name", MODULES)
def test_a_module_means_the_same(name):
    found, expected = check(MODULES[name], TABLE), check(PLAIN, TABLE)
    if name == "total first":
        assert (found.outputs, found.has_total) == (expected.outputs, True)
    else:
        assert (found.outputs, found.hash) == (expected.outputs, expected.hash)


@pytest.mark.parametrize(
    ("name", "line"), [("imports", 1), ("a test call", 5), ("a main guard", 5), ("two versions", 1), ("class", 2)]
)
def test_what_is_left_out_is_noted(name, line):
    assert any(f"line {line}:" in note for note in check(MODULES[name], TABLE).notes)


REFUSED = {
    "torch.sum(s.joint, dim=0)": "worlds",
    "torch.norm(s.pos, dim=0)": "worlds",
    "s.joint.mean(0)": "worlds",
    "np.mean(s.joint, axis=0)": "worlds",
    "torch.max(s.pos, dim=-1)": "indices",
    "s.pos.max(dim=-1)": "indices",
    "torch.norm(s.pos, p=3, dim=-1)": "order",
    "torch.stack([s.x, s.y], dim=0)": "worlds",
    "torch.zeros(s.x.shape[0])": "size",
    "torch.zeros(num_envs)": "size",
    "s.x.long()": "whole numbers",
    "int(s.x)": "whole numbers",
    "s.x.to(torch.int64)": "whole numbers",
    "torch.tensor(1, dtype=torch.long)": "whole numbers",
    "s.pos[0, 1]": "indexes",
    "s.pos[:, 0, 1]": "indexes",
    "s.pos @ s.goal": "@",
    "s.pos.T": "'T'",
    "torch.rand(3)": "'rand'",
    "np.random.rand()": "'rand'",
    "torch.einsum('ij,ij->i', s.pos, s.goal)": "einsum",
    "s.x.shape[0]": "'shape'",
    "s.pos.view(-1)": "'view'",
    "torch.roll(s.pos, 1)": "'roll'",
    "self.x": "'self'",
    "np": "'np'",
    "wp.select(s.x > 0.5, 1.0, 2.0)": "'select'",
    "math.log(s.x, 10.0)": "arguments",
    "np.round(s.x, 2)": "arguments",
}


@pytest.mark.parametrize("written", REFUSED)
def test_what_is_not_certain_is_refused(written):
    with pytest.raises(RewardError) as caught:
        plain(written)
    assert any(REFUSED[written] in str(problem) for problem in caught.value.problems), str(caught.value)
    assert all(problem.line == 2 for problem in caught.value.problems)


def test_a_parameter_that_is_no_signal_is_named():
    with pytest.raises(RewardError, match="did you mean 'goal'"):
        check("def compute_reward(pos, goall):\n    return norm(pos - goall)\n", TABLE)


@pytest.mark.parametrize("head", ["pos, prev", "self, prev", "prev, s", "s, last_state", "a, b", "prev, pos"])
def test_the_row_before_is_told_by_its_name_or_place(head):
    names = [name.strip() for name in head.split(",")]
    before = next((n for n in names if n in ("prev", "last_state", "b")), "")
    now = next(n for n in names if n != before)
    here = "pos" if now == "pos" else f"{now}.pos"
    source = f"def reward({head}):\n    return {{'a': norm({here}) - norm({before}.pos)}}\n"
    plain = "def reward(s, prev):\n    return {'a': norm(s.pos) - norm(prev.pos)}\n"
    assert check(source, TABLE).hash == check(plain, TABLE).hash


def test_names_of_the_program_win_over_those_of_the_dialects():
    source = "def clip(a):\n    return a * 2.0\ndef reward(s):\n    np = s.pos\n    return {'a': clip(s.x) + np[0]}\n"
    assert check(source, TABLE).hash == check("def reward(s):\n    return {'a': s.x * 2.0 + s.pos[0]}\n", TABLE).hash


def test_what_comes_from_a_foreign_module_is_refused():
    with pytest.raises(RewardError, match="comes from 'os'"):
        check("from os import getpid as exp\ndef reward(s):\n    return {'a': exp(s.x)}\n", TABLE)
