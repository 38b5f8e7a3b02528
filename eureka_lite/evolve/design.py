"""The loop: propose, check, train, measure, reflect, and at the end the verdict on sealed worlds.

Runs in the parent process, which imports neither torch nor Warp; training happens in a worker (`work.client`). Every
step is an event in the run's journal before the next one begins.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from eureka_lite.evolve.presets import DEFAULT_STEPS, Preset
from eureka_lite.evolve.rank import best_first, ranked
from eureka_lite.evolve.record import Record
from eureka_lite.evolve.reflect import feedback, result_file
from eureka_lite.evolve.statistics import fit
from eureka_lite.propose.proposer import Parent, Proposer, Reply, Request
from eureka_lite.reward import RewardError, check, extract
from eureka_lite.reward.task_programs import human_program, task_programs
from eureka_lite.store.events import Event
from eureka_lite.store.formats import Fit, Ranking, Spend
from eureka_lite.store.run import RunFolder
from eureka_lite.task.task import Task
from eureka_lite.work.client import Worker, WorkerDied

BASELINES = ("human", "sparse")
RANGE_WORLDS = 64
PARENTS = 6
NOTHING = "none of the candidates could be trained; `review` lists why"


@dataclass(frozen=True)
class Settings:
    """What a run is asked to do.

    Attributes:
        goal: the person's words.
        seed: of everything random.
        preset: its size, with the person's changes.
        preset_name: what it was called.
        steps: world-steps per candidate.
        threads: of the worker.
    """

    goal: str
    seed: int
    preset: Preset
    preset_name: str
    steps: int
    threads: int


def steps_of(task: Task, preset: Preset) -> int:
    """World-steps per candidate that a preset means for a task."""
    return int(task.learning.get("steps", DEFAULT_STEPS) * preset.steps_factor)


class Design:
    """One run of the loop.

    Args:
        task: loaded from the run's own copy.
        settings: what to do.
        proposer: who writes.
        run: where everything goes.
        show: gets every event, also those that are too many for the journal.
    """

    def __init__(
        self, task: Task, settings: Settings, proposer: Proposer, run: RunFolder, show: Callable[[Event], None]
    ) -> None:
        self.task, self.settings, self.proposer, self.run, self._show = task, settings, proposer, run, show
        self.records: list[Record] = []
        self.baselines: dict[str, Record] = {}
        self.spend = Spend()
        self._seen: dict[str, str] = {}
        self._engine = "mujoco"
        self._ranges: dict[str, Any] = {}
        self._began = time.monotonic()

    def execute(self) -> Ranking | None:
        """Run all generations and the verdict; None if nothing could be ranked.

        Raises:
            RewardError: a function of the task or its human reward is wrong.
            ProposerError: no proposal can be had.
            WorkerError: the worker cannot do what it is asked.
            StoreError: the run cannot be written.
        """
        task_programs(self.task)
        self._prepare_baselines()
        settings = self.settings
        self._say("run_started", goal=settings.goal, task=self.task.name, task_hash=self.task.hash,
                  proposer=self.proposer.name, models=list(self.proposer.models), preset=settings.preset_name,
                  seed=settings.seed, direction=self.task.fitness.direction,
                  settings=self.run.settings)  # fmt: skip
        try:
            with Worker(self.run.task_folder, settings.threads, self._heard) as worker:
                self._ranges = worker.ask("ranges", worlds=RANGE_WORLDS, seed=settings.seed)
                for generation in range(1, settings.preset.generations + 1):
                    self._generation(generation, worker)
                if not any(record.trained for record in self.records):
                    self._say("run_failed", reason=NOTHING)
                    return None
                self._verdict(worker)
            ranking = self._ranking()
            path = self.run.write_ranking(ranking)
            self._say("run_finished", wall_s=ranking.wall_s, ranking=str(path))
            return ranking
        except KeyboardInterrupt:
            self._say("run_failed", reason="interrupted")
            raise

    # --- events -------------------------------------------------------------------------------------------------

    def _say(self, kind: str, **data: Any) -> None:
        event = Event(kind, data)
        self.run.journal(event)
        self._show(event)

    def _heard(self, event: Event) -> None:
        """An event of the worker: progress is shown, all else is kept as well."""
        if event.kind == "worker_ready":
            self._engine = str(event.data.get("engine", self._engine))
        if event.kind != "progress":
            self.run.journal(event)
        if event.kind == "curve_point" and "@" not in str(event.data.get("id")):
            point = {key: value for key, value in event.data.items() if key not in ("job", "id")}
            self.run.append_jsonl(str(event.data["id"]), "curves.jsonl", point)
        self._show(event)

    # --- a generation -------------------------------------------------------------------------------------------

    def _prepare_baselines(self) -> None:
        self.baselines["sparse"] = Record("sparse")
        program = human_program(self.task)
        if program is not None:
            self.baselines["human"] = Record("human", source=program.source, program=program)

    def _generation(self, generation: int, worker: Worker) -> None:
        preset = self.settings.preset
        ids = tuple(f"g{generation:02d}c{index:02d}" for index in range(1, preset.candidates + 1))
        riders = [self.baselines[name] for name in BASELINES if name in self.baselines] if generation == 1 else []
        self._say("generation_started", generation=generation, generations=preset.generations,
                  ids=[*ids, *(rider.id for rider in riders)])  # fmt: skip
        request = self._request(generation, ids)
        fresh = [self._received(reply, generation) for reply in self.proposer.propose(request)]
        fresh.sort(key=lambda record: record.id)
        self.records += fresh
        for rider in riders:
            if rider.source is not None:
                self.run.write_text(rider.id, "reward.py", rider.source)
        self._train([record for record in fresh if record.status is None] + riders, f"generation-{generation}", worker)
        best = best_first(fresh, self.task.fitness.direction)
        ever = best_first(self.records, self.task.fitness.direction)
        self._say("generation_finished", generation=generation, best=best[0].id if best else None,
                  best_fitness=best[0].fitness if best else None, best_so_far=ever[0].id if ever else None,
                  best_so_far_fitness=ever[0].fitness if ever else None)  # fmt: skip

    def _request(self, generation: int, ids: tuple[str, ...]) -> Request:
        parents = [
            Parent(record.id, record.source or "", record.feedback, record.fitness)
            for record in best_first(self.records, self.task.fitness.direction)[:PARENTS]
        ]
        failures = [(record.id, record.reason or str(record.status)) for record in self.records
                    if record.generation == generation - 1 and not record.trained]  # fmt: skip
        return Request(generation, ids, self.settings.seed, self.settings.goal, self.task, self._ranges, tuple(parents),
                       tuple(failures), frozenset(self._seen))  # fmt: skip

    def _received(self, reply: Reply, generation: int) -> Record:
        """Put a reply on disk, then check what is in it."""
        record = Record(reply.id, generation, parents=reply.parents)
        self.run.write_text(reply.id, "prompt.md", reply.prompt)
        if reply.text is not None:
            self.run.write_text(reply.id, "reply.md", reply.text)
        self._say("reply_received", id=reply.id, model=reply.model, prompt_tokens=reply.prompt_tokens,
                  completion_tokens=reply.completion_tokens, error=reply.error)  # fmt: skip
        for name in ("prompt_tokens", "completion_tokens"):
            count = getattr(reply, name)
            if count is not None:
                setattr(self.spend, name, (getattr(self.spend, name) or 0) + count)
        self._check(record, reply)
        program = record.program
        verdict = {
            "status": record.status or "accepted",
            "reason": record.reason,
            "components": list(program.outputs) if program else [],
            "hash": program.hash if program else None,
        }
        structure, notes = (program.structure_hash, list(program.notes)) if program else (None, [])
        self.run.write_json(record.id, "check.json", {**verdict, "structure_hash": structure, "notes": notes})
        self._say("candidate_checked", id=record.id, **verdict)
        if record.status is not None:
            self._say("candidate_finished", id=record.id, status=record.status, reason=record.reason, selection=None)
        return record

    def _check(self, record: Record, reply: Reply) -> None:
        if reply.text is None or reply.error:
            record.status, record.reason = "rejected", reply.error or "no reply came"
            return
        found = extract(reply.text)
        if found.verdict != "found":
            why = "the reply breaks off inside the program" if found.verdict == "truncated" else found.block
            record.status, record.reason = "rejected", why
            return
        record.source = found.code
        self.run.write_text(record.id, "reward.py", found.code)
        try:
            record.program = check(found.code, self.task.signals)
        except RewardError as error:
            record.status, record.reason = "rejected", error.summary
            self.run.write_text(record.id, "feedback.md", f"The program was refused:\n{error}\n")
            return
        twin = self._seen.setdefault(record.program.hash, record.id)
        if twin != record.id:
            record.status, record.reason = "duplicate", f"computes the same as {twin}"

    def _train(self, records: list[Record], name: str, worker: Worker) -> None:
        """Train and measure on the selection worlds; fills in the records and their files."""
        base = 1000 * self.settings.seed
        wanted = [
            {"id": record.id, "source": record.source, "learner_seed": base + 1, "world_seed": base + 1,
             "policy": str(self.run.candidate(record.id, make=True).resolve() / "policy.safetensors")}
            for record in records
        ]  # fmt: skip
        measure = {"split": "selection", "worlds": self.settings.preset.selection_worlds, "seed": self.settings.seed}
        results = self._ask(worker, name, wanted, measure) if wanted else []
        for record, result in zip(records, results, strict=True):
            self._finish(record, result)

    def _finish(self, record: Record, result: dict[str, Any]) -> None:
        record.result, record.status, record.reason = result, result["status"], result["reason"]
        selection: Fit | None = None
        if record.status == "trained":
            record.selection = np.array([result["measured"]["fitness"]], float)
            selection = fit(record.selection)
        self.spend.world_steps += int(result.get("world_steps") or 0)
        record.feedback = feedback(record, self.task, selection)
        self.run.write_text(record.id, "feedback.md", record.feedback)
        self.run.write_json(record.id, "result.json", result_file(record, selection))
        self._say("candidate_finished", id=record.id, status=record.status, reason=record.reason,
                  selection=asdict(selection) if selection else None)  # fmt: skip

    def _ask(
        self, worker: Worker, name: str, wanted: list[dict[str, Any]], measure: dict[str, Any], tries: int = 2
    ) -> list[dict[str, Any]]:
        """Train; if the worker dies, once more, then in halves until the culprit is alone and named."""
        settings = self.settings
        why = ""
        for _ in range(tries):
            try:
                return worker.ask("train", name=name, candidates=wanted, worlds=settings.preset.worlds,
                                  steps=settings.steps, curve_points=settings.preset.curve_points,
                                  measure=measure)  # fmt: skip
            except WorkerDied as death:
                why = str(death)
                self._say("note", text=f"{why}; {name} with {len(wanted)} candidates starts again")
        if len(wanted) == 1:
            return [{"id": wanted[0]["id"], "status": "failed", "reason": why}]
        middle = len(wanted) // 2
        halves = [wanted[:middle], wanted[middle:]]
        return [
            result for i, half in enumerate(halves) for result in self._ask(worker, f"{name}-{i}", half, measure, 1)
        ]

    # --- the verdict --------------------------------------------------------------------------------------------

    def _verdict(self, worker: Worker) -> None:
        """Train the best and the baselines on fresh seeds as one batch; open the test worlds once."""
        preset, base = self.settings.preset, 1000 * self.settings.seed + 500
        best = best_first(self.records, self.task.fitness.direction)[: preset.finalists]
        finalists = best + [self.baselines[name] for name in BASELINES if name in self.baselines]
        seeds = [base + i for i in range(preset.final_seeds)]
        self._say("final_started", ids=[record.id for record in finalists], seeds=seeds)
        wanted = [
            {"id": f"{record.id}@{i + 1}", "source": record.source, "learner_seed": seed, "world_seed": seed,
             "policy": str(self.run.candidate(record.id, make=True).resolve() / f"policy-{i + 1}.safetensors")}
            for record in finalists for i, seed in enumerate(seeds)
        ]  # fmt: skip
        measure = {"split": "test", "worlds": preset.test_worlds, "seed": self.settings.seed}
        results = self._ask(worker, "final", wanted, measure)
        for place, record in enumerate(finalists):
            mine = results[place * len(seeds) : (place + 1) * len(seeds)]
            self.spend.world_steps += sum(int(result.get("world_steps") or 0) for result in mine)
            bad = [result["reason"] for result in mine if result["status"] != "trained"]
            record.test = self._tested(mine) if len(bad) < len(mine) else None
            if bad:
                record.reason = f"{len(bad)} of {len(mine)} retrainings failed: {bad[0]}"
            seeds_file = [{"seed": seed, "status": result["status"], "reason": result["reason"],
                           "test_worlds": (result.get("measured") or {}).get("fitness")}
                          for seed, result in zip(seeds, mine, strict=True)]  # fmt: skip
            self.run.write_json(record.id, "test.json", {"split": "test", "retrainings": seeds_file})

    def _tested(self, retrainings: list[dict[str, Any]]) -> np.ndarray:
        """Fitness [seeds, worlds]; a retraining that failed counts as the worst there is, or failing would pay."""
        fitness = self.task.fitness
        worst = fitness.range[0] if fitness.direction == "max" else fitness.range[1]
        nothing = [worst] * self.settings.preset.test_worlds
        rows = [result["measured"]["fitness"] if result["status"] == "trained" else nothing for result in retrainings]
        return np.array(rows, float)

    def _ranking(self) -> Ranking:
        fitness = self.task.fitness
        return Ranking(
            task=self.task.name, task_hash=self.task.hash, goal=self.settings.goal, proposer=self.proposer.name,
            models=list(self.proposer.models), seed=self.settings.seed, device="cpu", engine=self._engine,
            wall_s=round(time.monotonic() - self._began, 3), spend=self.spend,
            fitness={"name": fitness.name, "direction": fitness.direction, "range": list(fitness.range)},
            baselines={name: fit(record.test) if (record := self.baselines.get(name)) and record.test is not None
                       else None for name in BASELINES},
            candidates=ranked(self.records, self.baselines, fitness.direction),
        )  # fmt: skip


def start_run(root: Path, task: Task, settings: Settings, extra: dict[str, Any]) -> RunFolder:
    """Make the run's folder with every resolved setting; `extra` are the command's own."""
    return RunFolder.create(root, task.name, task.folder, {
        "goal": settings.goal, "seed": settings.seed, "preset": settings.preset_name, **asdict(settings.preset),
        "steps": settings.steps, "threads": settings.threads, "direction": task.fitness.direction, **extra,
    })  # fmt: skip
