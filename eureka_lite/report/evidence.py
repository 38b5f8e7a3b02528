"""What a run folder can tell, finished or not, whole or damaged.

Reads the ranking if there is one, else builds a provisional one from the journal and the candidates' files. What could
not be read is listed, never raised. Knows no terminal.
"""

from __future__ import annotations

import tomllib
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from eureka_lite.report.fields import mapping, number_of, text_of, texts_of
from eureka_lite.report.state import BASELINES, DONE, RunState, direction_of
from eureka_lite.store.files import StoreError, read_text
from eureka_lite.store.formats import Candidate, Fit, Flag, Ranking
from eureka_lite.store.ranking import fit_from_dict
from eureka_lite.store.run import RunFolder


@dataclass
class Entry:
    """One candidate or baseline as the review shows it; what is unknown is None or empty."""

    id: str
    status: str
    rank: int | None = None
    reason: str = ""
    selection: Fit | None = None
    test: Fit | None = None
    tied_with: list[str] = field(default_factory=list)
    human: float | None = None
    parents: list[str] = field(default_factory=list)
    components: list[str] = field(default_factory=list)
    flags: list[Flag] = field(default_factory=list)


@dataclass
class Evidence:
    """All that is known of a run.

    Attributes:
        run: the folder.
        state: what the journal says.
        ranking: the final ranking, or None if there is none that can be read.
        entries: candidates, ranked ones first and in order.
        baselines: human and sparse, as far as they were measured.
        writer: id of the process that writes to it now, or None.
        problems: one line for each thing that is missing or damaged.
    """

    run: RunFolder
    state: RunState = field(default_factory=RunState)
    ranking: Ranking | None = None
    entries: list[Entry] = field(default_factory=list)
    baselines: list[Entry] = field(default_factory=list)
    writer: str | None = None
    problems: list[str] = field(default_factory=list)

    @property
    def finished(self) -> bool:
        """Whether the run came to its end."""
        return self.ranking is not None or self.state.phase == "finished"

    def read(self, id: str, name: str) -> Any:
        """Read a candidate's file; None if it is missing, and also if it is damaged, which becomes a problem."""
        try:
            return self.run.read_candidate(id, name)
        except StoreError as error:
            self.problem(str(error))
            return None

    def problem(self, text: str) -> None:
        """Note a problem once."""
        if text not in self.problems:
            self.problems.append(text)


def gather(run: RunFolder) -> Evidence:
    """Read all that the folder can tell."""
    evidence = Evidence(run, writer=run.writer())
    evidence.state.direction = _direction(run)
    try:
        for event in run.events():
            evidence.state.apply(event)
            if event.kind == "note" and "damaged" in text_of(event.data, "text"):
                evidence.problem(text_of(event.data, "text"))
    except StoreError as error:
        evidence.problem(str(error))
    try:
        evidence.ranking = run.read_ranking()
    except StoreError as error:
        evidence.problem(str(error))
    if evidence.state.phase == "finished" and evidence.ranking is None and not evidence.problems:
        evidence.problem(f"{run.ranking_path} is missing")
    if evidence.ranking is not None:
        entries = [_ranked(evidence, candidate) for candidate in evidence.ranking.candidates]
    else:
        entries = _provisional(evidence)
    evidence.entries = sorted(entries, key=lambda entry: (entry.rank is None, entry.rank or 0))
    evidence.baselines = [entry for name in BASELINES if (entry := _baseline(evidence, name)) is not None]
    return evidence


def _ranked(evidence: Evidence, candidate: Candidate) -> Entry:
    return Entry(
        id=text_of({"id": candidate.id}, "id", "?"),
        status=text_of({"status": candidate.status}, "status", "?"),
        rank=candidate.rank if isinstance(candidate.rank, int) else None,
        reason=text_of({"reason": candidate.reason}, "reason"),
        selection=candidate.selection,
        test=candidate.test,
        tied_with=texts_of({"ids": candidate.tied_with}, "ids"),
        human=number_of(candidate.human_normalized, "value"),
        parents=texts_of({"ids": candidate.parents}, "ids"),
        components=_components(evidence, candidate.id),
        flags=candidate.flags,
    )


def _provisional(evidence: Evidence) -> list[Entry]:
    """Rank by the fitness on the selection worlds what was measured so far."""
    state = evidence.state
    ids = dict.fromkeys([*state.rows, *evidence.run.candidates()])
    entries = [_unfinished(evidence, id) for id in ids if id not in BASELINES and "@" not in id]
    sign = -1.0 if state.direction == "min" else 1.0
    measured = [entry for entry in entries if entry.selection is not None and entry.status in ("trained", "stopped")]
    measured.sort(key=lambda entry: -sign * entry.selection.mean if entry.selection is not None else 0.0)
    for rank, entry in enumerate(measured, 1):
        entry.rank = rank
    return entries


def _unfinished(evidence: Evidence, id: str) -> Entry:
    row = evidence.state.rows.get(id)
    result = mapping(evidence.read(id, "result.json")) if _is_id(evidence, id) else {}
    status = text_of(result, "status") or (row.state if row is not None else "unknown")
    if row is not None and row.done and not result and status in ("trained", "stopped"):
        evidence.problem(f"candidates/{id}/result.json is missing or damaged")
    return Entry(
        id=id,
        status=status if status in DONE else f"{status} (unfinished)",
        reason=text_of(result, "reason") or (row.note if row is not None else ""),
        selection=_fit(result.get("selection")) or (_fit(row.selection) if row is not None else None),
        components=_components(evidence, id),
    )


def _baseline(evidence: Evidence, name: str) -> Entry | None:
    """Its fit in the ranking is one on the test worlds, if those were opened for anyone."""
    result = mapping(evidence.read(name, "result.json"))
    row = evidence.state.rows.get(name)
    selection = _fit(result.get("selection")) or (_fit(row.selection) if row is not None else None)
    final = evidence.ranking.baselines.get(name) if evidence.ranking is not None else None
    opened = any(entry.test is not None for entry in evidence.entries)
    if selection is None and final is None:
        return None
    return Entry(
        id=name,
        status="baseline",
        selection=selection if opened or selection is not None else final,
        test=final if opened else None,
        components=_components(evidence, name),
    )


def _components(evidence: Evidence, id: str) -> list[str]:
    row = evidence.state.rows.get(id)
    if row is not None and row.components:
        return row.components
    result = mapping(evidence.read(id, "result.json")) if _is_id(evidence, id) else {}
    return texts_of({"names": list(mapping(result.get("components")))}, "names")


def _is_id(evidence: Evidence, id: str) -> bool:
    try:
        return evidence.run.candidate(id).is_dir()
    except StoreError:
        return False


def _fit(data: Any) -> Fit | None:
    with suppress(KeyError, TypeError, ValueError):
        return fit_from_dict(data)
    return None


def _direction(run: RunFolder) -> str:
    """Read from the run's own copy of the task whether more fitness is better."""
    with suppress(StoreError, tomllib.TOMLDecodeError):
        return direction_of(tomllib.loads(read_text(run.task_folder / "task.toml") or "")) or "max"
    return "max"
