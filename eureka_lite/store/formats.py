"""Dataclasses that are the file formats of a run folder.

Bottom of the package: imports nothing of ours. Unknown is None, never 0.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

FORMAT = 1
Status = Literal["trained", "stopped", "duplicate", "rejected", "failed"]


@dataclass(frozen=True)
class Fit:
    """A measured fitness: mean, 95 % interval, and on how many worlds and training seeds it rests."""

    mean: float
    ci95: tuple[float, float]
    worlds: int
    training_seeds: int


@dataclass(frozen=True)
class Flag:
    """Evidence against a candidate, with the measured number and the threshold it crossed."""

    code: str
    measured: float
    threshold: float


@dataclass
class Spend:
    """What a run has cost so far."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    usd: float | None = None
    world_steps: int = 0


@dataclass
class Candidate:
    """One candidate's row in `ranking.json`."""

    id: str
    rank: int | None
    status: Status
    reason: str | None
    selection: Fit | None
    test: Fit | None
    tied_with: list[str]
    human_normalized: dict[str, Any] | None
    parents: list[str]
    stopped_at_step: int | None
    flags: list[Flag]
    hash: str | None
    reward: str | None


@dataclass
class Ranking:
    """`ranking.json`."""

    task: str
    task_hash: str
    goal: str
    proposer: str
    models: list[str]
    seed: int
    device: str
    engine: str
    wall_s: float
    spend: Spend
    fitness: dict[str, Any]
    baselines: dict[str, Fit | None]
    candidates: list[Candidate] = field(default_factory=list)
    format: int = FORMAT

    def to_dict(self) -> dict[str, Any]:
        """Return the nested dict that is written, `format` first."""
        data = asdict(self)
        return {"format": data.pop("format"), **data}
