"""The dataclasses that a task folder becomes.

Read by every room above; knows no engine, no reward compiler and no learner. `load.py` makes them from a folder.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from eureka_lite.task.signals import SignalTable

# What `[learning]` may set: name -> (lowest, highest, whole number). All but `steps` are fields of learn's Settings.
LEARNING: dict[str, tuple[float, float, bool]] = {
    "steps": (1, 1e12, True), "rollout": (1, 4096, True), "epochs": (1, 100, True), "minibatches": (1, 1024, True),
    "gamma": (0.0, 1.0, False), "lam": (0.0, 1.0, False), "clip": (1e-3, 1.0, False), "entropy": (0.0, 1.0, False),
    "value": (0.0, 100.0, False), "rate": (1e-6, 1e-2, False), "kl_target": (1e-4, 1.0, False),
    "gradient_norm": (1e-3, 1e3, False), "hidden": (1, 4096, True), "start_std": (0.02, 2.5, False),
}  # fmt: skip


class TaskError(ValueError):
    """A mistake in a task folder: file, key and the nearest right thing."""


@dataclass(frozen=True)
class Control:
    """How often the policy acts and how long an episode lasts.

    Attributes:
        rate_hz: control steps per second.
        episode_s: longest episode in seconds; reaching it is a truncation, not a termination.
        decimation: physics substeps per control step.
    """

    rate_hz: float
    episode_s: float
    decimation: int

    @property
    def episode_steps(self) -> int:
        """Control steps of the longest episode."""
        return round(self.episode_s * self.rate_hz)

    @property
    def dt(self) -> float:
        """Seconds per control step."""
        return 1.0 / self.rate_hz


@dataclass(frozen=True)
class Fitness:
    """The task's own measure of success; never the reward.

    Attributes:
        name: what it is called in rankings.
        function: function of `functions.py` that gives its value in one row.
        over: how an episode is summed up. `mean` is over the longest episode: the steps after an early end count as
            `ended_early`. `last` of an episode that ended early is `ended_early` if that is a number.
        direction: whether more is better.
        range: lowest and highest value.
        ended_early: what early termination scores; None lets the value stand.
        doc: one line.
    """

    name: str
    function: str
    over: Literal["last", "mean", "max", "sum"]
    direction: Literal["max", "min"]
    range: tuple[float, float]
    ended_early: float | None
    doc: str


@dataclass(frozen=True)
class Randomization:
    """One randomized quantity, drawn for each world and episode.

    Attributes:
        name: what rankings and reflections call it, also the name of its draw.
        field: one of `sim.randomize.FIELDS`.
        target: MJCF names it applies to; empty for global fields and "*" for all.
        operation: scale, add or set.
        nominal: value without randomization.
        train: range of the training and selection draws.
        test: range of the sealed test draws.
        unit: of the drawn value.
    """

    name: str
    field: str
    target: tuple[str, ...]
    operation: Literal["scale", "add", "set"]
    nominal: float
    train: tuple[float, float]
    test: tuple[float, float]
    unit: str


@dataclass(frozen=True)
class Push:
    """Random pushes on a body.

    Attributes:
        body: MJCF body that is pushed, at its centre of mass.
        force: range of the force's size, newtons; directions are uniform.
        duration_s: how long a push lasts.
        every_s: range of the time between the starts of two pushes.
    """

    body: str
    force: tuple[float, float]
    duration_s: float
    every_s: tuple[float, float]


@dataclass(frozen=True)
class InitialState:
    """Draws of the state at the start of an episode.

    Attributes:
        joints: joint name -> (lowest, highest) offset added to the model's start position.
        velocities: joint name -> (lowest, highest) start velocity.
        rings: mocap body -> (nearest, farthest) horizontal distance from its MJCF position, any direction.
    """

    joints: dict[str, tuple[float, float]]
    velocities: dict[str, tuple[float, float]]
    rings: dict[str, tuple[float, float]]


@dataclass(frozen=True)
class Liquid:
    """Particles poured between containers, which are MJCF sites at the centre of a container's inner floor.

    Attributes:
        particles: number of particles.
        particle_radius: metres.
        density: of a particle, kg/m^3.
        source: the container that holds them at the start.
        containers: name -> (site, inner radius, height, wall thickness), metres.
        substeps: liquid substeps per control step.
        table_height: height of the plane on which spilled liquid lies, metres.
    """

    particles: int
    particle_radius: float
    density: float
    source: str
    containers: dict[str, tuple[str, float, float, float]]
    substeps: int
    table_height: float


@dataclass(frozen=True)
class Task:
    """All that a task folder says.

    Attributes:
        name: of the folder.
        folder: where it lies.
        hash: 16 hex digits over all files of the folder.
        goal: one sentence of what the robot shall do.
        words: words by which a goal text finds this task.
        signals: the signal table.
        functions: text of `functions.py`, in the reward language.
        terminates: function of `functions.py` that says whether the episode has failed, or None.
        actions: names of the actuators, in order; the policy acts in [-1, 1] on each one's control range.
        learning: PPO's numbers where they differ from the defaults, and `steps`, the world-steps of a quick training.
        profile: signals whose course over an episode is shown to the proposer.
        observation: signals that the policy sees, with the standard deviation of their noise, in the signal's unit.
    """

    name: str
    folder: Path
    hash: str
    goal: str
    words: tuple[str, ...]
    control: Control
    signals: SignalTable
    functions: str
    terminates: str | None
    actions: tuple[str, ...]
    observation: dict[str, float]
    fitness: Fitness
    initial: InitialState
    randomization: tuple[Randomization, ...]
    pushes: tuple[Push, ...]
    liquid: Liquid | None
    profile: tuple[str, ...]
    learning: dict[str, float]

    @property
    def scene(self) -> Path:
        """The MJCF file."""
        return self.folder / "scene.xml"

    @property
    def human_reward(self) -> Path:
        """The hand-written reward that rides along as a baseline."""
        return self.folder / "rewards" / "human.py"
