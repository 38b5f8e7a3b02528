"""Which task a goal text means.

Reads `task.toml` only and imports neither MuJoCo nor anything heavy: a typing error is answered at once.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from eureka_lite.task.signals import did_you_mean

STOP_WORDS = frozenset(
    "a an and as at by for from in into is it make of on onto or other please some that the then to up with".split()
)


class GoalError(ValueError):
    """A goal or task name that names no task, with the list of those there are."""


@dataclass(frozen=True)
class TaskSummary:
    """What finding a task needs of it."""

    name: str
    folder: Path
    goal: str
    words: tuple[str, ...]


def list_tasks(folder: Path) -> list[TaskSummary]:
    """The tasks of a folder in order of their names; broken ones have an empty goal and no words."""
    found = []
    for path in sorted(folder.glob("*/task.toml")):
        goal, words = "", ()
        try:
            data = tomllib.loads(path.read_text(encoding="utf-8"))
            goal, words = str(data.get("goal", "")), tuple(str(word) for word in data.get("words", ()))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, TypeError):
            pass  # named by hand, it is loaded and its mistake reported
        found.append(TaskSummary(path.parent.name, path.parent, goal, words))
    return found


def find_task(goal: str, tasks: Path, named: str | None = None) -> Path:
    """The folder of the task that is `named` (a name, or a folder with a task.toml), or else that the goal means.

    Raises:
        GoalError: there is none, or the goal could mean several; lists the tasks.
    """
    known = list_tasks(tasks)
    if named is not None:
        for task in known:
            if task.name == named:
                return task.folder
        if (Path(named) / "task.toml").is_file():
            return Path(named)
        near = did_you_mean(named, [task.name for task in known])
        where = f"{named} has no task.toml" if Path(named).is_dir() else f"there is no task {named!r}{near}"
        raise GoalError(f"{where}\n{_listed(known)}")
    scores = {task.folder: _score(goal, task) for task in known}
    best = max(scores.values(), default=0.0)
    winners = [folder for folder, score in scores.items() if score == best]
    if best > 0.0 and len(winners) == 1:
        return winners[0]
    why = "no task matches the goal" if best == 0.0 else "several tasks match the goal"
    raise GoalError(f"{why} {goal!r}\n{_listed(known)}")


def _score(goal: str, task: TaskSummary) -> float:
    """Words of the goal that the task knows; words of its own goal sentence count less, and not alone."""
    asked = {_stem(word) for word in _words(goal)}
    own = {_stem(word) for word in (*task.words, *_words(task.name.replace("_", " ")))}
    hits = len(asked & own)
    return hits + 0.1 * len(asked & {_stem(word) for word in _words(task.goal)}) if hits else 0.0


def _words(text: str) -> list[str]:
    return [word for word in re.findall(r"[^\W\d_]+", text.lower()) if word not in STOP_WORDS]


def _stem(word: str) -> str:
    word = word.lower()
    for ending in ("ings", "ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word.removesuffix(ending)
            break
    return word.removesuffix("e") if len(word) > 3 else word


def _listed(tasks: list[TaskSummary]) -> str:
    lines = [f"  {task.name:<12} {task.goal or '(task.toml cannot be read)'}" for task in tasks]
    return "\n".join(["name one with --task NAME, or give your own with --task FOLDER; there are:", *lines])
