"""Formulas say what a program computes: read as programs again, they compute the same."""

from dataclasses import replace

import pytest

from eureka_lite.reward import check
from eureka_lite.reward.formula import formulas
from tests.reward.programs import write
from tests.tasks import task


def again(program, signals) -> str:
    """A program from a program's formulas."""
    shown = formulas(program, signals)
    parts = {int(name.removeprefix("part_")): text for formula in shown.values() for name, text in formula.parts}
    lines = [f"    part_{number} = {text}" for number, text in sorted(parts.items())]
    listed = ", ".join(f'"{name}": {formula.text}' for name, formula in shown.items())
    return "\n".join(["def reward(s, prev):", *lines, f"    return {{{listed}}}"])


def test_formulas_compute_what_the_program_computes():
    parts = 0
    for seed in range(400):
        source, signals = write(seed)
        program = replace(check(source, signals), names=())  # so that parts are numbered in their order
        text = again(program, signals)
        back = check(text, signals)
        same = [components_hash(x) for x in (program, back)]
        assert same[0] == same[1], f"{source}\n{text}"
        parts += text.count("\n    part")
    assert parts > 20


def components_hash(program) -> tuple:
    from eureka_lite.reward.graph import digests

    known = digests(program.operations, program.constants)
    return tuple(known[r] for r in program.results[1:])


@pytest.mark.parametrize(
    ("expression", "formula"),
    [
        ("exp(-norm(s.lip_pos - s.target_pos) / 0.1)", "exp(-norm(s.lip_pos - s.target_pos) / 0.1)"),
        ("s.joint_vel.pitch ** 2 - (s.time - 1)", "s.joint_vel.pitch ** 2 - (s.time - 1)"),
        ("(s.time + 1.0) * 2 / (3 - s.time)", "(s.time + 1) * 2 / (3 - s.time)"),
        ("s.time % 0.5", "s.time % 0.5"),
        ("(-s.time) ** 2.5", "(-s.time) ** 2.5"),
        ("1.0 if s.time > 1 and not s.liquid_in_cup < 0.5 else 0.0", "1 if s.time > 1 and not s.liquid_in_cup < 0.5 else 0"),
        ("norm(s.lip_pos[:2] - prev.lip_pos[:2])", "norm(s.lip_pos[0:2] - prev.lip_pos[0:2])"),
        ("dot(up_vector(s.cup_quat), vec3(0, 0, 1))", "dot(up_vector(s.cup_quat), vec3(0, 0, 1))"),
        ("clamp(s.time, 0.0, pi)", "clamp(s.time, 0, pi)"),
    ],
)  # fmt: skip
def test_formulas_read_as_they_are_written(expression, formula):
    signals = task("pour_cup").signals
    program = check(f"def reward(s, prev):\n    x = {expression}\n    return {{'x': x}}", signals)
    assert str(formulas(program, signals)["x"]) == formula
