"""Which run a person means.

Bottom of the package: knows only that a folder with a run.toml is a run.
"""

from __future__ import annotations

import tomllib
from contextlib import suppress
from pathlib import Path

from eureka_lite.store.files import StoreError, read_text, storing


def find_run(text: str, root: Path) -> Path:
    """Find the folder of a run: a path to it, its name in `root`, a unique beginning of that name, or `last`.

    Raises StoreError with what there is instead.
    """
    path = Path(text)
    if text and _is_run(path):
        return path
    runs = {item.name: item for item in _listed(root) if _is_run(item)}
    if text == "last" and runs:
        return max(runs.values(), key=_created)
    if text in runs:
        return runs[text]
    matches = sorted(name for name in runs if text and name.startswith(text))
    if len(matches) == 1:
        return runs[matches[0]]
    if matches:
        raise StoreError(f"{text!r} could be {_some(matches)}: type more of the name")
    if text and path.is_dir():
        raise StoreError(f"{path} is no run: it has no run.toml")
    if not runs:
        raise StoreError(f"there is no run {text!r}: {root} holds no runs yet; `eureka-lite design` starts one")
    raise StoreError(f"there is no run {text!r} in {root}: it holds {_some(sorted(runs, reverse=True))}")


def _listed(root: Path) -> list[Path]:
    if not root.is_dir():
        return []
    with storing(root, "read"):
        return list(root.iterdir())


def _is_run(path: Path) -> bool:
    try:
        return (path / "run.toml").is_file()
    except (OSError, ValueError):
        return False


def _created(path: Path) -> tuple[str, str]:
    """Sort key: the time in run.toml, then the name; a damaged run.toml sorts first."""
    with suppress(StoreError, tomllib.TOMLDecodeError):
        return str(tomllib.loads(read_text(path / "run.toml") or "").get("created", "")), path.name
    return "", path.name


def _some(names: list[str]) -> str:
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
