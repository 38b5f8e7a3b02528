"""What a worker can be asked for; the requests are the protocol that a remote worker will speak, too.

Every request has `job` and `do`:

    train      candidates [{id, source | null for sparse, learner_seed, world_seed, policy: file to write | null}],
               worlds, steps, curve_points, measure {split, worlds, seed}
    evaluate   policies [paths], split, worlds, seed
    ranges     worlds, seed

and is answered by one `result` (or `error`) event after the events of its progress.
"""

from __future__ import annotations

import os
import queue
import traceback
import warnings
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import mujoco
import torch
import warp as wp

from eureka_lite.learn.policy import Policies, PolicyError, load_policies, save_policy
from eureka_lite.reward import RewardError, check
from eureka_lite.sim.world import SPARSE
from eureka_lite.store.events import Event
from eureka_lite.task.load import load_task
from eureka_lite.task.task import Task, TaskError
from eureka_lite.work.evaluate import Measurement, measure, random_ranges
from eureka_lite.work.train import Emit, Plan, Trained, Trainee, train

EXPECTED = (RewardError, TaskError, PolicyError, OSError)


def serve(folder: str, threads: int, requests: queue.Queue[dict], emit: Emit) -> None:
    """Answer requests for ever."""
    wp.config.log_level = wp.LOG_WARNING
    wp.init()
    warnings.filterwarnings("ignore", message=".*do not obey the gradient layout")  # of axes of length 1
    task = load_task(folder)
    versions = {"mujoco": mujoco.__version__, "warp": wp.config.version, "torch": torch.__version__}
    emit(Event("worker_ready", {"engine": "mujoco", "threads": threads, "versions": versions}))
    actions: dict[str, Callable[[Task, dict, Emit, int], Any]] = {
        "train": _train, "evaluate": _evaluate, "ranges": _ranges,
    }  # fmt: skip
    while True:
        request = requests.get()
        try:
            value = actions[request["do"]](task, request, emit, threads)
            emit(Event("result", {"job": request["job"], "value": value}))
        except EXPECTED as error:
            emit(Event("error", {"job": request["job"], "reason": str(error)}))
        except Exception as error:  # noqa: BLE001  the parent must learn of it, whatever it is
            traceback.print_exc()
            reason = f"{type(error).__name__}: {error}"
            emit(Event("error", {"job": request["job"], "reason": reason}))


def _train(task: Task, request: dict, emit: Emit, threads: int) -> list[dict[str, Any]]:
    """Train, measure on the wanted split, save the policies; one dict per candidate."""
    emit(Event("compiling", {"job": request["job"], "count": len(request["candidates"])}))
    trainees = [
        Trainee(c["id"], SPARSE if c["source"] is None else check(c["source"], task.signals), c["learner_seed"],
                c["world_seed"])
        for c in request["candidates"]
    ]  # fmt: skip
    plan = Plan(request["worlds"], request["steps"], request["curve_points"])
    trained = train(task, trainees, plan, request["job"], emit, threads)
    wanted = request["measure"]
    policies = Policies(trained.learner.population, trained.learner.normalizer)
    k = len(trainees)
    measured = measure(task, policies, k, wanted["split"], wanted["worlds"], wanted["seed"], threads)
    results = []
    for i, trainee in enumerate(trainees):
        path = request["candidates"][i].get("policy")
        if path and i not in trained.failed:
            _save(Path(path), trained, i, {"task_hash": task.hash, "id": trainee.id})
        results.append(_outcome(trainee, trained, i, measured[i]))
    return results


def _save(path: Path, trained: Trained, i: int, about: dict[str, str]) -> None:
    part = path.with_name(path.name + ".part")
    save_policy(part, trained.learner, i, about)
    os.replace(part, path)


def _outcome(trainee: Trainee, trained: Trained, i: int, measured: Measurement) -> dict[str, Any]:
    reason = trained.failed.get(i)
    if reason is None and measured.non_finite is not None:
        reason = f"while it was measured: {measured.non_finite}"
    return {
        "id": trainee.id,
        "status": "trained" if reason is None else "failed",
        "reason": reason,
        "curve": trained.curves[i],
        "non_finite": trained.non_finite.get(i),
        "world_steps": trained.world_steps // len(trained.curves),
        "world_steps_per_s": trained.world_steps_per_s,
        "measured": asdict(measured),
    }


def _evaluate(task: Task, request: dict, emit: Emit, threads: int) -> list[dict[str, Any]]:
    policies = load_policies([Path(path) for path in request["policies"]], task.hash)
    wanted = (request["split"], request["worlds"], request["seed"])
    return [asdict(m) for m in measure(task, policies, policies.candidates, *wanted, threads)]


def _ranges(task: Task, request: dict, emit: Emit, threads: int) -> dict[str, list[tuple[float, float]]]:
    return random_ranges(task, request["worlds"], request["seed"], threads)
