"""Which part of a reply is the program."""

import pytest

from eureka_lite.reward import extract

CODE = "def reward(s):\n    return {'a': s.x}\n"


@pytest.mark.parametrize(
    "reply",
    [
        CODE,
        f"```python\n{CODE}```",
        f"```\n{CODE}```\nIt rewards a.",
        f"Sure!\n\n```py\n{CODE}```\n\nGood luck.",
        f"~~~python\n{CODE}~~~",
        f"```python\n{CODE}",
        f"Here it is:\n\n{CODE}\nThis should work well.",
        f"<think>def reward(s): return 1\nmaybe ```python\nx\n```</think>\n```python\n{CODE}```",
        f"```python\n{CODE}```".replace("\n", "\r\n"),
        "\ufeff" + f"```python\n{CODE}```",
        "```python\n" + CODE.replace("    ", "\t") + "```",
        "1. Do this:\n\n   ```python\n" + "".join("   " + line + "\n" for line in CODE.splitlines()) + "   ```\n",
        f"First idea:\n```python\ndef reward(s):\n    return {{'b': s.y}}\n```\nBetter:\n```python\n{CODE}```",
        f"```python\n{CODE}```\nUse it so:\n```bash\neureka-lite check r.py\n```",
    ],
)
def test_the_program_is_found(reply):
    found = extract(reply)
    assert found.verdict == "found"
    assert found.code == CODE


@pytest.mark.parametrize(
    "reply", ["", "I can't help with that.", "```python\nx = 1\n```", "The reward should be high."]
)
def test_no_program_is_none(reply):
    assert extract(reply).verdict == "none"


@pytest.mark.parametrize(
    "end",
    ["def reward(s):\n    a = exp(", "def reward(s):\n    a = s.x\n    return {'a': a,", "def reward(s):\n    a = 1\n"],
)
def test_a_reply_that_breaks_off_is_called_so(end):
    assert extract(f"```python\n{end}").verdict == "truncated"


def test_helpers_and_constants_above_the_function_are_kept():
    code = "SCALE = 2.0\n\n\ndef near(x):\n    return exp(-x)\n\n\n" + CODE
    assert extract(f"```python\n{code}```").code == code
