"""What programs compute, by the real kernel, against numbers worked out by hand or by NumPy."""

import math

import numpy as np
import pytest

from eureka_lite.reward import function_table
from tests.reward.rows import reward, row, value

NAN = math.nan

HAND = {
    "1": 1.0,
    "s.x + s.y * 2": 1.0,
    "-s.x ** 2": -4.0,
    "2 ** -1": 0.5,
    "s.x / 4": 0.5,
    "s.y // 0.2": -3.0,
    "s.y % 0.2": 0.1,
    "s.x ** 0.5": math.sqrt(2.0),
    "s.x ** 1.3": 2.0**1.3,
    "abs(s.y)": 0.5,
    "sqrt(16)": 4.0,
    "square(s.y)": 0.25,
    "exp(s.y)": math.exp(-0.5),
    "log(s.x)": math.log(2.0),
    "log1p(s.x)": math.log(3.0),
    "sin(s.x)": math.sin(2.0),
    "cos(s.x)": math.cos(2.0),
    "tan(s.y)": math.tan(-0.5),
    "asin(s.y)": math.asin(-0.5),
    "acos(s.y)": math.acos(-0.5),
    "acos(s.x)": 0.0,
    "asin(-s.x)": -math.pi / 2,
    "atan(s.x)": math.atan(2.0),
    "atan2(s.y, s.x)": math.atan2(-0.5, 2.0),
    "tanh(s.y)": math.tanh(-0.5),
    "sigmoid(s.x)": 1.0 / (1.0 + math.exp(-2.0)),
    "floor(s.y)": -1.0,
    "ceil(s.y)": 0.0,
    "round(s.x + 0.5)": 2.0,
    "round(s.y * 3)": -2.0,
    "sum(zeros_like(s.joint)) + zeros_like(s.x)": 0.0,
    "sum(ones_like(s.joint)) + ones_like(s.x)": 5.0,
    "norm(vector(3, 4))": 5.0,
    "sign(s.y)": -1.0,
    "sign(0)": 0.0,
    "pow(s.x, 3)": 8.0,
    "min(s.x, s.y, 1)": -0.5,
    "max(s.x, s.y, 1)": 2.0,
    "max(s.joint)": 0.4,
    "min(s.pos)": 1.0,
    "clamp(s.x, 0, 1)": 1.0,
    "clip(s.y, 0, 1)": 0.0,
    "lerp(0, 10, 0.25)": 2.5,
    "where(s.x > 1, 3, 4)": 3.0,
    "smoothstep(s.x, 1, 3)": 0.5,
    "smoothstep(s.x, 3, 5)": 0.0,
    "huber(s.y)": 0.125,
    "huber(s.x)": 1.5,
    "huber(s.x, delta=0.5)": 0.5 * (2.0 - 0.25),
    "tolerance(s.x, 1, 3)": 1.0,
    "tolerance(s.x, 0, 1, margin=1)": 0.1,
    "tolerance(s.x, 0, 1)": 0.0,
    "float(s.x > 1)": 1.0,
    "sum(s.pos)": 6.0,
    "mean(s.pos)": 2.0,
    "norm(s.pos)": math.sqrt(14.0),
    "norm(s.pos - s.goal)": 2.0,
    "dot(s.pos, s.goal)": 10.0,
    "distance(s.pos, s.goal)": 2.0,
    "angle(vec3(1, 0, 0), vec3(0, 2, 0))": math.pi / 2,
    "angle(vec3(1, 0, 0), vec3(-1, 0, 0))": math.pi,
    "yaw(s.turn)": 0.0,
    "quat_angle(s.turn, s.turn)": 0.0,
    "s.pos[1]": 2.0,
    "s.pos[-1]": 3.0,
    "s.pos.z": 3.0,
    "s.joint.knee": 0.4,
    "s.joint[3]": 0.4,
    "norm(s.pos[:2])": math.sqrt(5.0),
    "1.0 if 0 < s.x < 3 else 0.0": 1.0,
    "1.0 if s.x > 3 or not s.y > 0 else 0.0": 1.0,
    "1.0 if s.x > 3 and s.y < 0 else 0.0": 0.0,
    "pi": math.pi,
    "True + True": 2.0,
}


@pytest.mark.parametrize("expression", HAND)
def test_numbers(expression):
    assert value(expression) == pytest.approx(HAND[expression], rel=2e-6, abs=2e-6)


VECTORS = {
    "vec3(1, 2, 3) * 2": (2.0, 4.0, 6.0),
    "s.pos - s.goal": (0.0, 2.0, 0.0),
    "abs(s.goal - s.pos)": (0.0, 2.0, 0.0),
    "cross(vec3(1, 0, 0), vec3(0, 1, 0))": (0.0, 0.0, 1.0),
    "normalize(vec3(0, 3, 4))": (0.0, 0.6, 0.8),
    "normalize(vec3(0, 0, 0))": (0.0, 0.0, 0.0),
    "rotate(s.turn, vec3(0, 0, 1))": (0.0, -math.sin(0.5), math.cos(0.5)),
    "rotate_inverse(s.turn, rotate(s.turn, s.pos))": (1.0, 2.0, 3.0),
    "up_vector(s.turn)": (0.0, -math.sin(0.5), math.cos(0.5)),
    "quat_multiply(s.turn, quat_conjugate(s.turn))": (1.0, 0.0, 0.0, 0.0),
    "max(s.pos, 2)": (2.0, 2.0, 3.0),
}


@pytest.mark.parametrize("expression", VECTORS)
def test_vectors(expression):
    assert value(expression) == pytest.approx(np.array(VECTORS[expression]), rel=2e-6, abs=2e-6)


def test_every_function_of_the_table_is_computed_here():
    called = " ".join([*HAND, *VECTORS])
    assert [f.name for f in function_table() if f"{f.name}(" not in called] == []


THROUGH = [
    e
    for e in HAND
    if "s.x" in e and "quat" not in e and not any(w in e for w in (" if ", "where(s.x", "float(", "_like("))
]


@pytest.mark.parametrize("expression", THROUGH)
def test_a_nan_goes_through_every_function(expression):
    assert math.isnan(value(expression, x=NAN))


@pytest.mark.parametrize("expression", ["max(s.pos)", "min(s.pos)", "norm(s.pos)", "sum(s.pos)", "normalize(s.pos)[0]"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_nan_in_a_vector_goes_through(expression, place):
    point = [1.0, 2.0, 3.0]
    point[place] = NAN
    assert math.isnan(value(expression, pos=tuple(point)))


def test_comparisons_with_a_nan_are_false():
    assert value("1.0 if s.x > 0 else 2.0", x=NAN) == 2.0
    assert value("1.0 if s.x < 0 else 2.0", x=NAN) == 2.0
    assert value("1.0 if s.x != s.x else 2.0", x=NAN) == 1.0


@pytest.mark.parametrize(
    ("expression", "expected"),
    [("s.x / 0.0", math.inf), ("sqrt(-s.x)", NAN), ("log(0.0)", -math.inf), ("log(-1.0)", NAN), ("exp(1000.0)", math.inf),
     ("(-s.x) ** 0.5", NAN), ("0.0 / 0.0", NAN)],
)  # fmt: skip
def test_edges_are_those_of_ieee_and_never_a_crash(expression, expected):
    assert value(expression) == pytest.approx(expected, nan_ok=True)


def test_components_and_their_sum():
    found = reward("def reward(s):\n    near = exp(-s.x)\n    return {'near': near, 'calm': -0.5 * s.y}\n")
    assert found == pytest.approx({"total": math.exp(-2.0) + 0.25, "near": math.exp(-2.0), "calm": 0.25})


def test_components_filled_key_by_key():
    found = reward('def reward(s):\n    r = {}\n    r["a"] = s.x\n    r["b"] = 1\n    r["a"] += 1\n    return r\n')
    assert found == {"total": 4.0, "a": 3.0, "b": 1.0}


def test_a_total_of_its_own():
    assert reward("def reward(s):\n    return 7.0, {'a': s.x}\n") == {"total": 7.0, "a": 2.0}


def test_a_total_alone():
    assert reward("def reward(s):\n    return s.x\n") == {"total": 2.0}


def test_prev_is_the_row_before():
    source = "def reward(s, prev):\n    return {'gain': s.x - prev.x}\n"
    assert reward(source, before=row(x=0.5))["gain"] == 1.5


def test_branches_loops_helpers_and_constants():
    source = """
SCALE = 0.5
def near(a, b):
    d = norm(a - b)
    if d < 1.0:
        return 1.0
    elif d < 3.0:
        return 2.0
    return 3.0
def reward(s):
    total = 0.0
    for i in range(3):
        total += SCALE * s.pos[i]
    low, high = s.x, s.y
    if low > high:
        low, high = high, low
    return {"near": near(s.pos, s.goal), "sum": total, "low": low}
"""
    assert reward(source) == pytest.approx({"total": 4.5, "near": 2.0, "sum": 3.0, "low": -0.5})


def test_a_branch_that_is_not_taken_does_not_leak():
    source = (
        "def reward(s):\n    bonus = 0.0\n    if s.x > 100.0:\n        bonus = sqrt(-1.0)\n    return {'b': bonus}\n"
    )
    assert reward(source)["b"] == 0.0
