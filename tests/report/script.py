"""A made-up run: its events, and its folder."""

from __future__ import annotations

from pathlib import Path

from eureka_lite.store.events import Event
from eureka_lite.store.formats import Candidate, Fit, Flag, Ranking, Spend
from eureka_lite.store.run import RunFolder

GOAL = "Pour the liquid from the cup in the gripper into the cup on the table."
REWARD = 'def reward(s, prev):\n    near = exp(-norm(s.lip_pos - s.target_pos) / 0.06)\n    return {"reach": near}\n'
IDS = ["g01c01", "g01c02", "g01c03", "g01c04"]
TERMS = ["reach", "gain"]


def fit(mean: float, seeds: int = 1) -> dict:
    return {"mean": mean, "ci95": [mean - 0.03, mean + 0.03], "worlds": 64, "training_seeds": seeds}


def start(offline: bool = True) -> list[tuple[str, dict]]:
    proposer = {"proposer": "offline", "models": []} if offline else {"proposer": "llm", "models": ["some-model-5"]}
    tokens = {"prompt_tokens": None if offline else 2000, "completion_tokens": None if offline else 600}
    return [
        ("run_started", {"goal": GOAL, "task": "pour_cup", "task_hash": "ab" * 8, "seed": 7, **proposer}),
        ("worker_ready", {"engine": "mujoco", "threads": 2, "versions": {}}),
        ("generation_started", {"generation": 1, "generations": 2, "ids": IDS}),
        *(("reply_received", {"id": id, "model": "grammar", "error": None, **tokens}) for id in IDS),
        ("candidate_checked", {"id": IDS[0], "status": "accepted", "reason": None, "components": TERMS}),
        ("candidate_checked", {"id": IDS[1], "status": "accepted", "reason": None, "components": TERMS}),
        ("candidate_checked", {"id": IDS[2], "status": "rejected", "reason": "line 4: unknown function 'tanh2'"}),
        ("candidate_checked", {"id": IDS[3], "status": "accepted", "reason": None, "components": TERMS}),
        ("candidate_probed", {"id": IDS[1], "notes": ["one term carries 96 % of the reward"]}),
        ("compiling", {"count": 3}),
    ]


def training(share: float = 0.5) -> list[tuple[str, dict]]:
    ids = [IDS[0], IDS[1], IDS[3], "human", "sparse"]
    step = int(160000 * share)
    measured = {id: {"fitness": 0.5 + 0.1 * n, "episode_length": 180, "alive": True} for n, id in enumerate(ids)}
    points = [("curve_point", {"job": "g1", "id": id, "step": s, "fitness": s / step}) for s in (0, step) for id in ids]
    return [
        ("training_started", {"job": "g1", "ids": ids, "worlds": 64, "steps": 160000, "curve_points": 10}),
        *points,
        (
            "progress",
            {"job": "g1", "step": step, "steps": 160000, "world_steps_per_s": 39400.0, "candidates": measured},
        ),
        ("candidate_failed", {"job": "g1", "id": IDS[3], "reason": "reward became non-finite", "world": 3, "step": 9}),
    ]


def measured() -> list[tuple[str, dict]]:
    best = {"best": IDS[1], "best_fitness": 0.912, "best_so_far": IDS[1], "best_so_far_fitness": 0.912}
    return [
        ("candidate_finished", {"id": IDS[0], "status": "trained", "reason": None, "selection": fit(0.5)}),
        ("candidate_finished", {"id": IDS[1], "status": "trained", "reason": None, "selection": fit(0.912)}),
        ("candidate_finished", {"id": IDS[2], "status": "rejected", "reason": "line 4", "selection": None}),
        ("candidate_finished", {"id": IDS[3], "status": "failed", "reason": "non-finite", "selection": None}),
        ("candidate_finished", {"id": "human", "status": "trained", "reason": None, "selection": fit(0.85)}),
        ("candidate_finished", {"id": "sparse", "status": "trained", "reason": None, "selection": fit(0.12)}),
        ("generation_finished", {"generation": 1, **best}),
    ]


def final() -> list[tuple[str, dict]]:
    ids = [f"{id}@{seed}" for id in (IDS[1], "human", "sparse") for seed in (0, 1)]
    return [
        ("final_started", {"ids": [IDS[1], "human", "sparse"], "seeds": [11, 12]}),
        ("training_started", {"job": "final", "ids": ids, "worlds": 64, "steps": 160000, "curve_points": 10}),
        ("progress", {"job": "final", "step": 80000, "steps": 160000, "world_steps_per_s": 1.0, "candidates": {}}),
    ]


END = [("run_finished", {"wall_s": 812.3, "ranking": "runs/x/ranking.json"})]


def timed(kinds: list[tuple[str, dict]], begin: float = 1_000_000.0, every: float = 1.0) -> list[Event]:
    return [Event(kind, data, begin + every * index) for index, (kind, data) in enumerate(kinds)]


def candidate(id: str, rank: int | None, mean: float | None, status: str = "trained", **more) -> Candidate:
    selection = None if mean is None else Fit(mean, (mean - 0.03, mean + 0.03), 64, 1)
    known = {
        "reason": None,
        "test": None,
        "tied_with": [],
        "human_normalized": None,
        "parents": [],
        "stopped_at_step": None,
        "flags": [],
        "hash": "cd" * 8,
        "reward": f"candidates/{id}/reward.py",
    }
    return Candidate(id=id, rank=rank, status=status, selection=selection, **{**known, **more})


def ranking() -> Ranking:
    test = Fit(0.897, (0.86, 0.93), 128, 3)
    flags = [Flag("fitness_falls", 0.3, 0.2)]
    return Ranking(
        task="pour_cup",
        task_hash="ab" * 8,
        goal=GOAL,
        proposer="offline",
        models=[],
        seed=7,
        device="cpu",
        engine="batch",
        wall_s=812.3,
        spend=Spend(None, None, None, 2_400_000),
        fitness={"name": "poured", "direction": "max", "range": [0.0, 1.0]},
        baselines={"human": Fit(0.84, (0.8, 0.88), 128, 3), "sparse": None},
        candidates=[
            candidate(
                IDS[1], 1, 0.912, test=test, tied_with=[IDS[0]], human_normalized={"value": 1.07, "ci95": [0.9, 1.2]}
            ),
            candidate(IDS[0], 2, 0.5, parents=["g00c09"], flags=flags),
            candidate(IDS[2], None, None, "rejected", reason="line 4: unknown function 'tanh2'; did you mean tanh?"),
            candidate(IDS[3], None, None, "failed", reason="reward became non-finite in world 3 at step 9"),
        ],
    )


def result(id: str, mean: float | None) -> dict:
    terms = {
        "reach": {"mean": [0.1 * n for n in range(10)], "min": [0.0] * 10, "max": [2.0] * 10, "share": [0.75] * 10},
        "gain": {"mean": [0.02] * 10, "min": [-1.5] * 10, "max": [1.0] * 10, "share": [0.25] * 10},
    }
    return {
        "id": id,
        "status": "trained",
        "reason": None,
        "steps": 160000,
        "curve": [{"step": 16000 * n, "fitness": 0.09 * n, "return": 1.0, "episode_length": 190} for n in range(11)],
        "components": terms,
        "endings": {"terminated": 0.2, "time_out": 0.8},
        "profiles": {},
        "selection": None if mean is None else fit(mean),
        "nonfinite": None,
    }


def folder(root: Path, finished: bool = True) -> RunFolder:
    """A run that came to its end, or one that was broken off in its final verdict."""
    task = root / "pour_cup"
    task.mkdir(parents=True)
    (task / "task.toml").write_text('format = 1\n[fitness]\nname = "poured"\ndirection = "max"\n')
    run = RunFolder.create(root / "runs", "pour_cup", task, {"seed": 7, "candidates": 4})
    for event in timed([*start(), *training(), *measured(), *final(), *(END if finished else [])]):
        run.journal(event)
    for id, mean in ((IDS[0], 0.5), (IDS[1], 0.912), ("human", 0.85), ("sparse", 0.12)):
        run.write_text(id, "reward.py", REWARD)
        run.write_json(id, "result.json", result(id, mean))
    if finished:
        run.write_ranking(ranking())
    run.close()
    return run
