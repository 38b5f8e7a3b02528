"""One program, three back ends: Warp (what trains), NumPy and torch compute the same, within a bound from float64."""

import datetime
import os
import platform
from pathlib import Path

import numpy as np
import torch
import warp as wp

from eureka_lite.reward import Program, check
from eureka_lite.reward.emit import constant_names, source_text
from eureka_lite.reward.kernel import compile_together
from eureka_lite.task.signals import SignalTable
from tests.reward.bounds import bounded
from tests.reward.programs import rows, write

COUNT = int(os.environ.get("FUZZ_PROGRAMS", "500"))
PART = 100
ROWS = 64
RECORD = Path(__file__).parent / "fuzz.txt"  # of the last run of `make fuzz` that held


def by_warp(programs: list[Program], data: list[tuple[np.ndarray, np.ndarray]]) -> list[np.ndarray]:
    found = []
    for program, kernel, (now, before) in zip(programs, compile_together(programs), data, strict=True):
        constants = np.array([program.constants or (0.0,)], np.float32)
        arrays = [wp.array(a, dtype=float, device="cpu") for a in (now, before, constants)]
        out = wp.zeros((len(now), len(program.results)), dtype=float, device="cpu")
        kernel.launch(*arrays, 0, 0, len(now), out, 0)
        found.append(out.numpy())
    return found


def by_source(program: Program, signals: SignalTable, backend: str, now: np.ndarray, before: np.ndarray) -> np.ndarray:
    text = source_text(program, signals, backend)  # type: ignore[arg-type]
    constants = dict(zip(constant_names(program), program.constants, strict=True))
    library = {"np": np} if backend == "numpy" else {"torch": torch, "signum": signum}
    space: dict = {"CONSTANTS": constants, **library}
    exec(compile(text, f"<{backend}>", "exec"), space)

    def fed(block: np.ndarray) -> dict:
        columns = {s.name: block[:, s.column] if s.kind == "scalar" else block[:, s.columns] for s in signals}
        return columns if backend == "numpy" else {name: torch.from_numpy(x.copy()) for name, x in columns.items()}

    with np.errstate(all="ignore"):
        total, components = space["reward"](fed(now), fed(before))
    values = [np.asarray(x) for x in (total, *components.values())]
    assert tuple(components) == program.outputs
    assert all(value.dtype == np.float32 and value.shape == (len(now),) for value in values)
    return np.stack(values, 1)


def signum(x: torch.Tensor) -> torch.Tensor:
    return torch.where(torch.isnan(x), x, torch.sign(x))


def test_back_ends_agree_on_random_programs():
    hanging = compared = 0
    for first in range(0, COUNT, PART):
        part = compare(first, min(COUNT, first + PART))
        hanging, compared = hanging + part[0], compared + part[1]
    assert compared == COUNT * ROWS
    assert hanging <= 0.05 * compared, f"{hanging} of {compared} rows hang on their bound"
    if "FUZZ_PROGRAMS" in os.environ:
        versions = f"Warp {wp.config.version}, NumPy {np.__version__}, torch {torch.__version__}"
        RECORD.write_text(
            f"{datetime.date.today()}: {COUNT:,} programs agreed on {compared:,} rows; {hanging:,} of these "
            f"({hanging / compared:.1%}) hang on their bound\n{versions}, {platform.machine()}\n"
        )


def compare(first: int, end: int) -> tuple[int, int]:
    """Rows that hang on their bound and all rows of some programs; fails where a back end is off."""
    written = [write(seed) for seed in range(first, end)]
    programs = [check(source, signals) for source, signals in written]
    data = [(rows(signals, ROWS, i), rows(signals, ROWS, i + 1)) for i, (_, signals) in enumerate(written)]
    hanging = 0
    for i, (program, warp) in enumerate(zip(programs, by_warp(programs, data), strict=True)):
        (source, signals), (now, before) = written[i], data[i]
        exact, bound, hangs = bounded(program, now, before)
        hanging += int(hangs.any(1).sum())
        found = {"warp": warp} | {b: by_source(program, signals, b, now, before) for b in ("numpy", "torch")}
        for backend, values in found.items():
            both = np.isfinite(exact) & np.isfinite(values)
            off = np.abs(np.where(both, values, 0.0) - np.where(both, exact, 0.0)) > bound
            wrong = ~hangs & (off | (np.isfinite(exact) != np.isfinite(values)))
            place = f"{backend}, program {first + i}, row {np.argwhere(wrong)[:1]}"
            assert not wrong.any(), f"{place}: {values[wrong][0]} and {exact[wrong][0]}\n{source}"
    return hanging, ROWS * len(programs)


def test_the_random_programs_are_rich():
    texts = "".join(write(seed)[0] for seed in range(200))
    for part in ("if ", "elif ", "else:", "for i in range(", "def helper", " and ", " or ", "not (", "norm(", "prev.", "SCALE",
                 "vec3(", "parts[", " += ", "normalize(", "cross(", "yaw(", "where(", "return {"):  # fmt: skip
        assert part in texts
