"""What the check of one text brings, for people and for programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from eureka_lite.reward.check import check
from eureka_lite.reward.constants import constant_names
from eureka_lite.reward.extract import extract
from eureka_lite.reward.problems import Problem, RewardError
from eureka_lite.reward.program import Program
from eureka_lite.task.signals import SignalTable


@dataclass(frozen=True)
class Verdict:
    """The outcome of a check.

    Attributes:
        verdict: accepted, refused or truncated (a reply that breaks off inside its program).
        program: what was accepted, or None.
        error: what was refused, or None.
        block: which part of a reply was taken, in words; "" for a program.
        used: signals that the program reads, in the order of the table.
        unused: the others.
    """

    verdict: Literal["accepted", "refused", "truncated"]
    program: Program | None = None
    error: RewardError | None = None
    block: str = ""
    used: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The verdict as `check --json` prints it."""
        program = self.program
        return {
            "accepted": program is not None,
            "verdict": self.verdict,
            "block": self.block or None,
            "components": list(program.outputs) if program else [],
            "signals": list(self.used),
            "unused_signals": list(self.unused),
            "constants": list(program.constants) if program else [],
            "constant_names": list(constant_names(program)) if program else [],
            "hash": program.hash if program else None,
            "notes": list(program.notes) if program else [],
            "errors": [
                {"line": p.line, "column": p.column, "code": p.code, "message": p.message, "hint": p.hint}
                for p in (self.error.problems if self.error else ())
            ],
        }


def judge(text: str, signals: SignalTable, file: str, reply: bool = False) -> Verdict:
    """Check a program, or with `reply` the program in a language model's reply."""
    block = ""
    if reply:
        found = extract(text)
        block = found.block
        if found.verdict != "found":
            why = "the reply breaks off inside the program" if found.verdict == "truncated" else block
            error = RewardError(file, text, [Problem(1, 1, 1, found.verdict, why)])
            return Verdict("truncated" if found.verdict == "truncated" else "refused", error=error, block=block)
        text = found.code
    try:
        program = check(text, signals, file=file)
    except RewardError as error:
        return Verdict("refused", error=error, block=block)
    used = tuple(s.name for s in signals.reading(program.signal_columns))
    return Verdict("accepted", program, None, block, used, tuple(n for n in signals.names if n not in used))
