"""Train a population: K candidates x N worlds in one simulation, one PPO learner for all.

Inside the worker process, between `sim` and `learn`: it copies observations one way and actions the other, watches for
numbers that are not finite, and writes down what the reflection is made of.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
import warp as wp

from eureka_lite.learn.networks import Shapes
from eureka_lite.learn.ppo import Ppo, Settings
from eureka_lite.reward import Program
from eureka_lite.sim.world import World
from eureka_lite.store.events import Event
from eureka_lite.task.task import Task

Emit = Callable[[Event], None]
PROGRESS_EVERY_S = 0.5


@dataclass(frozen=True)
class Trainee:
    """One row of the population.

    Attributes:
        id: candidate id, "human", "sparse", or id@n for a retraining.
        program: its reward; the word "sparse" for the fitness itself.
        learner_seed: of weights and exploration.
        world_seed: of the training draws.
    """

    id: str
    program: Program | str
    learner_seed: int
    world_seed: int


@dataclass(frozen=True)
class Plan:
    """How long and how broad a population trains.

    Attributes:
        worlds: N per candidate.
        steps: world-steps per candidate.
        curve_points: how often statistics are written down.
    """

    worlds: int
    steps: int
    curve_points: int = 10


@dataclass
class Trained:
    """What a training left behind.

    Attributes:
        learner: the population's learner.
        failed: candidate index -> reason.
        curves: candidate index -> its curve points.
        world_steps: all candidates together.
        world_steps_per_s: over the whole training.
        non_finite: candidate index -> {world, step, quantity}.
    """

    learner: Ppo
    failed: dict[int, str] = field(default_factory=dict)
    curves: list[list[dict[str, Any]]] = field(default_factory=list)
    world_steps: int = 0
    world_steps_per_s: float = 0.0
    non_finite: dict[int, dict[str, Any]] = field(default_factory=dict)


def ppo_settings(task: Task) -> Settings:
    """PPO's numbers with what `[learning]` of the task says; its `steps` are the loop's."""
    whole = {"rollout", "epochs", "minibatches", "hidden"}
    given = {name: int(value) if name in whole else value for name, value in task.learning.items() if name != "steps"}
    settings = Settings(**given)  # type: ignore[arg-type]
    return Settings(**{**given, "rollout": min(settings.rollout, task.control.episode_steps)})  # type: ignore[arg-type]


def train(task: Task, trainees: list[Trainee], plan: Plan, job: str, emit: Emit, threads: int = 2) -> Trained:
    """Train all candidates side by side and return the learner with their curves."""
    settings = ppo_settings(task)
    k, n = len(trainees), plan.worlds
    world = World(task, [t.program for t in trainees], n, "train", [t.world_seed for t in trainees], threads, True)
    shapes = Shapes(world.observation.shape[1], len(task.actions), settings.hidden)
    learner = Ppo(shapes, n, [t.learner_seed for t in trainees], settings, threads)
    trained = Trained(learner, curves=[[] for _ in trainees])
    rollouts = max(1, math.ceil(plan.steps / (n * settings.rollout)))
    total = rollouts * n * settings.rollout
    emit(Event("training_started", {"job": job, "ids": [t.id for t in trainees], "worlds": n, "steps": total,
                                    "curve_points": plan.curve_points}))  # fmt: skip
    world.reset()
    views = Views(world, k, n)
    alive = torch.ones(k, dtype=torch.bool)
    began, last_progress, point, steps = time.monotonic(), 0.0, 0, 0
    for rollout in range(rollouts):
        collect(world, learner, views)
        _find_failures(world, learner, trainees, trained, alive, job, emit)
        learner.update(views.observation, alive)
        steps = (rollout + 1) * n * settings.rollout
        seconds = time.monotonic() - began
        if (rollout + 1) * plan.curve_points // rollouts > point:
            point = (rollout + 1) * plan.curve_points // rollouts
            _curve_point(world, trainees, trained, alive, steps, job, emit)
            world.forget()
        if seconds - last_progress > PROGRESS_EVERY_S or rollout == rollouts - 1:
            last_progress = seconds
            emit(_progress(world, trainees, trained, alive, steps, total, steps * k / seconds, job))
        if not alive.any():
            break
    _find_failures(world, learner, trainees, trained, alive, job, emit)
    trained.world_steps = steps * k
    trained.world_steps_per_s = trained.world_steps / max(1e-9, time.monotonic() - began)
    world.close()
    return trained


class Views:
    """Zero-copy torch views of the world's arrays, [K, N, ...]."""

    def __init__(self, world: World, k: int, n: int) -> None:
        self.observation = wp.to_torch(world.observation).view(k, n, -1)
        self.terminal = wp.to_torch(world.terminal_observation).view(k, n, -1)
        self.action = wp.to_torch(world.policy).view(k, n, -1)
        self.reward = wp.to_torch(world.reward).view(k, n)
        self.terminated = wp.to_torch(world.terminated).view(k, n)
        self.truncated = wp.to_torch(world.truncated).view(k, n)


def collect(world: World, learner: Ppo, views: Views) -> None:
    """One rollout of all candidates."""
    full = False
    while not full:
        views.action.copy_(learner.act(views.observation))
        world.step()
        full = learner.record(views.reward, views.terminated, views.truncated, views.terminal)


def _find_failures(
    world: World, learner: Ppo, trainees: list[Trainee], trained: Trained, alive: torch.Tensor, job: str, emit: Emit
) -> None:
    """End the candidates whose reward, state or learning was not finite, with the reason."""
    for i, bad in world.non_finite().items():
        if i not in trained.failed:
            trained.failed[i] = str(bad)
            trained.non_finite[i] = {"world": bad.world, "step": bad.step, "quantity": bad.quantity}
            data = {"job": job, "id": trainees[i].id, "reason": str(bad), **trained.non_finite[i]}
            emit(Event("candidate_failed", data))
    for i in torch.nonzero(learner.diverged).flatten().tolist():
        if i not in trained.failed:
            reason = "its learning diverged: the loss was not finite (are the rewards enormous?)"
            trained.failed[i] = reason
            emit(Event("candidate_failed", {"job": job, "id": trainees[i].id, "reason": reason}))
    for i in trained.failed:
        alive[i] = False


def _curve_point(
    world: World, trainees: list[Trainee], trained: Trained, alive: torch.Tensor, steps: int, job: str, emit: Emit
) -> None:
    """Write down what happened since the last point."""
    tally = _tally(world)
    statistics = world.statistics.numpy().reshape(world.candidates, world.per_candidate, -1, 5)
    for i, trainee in enumerate(trainees):
        if not alive[i]:
            continue
        episodes = tally[i, 0]
        mean = (tally[i, 1:] / episodes).tolist() if episodes > 0 else [None] * 4
        point = {
            "step": steps,
            "fitness": mean[0],
            "episode_length": mean[1],
            "terminated": mean[2],
            "return": mean[3],
            "episodes": int(episodes),
            "components": component_statistics(world.components[i], statistics[i]),
        }
        trained.curves[i].append(point)
        emit(Event("curve_point", {"job": job, "id": trainee.id, **point}))


def component_statistics(names: tuple[str, ...], statistics: np.ndarray) -> dict[str, dict[str, float]]:
    """Mean, min, max and share of |total| of each component from the sums of N worlds [N, M, 5]."""
    parts = statistics[:, : len(names)].astype(np.float64)
    count = np.maximum(parts[:, :, 4].sum(0), 1.0)
    size = parts[:, :, 1].sum(0)
    whole = max(float(size.sum()), 1e-300)
    seen = parts[:, :, 4] > 0
    low = np.where(seen, parts[:, :, 2], np.inf).min(0)
    high = np.where(seen, parts[:, :, 3], -np.inf).max(0)
    return {
        name: {
            "mean": float(parts[:, m, 0].sum() / count[m]),
            "min": float(low[m]),
            "max": float(high[m]),
            "share": float(size[m]) / whole,
        }
        for m, name in enumerate(names)
    }


def _tally(world: World) -> np.ndarray:
    """Sums over the finished episodes of each candidate [K, 5]."""
    return world.tally.numpy().reshape(world.candidates, world.per_candidate, 5).astype(np.float64).sum(1)


def _progress(
    world: World, trainees: list[Trainee], trained: Trained, alive: torch.Tensor, step: int, steps: int, rate: float,
    job: str,
) -> Event:  # fmt: skip
    tally = _tally(world)
    candidates = {}
    for i, trainee in enumerate(trainees):
        last = trained.curves[i][-1] if trained.curves[i] else {}
        fitness = last.get("fitness")
        if tally[i, 0] > 0:
            fitness = float(tally[i, 1] / tally[i, 0])
        candidates[trainee.id] = {"fitness": fitness, "alive": bool(alive[i])}
    data = {"job": job, "step": step, "steps": steps, "world_steps_per_s": rate, "candidates": candidates}
    return Event("progress", data)
