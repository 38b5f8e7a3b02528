"""What is known of a run after some of its events.

Folds events into one picture that the live screen, the plain lines and the review of an unfinished run all draw from.
Knows no terminal. Never raises on an unknown kind, a missing key or a wrong type.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from eureka_lite.report.fields import interval_of, mapping, number_of, text_of, texts_of
from eureka_lite.store.events import Event

DONE = ("trained", "stopped", "duplicate", "rejected", "failed")
BASELINES = ("human", "sparse")


@dataclass
class Row:
    """One candidate, baseline or final retraining."""

    id: str
    state: str = "asked"
    step: float = 0.0
    steps: float = 0.0
    fitness: float | None = None
    episode_length: float | None = None
    curve: list[float | None] = field(default_factory=list)
    curve_points: int = 0
    note: str = ""
    selection: dict[str, Any] | None = None
    components: list[str] = field(default_factory=list)

    @property
    def done(self) -> bool:
        """Whether nothing more is expected of it."""
        return self.state in DONE

    @property
    def share(self) -> float:
        """How much of its training is behind it, 0 to 1."""
        if self.done:
            return 1.0
        return min(1.0, max(0.0, self.step / self.steps)) if self.steps > 0.0 else 0.0

    @property
    def value(self) -> float | None:
        """Fitness on the selection worlds, or while that is unknown the one of training."""
        measured = number_of(self.selection, "mean")
        return self.fitness if measured is None else measured


@dataclass
class RunState:
    """A run as far as it is known.

    Attributes:
        rows: everything that has an id, by id.
        shown: ids of the generation or final that is going on.
        direction: `max` or `min`, whether more fitness is better.
        spans: seconds that each finished generation took.
        past_s: seconds of earlier sessions of a resumed run.
    """

    goal: str = ""
    task: str = ""
    proposer: str = ""
    models: list[str] = field(default_factory=list)
    seed: str = ""
    direction: str = "max"
    phase: str = "starting"
    generation: int = 0
    generations: int = 0
    rows: dict[str, Row] = field(default_factory=dict)
    shown: list[str] = field(default_factory=list)
    best: str = ""
    best_fitness: float | None = None
    prompt_tokens: float | None = None
    completion_tokens: float | None = None
    replies: int = 0
    speed: float | None = None
    started: float | None = None
    generation_started: float | None = None
    training_started: float | None = None
    final_started: float | None = None
    ended: float | None = None
    failure: str = ""
    ranking: str = ""
    spans: list[float] = field(default_factory=list)
    past_s: float = 0.0
    last: float = 0.0

    def apply(self, event: Event) -> None:
        """Take in one event; kinds that change nothing here are ignored."""
        if self.started is None and event.kind != "run_started":
            self.started = event.time
        update = _UPDATES.get(event.kind)
        if update is not None:
            update(self, mapping(event.data), event.time)
        self.last = max(self.last, event.time)

    def pause(self) -> None:
        """End a session: time counts again from the next event on."""
        if self.started is not None:
            self.past_s += max(0.0, self.last - self.started)
        self.started = self.generation_started = self.training_started = self.ended = None
        self.speed = None

    def row(self, id: str) -> Row:
        """Find or make the row of an id."""
        return self.rows.setdefault(id, Row(id))

    def visible(self) -> list[Row]:
        """Rows of what is going on, candidates in order, baselines last."""
        rows = [self.rows[id] for id in self.shown if id in self.rows]
        return sorted(rows, key=lambda row: row.id.split("@")[0] in BASELINES)

    def leader(self) -> Row | None:
        """Best candidate of those in training, by the fitness of its training worlds."""
        rows = [row for row in self.visible() if row.fitness is not None and row.id not in BASELINES]
        sign = -1.0 if self.direction == "min" else 1.0
        return max(rows, key=lambda row: sign * (row.fitness or 0.0), default=None)

    def best_interval(self) -> tuple[float, float] | None:
        """95 % interval of the best so far, if it is known."""
        return interval_of(self.rows[self.best].selection) if self.best in self.rows else None

    def elapsed(self, now: float) -> float:
        """Seconds that the run has worked, without the pauses between sessions."""
        if self.started is None:
            return self.past_s
        return self.past_s + max(0.0, (now if self.ended is None else self.ended) - self.started)

    def left(self, now: float) -> float | None:
        """Estimate the seconds until the run ends; None while there is nothing to go by.

        A generation takes what the earlier ones took, or what the share of its training done so far foretells; the
        final verdict counts as one more generation.
        """
        if self.ended is not None or self.generation < 1:
            return None
        start = self.final_started if self.final_started is not None else self.generation_started
        rows = self.visible()
        share = sum(row.share for row in rows) / len(rows) if rows else 0.0
        whole = sum(self.spans) / len(self.spans) if self.spans else None
        rest = None if whole is None or start is None else max(0.0, whole - (now - start))
        if self.training_started is not None and share >= 0.03:
            rest = (now - self.training_started) * (1.0 - share) / share
            if whole is None:
                whole = now - (self.training_started if start is None else start) + rest
        if rest is None or whole is None:
            return rest if self.final_started is not None else None
        return (
            rest if self.final_started is not None else rest + whole * (max(0, self.generations - self.generation) + 1)
        )


def _run_started(run: RunState, data: dict[str, Any], time: float) -> None:
    if run.started is not None:  # a resumed run: what it did before counts, the pause does not
        run.past_s += max(0.0, run.last - run.started)
    run.started, run.ended, run.failure = time, None, ""
    run.phase = "starting"
    run.goal = text_of(data, "goal", run.goal)
    run.task = text_of(data, "task", run.task)
    run.proposer = text_of(data, "proposer", run.proposer)
    run.models = texts_of(data, "models") or run.models
    run.seed = text_of(data, "seed", run.seed)
    run.direction = direction_of(data) or direction_of(data.get("settings")) or run.direction


def direction_of(data: Any) -> str:
    """Find `max` or `min` in settings: as `direction` itself or inside `fitness`; empty if it is not said."""
    for table in (mapping(mapping(data).get("fitness")), mapping(data)):
        if table.get("direction") in ("max", "min"):
            return str(table["direction"])
    return ""


def _generation_started(run: RunState, data: dict[str, Any], time: float) -> None:
    run.generation = int(number_of(data, "generation") or run.generation + 1)
    run.generations = int(number_of(data, "generations") or run.generations)
    run.shown = texts_of(data, "ids")
    for id in run.shown:
        run.row(id)
    run.phase = "proposing"
    run.generation_started, run.training_started = time, None
    run.speed = None


def _reply_received(run: RunState, data: dict[str, Any], time: float) -> None:
    run.replies += 1
    prompt, completion = number_of(data, "prompt_tokens"), number_of(data, "completion_tokens")
    run.prompt_tokens = prompt if run.prompt_tokens is None else run.prompt_tokens + (prompt or 0)
    run.completion_tokens = completion if run.completion_tokens is None else run.completion_tokens + (completion or 0)
    row, error = run.row(text_of(data, "id", "?")), text_of(data, "error")
    if not row.done:
        row.state, row.note = ("no reply" if error else "replied"), error or row.note


def _candidate_checked(run: RunState, data: dict[str, Any], time: float) -> None:
    row, status = run.row(text_of(data, "id", "?")), text_of(data, "status")
    row.components = texts_of(data, "components") or row.components
    row.state = status if status in ("rejected", "duplicate") else "checked"
    row.note = text_of(data, "reason", row.note)
    run.phase = "checking"


def _candidate_probed(run: RunState, data: dict[str, Any], time: float) -> None:
    row = run.row(text_of(data, "id", "?"))
    row.state = row.state if row.done else "probed"
    row.note = "; ".join(texts_of(data, "notes")) or row.note
    run.phase = "probing"


def _compiling(run: RunState, data: dict[str, Any], time: float) -> None:
    run.phase = "compiling"


def _training_started(run: RunState, data: dict[str, Any], time: float) -> None:
    steps, points = number_of(data, "steps") or 0.0, int(number_of(data, "curve_points") or 0)
    for id in texts_of(data, "ids"):
        row = run.row(id)
        row.state, row.step, row.steps, row.curve_points = "training", 0.0, steps, points
        row.curve = []
        if id not in run.shown:
            run.shown.append(id)
    run.phase = "final verdict" if run.final_started is not None else "training"
    run.training_started = time if run.training_started is None else run.training_started


def _progress(run: RunState, data: dict[str, Any], time: float) -> None:
    step, steps = number_of(data, "step"), number_of(data, "steps")
    run.speed = number_of(data, "world_steps_per_s") or run.speed
    for id, measured in mapping(data.get("candidates")).items():
        row = run.row(text_of({"id": id}, "id"))
        if row.done:
            continue
        row.step, row.steps = row.step if step is None else step, row.steps if steps is None else steps
        _measured(row, measured)
        row.state = "stopping" if mapping(measured).get("alive") is False else "training"


def _curve_point(run: RunState, data: dict[str, Any], time: float) -> None:
    row = run.row(text_of(data, "id", "?"))
    _measured(row, data)
    row.curve.append(number_of(data, "fitness"))
    row.step = max(row.step, number_of(data, "step") or 0.0)
    row.components = list(mapping(data.get("components"))) or row.components


def _measured(row: Row, data: Any) -> None:
    fitness, length = number_of(data, "fitness"), number_of(data, "episode_length")
    row.fitness = row.fitness if fitness is None else fitness
    row.episode_length = row.episode_length if length is None else length


def _candidate_failed(run: RunState, data: dict[str, Any], time: float) -> None:
    row = run.row(text_of(data, "id", "?"))
    row.state, row.note = "failed", text_of(data, "reason", row.note)


def _candidate_finished(run: RunState, data: dict[str, Any], time: float) -> None:
    row, status = run.row(text_of(data, "id", "?")), text_of(data, "status")
    row.state = status if status in DONE else "trained"
    row.note = text_of(data, "reason", row.note)
    row.selection = mapping(data.get("selection")) or None
    run.phase = run.phase if run.final_started is not None else "measuring"


def _generation_finished(run: RunState, data: dict[str, Any], time: float) -> None:
    run.best = text_of(data, "best_so_far", run.best)
    fitness = number_of(data, "best_so_far_fitness")
    run.best_fitness = run.best_fitness if fitness is None else fitness
    if run.generation_started is not None:
        run.spans.append(max(0.0, time - run.generation_started))
    run.phase = "reflecting"


def _final_started(run: RunState, data: dict[str, Any], time: float) -> None:
    run.phase, run.final_started, run.training_started = "final verdict", time, None
    run.shown, run.speed = [], None


def _run_finished(run: RunState, data: dict[str, Any], time: float) -> None:
    run.phase, run.ended, run.speed = "finished", time, None
    for row in run.visible():
        row.state = "trained" if row.state == "training" else row.state
    run.ranking = text_of(data, "ranking")


def _run_failed(run: RunState, data: dict[str, Any], time: float) -> None:
    run.phase, run.ended = "failed", time
    run.failure = text_of(data, "reason", "no reason given")


_UPDATES: dict[str, Callable[[RunState, dict[str, Any], float], None]] = {
    "run_started": _run_started,
    "generation_started": _generation_started,
    "reply_received": _reply_received,
    "candidate_checked": _candidate_checked,
    "candidate_probed": _candidate_probed,
    "compiling": _compiling,
    "training_started": _training_started,
    "progress": _progress,
    "curve_point": _curve_point,
    "candidate_failed": _candidate_failed,
    "candidate_finished": _candidate_finished,
    "generation_finished": _generation_finished,
    "final_started": _final_started,
    "run_finished": _run_finished,
    "run_failed": _run_failed,
}
