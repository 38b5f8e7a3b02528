"""Two programs side by side, component by component."""

import pytest

from eureka_lite.reward import check
from eureka_lite.reward.explain import difference
from tests.tasks import task

SIGNALS = task("pour_cup").signals
FIRST = """
def reward(s, prev):
    far = norm(s.lip_pos - s.target_pos)
    return {"near": exp(-far / 0.1), "tilt": 0.5 * (1.0 - s.cup_up.z), "calm": -0.01 * norm(s.joint_vel),
            "gain": s.liquid_in_target - prev.liquid_in_target, "late": -s.time}
"""
SECOND = """
def reward(state, before):
    calm = -0.01 * norm(state.joint_vel)
    d = norm(state.lip_pos - state.target_pos)
    return {"tilt": (1.0 - state.cup_up.z) * 0.8, "close": exp(-d / 0.2), "slow": calm,
            "gain": 10.0 * (state.liquid_in_target - before.liquid_in_target), "spill": -state.liquid_spilled,
            "late": -state.time * state.liquid_in_cup}
"""


def test_every_component_is_told_in_words():
    changes = {c.component: c for c in difference(check(FIRST, SIGNALS), check(SECOND, SIGNALS), SIGNALS)}
    assert {name: (c.kind, c.words) for name, c in changes.items()} == {
        "tilt": ("numbers", "other numbers: tilt_weight 0.5 -> 0.8"),
        "close": ("numbers", "was called near; other numbers: close_scale 0.1 -> 0.2"),
        "slow": ("renamed", "was called calm"),
        "gain": ("scaled", "now times 10"),
        "spill": ("new", "new; reads liquid_spilled"),
        "late": ("rewritten", "rewritten, now reads liquid_in_cup"),
    }
    assert str(changes["close"].before) == "exp(-norm(s.lip_pos - s.target_pos) / 0.1)"
    assert str(changes["late"].after) == "-s.time * s.liquid_in_cup"


def test_the_way_back_and_what_is_gone():
    changes = {c.component: c for c in difference(check(SECOND, SIGNALS), check(FIRST, SIGNALS), SIGNALS)}
    assert changes["gain"].words == "no longer times 10"
    assert changes["spill"].kind == "gone" and changes["spill"].after is None
    assert changes["late"].words == "rewritten, no longer reads liquid_in_cup"


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ("{'a': s.time}", "({'a': s.time})", []),
        ("{'a': s.time}", "(2.0 * s.time, {'a': s.time})", ["computes a total of its own"]),
        ("(2.0 * s.time, {'a': s.time})", "{'a': s.time}", ["pays the sum of the components again"]),
        ("(2.0 * s.time, {'a': s.time})", "(3.0 * s.time, {'a': s.time})", ["the total is computed in another way"]),
        ("s.time", "s.time + 1.0", []),
    ],
)
def test_totals_of_their_own(first, second, words):
    programs = [check(f"def reward(s):\n    return {text}\n", SIGNALS) for text in (first, second)]
    assert [c.words for c in difference(*programs, SIGNALS) if c.component == "(total)"] == words


def test_a_program_is_the_same_as_itself_in_other_words():
    renamed = FIRST.replace("far", "distance_left").replace("s.", "row.").replace("(s, prev)", "(row, prev)")
    reordered = renamed.replace("0.5 * (1.0 - row.cup_up.z)", "(1.0 - row.cup_up.z) * 0.5")
    changes = difference(check(FIRST, SIGNALS), check(reordered, SIGNALS), SIGNALS)
    assert {c.kind for c in changes} == {"same"}
