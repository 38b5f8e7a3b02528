"""Training and measuring, in this process and in a worker of its own."""

import json
import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from eureka_lite.resources import tasks_folder
from eureka_lite.reward import check
from eureka_lite.sim.world import SPARSE
from eureka_lite.store.events import Event
from eureka_lite.work.client import Worker, WorkerDied, WorkerError
from eureka_lite.work.evaluate import measure, random_ranges
from eureka_lite.work.train import Plan, Trainee, component_statistics, train
from tests.tasks import task

GOOD = "def reward(s):\n    return {'alive': 1.0, 'center': -0.1 * s.cart_pos ** 2}\n"
OTHER = "def reward(s):\n    return {'up': cos(s.pole_angle)}\n"
NAN = "def reward(s):\n    return {'alive': 1.0, 'root': sqrt(0.5 - s.time)}\n"
HUGE = "def reward(s):\n    return {'huge': exp(100.0 * s.time)}\n"
ZERO = "def reward(s):\n    return {'nothing': 0.0}\n"


def trained(sources, name="cartpole", worlds=8, steps=3000, threads=2, events=None):
    trainees = [
        Trainee(f"c{i}", SPARSE if source == SPARSE else check(source, task(name).signals), 1, 1)
        for i, source in enumerate(sources)
    ]
    collect = [] if events is None else events
    return train(task(name), trainees, Plan(worlds, steps, 5), "job", collect.append, threads)


def same(a, i, b, j) -> bool:
    return bool((a.learner.population.flat[i] == b.learner.population.flat[j]).all()) and a.curves[i] == b.curves[j]


def test_permuting_candidates_permutes_curves_bit_for_bit():
    straight, turned = trained([GOOD, OTHER, SPARSE, ZERO]), trained([ZERO, SPARSE, OTHER, GOOD])
    assert all(same(straight, i, turned, 3 - i) for i in range(4))
    assert not same(straight, 0, straight, 1)


def test_broken_siblings_leave_a_candidate_bit_identical_and_are_named():
    healthy, mixed = trained([GOOD, OTHER, ZERO, SPARSE]), trained([GOOD, NAN, HUGE, ZERO])
    assert same(healthy, 0, mixed, 0)
    assert same(healthy, 2, mixed, 3)
    assert sorted(mixed.failed) == [1, 2]
    assert "reward component 'root'" in mixed.failed[1]
    assert "reward component 'huge'" in mixed.failed[2]
    assert mixed.non_finite[1]["step"] > 0
    assert torch.isfinite(mixed.learner.population.flat).all()


@pytest.mark.parametrize("threads", [1, 3])
def test_the_number_of_threads_changes_nothing(threads):
    a, b = trained([GOOD, OTHER, SPARSE]), trained([GOOD, OTHER, SPARSE], threads=threads)
    assert all(same(a, i, b, i) for i in range(3))


def test_the_curve_tells_what_happened():
    events = []
    found = trained([GOOD, SPARSE], events=events)
    curve = found.curves[0]
    assert [point["step"] for point in curve][-1] >= 3000
    assert len(curve) == 5
    assert set(curve[0]["components"]) == {"alive", "center"}
    assert curve[0]["components"]["alive"]["mean"] == pytest.approx(1.0)
    assert curve[0]["components"]["alive"]["share"] > 0.9
    assert curve[-1]["components"]["center"]["max"] <= 0.0
    assert sum(point["episodes"] for point in curve) > 0
    assert found.world_steps == 2 * curve[-1]["step"]
    kinds = [event.kind for event in events]
    assert kinds[0] == "training_started"
    assert kinds.count("curve_point") == 10
    for event in events:
        assert Event.from_json(event.to_json()).data == json.loads(json.dumps(event.data))


def test_component_statistics_by_hand():
    sums = np.zeros((2, 3, 5))
    sums[:, 0] = [[3.0, 3.0, 1.0, 2.0, 2.0], [6.0, 6.0, 0.5, 4.0, 2.0]]  # sum, sum of |.|, min, max, count
    sums[:, 1] = [[-1.0, 1.0, -1.0, 0.0, 2.0], [0.0, 2.0, -1.0, 1.0, 2.0]]
    found = component_statistics(("a", "b"), sums)
    assert found["a"] == {"mean": 2.25, "min": 0.5, "max": 4.0, "share": 9.0 / 12.0}
    assert found["b"] == {"mean": -0.25, "min": -1.0, "max": 1.0, "share": 3.0 / 12.0}


def test_it_learns_to_balance():
    found = trained([GOOD], worlds=64, steps=100_000)
    fitness = [point["fitness"] for point in found.curves[0]]
    assert fitness[-1] > 0.5 > fitness[0]


def test_all_policies_meet_the_same_worlds():
    import torch

    measured = measure(task("cartpole"), lambda x: torch.zeros(*x.shape[:2], 1), 2, "selection", 16, 3, 2)
    assert measured[0].fitness == measured[1].fitness
    assert measured[0].draws == measured[1].draws
    assert 0.0 < np.mean(measured[0].fitness) < 0.5
    assert measured[0].terminated == 1.0
    assert len(measured[0].profiles["pole_angle"]) == 10


def test_ranges_of_random_rollouts():
    ranges = random_ranges(task("pour_cup"), 16, 0, 2)
    assert set(ranges) == set(task("pour_cup").signals.names)
    assert len(ranges["cup_pos"]) == 3
    assert ranges["time"][0] == pytest.approx((0.0, 4.0), abs=0.05)
    assert all(low <= high for columns in ranges.values() for low, high in columns)


REQUEST = {"worlds": 8, "steps": 2000, "curve_points": 2, "measure": {"split": "selection", "worlds": 8, "seed": 0}}


def wanted(source, policy=None):
    return {"id": "g01c01", "source": source, "learner_seed": 1, "world_seed": 1, "policy": policy}


def test_a_worker_trains_measures_and_saves_a_policy_that_measures_alike(tmp_path):
    events, policy = [], str(tmp_path / "p.safetensors")
    with Worker(tasks_folder() / "cartpole", 2, events.append) as worker:
        result = worker.ask("train", candidates=[wanted(GOOD, policy)], **REQUEST)[0]
        again = worker.ask("evaluate", policies=[policy], split="selection", worlds=8, seed=0)[0]
        with pytest.raises(WorkerError, match="not a readable policy"):
            worker.ask("evaluate", policies=[str(tmp_path / "none")], split="selection", worlds=8, seed=0)
    assert result["status"] == "trained"
    assert again["fitness"] == result["measured"]["fitness"]
    assert {"worker_ready", "training_started", "curve_point"} <= {event.kind for event in events}


def test_a_worker_sees_no_key(monkeypatch, tmp_path):
    for name in ("OPENAI_API_KEY", "MY_SECRET", "GITHUB_TOKEN", "OPENAI_BASE_URL"):
        monkeypatch.setenv(name, "hidden-away-1234")
    with Worker(tasks_folder() / "cartpole", 1, lambda event: None) as worker:
        worker.ask("ranges", worlds=2, seed=0)
        environment = Path(f"/proc/{worker._process.pid}/environ").read_bytes()
    assert b"hidden-away" not in environment
    assert b"OMP_WAIT_POLICY=PASSIVE" in environment


def test_a_killed_worker_is_told_and_the_next_request_starts_another():
    with Worker(tasks_folder() / "cartpole", 2, lambda event: None) as worker:
        worker.ask("ranges", worlds=2, seed=0)

        def kill() -> None:
            time.sleep(1.0)
            os.kill(worker._process.pid, signal.SIGKILL)

        threading.Thread(target=kill, daemon=True).start()
        with pytest.raises(WorkerDied, match="signal 9"):
            worker.ask("train", candidates=[wanted(GOOD)], **{**REQUEST, "steps": 10_000_000})
        assert worker.ask("ranges", worlds=2, seed=0)


def test_a_worker_ends_when_its_parent_is_gone():
    worker = Worker(tasks_folder() / "cartpole", 2, lambda event: None)
    worker.ask("ranges", worlds=2, seed=0)
    process = worker._process
    process.stdin.close()
    assert process.wait(timeout=10) == 0
