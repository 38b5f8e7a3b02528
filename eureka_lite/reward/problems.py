"""What is wrong with a program: every mistake with its place, its reason and the nearest right thing."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """One mistake.

    Attributes:
        line: from 1.
        column: from 1.
        length: of the offending text.
        code: short name of the kind of mistake.
        message: what is wrong.
        hint: what to do, or "".
    """

    line: int
    column: int
    length: int
    code: str
    message: str
    hint: str = ""

    def __str__(self) -> str:
        return self.message + (f"; {self.hint}" if self.hint else "")


class RewardError(ValueError):
    """A program that was refused, with all its problems.

    Attributes:
        file: name of the program's file.
        problems: in the order of the text.
    """

    def __init__(self, file: str, source: str, problems: list[Problem]) -> None:
        self.file, self.source = file, source
        self.problems = tuple(sorted(problems, key=lambda p: (p.line, p.column)))
        super().__init__("\n".join(self._shown(problem) for problem in self.problems))

    @property
    def summary(self) -> str:
        """The first problem in one line, and how many more there are."""
        first = self.problems[0]
        more = len(self.problems) - 1
        return f"{self.file}:{first.line}:{first.column}: {first}" + (f" (and {more} more)" if more else "")

    def _shown(self, problem: Problem) -> str:
        head = f"{self.file}:{problem.line}:{problem.column}: {problem}"
        lines = self.source.splitlines()
        if not 1 <= problem.line <= len(lines):
            return head
        line = lines[problem.line - 1].replace("\t", " ")[:200]
        return f"{head}\n    {line}\n    {' ' * (problem.column - 1)}{'~' * max(1, problem.length)}"[:1200]
