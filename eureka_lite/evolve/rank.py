"""The ranking rule, in one place: by test where it was opened, then by selection."""

from __future__ import annotations

import numpy as np

from eureka_lite.evolve.record import Record
from eureka_lite.evolve.statistics import fit, human_normalized, tied
from eureka_lite.store.formats import Candidate


def best_first(records: list[Record], direction: str) -> list[Record]:
    """Trained records: those with a test first, each group by its mean, earlier ids first among equals."""
    sign = -1.0 if direction == "max" else 1.0

    def key(record: Record) -> tuple[bool, float, str]:
        assert record.selection is not None
        mean = record.selection.mean() if record.test is None else record.test.mean()
        return record.test is None, sign * float(mean), record.id

    return sorted((record for record in records if record.trained), key=key)


def ranked(records: list[Record], baselines: dict[str, Record], direction: str) -> list[Candidate]:
    """All candidates as rows of the ranking, ranked ones first."""
    order = best_first(records, direction)
    rest = [record for record in records if not record.trained]
    human, sparse = (baselines[name].test if name in baselines else None for name in ("human", "sparse"))
    rows = [_row(record, place, _ties(record, order), human, sparse) for place, record in enumerate(order, 1)]
    return rows + [_row(record, None, [], None, None) for record in rest]


def _ties(record: Record, order: list[Record]) -> list[str]:
    """Ids that cannot be told apart from this one on the same evidence."""
    found = []
    for other in order:
        pairs = [(record.test, other.test), (record.selection, other.selection)]
        mine, theirs = pairs[0] if record.test is not None else pairs[1]
        same = (record.test is None) == (other.test is None)
        if other is not record and same and mine is not None and theirs is not None and tied(mine, theirs):
            found.append(other.id)
    return found


def _row(
    record: Record, rank: int | None, ties: list[str], human: np.ndarray | None, sparse: np.ndarray | None
) -> Candidate:
    normalized = None if record.test is None else human_normalized(record.test, human, sparse)
    return Candidate(
        id=record.id,
        rank=rank,
        status=record.status or "failed",
        reason=record.reason,
        selection=None if record.selection is None else fit(record.selection),
        test=None if record.test is None else fit(record.test),
        tied_with=ties,
        human_normalized=normalized,
        parents=list(record.parents),
        stopped_at_step=None,
        flags=record.flags,
        hash=record.program.hash if record.program else None,
        reward=f"candidates/{record.id}/reward.py" if record.source is not None else None,
    )
