"""Hostile and broken programs: each is refused with the right reason or compiles harmlessly, and none of their Python runs.

`{evil}` would write the canary file if it were ever evaluated. Where the reason is None the program is accepted: the
hostile part is dropped, with the rest checked, compiled and run.
"""

import math
import sys
import time
from pathlib import Path

import pytest

from eureka_lite.reward import RewardError, check
from tests.reward.rows import TABLE, reward

EXPRESSIONS = {
    # an expression in the place of a component, and why it is refused
    "__import__('os').system('x')": "unknown function",
    "__import__": "unknown name",
    "eval('1')": "unknown function 'eval'",
    "exec('1')": "unknown function 'exec'",
    "compile('1', 'x', 'eval')": "unknown function 'compile'",
    "open('x').read()": "unknown function 'open'",
    "{evil}": "unknown function 'open'",
    "input()": "unknown function 'input'",
    "print(s.x)": "unknown function 'print'",
    "globals()['x']": "unknown function 'globals'",
    "locals()": "unknown function 'locals'",
    "vars(s)": "unknown function 'vars'",
    "dir(s)": "unknown function 'dir'",
    "getattr(s, 'x')": "unknown function 'getattr'",
    "setattr(s, 'x', 1.0)": "unknown function 'setattr'",
    "hasattr(s, 'x')": "unknown function 'hasattr'",
    "type(s)": "unknown function 'type'",
    "id(s)": "unknown function 'id'",
    "hash(s)": "unknown function 'hash'",
    "super()": "unknown function 'super'",
    "breakpoint()": "unknown function 'breakpoint'",
    "exit()": "unknown function 'exit'",
    "help()": "unknown function 'help'",
    "isinstance(s.x, float)": "unknown function 'isinstance'",
    "map(abs, s.pos)": "function",
    "sorted(s.pos)": "unknown function 'sorted'",
    "zip(s.pos, s.goal)": "unknown function 'zip'",
    "str(s.x)": "unknown function 'str'",
    "object()": "unknown function 'object'",
    "s.__class__": "unknown signal '__class__'",
    "s.__dict__['x']": "unknown signal '__dict__'",
    "s.x.__class__": "has no '__class__'",
    "s.x.real": "has no 'real'",
    "s.pos.__class__.__mro__": "has no element '__class__'",
    "s.pos.tolist()": "unknown function 'tolist'",
    "().__class__.__bases__[0].__subclasses__()": "has no '__class__'",
    "''.__class__": "a text",
    "'{{0.__class__}}'.format(s)": "a text",
    "f'{{s.x}}'": "f-string",
    "f'{{{evil}}}'": "f-string",
    "b'x'": "a text",
    "'a' * 1000000000": "a text",
    "lambda: 0": "lambda",
    "(lambda: {evil})()": "by their name",
    "[i for i in range(10)]": "comprehension",
    "sum([i for i in range(10)])": "comprehension",
    "sum(i for i in range(10))": "comprehension",
    "{{i: i for i in range(3)}}": "comprehension",
    "{{1, 2}}": "a set",
    "(yield 1)": "yield",
    "(await s.x)": "await",
    "(y := 1.0)": ":=",
    "*s.pos": "Python",
    "min(*s.pos)": "* and **",
    "clamp(**s)": "* and **",
    "wp.static({evil})": "unknown function",
    "wp.zeros(shape=4000)": "zeros",
    "wp.func": "unknown name 'func'",
    "wp.config.max_unroll": "unknown name 'max_unroll'",
    "wp.printf('x')": "unknown function 'printf'",
    "wp.tid()": "unknown function 'tid'",
    "wp.launch(s)": "unknown function 'launch'",
    "wp.atomic_add(s.pos, 0, 1.0)": "unknown function 'atomic_add'",
    "wp.quat(0.0, 0.0, 0.0, 1.0)": "unknown function 'quat'",
    "wp.mat33()": "unknown function 'mat33'",
    "np.load('x')": "unknown function 'load'",
    "np.fromfile('x')": "unknown function 'fromfile'",
    "np.random.normal()": "unknown function 'normal'",
    "np.ctypeslib.load_library('x', 'y')": "unknown function 'load_library'",
    "torch.load('x')": "unknown function 'load'",
    "torch.ops.load_library('x')": "unknown function 'load_library'",
    "torch.hub.load('a', 'b')": "unknown function 'load'",
    "torch.utils.cpp_extension.load('x')": "unknown function 'load'",
    "os.system('x')": "unknown name 'os'",
    "sys.exit()": "unknown name 'sys'",
    "subprocess.run('x')": "unknown name 'subprocess'",
    "builtins.open('x')": "unknown name 'builtins'",
    "s.x if {evil} else s.y": "unknown function 'open'",
    "None": "None",
    "...": "...",
    "1j": "complex",
    "'text'": "a text",
    "s": "a row of signals",
    "reward": "is a function",
    "norm": "is a function",
    "s.pos": "a vec3",
    "s.x is None": "`in` and `is`",
    "s.x in s.pos": "`in` and `is`",
    "s.pos[s.x]": "whole number",
    "s.pos[int(s.x)]": "whole numbers",
    "s.pos[99]": "index 99",
    "s.pos[-4]": "index -4",
    "s.pos[1.0]": "whole number",
    "s.pos[True]": "whole number",
    "s.pos[::0]": "0",
    "s.pos[3:]": "empty",
    "s.joint['nee']": "did you mean 'knee'",
    "s['__class__']": "unknown signal",
    "s.x[0]": "has no elements",
    "99999999999999999999999999999999999": "1e+30",
    "1e400": "1e+30",
    "1e31": "1e+30",
    "10 ** 10 ** 10 ** s.x": None,
    "2 ** 10000": None,
    "s.x ** 1e30": None,
    "s.x / 0.0": None,
    "7 // (s.x - s.x)": None,
    "7 % (s.x - s.x)": None,
    "(-2147483648) // -1": None,
    "sqrt(-1.0) + log(-1.0)": None,
    "s.x @ s.y": "@",
    "s.x << 100": "<<",
    "s.x >> 1": ">>",
    "s.x ^ 2": "^",
    "s.x & s.y": "condition",
    "~s.x": "condition",
    "not s.x": "condition",
    "s.x and s.y": "condition",
    "s.pos < s.goal": "number",
    "ѕ.x": "unknown name",
    "s.х": "unknown signal",
    "s．x": "Python",
    "s.x − 1": "Python",
    "ｓ.x": None,
    "max()": "missing",
    "max": "is a function",
    "norm(s.x)": "vector",
    "norm(s.pos, s.goal, s.x)": "arguments",
    "clamp(s.x, lo=0.0, high=1.0)": "'lo'",
    "dot(s.pos, s.joint)": "one size",
    "cross(s.pos, s.joint)": "vec3",
    "rotate(s.pos, s.pos)": "quat",
    "vec3(1.0, 2.0)": "missing",
    "vec3(1.0, 2.0, 3.0, 4.0)": "arguments",
    "s.pos + s.joint": "do not fit",
    "[[1.0, 2.0], [3.0]]": "several values",
    "{{'x': 1.0}}": "a dict",
}  # fmt: skip

HEAD = "def reward(s):\n    "
LINES = {
    # a line of the body, and why it is refused
    "while True: pass": "while",
    "while s.x > 0.0: a = 1.0": "while",
    "for i in range(1000000000): pass": "1000 times",
    "for i in range(s.x): pass": "whole number",
    "for i in range(0.5): pass": "whole number",
    "for i in range(1, 2, 0): pass": "range",
    "for i in iter(int, 1): pass": "unknown function",
    "for c in 'text': pass": "a text",
    "for i in range(3): break": "break",
    "for i in range(3): return s.x": "return",
    "import os": "import",
    "from os import *": "import",
    "global x": "global",
    "nonlocal s": "nonlocal",
    "del s.x": "del",
    "assert s.x > 0, {evil}": "assert",
    "raise Exception({evil})": "raise",
    "with open('x') as f: pass": "with",
    "try:\n        pass\n    finally:\n        {evil}": "try",
    "match s.x:\n        case 1: pass": "match",
    "class A: pass": "class",
    "def inner(): return 1.0": "function inside a function",
    "async def inner(): pass": "async",
    "s.x = 1.0": "assigned",
    "s['x'] = 1.0": "cannot be changed",
    "s.pos[0] = 1.0": "assigned",
    "a = s.pos\n    a[0] = 1.0": "cannot be changed",
    "a: {evil} = 1.0": None,
    "a: {evil}": None,
    "a = b = {evil}": "unknown function 'open'",
    "{evil}": "effect",
    "a, b = 1.0": "taken apart",
    "a, b = s.pos": "taken apart",
    "a += 1.0": "unknown name 'a'",
    "a = a": "unknown name 'a'",
    "return {evil}": "unknown function 'open'",
    "r = {{}}\n    q = r\n    q['a'] = 1.0": "second name",
    "if s.x > 0.0:\n        z = 1.0\n    a = z": "on every way",
    "return": "returns nothing",
    "yield s.x": "yield",
    "lambda: {evil}": "effect",
    "{evil!r}": None,
    "pass": None,
    "int = 1.0\n    switch = int\n    double = switch": None,
    "template = 1.0\n    adj_s = template\n    ret = adj_s": None,
    "wp = s.x\n    signals = wp\n    constants = signals\n    out = constants\n    w = out\n    candidate = w": None,
    "v0 = s.x\n    v1 = v0 * 2.0\n    v2 = v1": None,
    "été = s.x\n    变量 = été": None,
    "abs = s.x\n    a = abs": None,
    "a = 1.0; a = a * 2.0; a = a > 1.0": None,
}  # fmt: skip

MODULES = {
    # a whole module, and why it is refused
    "@({evil})\ndef reward(s):\n    return s.x\n": "decorators",
    "@wp.kernel\ndef reward(s):\n    return s.x\n": "decorators",
    "@property\ndef reward(s):\n    return s.x\n": "decorators",
    "@torch.jit.script({evil})\ndef reward(s):\n    return s.x\n": None,
    "def reward(s, y={evil}):\n    return s.x\n": "default",
    "def reward(s, *, y={evil}):\n    return s.x\n": "default",
    "def reward(s: {evil}) -> [{evil}]:\n    return s.x\n": None,
    "def reward(*s):\n    return 1.0\n": "parameters",
    "def reward(**s):\n    return 1.0\n": "parameters",
    "def reward():\n    return 1.0\n": "takes the row",
    "def reward(a, b, c):\n    return 1.0\n": "takes the row",
    "async def reward(s):\n    return s.x\n": "no function 'reward'",
    "reward = lambda s: s.x\n": "no function 'reward'",
    "{evil}\ndef reward(s):\n    return s.x\n": None,
    "X = {evil}\ndef reward(s):\n    return s.x\n": None,
    "X = {evil}\ndef reward(s):\n    return X\n": "unknown function 'open'",
    "class A(metaclass={evil}):\n    x = {evil}\ndef reward(s):\n    return s.x\n": None,
    "class A({evil}):\n    def __init__(self): {evil}\n    def reward(self, s):\n        return s.x\n": None,
    "from os import system as exp\ndef reward(s):\n    return exp(s.x)\n": "comes from 'os'",
    "import os as np\ndef reward(s):\n    return np.exp(s.x)\n": "comes from 'os'",
    "from numpy import *\ndef reward(s):\n    return exp(s.x)\n": None,
    "if True:\n    def reward(s):\n        return s.x\n": "no function 'reward'",
    "exec({evil!r})\ndef reward(s):\n    return s.x\n": None,
    "def f(x):\n    return f(x)\ndef reward(s):\n    return f(s.x)\n": "calls itself",
    "def f(x):\n    return g(x)\ndef g(x):\n    return f(x)\ndef reward(s):\n    return f(s.x)\n": "calls itself",
    "def norm(x):\n    return norm(x)\ndef reward(s):\n    return norm(s.x)\n": "calls itself",
    "def reward(s):\n    return reward(s)\n": "calls itself",
    "def f():\n    return {evil}\ndef reward(s):\n    return f()\n": "unknown function 'open'",
    "def f():\n    return {evil}\ndef reward(s):\n    return s.x\n": None,
    "def reward(s):\n    return {{'a': s.x, 'a': s.y}}\n": "twice",
    "def reward(s):\n    return {{{evil}: s.x}}\n": "text in quotes",
    "def reward(s):\n    return {{'a\\nopen(1)': s.x}}\n": "letters, digits",
    "def reward(s):\n    return {{\"a'] = {evil} #\": s.x}}\n": "letters, digits",
    "def reward(s):\n    return {{'" + "a" * 41 + "': s.x}}\n": "letters, digits",
    "def reward(s):\n    return {{**s}}\n": "text in quotes",
    "def reward(s):\n    return {{}}\n": "0 components",
    "def reward(s):\n    return [s.x, s.y]\n": "several values",
    "def reward(s):\n    pass\n": "returns nothing",
    "def reward(s):\n": "not valid Python",
    "def reward(s)\n    return s.x\n": "not valid Python",
    "def reward(s):\n\treturn s.x\n        return s.y\n": "not valid Python",
    "def reward(s):\n    return s.x\x00\n": "not valid Python",
    "\x00": "not valid Python",
    "": "no function 'reward'",
    "# nothing": "no function 'reward'",
    "def reward(s):\n    return (" * 3: "not valid Python",
    "def reward(s):\n    return " + "(" * 400 + "s.x" + ")" * 400 + "\n": "",
    "def reward(s):\n    return " + "-" * 400 + "s.x\n": "nested more than 100",
    "def reward(s):\n    return " + "abs(" * 400 + "s.x" + ")" * 400 + "\n": "",
    "def reward(s):\n    return " + " + ".join(["s.x"] * 5000) + "\n": "bytes",
    "def reward(s):\n    return " + "+".join(["s.x"] * 4000) + "\n": "nested",
    "def reward(s):\n    a = s.x\n" + "    a += s.y\n" * 500 + "    return a\n": None,
    "def reward(s):\n    a = s.x\n    for i in range(16):\n        for j in range(16):\n            for k in range(16):\n                a += sin(a)\n    return a\n": "1000 times",
    "def reward(s):\n    return " + "9" * 5000 + "\n": "",
    "def reward(s):\n    return {{" + ", ".join(f"'c{i}': s.x" for i in range(33)) + "}}\n": "33 components",
    "#" * 20_001: "20,000 bytes",
}  # fmt: skip

CASES = [(f"def reward(s):\n    return {{{{'a': {text}}}}}\n", why) for text, why in EXPRESSIONS.items()]
CASES += [(f"{HEAD}{line}\n    return {{{{'a': s.x}}}}\n", why) for line, why in LINES.items()]
CASES += list(MODULES.items())


@pytest.mark.parametrize(("template", "why"), CASES, ids=[repr(c[0][:50]) for c in CASES])
def test_it_is_refused_with_the_right_reason_or_harmless(template, why, tmp_path):
    canary = tmp_path / "canary"
    source = template.replace("{evil!r}", repr(f"open({str(canary)!r}, 'w')")).replace(
        "{evil}", f"open({str(canary)!r}, 'w')"
    ).replace("{{", "{").replace("}}", "}")  # fmt: skip
    modules, began = set(sys.modules), time.monotonic()
    if why is None:
        program = check(source, TABLE)
        found = reward(source)
        assert set(found) == {"total", *program.outputs}
        assert all(isinstance(value, float) for value in found.values())
    else:
        with pytest.raises(RewardError) as caught:
            check(source, TABLE)
        assert why in str(caught.value), str(caught.value)
        assert time.monotonic() - began < 5.0
    assert not canary.exists()
    assert not Path("x").exists()
    assert not {m for m in set(sys.modules) - modules if m.startswith(("os", "sub", "sock", "ctypes"))}


def test_there_are_enough():
    assert len(CASES) >= 150


def test_the_sign_of_a_zero_changes_nothing():
    assert reward("def reward(s):\n    return 1.0 / (-s.x * 0.0)\n")["total"] == math.inf
    assert reward("def reward(s):\n    return atan2(s.x * 0.0, -s.x * 0.0)\n")["total"] == 0.0
    assert reward("def reward(s):\n    return (-s.x * 0.0) ** -1\n")["total"] == math.inf
    assert reward("def reward(s):\n    return pow(-s.x * 0.0, s.y * 2.0)\n")["total"] == math.inf


def test_a_nan_goes_through_powers():
    nan = "sqrt(-s.x)"
    for text in (f"({nan}) ** 0", f"({nan}) ** (s.x - s.x)", f"1.0 ** ({nan})", f"pow({nan}, 0.0)", f"({nan}) ** 0.3"):
        assert math.isnan(reward(f"def reward(s):\n    return {text}\n")["total"]), text
