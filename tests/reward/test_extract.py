"""Which part of a reply is the program: replies in the odd shapes that models give them."""

import ast
import json
import time

import pytest

from eureka_lite.reward import extract

CODE = "def reward(s):\n    return {'a': s.x}\n"
OTHER = "def reward(s):\n    return {'b': s.y}\n"
LONG = (
    "SCALE = 0.2\n\n\ndef near(a, b):\n    return exp(-norm(a - b) / SCALE)\n\n\n"
    'def reward(s, prev):\n    """Go there."""\n    total = near(s.pos, s.goal)\n    if s.x > 0.5 and s.y < 1.0:\n'
    '        total += 1.0  # "bonus"\n    return {"near": total}\n'
)


def fenced(code: str, tag: str = "python") -> str:
    return f"```{tag}\n{code}```\n"


def indented(text: str, by: str = "   ") -> str:
    return "".join(by + line + "\n" for line in text.splitlines())


TYPOGRAPHIC = CODE.replace("'a'", "\u2018a\u2019")
CLASS = "class Reward:\n    def reward(self, s):\n        return {'a': s.x}\n"

FOUND = {
    "bare": (CODE, CODE, "without a fence"),
    "python tag": (fenced(CODE), CODE, "block 1 of 1"),
    "no tag": (fenced(CODE, ""), CODE, "block 1 of 1"),
    "py tag": (fenced(CODE, "py"), CODE, ""),
    "Python3 tag and more": (fenced(CODE, 'Python3 title="reward.py"'), CODE, ""),
    "wrong tag": (fenced(CODE, "text"), CODE, ""),
    "prose around": (f"Sure!\n\n{fenced(CODE)}\nGood luck.", CODE, ""),
    "tildes": (f"~~~python\n{CODE}~~~", CODE, ""),
    "four marks": (f"````python\n{CODE}````", CODE, ""),
    "four marks around three": (f"````markdown\n{fenced(CODE)}````", None, ""),
    "unterminated": (f"```python\n{CODE}", CODE, ""),
    "unterminated, then prose": (f"```python\n{CODE}\nThis pays for x.", CODE, ""),
    "closing marks glued to the code": (f"```python\n{CODE.rstrip()}```\nDone.", CODE, ""),
    "closing marks forgotten between two": (f"```python\n{OTHER}```python\n{CODE}```", CODE, "block 2 of 2"),
    "no fence, prose before": (f"Here it is:\n\n{CODE}", CODE, "without a fence"),
    "no fence, prose after": (f"{CODE}\nThis should work well.", CODE, "without a fence"),
    "no fence, constant and helper": (f"I suggest:\n\n{LONG}\nThat is all.", LONG, "without a fence"),
    "no fence, indented": (f"Here:\n\n{indented(CODE, '    ')}\nDone.", CODE, ""),
    "no fence, prose that begins like code": (f"from what I see, x matters.\n\n{CODE}", CODE, ""),
    "thinking": (f"<think>maybe\n{fenced(OTHER)}or not</think>\n{fenced(CODE)}", CODE, "block 1 of 1"),
    "thinking, other word": (f"<thinking>{OTHER}</thinking>{fenced(CODE)}", CODE, ""),
    "thinking, capitals": (f"<THINK>{OTHER}</THINK>{fenced(CODE)}", CODE, ""),
    "thinking that began in the prompt": (f"x matters\n{fenced(OTHER)}</think>\n{fenced(CODE)}", CODE, ""),
    "reasoning": (f"<reasoning>\n{OTHER}</reasoning>\n\n{CODE}", CODE, ""),
    "CRLF": (fenced(CODE).replace("\n", "\r\n"), CODE, ""),
    "CR": (fenced(CODE).replace("\n", "\r"), CODE, ""),
    "byte-order mark": ("\ufeff" + fenced(CODE), CODE, ""),
    "byte-order mark in the block": (f"```python\n\ufeff{CODE}```", CODE, ""),
    "tabs": (fenced(CODE.replace("    ", "\t")), CODE, ""),
    "no-break spaces": (fenced(CODE.replace("    ", "\u00a0" * 4)), CODE, ""),
    "zero-width spaces": (fenced(CODE.replace("return", "\u200breturn")), CODE, ""),
    "typographic quotes": (fenced(TYPOGRAPHIC), CODE, ""),
    "typographic double quotes": (fenced(CODE.replace("'a'", "\u201ca\u201d")), CODE.replace("'a'", '"a"'), ""),
    "typographic minus": (fenced(CODE.replace("s.x", "\u2212s.x")), CODE.replace("s.x", "-s.x"), ""),
    "HTML entities": (fenced(LONG.replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")), LONG, ""),
    "HTML entities without a fence": (LONG.replace("<", "&lt;").replace(">", "&gt;"), LONG, ""),
    "HTML entities and typographic quotes": (fenced(TYPOGRAPHIC.replace("s.x", "s.x * (s.y &gt; 0)")), CODE.replace("s.x", "s.x * (s.y > 0)"), ""),
    "typographic quotes in a remark stay": (fenced("# \u201cgood\u201d\n" + CODE), "# \u201cgood\u201d\n" + CODE, ""),
    "list item": (f"1. Do this:\n\n{indented(fenced(CODE))}", CODE, ""),
    "quoted": ("".join(f"> {line}\n" for line in fenced(CODE).splitlines()), CODE, ""),
    "prompt marks": (fenced("".join(f"{'>>>' if i == 0 else '...'} {line}\n" for i, line in enumerate(CODE.splitlines()))), CODE, ""),
    "sketch, then the program": (f"First:\n{fenced(OTHER)}Better:\n{fenced(CODE)}", CODE, "block 2 of 2"),
    "program, then how to use it": (f"{fenced(CODE)}So:\n{fenced('eureka-lite check r.py', 'bash')}", CODE, "block 1 of 2"),
    "program, then a test": (f"{fenced(CODE)}Try:\n{fenced('print(reward(s))')}", CODE, "block 1 of 2"),
    "program, then its output": (f"{fenced(CODE)}Gives:\n{fenced('0.5', '')}", CODE, "block 1 of 2"),
    "helper in an earlier block": (f"{fenced(LONG.split(chr(10) * 3)[1])}then\n{fenced(LONG.split(chr(10) * 3)[2])}", None, "with helpers from block 1"),
    "constant and helper in two blocks": ("".join(fenced(part) for part in LONG.split("\n\n\n")), None, "with helpers from block 1 and 2"),
    "helper of the sketch that is not needed": (f"{fenced('def far(x):' + chr(10) + '    return x' + chr(10))}{fenced(CODE)}", CODE, "block 2 of 2"),
    "helper of another version": (f"{fenced('def near(a, b):' + chr(10) + '    return 1.0' + chr(10))}{fenced(LONG)}", LONG, "block 2 of 2"),
    "JSON object": (json.dumps({"thought": "x", "code": CODE}), CODE, "JSON"),
    "JSON object with a fence inside": (json.dumps({"reward_function": fenced(CODE)}), CODE, "JSON"),
    "JSON in a fence": (fenced(json.dumps({"code": CODE}, indent=2) + "\n", "json"), CODE, "in block 1 of 1"),
    "JSON text": (json.dumps(CODE), CODE, "JSON"),
    "JSON list": (json.dumps([{"id": 1, "code": OTHER}, {"id": 2, "code": CODE}]), CODE, "JSON"),
    "JSON with raw line ends": ('{"code": "' + CODE + '"}', CODE, "JSON"),
    "class": (fenced(CLASS), CLASS, ""),
    "two versions in one fence": (fenced(OTHER + "\n\n" + CODE), OTHER + "\n\n" + CODE, ""),
    "imports": (fenced("import numpy as np\nfrom math import exp\n\n" + CODE), "import numpy as np\nfrom math import exp\n\n" + CODE, ""),
    "main guard": (fenced(CODE + "\nif __name__ == '__main__':\n    print(reward(1))\n"), None, ""),
    "decorated": (fenced("@torch.jit.script\n" + CODE), "@torch.jit.script\n" + CODE, ""),
    "another function name": (fenced(CODE.replace("reward", "compute_reward")), CODE.replace("reward", "compute_reward"), ""),
    "capital letters": (fenced(CODE.replace("reward", "PourReward")), CODE.replace("reward", "PourReward"), ""),
    "fence without a line end": (f"```python\n{CODE.rstrip()}\n```", CODE, ""),
    "empty fence first": (f"```\n```\n{fenced(CODE)}", CODE, ""),
    "code cannot be read": (fenced(CODE.replace("s.x", "s.x +")), CODE.replace("s.x", "s.x +"), ""),
    "a fence with prose only, the program outside": (f"{fenced('reward = x', 'text')}\n{CODE}", CODE, "without a fence"),
}  # fmt: skip


@pytest.mark.parametrize("name", FOUND)
def test_the_program_is_found(name):
    reply, code, block = FOUND[name]
    found = extract(reply)
    assert found.verdict == "found"
    assert block in found.block
    if code is None:
        assert "def reward" in found.code
        ast.parse(found.code)
    else:
        assert found.code == code


NONE = {
    "empty": "",
    "spaces": " \n \n",
    "refusal": "I can't help with that.",
    "no function": fenced("x = 1\n"),
    "prose": "The reward should be high.",
    "helper only": fenced("def near(x):\n    return x\n"),
    "JSON without code": json.dumps({"error": "overloaded", "definition": 1}),
    "HTML": "<html><body>def</body></html>",
    "a call": fenced("reward(s)\n"),
    "the words": "You would define reward(s) as the distance.",
}


@pytest.mark.parametrize("name", NONE)
def test_no_program_is_none(name):
    found = extract(NONE[name])
    assert (found.verdict, found.code) == ("none", "")
    assert found.block


BREAKS_OFF = {
    "in a call": "```python\ndef reward(s):\n    a = exp(",
    "in the dict": "```python\ndef reward(s):\n    a = s.x\n    return {'a': a,",
    "before the return": "```python\ndef reward(s):\n    a = 1\n",
    "in a text": "```python\ndef reward(s):\n    return {'a",
    "after a sketch": f"{fenced(OTHER)}Better:\n```python\ndef reward(s):\n    a = s.x *",
    "no fence": "def reward(s):\n    a = s.x *",
}


@pytest.mark.parametrize("name", BREAKS_OFF)
def test_a_reply_that_breaks_off_is_called_so(name):
    assert extract(BREAKS_OFF[name]).verdict == "truncated"


CUT_OFF = {
    "may go on": (f"```python\n{CODE.rstrip()[:-1]}, 'b': s.y}}", "truncated"),
    "one branch returned": ("```python\ndef reward(s):\n    if s.x > 0:\n        return {'a': 1.0}\n", "truncated"),
    "thinking": ("<think>I could\n```python\n" + CODE, "truncated"),
    "before the program": ("Let me think about what matters here", "truncated"),
    "in a block before the program": (f"{fenced('x = 1')}```python\nSCALE = 0.", "truncated"),
    "after the program": (f"{fenced(CODE)}This rewards the", "found"),
}


@pytest.mark.parametrize("name", CUT_OFF)
def test_a_reply_that_was_cut_off_at_the_token_limit(name):
    reply, verdict = CUT_OFF[name]
    assert extract(reply, cut_off=True).verdict == verdict


def test_a_model_that_never_stops_thinking_gives_nothing():
    assert extract(f"<think>\n{fenced(CODE)}").code == ""


def test_a_helper_is_put_before_what_needs_it():
    first, second = LONG.split("\n\n\n")[1:]
    code = extract(f"{fenced('SCALE = 0.2')}{fenced(first)}{fenced(second)}").code
    assert ast.dump(ast.parse(code)) == ast.dump(ast.parse(LONG))


def test_there_are_enough_odd_replies():
    assert len(FOUND) + len(NONE) + len(BREAKS_OFF) + len(CUT_OFF) >= 60


HUGE = {
    "thoughts": "<think>" * 14_000 + CODE,
    "code that goes on": "a = 1\n" * 8_000 + "x y\n" + CODE,
    "code that cannot be read": "a = (1\n" * 3_000 + CODE,
    "fences in fences": "".join("`" * n + "\n" for n in range(1_000, 2, -1)) + CODE,
    "empty fences": "```\n" * 40_000 + CODE,
    "a huge block": f"```python\n{CODE}" + "x = 1\n" * 60_000 + "(\n```",
}


@pytest.mark.parametrize("name", HUGE)
def test_a_huge_reply_takes_no_time(name):
    began = time.monotonic()
    extract(HUGE[name])
    assert time.monotonic() - began < 10.0
