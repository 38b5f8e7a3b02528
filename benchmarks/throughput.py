"""Throughput with learning, as a share of what the engine does alone in the same minutes on the same machine.

    python benchmarks/throughput.py            # both tasks, about two minutes
    python benchmarks/throughput.py cartpole --candidates 8 --rounds 10

A round is one timed chunk of each: the engine alone with random controls (for pour: engine and liquid), and the whole
training step with rewards, resets and PPO. The chunks alternate, so a machine that slows down slows both; the share is
the median over the rounds of the ratio within a round.
"""

from __future__ import annotations

import os

os.environ |= {"OMP_WAIT_POLICY": "PASSIVE", "OMP_NUM_THREADS": "1"}  # as in the worker

import argparse
import resource
import statistics
import time
import warnings

import numpy as np
import torch
import warp as wp
from mujoco.batch import Batch

from eureka_lite.learn.networks import Shapes
from eureka_lite.learn.ppo import Ppo
from eureka_lite.resources import tasks_folder
from eureka_lite.reward import check
from eureka_lite.sim.mujoco_cpu import compile_model
from eureka_lite.sim.world import World
from eureka_lite.task.load import load_task
from eureka_lite.task.task import Task
from eureka_lite.work.train import Views, collect, ppo_settings


class Engine:
    """The engine alone: `Batch.step` with random controls, and the liquid where the task has one."""

    def __init__(self, task: Task, worlds: int, threads: int) -> None:
        self.task, self.worlds, self.threads = task, worlds, threads
        self.steps = task.control.episode_steps
        self.model = compile_model(task)
        self.controls = np.random.default_rng(0)
        self.world = World(task, [None], worlds, "train", threads=threads) if task.liquid is not None else None
        self.batch = Batch(self.model, worlds, threads, True) if self.world is None else None

    def chunk(self) -> float:
        """World-steps per second over one episode from a fresh start, which is not timed."""
        low, high = self.model.actuator_ctrlrange.T
        ctrl = self.controls.uniform(low, high, (self.steps, self.worlds, self.model.nu))
        if self.world is not None:
            return self._with_liquid(ctrl.astype(np.float32), self.world)
        assert self.batch is not None
        self.batch.reset()
        target = self.batch.bind("ctrl")
        began = time.perf_counter()
        for step in range(self.steps):
            target[:] = ctrl[step]
            self.batch.step(nstep=self.task.control.decimation)
        return self.steps * self.worlds / (time.perf_counter() - began)

    def _with_liquid(self, ctrl: np.ndarray, world: World) -> float:
        world.reset()
        wrench = world.wrench.numpy()
        assert world.auxiliary is not None
        began = time.perf_counter()
        for step in range(self.steps):
            world.physics.step(ctrl[step], wrench)
            world.auxiliary.step()
        return self.steps * self.worlds / (time.perf_counter() - began)


class Training:
    """K candidates x N worlds as in a generation of `design`, all with the task's human reward."""

    def __init__(self, task: Task, candidates: int, per_candidate: int, threads: int) -> None:
        settings = ppo_settings(task)
        program = check(task.human_reward.read_text(encoding="utf-8"), task.signals)
        seeds = list(range(1, candidates + 1))
        self.world = World(task, [program] * candidates, per_candidate, "train", seeds, threads, stagger=True)
        shapes = Shapes(self.world.observation.shape[1], len(task.actions), settings.hidden)
        self.learner = Ppo(shapes, per_candidate, seeds, settings, threads)
        self.views = Views(self.world, candidates, per_candidate)
        self.alive = torch.ones(candidates, dtype=torch.bool)
        self.rollouts = max(1, round(task.control.episode_steps / settings.rollout))
        self.rollout = settings.rollout
        self.world.reset()

    def chunk(self) -> float:
        """World-steps per second over about one episode, learning included."""
        began = time.perf_counter()
        for _ in range(self.rollouts):
            collect(self.world, self.learner, self.views)
            self.learner.update(self.views.observation, self.alive)
        steps = self.rollouts * self.rollout * self.world.worlds
        return steps / (time.perf_counter() - began)


def compare(name: str, candidates: int, per_candidate: int, rounds: int, threads: int) -> float:
    """Print one line for a task; returns the share."""
    task = load_task(tasks_folder() / name)
    engine = Engine(task, candidates * per_candidate, threads)
    training = Training(task, candidates, per_candidate, threads)
    engine.chunk(), training.chunk()  # compile and warm up
    pairs = [(engine.chunk(), training.chunk()) for _ in range(rounds)]
    share = statistics.median(learning / alone for alone, learning in pairs)
    alone, learning = (statistics.median(column) for column in zip(*pairs, strict=True))
    what = "engine + liquid" if task.liquid is not None else "engine"
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{name}: {candidates} x {per_candidate} worlds, {threads} threads: {what} alone {alone:,.0f} world-steps/s, "
          f"with rewards, resets and learning {learning:,.0f}: {share:.0%}; peak memory {memory:.2f} GiB")  # fmt: skip
    return share


def main() -> None:
    """Compare the tasks that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="*", default=["cartpole", "pour_cup"])
    parser.add_argument("--candidates", type=int, default=8)
    parser.add_argument("--worlds", type=int, default=64, help="per candidate")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=min(32, os.cpu_count() or 1))
    given = parser.parse_args()
    warnings.filterwarnings("ignore", message=".*do not obey the gradient layout")  # of axes of length 1
    wp.config.log_level = wp.LOG_WARNING
    wp.init()
    for name in given.tasks:
        compare(name, given.candidates, given.worlds, given.rounds, given.threads)


if __name__ == "__main__":
    main()
