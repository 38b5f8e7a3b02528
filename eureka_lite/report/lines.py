"""One line of text for each event that is worth one, the same for the screen's log and for plain output."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from eureka_lite.report.fields import interval_of, mapping, number_of, text_of, texts_of
from eureka_lite.report.state import RunState
from eureka_lite.report.text import count, duration, number, roughly
from eureka_lite.store.events import Event

Line = tuple[str, str]
"""A text and the style it is shown in; `dim` marks a detail that a crowded screen may leave out."""


def describe(event: Event, before: RunState) -> Line | None:
    """Say what an event means, given the run as it was before; None if it is not worth a line or unknown."""
    words = _WORDS.get(event.kind)
    return words(mapping(event.data), before) if words is not None else None


def proposer_words(name: str, models: list[str]) -> str:
    """Say plainly who writes the rewards."""
    if name.lower().startswith("offline"):
        return "offline grammar (no language model)"
    if name.lower().startswith("replay"):
        return "replay of saved replies (no language model is asked)"
    if models:
        return f"language model {', '.join(models)}"
    return name or "unknown"


def spend_words(run: RunState, short: bool = False) -> str:
    """Say what the run has cost in tokens."""
    if run.proposer.lower().startswith(("offline", "replay")):
        return f"no tokens: {run.proposer.split()[0].split(':')[0].lower()}"
    if run.prompt_tokens is None and run.completion_tokens is None:
        return "tokens unknown" if run.replies else "no tokens yet"
    spent, written = (count(tokens, "?", short) for tokens in (run.prompt_tokens, run.completion_tokens))
    return f"{spent} + {written} tokens" if short else f"tokens {spent} in, {written} out"


def fit_words(fit: Any) -> str:
    """Write a measured fitness with its interval: 0.912 [0.880, 0.944]."""
    interval = interval_of(fit)
    mean = number(number_of(fit, "mean"))
    return mean if interval is None else f"{mean} [{number(interval[0])}, {number(interval[1])}]"


def training_words(run: RunState, now: float) -> str:
    """Say how far the training that goes on has come."""
    rows = [row for row in run.visible() if row.steps > 0.0 and not row.done]
    parts = [f"{run.phase}:"]
    if rows:
        furthest = max(rows, key=lambda row: row.step)
        parts.append(f"step {count(furthest.step)} of {count(furthest.steps)},")
    if run.speed is not None:
        parts.append(f"{count(run.speed)} world-steps/s,")
    leader = run.leader()
    if leader is not None:
        parts.append(f"leading {leader.id} {number(leader.fitness)},")
    left = run.left(now)
    parts.append(f"{duration(run.elapsed(now))} elapsed" + ("" if left is None else f", about {roughly(left)} left"))
    return " ".join(parts)


def _run_started(data: dict[str, Any], run: RunState) -> Line:
    proposer = proposer_words(text_of(data, "proposer"), texts_of(data, "models"))
    seed = text_of(data, "seed")
    task = text_of(data, "task", "unknown")
    return f"run started: task {task}, proposer: {proposer}{f', seed {seed}' if seed else ''}", "bold"


def _generation_started(data: dict[str, Any], run: RunState) -> Line:
    wanted = _counted(len(texts_of(data, "ids")), "candidate")
    return f"generation {text_of(data, 'generation', '?')} of {text_of(data, 'generations', '?')}: {wanted}", "bold"


def _reply_received(data: dict[str, Any], run: RunState) -> Line:
    id, error = text_of(data, "id", "?"), text_of(data, "error")
    if error:
        return f"{id} no reply: {error}", "yellow"
    tokens = [number_of(data, "prompt_tokens"), number_of(data, "completion_tokens")]
    spent = "" if tokens == [None, None] else f", {count(tokens[0], '?')} tokens in, {count(tokens[1], '?')} out"
    return f"{id} written by {text_of(data, 'model', 'unknown')}{spent}", "dim"


def _candidate_checked(data: dict[str, Any], run: RunState) -> Line:
    id, status = text_of(data, "id", "?"), text_of(data, "status", "checked")
    if status in ("rejected", "duplicate"):
        return f"{id} {status}{_because(data)}", "yellow"
    components = ", ".join(texts_of(data, "components"))
    return f"{id} {status}{f': terms {components}' if components else ''}", "dim"


def _candidate_probed(data: dict[str, Any], run: RunState) -> Line | None:
    notes = "; ".join(texts_of(data, "notes"))
    return (f"{text_of(data, 'id', '?')} probe: {notes}", "yellow") if notes else None


def _candidate_failed(data: dict[str, Any], run: RunState) -> Line:
    where = [f"{key} {text_of(data, key)}" for key in ("quantity", "world", "step") if text_of(data, key)]
    place = f" ({', '.join(where)})" if where else ""
    return f"{text_of(data, 'id', '?')} failed{_because(data)}{place}", "red"


def _candidate_finished(data: dict[str, Any], run: RunState) -> Line | None:
    id, status = text_of(data, "id", "?"), text_of(data, "status", "finished")
    if id in run.rows and run.rows[id].state == status:
        return None  # already said when it was rejected or failed
    selection = mapping(data.get("selection"))
    measured = f": {fit_words(selection)} on selection worlds" if selection else ""
    style = {"trained": "green", "stopped": "green", "failed": "red"}.get(status, "yellow")
    return f"{id} {status}{measured}{_because(data)}", style


def _generation_finished(data: dict[str, Any], run: RunState) -> Line:
    best = f"best {text_of(data, 'best', 'none')} {number(number_of(data, 'best_fitness'), '')}".rstrip()
    so_far = f"{text_of(data, 'best_so_far', 'none')} {number(number_of(data, 'best_so_far_fitness'), '')}".rstrip()
    return f"generation {text_of(data, 'generation', '?')} done: {best}; best so far {so_far}", "bold green"


def _training_started(data: dict[str, Any], run: RunState) -> Line:
    steps, worlds = number_of(data, "steps"), number_of(data, "worlds")
    length = f" for {count(steps)} steps" if steps is not None else ""
    batch = f" in {_counted(int(worlds), 'world')} each" if worlds is not None else ""
    return f"training {_counted(len(texts_of(data, 'ids')), 'policy', 'policies')}{batch}{length}", ""


def _final_started(data: dict[str, Any], run: RunState) -> Line:
    seeds = data.get("seeds")
    number_of_seeds = len(seeds) if isinstance(seeds, list | tuple) else int(number_of(data, "seeds") or 0)
    fresh = f" with {_counted(number_of_seeds, 'fresh seed')}" if number_of_seeds else ""
    return f"final verdict on the sealed test worlds: retraining {', '.join(texts_of(data, 'ids'))}{fresh}", "bold"


def _run_finished(data: dict[str, Any], run: RunState) -> Line:
    ranking = text_of(data, "ranking")
    where = f"; ranking in {ranking}" if ranking else ""
    return f"finished in {duration(number_of(data, 'wall_s'))}{where}", "bold green"


def _worker_ready(data: dict[str, Any], run: RunState) -> Line:
    threads = text_of(data, "threads")
    engine = text_of(data, "engine", "unknown")
    return f"worker ready: engine {engine}{f', {threads} threads' if threads else ''}", ""


def _compiling(data: dict[str, Any], run: RunState) -> Line:
    return f"compiling {_counted(int(number_of(data, 'count') or 0), 'program')}", ""


def _run_failed(data: dict[str, Any], run: RunState) -> Line:
    return f"run failed{_because(data)}", "bold red"


def _error(data: dict[str, Any], run: RunState) -> Line:
    return f"error{_because(data)}", "red"


def _note(data: dict[str, Any], run: RunState) -> Line | None:
    text = text_of(data, "text")
    return (text, "") if text else None


def _because(data: dict[str, Any]) -> str:
    reason = text_of(data, "reason")
    return f": {reason}" if reason else ""


def _counted(amount: int, noun: str, plural: str = "") -> str:
    return f"{amount:,} {noun if amount == 1 else plural or noun + 's'}"


_WORDS: dict[str, Callable[[dict[str, Any], RunState], Line | None]] = {
    "run_started": _run_started,
    "generation_started": _generation_started,
    "reply_received": _reply_received,
    "candidate_checked": _candidate_checked,
    "candidate_probed": _candidate_probed,
    "candidate_failed": _candidate_failed,
    "candidate_finished": _candidate_finished,
    "generation_finished": _generation_finished,
    "training_started": _training_started,
    "final_started": _final_started,
    "run_finished": _run_finished,
    "run_failed": _run_failed,
    "worker_ready": _worker_ready,
    "compiling": _compiling,
    "error": _error,
    "note": _note,
}
