"""The one event type: a line of the journal, of the worker's pipe and of `--json`.

Bottom of the package: imports nothing of ours.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import Any

KINDS: dict[str, str] = {
    # what the loop says
    "run_started": "goal, task, task_hash, proposer, models, preset, seed, settings",
    "generation_started": "generation, generations, ids",
    "reply_received": "id, model, prompt_tokens, completion_tokens, error",
    "candidate_checked": "id, status (accepted|rejected|duplicate), reason, components, hash",
    "candidate_probed": "id, notes",
    "candidate_finished": "id, status, reason, selection",
    "generation_finished": "generation, best (id), best_fitness, best_so_far (id), best_so_far_fitness",
    "final_started": "ids, seeds",
    "run_finished": "wall_s, ranking (path)",
    "run_failed": "reason",
    # what a worker says
    "worker_ready": "engine, threads, versions",
    "compiling": "count",
    "training_started": "job, ids, worlds, steps, curve_points",
    "progress": "job, step, steps, world_steps_per_s, candidates {id: {fitness, episode_length, return, alive}}",
    "curve_point": "job, id, step, fitness, return, episode_length, components {name: {mean, min, max, share}}",
    "candidate_failed": "job, id, reason, world, step, quantity",
    "result": "job, value",
    "error": "job, reason",
    "note": "text",
}


@dataclass(frozen=True)
class Event:
    """Something that happened, with the data that `KINDS` lists for its kind."""

    kind: str
    data: dict[str, Any] = field(default_factory=dict)
    time: float = field(default_factory=time.time)

    def to_json(self) -> str:
        """One line of JSON; non-finite numbers become null, since JSON has none."""
        return json.dumps({"kind": self.kind, "time": round(self.time, 3), **finite(self.data)}, allow_nan=False)

    @staticmethod
    def from_json(line: str) -> Event:
        """Read one line; ValueError if it is not an event."""
        data = json.loads(line)
        if not isinstance(data, dict) or "kind" not in data:
            raise ValueError(f"not an event: {line[:80]!r}")
        return Event(kind=data.pop("kind"), time=data.pop("time", 0.0), data=data)


def finite(value: Any) -> Any:
    """Copy nested dicts and lists with every non-finite float replaced by None."""
    if isinstance(value, float):
        return value if value - value == 0.0 else None
    if isinstance(value, dict):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return value
