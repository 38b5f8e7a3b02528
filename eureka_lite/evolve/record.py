"""What the loop knows of one candidate or baseline."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from eureka_lite.reward import Program
from eureka_lite.store.formats import Flag, Status


@dataclass
class Record:
    """One candidate ("g01c03"), or "human" or "sparse".

    Attributes:
        source: its program's text; None for the sparse baseline and where no program came.
        status: None until it is decided.
        selection: fitness [1, worlds] on the selection worlds.
        test: fitness [seeds, worlds] on the sealed worlds.
        result: what the worker said of its training.
        feedback: the reflection text.
    """

    id: str
    generation: int = 0
    source: str | None = None
    program: Program | None = None
    parents: tuple[str, ...] = ()
    status: Status | None = None
    reason: str | None = None
    selection: np.ndarray | None = None
    test: np.ndarray | None = None
    result: dict[str, Any] = field(default_factory=dict)
    feedback: str = ""
    flags: list[Flag] = field(default_factory=list)

    @property
    def trained(self) -> bool:
        """Whether it was trained and measured."""
        return self.status == "trained" and self.selection is not None

    @property
    def fitness(self) -> float:
        """Mean on the selection worlds; NaN if it has none."""
        return float("nan") if self.selection is None else float(self.selection.mean())
