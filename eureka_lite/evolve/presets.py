"""How much a run does: one table of numbers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Preset:
    """The size of a run.

    Attributes:
        candidates: K, rewards per generation.
        generations: G.
        worlds: N, training worlds per candidate.
        steps_factor: times the task's own `learning.steps` give the world-steps per candidate.
        selection_worlds: on which candidates are ranked and reflected on.
        test_worlds: sealed worlds of the final verdict.
        finalists: how many of the best are trained again.
        final_seeds: fresh training seeds of each finalist and baseline.
        curve_points: how often a training is written down.
    """

    candidates: int
    generations: int
    worlds: int
    steps_factor: float
    selection_worlds: int
    test_worlds: int
    finalists: int
    final_seeds: int
    curve_points: int = 10


PRESETS = {
    "quick": Preset(6, 3, 64, 1.0, 64, 128, 3, 3),
    "standard": Preset(16, 5, 128, 2.0, 128, 256, 3, 5),
    "large": Preset(32, 8, 512, 4.0, 256, 512, 3, 5),
}
DEFAULT_STEPS = 300_000
