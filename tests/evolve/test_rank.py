"""The ranking rule: by test where it was opened, then by selection."""

import numpy as np

from eureka_lite.evolve.rank import best_first, ranked
from eureka_lite.evolve.record import Record

NOISE = np.random.default_rng(0).normal(0.0, 0.01, (1, 32))


def record(id: str, selection: float | None, test: float | None = None, status: str = "trained") -> Record:
    def values(mean):
        return None if mean is None else mean + NOISE

    return Record(id, 1, "def reward(s): return 1.0", status=status, selection=values(selection), test=values(test))


RECORDS = [
    record("g01c01", 0.9), record("g01c02", 0.8, 0.5), record("g01c03", 0.7, 0.6), record("g01c04", None, status="failed"),
    record("g01c05", 0.95), record("g01c06", 0.9), record("g01c07", None, status="rejected"),
]  # fmt: skip


def test_tested_candidates_come_first():
    assert [r.id for r in best_first(RECORDS, "max")] == ["g01c03", "g01c02", "g01c05", "g01c01", "g01c06"]


def test_where_less_is_better_the_order_turns():
    assert [r.id for r in best_first(RECORDS, "min")] == ["g01c02", "g01c03", "g01c01", "g01c06", "g01c05"]


def test_rows_of_the_ranking():
    rows = ranked(RECORDS, {"human": record("human", 0.8, 0.8), "sparse": record("sparse", 0.1, 0.2)}, "max")
    assert [row.rank for row in rows] == [1, 2, 3, 4, 5, None, None]
    assert [row.status for row in rows[-2:]] == ["failed", "rejected"]
    assert rows[3].tied_with == ["g01c06"] and rows[4].tied_with == ["g01c01"]
    assert rows[0].tied_with == []
    assert abs(rows[0].human_normalized["value"] - (0.6 - 0.2) / 0.6) < 1e-9
    assert rows[2].test is None and rows[2].human_normalized is None
    assert rows[-1].selection is None
