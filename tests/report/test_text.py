import math
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eureka_lite.report.text import ASCII, count, duration, number, printable, roughly, sparkline


@pytest.mark.parametrize(
    ("hostile", "harmless"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b2Jx", "x"),
        ("\x1b[2J\x1b[Hx", "x"),
        ("\x1bPq#0\x1b\\x", "x"),
        ("\x1bcx", "x"),
        ("a\rb\x08c\x07", "a bc"),
        ("abc\u202egnp", "abcgnp"),
        ("a\u200bb\ufeff", "ab"),
        ("two\nlines\tand  more", "two lines and more"),
        ("a\u2028b", "a b"),
        ("Z" + "\u0301" * 50, "Z\u0301\u0301"),
        ("\ud800x", "x"),
        ("[bold]not markup[/bold]", "[bold]not markup[/bold]"),
        ("日本 ünï", "日本 ünï"),
    ],
)
def test_nothing_of_a_text_reaches_the_terminal_as_a_command(hostile, harmless):
    assert printable(hostile) == harmless


@given(st.text())
def test_a_printable_text_is_one_line_without_control_characters(text):
    found = printable(text)
    assert not any(unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") for c in found)
    assert printable(found) == found


def test_code_keeps_its_lines_and_indentation():
    assert printable("\ndef f():\r\n\treturn 1\x1b[0m\n\n", lines=True) == "def f():\n    return 1"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.9123, "0.912"),
        (15.26, "15.26"),
        (153.24, "153.2"),
        (12400.4, "12,400"),
        (0.0, "0.000"),
        (1.2e-5, "1.2e-05"),
        (-3.1e9, "-3.1e+09"),
        (None, "-"),
        (math.nan, "-"),
        (math.inf, "-"),
    ],
)
def test_numbers_have_about_three_digits_and_unknown_is_no_zero(value, text):
    assert number(value) == text


def test_counts_and_times_are_short():
    assert [count(n) for n in (950, 39400, 2_400_000, 1.1e9, None)] == ["950", "39,400", "2.4M", "1.1G", "-"]
    assert [count(n, short=True) for n in (950, 9400, 39400, 2_400_000)] == ["950", "9,400", "39k", "2.4M"]
    assert [duration(s) for s in (7, 754, 10921, 400000)] == ["0:07", "12:34", "3:02:01", "4 d 15 h"]
    assert [roughly(s) for s in (3, 44, 200, 4800, None)] == ["10 s", "40 s", "3 min", "1 h 20 min", "unknown"]


def test_a_curve_rises_over_its_scale_and_grows_to_its_width():
    assert sparkline([0.0, 0.5, 1.0], 10, 0.0, 1.0) == "▁▅█"
    assert sparkline([0.0] * 5 + [1.0] * 5, 2, 0.0, 1.0) == "▁█"
    assert sparkline([1.0, 1.0], 2, 0.0, 1.0, expected=4) == "█"
    assert sparkline([0.0, None, math.nan, 1.0], 4, 0.0, 1.0) == "▁  █"
    assert sparkline([2.0, 2.0], 4, 2.0, 2.0) == "▅▅"
    assert sparkline([0.0, 1.0], 4, 0.0, 1.0, glyphs=ASCII) == "_#"


@given(
    st.lists(st.one_of(st.none(), st.floats()), max_size=40),
    st.integers(0, 30),
    st.floats(),
    st.floats(),
    st.integers(0, 60),
)
def test_a_curve_never_exceeds_its_width(values, width, low, high, expected):
    assert len(sparkline(values, width, low, high, expected)) <= width
