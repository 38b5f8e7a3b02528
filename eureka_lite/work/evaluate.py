"""Measure policies by the task's own fitness on worlds they never trained on.

Inside the worker process. One episode per world, without exploration; all policies meet the same worlds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import warp as wp
from torch import Tensor

from eureka_lite.sim.world import World
from eureka_lite.task.task import Task

PROFILE_POINTS = 10


@dataclass
class Measurement:
    """What one policy did on N worlds.

    Attributes:
        fitness: [N], NaN where a world's state was not finite.
        length: [N] control steps of the episode.
        terminated: share of episodes that ended early.
        profiles: column name -> mean over worlds at PROFILE_POINTS times of the episode.
        draws: name -> [N] drawn values, the same for all policies.
        non_finite: what was not finite, or None.
    """

    fitness: list[float]
    length: list[int]
    terminated: float
    profiles: dict[str, list[float]] = field(default_factory=dict)
    draws: dict[str, list[float]] = field(default_factory=dict)
    non_finite: str | None = None


def measure(
    task: Task, policy: Callable[[Tensor], Tensor], candidates: int, split: str, worlds: int, seed: int, threads: int
) -> list[Measurement]:
    """Run one episode of K = `candidates` policies in N = `worlds` worlds of a split each.

    `policy` maps observations [K, N, observations] to actions [K, N, actions].
    """
    world = World(task, [None] * candidates, worlds, split, [seed] * candidates, threads)
    k, n = candidates, worlds
    world.reset()
    draws = world.draws.numpy().copy()[:n]
    observation = wp.to_torch(world.observation).view(k, n, -1)
    action = wp.to_torch(world.policy).view(k, n, -1)
    open_ = np.ones(k * n, bool)
    fitness, length = np.full(k * n, np.nan), np.zeros(k * n, int)
    failed = np.zeros(k * n, bool)
    columns = [c for name in task.profile for c in range(*task.signals[name].columns.indices(1 << 30))]
    steps = task.control.episode_steps
    wanted = {round((i + 1) * steps / PROFILE_POINTS) - 1: i for i in range(PROFILE_POINTS)}
    profile = np.full((PROFILE_POINTS, k, len(columns)), np.nan)
    for t in range(steps):
        action.copy_(policy(observation))
        world.step()
        if t in wanted:
            rows = np.where(open_[:, None], world.prev.numpy()[:, columns] if t == steps - 1 else
                            world.signals.numpy()[:, columns], np.nan)  # fmt: skip
            profile[wanted[t]] = _mean(rows.reshape(k, n, -1))
        done = world.mask.numpy() > 0
        now = open_ & done
        fitness[now], length[now] = world.episode_fitness.numpy()[now], t + 1
        failed[now] = world.terminated.numpy()[now] > 0
        open_ &= ~done
        if not open_.any():
            break
    bad = world.non_finite()
    world.close()
    names = task.signals.column_names()
    return [
        Measurement(
            fitness[i * n : (i + 1) * n].tolist(),
            length[i * n : (i + 1) * n].tolist(),
            float(failed[i * n : (i + 1) * n].mean()),
            {names[c]: profile[:, i, j].tolist() for j, c in enumerate(columns)},
            {name: draws[:, d].tolist() for d, name in enumerate(world.draw_names)},
            str(bad[i]) if i in bad else None,
        )
        for i in range(k)
    ]


def _mean(rows: np.ndarray) -> np.ndarray:
    """Mean over worlds [K, N, C] -> [K, C] of those that are not NaN; NaN where all are."""
    count = np.isfinite(rows).sum(1)
    return np.where(count > 0, np.nansum(rows, 1) / np.maximum(count, 1), np.nan)


def random_ranges(task: Task, worlds: int, seed: int, threads: int) -> dict[str, list[tuple[float, float]]]:
    """Lowest and highest value of every column, per signal, in one episode of random actions."""
    world = World(task, [None], worlds, "train", [seed], threads)
    world.reset()
    generator = np.random.default_rng(seed)
    low, high = np.full(task.signals.width, np.inf), np.full(task.signals.width, -np.inf)
    hold = generator.uniform(-1.0, 1.0, (worlds, len(task.actions)))
    for t in range(task.control.episode_steps):
        if t % 10 == 0:  # held for a while, random actions lead further than white noise
            hold = generator.uniform(-1.0, 1.0, hold.shape)
        world.policy.numpy()[:] = hold
        world.step()
        rows = world.signals.numpy()
        rows = rows[np.isfinite(rows).all(1)]
        low, high = np.minimum(low, rows.min(0, initial=np.inf)), np.maximum(high, rows.max(0, initial=-np.inf))
    world.close()
    return {
        signal.name: [(float(low[c]), float(high[c])) for c in range(*signal.columns.indices(1 << 30))]
        for signal in task.signals
    }
