"""The command line as a person runs it: a process of its own, in a folder of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TINY = ("--candidates", "2", "--generations", "2", "--worlds", "8", "--steps", "3000", "--final-seeds", "2", "--plain")


def environment(**more: str) -> dict[str, str]:
    """This process's environment without a key or endpoint, with the package of this checkout."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI")}
    return {**kept, "PYTHONPATH": str(ROOT), "COLUMNS": "120", **more}


def start(cwd: Path, *arguments: str, **env: str) -> subprocess.Popen[str]:
    """Start `eureka-lite`."""
    return subprocess.Popen(
        [sys.executable, "-m", "eureka_lite", *arguments], cwd=cwd, env=environment(**env), text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def run(cwd: Path, *arguments: str, code: int = 0, **env: str) -> subprocess.CompletedProcess[str]:
    """Run `eureka-lite` and check its exit code."""
    process = start(cwd, *arguments, **env)
    out, err = process.communicate(timeout=300)
    assert process.returncode == code, f"exit code {process.returncode}, not {code}\n{out}\n{err}"
    assert "Traceback" not in out + err, err
    return subprocess.CompletedProcess(arguments, process.returncode, out, err)


def only_run(cwd: Path) -> Path:
    """The one run folder under `runs`."""
    (found,) = (path for path in (cwd / "runs").iterdir() if path.is_dir())
    return found


def ranking(folder: Path) -> dict:
    """A run's `ranking.json`."""
    return json.loads((folder / "ranking.json").read_text())


def events(folder: Path) -> list[dict]:
    """A run's journal."""
    return [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]
