import io
import re
import subprocess
import sys

import pytest
from rich.cells import cell_len
from rich.console import Console

from eureka_lite.report.live import LiveReporter
from eureka_lite.report.plain import JsonReporter, PlainReporter
from eureka_lite.report.reporter import make_reporter
from eureka_lite.store.events import Event

from .script import END, GOAL, IDS, final, measured, start, timed, training

SIZES = [(80, 24), (120, 40), (40, 15)]


def shown(kinds, width, height, now=None, color=True):
    """The lines on a terminal of that size after those events."""
    console = Console(
        file=io.StringIO(), width=width, height=height, force_terminal=True, _environ={}, no_color=not color
    )
    events = timed(kinds)
    reporter = LiveReporter(console, clock=lambda: now or events[-1].time)
    for event in events:
        reporter.handle(event)
    reporter.close()
    picture = reporter.picture().plain.split("\n")
    assert len(picture) <= height
    assert all(cell_len(line) <= width for line in picture)
    return picture


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_a_run_in_training_shows_who_works_on_what_and_how_far_it_is(width, height):
    lines = shown([*start(), *training()], width, height)
    text = "\n".join(lines)
    assert GOAL[:30] in text
    assert "offline grammar (no language model)" in text
    assert "no tokens: offline" in text
    assert "39,400" in text
    assert "0:2" in text
    assert IDS[0] in text
    assert "50%" in text
    assert "▁█" in text
    assert re.search(r"gen(eration)? 1( of |/)2", text)


def test_a_wide_screen_has_the_reasons_and_the_components():
    text = "\n".join(shown([*start(), *training()], 120, 40))
    assert "line 4: unknown function 'tanh2'" in text
    assert "reward became non-finite" in text
    assert "reach, gain" in text
    assert "seed 7" in text


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_the_best_so_far_has_its_interval(width, height):
    text = "\n".join(shown([*start(), *training(), *measured()], width, height))
    assert "g01c02 0.912 [0.882, 0.942]" in text
    assert "★" in text


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_the_final_verdict_and_the_end_are_shown(width, height):
    assert "final verdict" in "\n".join(shown([*start(), *training(), *measured(), *final()], width, height))
    text = "\n".join(shown([*start(), *training(), *measured(), *final(), *END], width, height))
    assert "finished" in text
    assert not re.search(r"@\d +training", text)
    assert "left" not in text


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_a_failed_run_says_why(width, height):
    lines = shown([*start(), ("run_failed", {"reason": "the key was refused"})], width, height)
    assert "the key was refused" in "\n".join(lines)


def test_a_language_model_and_its_tokens_are_named():
    text = "\n".join(shown(start(offline=False), 80, 24))
    assert "proposer: language model some-model-5" in text
    assert "tokens 8,000 in, 2,400 out" in text


def test_more_candidates_than_lines_are_summed_up():
    ids = [f"g01c{n:02}" for n in range(1, 33)]
    kinds = [
        ("run_started", {"goal": "x"}),
        ("generation_started", {"generation": 1, "generations": 1, "ids": ids}),
        ("training_started", {"ids": ids, "steps": 10, "worlds": 1, "curve_points": 2}),
        ("progress", {"step": 1, "steps": 10, "candidates": {id: {"fitness": n} for n, id in enumerate(ids)}}),
    ]
    lines = shown(kinds, 80, 24)
    assert any(re.search(r"and \d+ more: \d+ training", line) for line in lines)
    assert any("g01c32" in line for line in lines)
    assert len(lines) <= 24


@pytest.mark.parametrize(("width", "height"), [(1, 1), (10, 3), (20, 8), (300, 100)])
def test_any_size_is_kept(width, height):
    shown([*start(), *training(), *measured()], width, height)


def test_hostile_text_stays_text():
    bad = "\x1b[2J\x1b]0;owned\x07[bold red]x[/] \u202e" + "A" * 300
    kinds = [
        ("run_started", {"goal": bad, "task": bad, "proposer": bad, "models": [bad]}),
        ("generation_started", {"generation": 1, "generations": 1, "ids": [bad]}),
        ("candidate_checked", {"id": bad, "status": "rejected", "reason": bad}),
        ("note", {"text": bad}),
    ]
    text = "\n".join(shown(kinds, 80, 24))
    assert "\x1b" not in text
    assert "owned" not in text
    assert "\u202e" not in text
    assert "[bold red]x[/]" in text


def test_the_terminal_gets_its_own_screen_back_with_the_last_picture_on_it():
    file = io.StringIO()
    console = Console(file=file, width=80, height=24, force_terminal=True, _environ={})
    reporter = LiveReporter(console)
    for event in timed(start()):
        reporter.handle(event)
    reporter.close()
    reporter.close()
    written = file.getvalue()
    assert written.count("\x1b[?1049h") == 1
    left = written.split("\x1b[?1049l")[1]
    assert GOAL[:30] in left
    assert "\x1b[?25h" in written


def test_no_color_draws_without_colours():
    file = io.StringIO()
    console = Console(file=file, width=80, height=24, force_terminal=True, _environ={"NO_COLOR": "1"})
    reporter = LiveReporter(console)
    for event in timed([*start(), *training()]):
        reporter.handle(event)
    reporter.close()
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]m", file.getvalue())


def test_a_terminal_without_unicode_gets_plain_characters():
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding="ascii")
    console = Console(file=file, width=80, height=24, force_terminal=True, _environ={})
    reporter = LiveReporter(console, clock=lambda: 1_000_030.0)
    for event in timed([*start(), *training(), ("note", {"text": "für 日本"})]):
        reporter.handle(event)
    reporter.close()
    file.flush()
    text = raw.getvalue().decode("ascii")
    assert "f?r ??" in text
    assert "####" in text


def test_the_screen_imports_neither_learner_nor_simulator():
    modules = "eureka_lite.report.reporter, eureka_lite.report.review"
    program = f"import sys, {modules}; print({{'torch', 'warp', 'mujoco'}} & {{*sys.modules}})"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "set()\n"


def test_the_reporter_fits_the_console():
    terminal = Console(file=io.StringIO(), force_terminal=True, _environ={"TERM": "xterm"})
    dumb = Console(file=io.StringIO(), force_terminal=True, _environ={"TERM": "dumb"})
    pipe = Console(file=io.StringIO(), _environ={})
    assert isinstance(make_reporter("live", terminal), LiveReporter)
    assert isinstance(make_reporter("live", dumb), PlainReporter)
    assert isinstance(make_reporter("live", pipe), PlainReporter)
    assert isinstance(make_reporter("plain", terminal), PlainReporter)
    assert isinstance(make_reporter("json", terminal), JsonReporter)


def test_a_resumed_run_knows_its_past_and_does_not_show_it_again():
    console = Console(file=io.StringIO(), width=80, height=24, force_terminal=True, _environ={"TERM": "xterm"})
    past = timed([*start(), *training(), *measured()])
    reporter = make_reporter("live", console, {"direction": "min"}, past)
    assert isinstance(reporter, LiveReporter)
    assert reporter.run.best == IDS[1]
    assert reporter.run.direction == "min"
    assert not reporter.log
    reporter.handle(Event("note", {"text": "resumed"}, past[-1].time + 5000.0))
    reporter.close()
    assert reporter.run.elapsed(past[-1].time + 5003.0) == pytest.approx(past[-1].time - past[0].time + 3.0)
