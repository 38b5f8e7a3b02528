import pytest
from hypothesis import given
from hypothesis import strategies as st

from eureka_lite.report.lines import describe
from eureka_lite.report.screen import screen
from eureka_lite.report.state import RunState
from eureka_lite.store.events import KINDS, Event

from .script import END, IDS, final, measured, start, timed, training


def after(*parts, begin=1_000_000.0):
    run = RunState()
    for event in timed([kind for part in parts for kind in part], begin):
        run.apply(event)
    return run


def test_rows_follow_the_events():
    run = after(start(), training())
    assert [(row.id, row.state) for row in run.visible()] == [
        (IDS[0], "training"),
        (IDS[1], "training"),
        (IDS[2], "rejected"),
        (IDS[3], "failed"),
        ("human", "training"),
        ("sparse", "training"),
    ]
    assert run.rows[IDS[0]].curve == [0.0, 1.0]
    assert run.rows[IDS[0]].share == 0.5
    assert run.rows[IDS[3]].note == "reward became non-finite"
    assert run.leader() is run.rows[IDS[3]] or run.leader() is run.rows[IDS[1]]


def test_the_best_comes_with_its_interval():
    run = after(start(), training(), measured())
    assert (run.best, run.best_fitness) == (IDS[1], 0.912)
    assert run.best_interval() == pytest.approx((0.882, 0.942))
    assert run.rows[IDS[3]].state == "failed"


def test_less_can_be_better():
    run = RunState(direction="min")
    for event in timed([*start(), *training()]):
        run.apply(event)
    leader = run.leader()
    assert leader is not None
    assert leader.id == IDS[0]


def test_tokens_add_up_and_unknown_stays_unknown():
    assert after(start(offline=False)).prompt_tokens == 4 * 2000
    assert after(start(offline=True)).prompt_tokens is None


def test_the_time_left_follows_the_share_of_the_training():
    """Generation 1 of 2 began at 0 s, its training at 10 s and is half done at 20 s: 10 s are left of its 30 s.

    Then comes another generation and the verdict, 30 s each.
    """
    run = RunState()
    ids = ["g01c01", "g01c02"]
    run.apply(Event("run_started", {}, 0.0))
    run.apply(Event("generation_started", {"generation": 1, "generations": 2, "ids": ids}, 0.0))
    assert run.left(5.0) is None
    run.apply(Event("training_started", {"ids": ids, "steps": 100}, 10.0))
    run.apply(Event("progress", {"step": 50, "steps": 100, "candidates": {id: {} for id in ids}}, 20.0))
    assert run.left(20.0) == pytest.approx(10.0 + 30.0 + 30.0)
    run.apply(Event("generation_finished", {"generation": 1}, 30.0))
    run.apply(Event("generation_started", {"generation": 2, "generations": 2, "ids": []}, 30.0))
    assert run.left(40.0) == pytest.approx(20.0 + 30.0)
    run.apply(Event("final_started", {}, 60.0))
    assert run.left(70.0) == pytest.approx(20.0)
    run.apply(Event("run_finished", {}, 80.0))
    assert run.left(90.0) is None
    assert run.elapsed(1000.0) == 80.0


def test_the_pause_before_a_resumption_does_not_count():
    run = RunState()
    for event in (Event("run_started", {}, 0.0), Event("note", {}, 50.0)):
        run.apply(event)
    run.pause()
    run.apply(Event("run_started", {}, 9000.0))
    assert run.elapsed(9010.0) == 60.0
    run.apply(Event("note", {}, 9020.0))
    run.apply(Event("run_started", {}, 20000.0))
    assert run.elapsed(20001.0) == 71.0


SCALAR = st.one_of(
    st.sampled_from([None, True, False, 0, -1, 10**400, 1e308, float("nan"), "\x1b[2Jx", *IDS]), st.floats()
)
NAMES = st.sampled_from(["mean", "ci95", "fitness", "direction", "alive", "\x1b[2J", *IDS])
TABLE = st.dictionaries(NAMES, st.one_of(SCALAR, st.lists(SCALAR, max_size=2)), max_size=3)
JSON = st.one_of(SCALAR, st.lists(SCALAR, max_size=3), TABLE, st.dictionaries(NAMES, TABLE, max_size=2))
KEYS = sorted({word.strip("(),{}") for text in KINDS.values() for word in text.replace(":", " ").split()})
EVENTS = st.builds(
    Event,
    st.sampled_from([*KINDS, "a_kind_of_tomorrow"]),
    st.dictionaries(st.sampled_from(KEYS), JSON, max_size=6),
    st.floats(allow_nan=False, allow_infinity=False),
)


@given(st.lists(EVENTS, max_size=8), st.integers(1, 130), st.integers(1, 45))
def test_no_event_can_break_the_screen(events, width, height):
    run, log = RunState(), []
    for event in [*timed([*start(), *training()]), *events]:
        line = describe(event, run)
        if line is not None:
            assert "\x1b" not in line[0]
            log.append((event.time, *line))
        run.apply(event)
    lines = screen(run, log, width, height, 1_000_100.0)
    assert len(lines) <= height
    assert all(line.cell_len <= width for line in lines)
    assert not any("\x1b" in line.plain or "\n" in line.plain for line in lines)


def test_the_final_verdict_shows_one_row_per_fresh_seed():
    run = after(start(), training(), measured(), final())
    assert [row.id for row in run.visible()][:2] == [f"{IDS[1]}@0", f"{IDS[1]}@1"]
    assert after(start(), training(), measured(), final(), END).phase == "finished"
