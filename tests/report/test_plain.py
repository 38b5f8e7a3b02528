import io
import json

from rich.console import Console

from eureka_lite.report.plain import JsonReporter, PlainReporter
from eureka_lite.store.events import Event

from .script import END, final, measured, start, timed, training


def printed(events, clock=lambda: 0.0):
    file = io.StringIO()
    reporter = PlainReporter(Console(file=file, width=80, _environ={}), clock=clock)
    for event in events:
        reporter.handle(event)
    reporter.close()
    return file.getvalue().splitlines()


def test_each_noteworthy_event_is_one_line():
    lines = printed(timed([*start(), *training(), *measured(), *final(), *END]))
    texts = [line[9:] for line in lines]
    assert texts[0] == "run started: task pour_cup, proposer: offline grammar (no language model), seed 7"
    assert "generation 1 of 2: 4 candidates" in texts
    assert "g01c03 rejected: line 4: unknown function 'tanh2'" in texts
    assert "g01c02 probe: one term carries 96 % of the reward" in texts
    assert "training 5 policies in 64 worlds each for 160,000 steps" in texts
    assert "g01c04 failed: reward became non-finite (world 3, step 9)" in texts
    assert "g01c02 trained: 0.912 [0.882, 0.942] on selection worlds" in texts
    assert "generation 1 done: best g01c02 0.912; best so far g01c02 0.912" in texts
    assert "final verdict on the sealed test worlds: retraining g01c02, human, sparse with 2 fresh seeds" in texts
    assert texts[-1] == "finished in 13:32; ranking in runs/x/ranking.json"
    assert sum("g01c03 rejected" in text for text in texts) == 1


def test_progress_is_told_every_ten_seconds():
    now = [0.0]
    ids = ["g01c01"]
    events = [Event("training_started", {"ids": ids, "steps": 100}, 0.0)]
    progress = {"steps": 100, "world_steps_per_s": 5.0}
    events += [
        Event("progress", {**progress, "step": n, "candidates": {ids[0]: {"fitness": 0.5}}}, float(n))
        for n in range(1, 36)
    ]
    file = io.StringIO()
    reporter = PlainReporter(Console(file=file, width=80, _environ={}), clock=lambda: now[0])
    for event in events:
        now[0] = event.time
        reporter.handle(event)
    lines = [line for line in file.getvalue().splitlines() if "step " in line]
    assert [line.split(" step ")[1].split(" of")[0] for line in lines] == ["10", "20", "30"]
    assert "5 world-steps/s" in lines[0]
    assert "leading g01c01 0.500" in lines[0]


def test_long_lines_are_whole_and_hostile_ones_harmless():
    [line] = printed([Event("note", {"text": "\x1b[2J[red]" + "word " * 50 + "\nend"}, 0.0)])
    assert line.endswith("[red]" + "word " * 50 + "end")
    assert "\x1b" not in line


def test_unknown_kinds_are_passed_over():
    assert printed([Event("a_kind_of_tomorrow", {"x": 1}, 0.0)]) == []


def test_json_lines_are_the_events():
    file = io.StringIO()
    reporter = JsonReporter(Console(file=file, width=20, _environ={}))
    events = timed([*start(), *training(), *measured()])
    for event in events:
        reporter.handle(event)
    reporter.close()
    lines = file.getvalue().splitlines()
    assert [Event.from_json(line) for line in lines] == events
    assert json.loads(lines[0])["kind"] == "run_started"


class Gone(io.StringIO):
    def write(self, text):
        raise BrokenPipeError(32, "Broken pipe")


def test_a_reader_that_went_away_does_not_end_the_run():
    for make in (PlainReporter, JsonReporter):
        reporter = make(Console(file=Gone(), width=80, _environ={}))
        for event in timed(start()):
            reporter.handle(event)
        reporter.close()
