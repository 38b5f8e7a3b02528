"""Where the files that travel with the package lie: in the package of a wheel, beside it in a source checkout."""

from __future__ import annotations

from pathlib import Path


def tasks_folder() -> Path:
    """The folder of the bundled tasks."""
    return _bundled("tasks")


def prompts_folder() -> Path:
    """The folder of the bundled prompt templates."""
    return _bundled("prompts")


def _bundled(name: str) -> Path:
    package = Path(__file__).resolve().parent
    for folder in (package / name, package.parent / name):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"the folder {name!r} is missing beside {package}; install eureka-lite again")
