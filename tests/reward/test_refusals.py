"""What is refused, with its place and the nearest right thing; hostile text never runs."""

import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eureka_lite.reward import RewardError, check
from tests.reward.rows import TABLE, reward


def problems(source: str) -> tuple:
    with pytest.raises(RewardError) as caught:
        check(source, TABLE)
    return caught.value.problems


def body(line: str) -> str:
    return f"def reward(s, prev):\n    {line}\n    return {{'a': s.x}}\n"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("a = s.poss", "did you mean 'pos'"),
        ("a = nrom(s.pos)", "did you mean 'norm'"),
        ("a = s.joint.kne", "did you mean 'knee'"),
        ("a = s.pos[3]", "3"),
        ("a = s.pos[s.x]", "whole number"),
        ("a = s.pos + s.joint", "vec"),
        ("a = undefined", "undefined"),
        ("while s.x > 0: pass", "while"),
        ("for i in range(s.x): pass", "whole number"),
        ("a = [x for x in s.pos]", "comprehension"),
        ("f = lambda x: x", "lambda"),
        ("import os", "import"),
        ("a = 'text'", "text"),
        ("a = s.x @ 2", "@"),
        ("a = s.x << 2", "<<"),
        ("if s.x: a = 1.0", "condition"),
        ("a = sqrt(1, 2)", "sqrt"),
        ("a = clamp(s.x)", "clamp"),
        ("global a", "global"),
        ("try:\n        a = 1\n    except: pass", "try"),
        ("a = 1e400", ""),
        ("del s", "del"),
        ("a = (b := 2.0)", ":="),
        ("a = f'{s.x}'", "f-string"),
    ],
)
def test_a_mistake_is_named_where_it_stands(line, said):
    found = problems(body(line))
    assert any(said in str(problem) for problem in found), [str(problem) for problem in found]
    assert all(2 <= problem.line <= 5 and problem.column >= 5 for problem in found)


def test_the_offending_text_is_underlined():
    with pytest.raises(RewardError) as caught:
        check(body("a = s.poss"), TABLE, file="r.py")
    text = str(caught.value)
    assert text.startswith("r.py:2:")
    line, mark = text.splitlines()[1:3]
    assert line[mark.index("~") : mark.rindex("~") + 1] in ("poss", "s.poss")


def test_all_mistakes_are_told_at_once():
    assert (
        len(problems("def reward(s):\n    a = s.poss\n    b = nrom(s.pos)\n    return {'a': a + b + undefined}\n")) == 3
    )


def test_a_component_that_is_there_twice_is_told_beside_other_mistakes():
    said = [str(p) for p in problems("def reward(s):\n    return {'a': 1e400, 'b': s.y, 'a': 2.0}\n")]
    assert any("1e+30" in text for text in said) and any("twice" in text for text in said)


def test_a_local_that_is_set_in_one_branch_only_is_refused():
    found = problems("def reward(s):\n    if s.x > 0:\n        z = 1.0\n    return {'a': z}\n")
    assert "z" in str(found[0])


def test_a_path_without_a_return_is_refused():
    assert problems("def reward(s):\n    if s.x > 0:\n        return {'a': 1.0}\n")


def test_paths_with_other_components_are_refused():
    source = "def reward(s):\n    if s.x > 0:\n        return {'a': 1.0}\n    return {'b': 1.0}\n"
    assert problems(source)


def test_recursion_is_refused():
    assert problems("def f(x):\n    return f(x)\ndef reward(s):\n    return {'a': f(s.x)}\n")


def test_no_function_no_program():
    assert "reward" in str(problems("x = 1\n")[0])
    assert "did you mean" in str(problems("def rewrad(s):\n    return 1.0\n")[0])
    assert problems("")


@pytest.mark.parametrize(
    "source",
    [
        "def reward(s):\n    return {'a': " + "(" * 150 + "s.x" + ")" * 150 + "}\n",
        "def reward(s):\n    return {'a': " + "-" * 3000 + "s.x}\n",
        "def reward(s):\n    return {'a': " + " + ".join(["s.x"] * 4000) + "}\n",
        "def reward(s):\n    return {'a': " + "not " * 5000 + "(s.x > 0)}\n",
        "def reward(s):\n" + "".join(f"    x{i} = sin(s.x + {i})\n" for i in range(2000)) + "    return {'a': s.x}\n",
        "def reward(s):\n    a = s.x\n    for i in range(10):\n        for j in range(10):\n            for k in range(100):\n"
        "                for l in range(100):\n                    a = a + sin(a)\n    return {'a': a}\n",
        "def reward(s):\n    a = s.x\n    for i in range(1000000000):\n        a += 1\n    return {'a': a}\n",
        "".join(f"def f{i}(x):\n    return f{i - 1}(x) + f{i - 1}(x * 2)\n" if i else "def f0(x):\n    return sin(x)\n"
                for i in range(40)) + "def reward(s):\n    return {'a': f39(s.x)}\n",
        "def reward(s):\n    return {" + ", ".join(f"'c{i}': s.x" for i in range(33)) + "}\n",
        "#" * 20_001 + "\ndef reward(s):\n    return {'a': s.x}\n",
        "def reward(s):\n" + "".join("    " * i + "if s.x > 0:\n" for i in range(1, 99)) + "    " * 99 + "a = 1\n",
        "def reward(s):\n    return {'a': 9" + "9" * 5000 + "}\n",
        "def reward(s):\n    return {'a': 2 ** 2 ** 2 ** 2 ** 2 ** 2 ** s.x}\n" * 300,
    ],
)  # fmt: skip
def test_what_is_too_large_is_refused_fast_and_without_a_traceback(source):
    began = time.monotonic()
    try:
        program = check(source, TABLE)
    except RewardError as error:
        assert str(error)
    else:
        assert len(program.operations) <= 2000
    assert time.monotonic() - began < 5.0


def test_limits_are_told():
    assert any("20,000" in str(p) for p in problems("#" * 20_001))
    assert any(
        "32" in str(p)
        for p in problems("def reward(s):\n    return {" + ", ".join(f"'c{i}': s.x" for i in range(33)) + "}\n")
    )


CANARY = "open({path!r}, 'w').close()"
PLACES = [
    "def reward(s, x={hostile}):\n    return {{'a': s.x}}\n",
    "def reward(s: {hostile}):\n    return {{'a': s.x}}\n",
    "def reward(s) -> [{hostile}]:\n    return {{'a': s.x}}\n",
    "@({hostile})\ndef reward(s):\n    return {{'a': s.x}}\n",
    "{hostile}\ndef reward(s):\n    return {{'a': s.x}}\n",
    "X = {hostile}\ndef reward(s):\n    return {{'a': s.x}}\n",
    "class A:\n    x = {hostile}\ndef reward(s):\n    return {{'a': s.x}}\n",
    "def reward(s):\n    return {{'a': wp.static({hostile})}}\n",
    "def reward(s):\n    return {{'a': {hostile}}}\n",
    "def reward(s):\n    {hostile}\n    return {{'a': s.x}}\n",
    "def reward(s):\n    x: ({hostile}) = 1.0\n    return {{'a': x}}\n",
    "def reward(s):\n    return {{{hostile}: s.x}}\n",
    "def reward(s):\n    return {{'a': s.x.__class__.__init__.__globals__['__builtins__']['open']({path!r}, 'w')}}\n",
    "def reward(s):\n    return {{'a': eval({hostile!r})}}\n",
    "def reward(s):\n    return {{'a': getattr(s, {hostile!r})}}\n",
    "def reward(s):\n    return {{'a': __import__('os').system('touch ' + {path!r})}}\n",
    "from os import system as exp\ndef reward(s):\n    return {{'a': exp(s.x)}}\n",
    "def reward(s):\n    return {{\"a'] = {hostile} #\": s.x}}\n",
    "def reward(s):\n    return {{'a\\n    {hostile}': s.x}}\n",
    "def reward(s):\n    def f(x={hostile}):\n        return x\n    return {{'a': f()}}\n",
    "def wp(x):\n    return x\ndef reward(s):\n    return {{'a': wp({hostile})}}\n",
    "def reward(s):\n    return {{'a': (lambda: {hostile})()}}\n",
    "def reward(s):\n    return {{'a': f\"{{{hostile}}}\"}}\n",
]  # fmt: skip


@pytest.mark.parametrize("template", PLACES)
def test_hostile_text_never_runs(template, tmp_path):
    path = str(tmp_path / "canary")
    source = template.format(hostile=CANARY.format(path=path), path=path)
    modules = set(sys.modules)
    try:
        reward(source)  # checked, compiled and run, where it is not refused
    except RewardError as error:
        assert error.problems
    assert not Path(path).exists()
    assert not {m for m in set(sys.modules) - modules if m.startswith(("os", "sub", "sock"))}


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=300))
def test_any_text_is_checked_or_refused(text):
    for source in (
        text,
        f"def reward(s):\n    return {{'a': {text}}}\n",
        f"def reward(s):\n    {text}\n    return 1.0\n",
    ):
        try:
            check(source, TABLE)
        except RewardError as error:
            assert error.summary


WORDS = st.sampled_from(
    ["s", "prev", ".", "x", "pos", "(", ")", "[", "]", "{", "}", ":", ",", "'a'", "1", "-", "+", "*", "**", "/", "<", "if",
     "else", "and", "not", "for", "in", "range", "norm", "vec3", "return", "\n    ", "=", "e1", "lambda", "turn", "min"]
)  # fmt: skip


@settings(max_examples=500, deadline=None)
@given(st.lists(WORDS, max_size=25))
def test_any_words_are_checked_or_refused(words):
    source = "def reward(s, prev):\n    y = " + " ".join(words) + "\n    return {'a': y}\n"
    try:
        check(source, TABLE)
    except RewardError as error:
        assert error.summary
