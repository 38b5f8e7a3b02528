"""A run's folder: the journal, the candidates' files and the ranking.

Bottom of the package: knows where things lie and how they get there whole, not what they mean. A folder is a run once
it has a run.toml, which is written last. Reading takes no lock; the first write does, and holds it until `close`.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import re
import shutil
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from eureka_lite.store.events import Event, finite
from eureka_lite.store.files import DiskFullError, StoreError, append_line, read_text, storing, write_atomic
from eureka_lite.store.find import find_run
from eureka_lite.store.formats import FORMAT, Ranking
from eureka_lite.store.lock import acquire, holder, release
from eureka_lite.store.ranking import ranking_from_dict
from eureka_lite.store.toml import to_toml

_PACKAGES = ("eureka-lite", "mujoco", "mujoco-warp", "warp-lang", "torch", "numpy", "openai")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@-]*")


class RunFolder:
    """One run on disk.

    Attributes:
        path: the folder.
        info: what run.toml says: format, task, created, versions, settings.
    """

    def __init__(self, path: Path, info: dict[str, Any]) -> None:
        self.path = path
        self.info = info
        self._lock: int | None = None
        self._writing = threading.RLock()

    @classmethod
    def create(cls, root: Path, task_name: str, task_folder: Path, settings: dict[str, Any]) -> RunFolder:
        """Make `root/<time>-<task>/` with a copy of the task and the settings; the new run is locked for writing.

        Settings that are None are left out of run.toml. Raises StoreError and leaves no half-made folder behind.
        """
        if root.resolve().is_relative_to(task_folder.resolve()):
            raise StoreError(f"the runs folder {root} lies inside the task folder {task_folder}; choose another --out")
        now = datetime.now(UTC)
        created = {"format": FORMAT, "task": task_name, "created": now.isoformat(timespec="microseconds")}
        info = {**created, "versions": _versions(), "settings": settings}
        text = to_toml(info)
        path = _new_folder(root, f"{now.astimezone():%Y%m%d-%H%M%S}-{_safe(task_name)}")
        run = cls(path, tomllib.loads(text))
        try:
            run.lock()
            _copy_task(task_folder, run.task_folder)
            with storing(path, "write"):
                (path / "candidates").mkdir()
                (path / "journal.jsonl").touch()
            write_atomic(path / "run.toml", text)
        except BaseException:
            run.close()
            shutil.rmtree(path, ignore_errors=True)
            raise
        return run

    @classmethod
    def open(cls, path: Path | str, root: Path = Path("runs")) -> RunFolder:
        """Open an existing run, named as in `find_run`; StoreError if there is none or its format is another."""
        folder = find_run(str(path), root)
        file = folder / "run.toml"
        try:
            info = tomllib.loads(read_text(file) or "")
        except tomllib.TOMLDecodeError as error:
            raise StoreError(f"{file} is damaged: {error}") from error
        if info.get("format") != FORMAT:
            found = f"has format {info['format']}" if "format" in info else "names no format"
            raise StoreError(f"{file} {found}, this program reads format {FORMAT}; use the version that wrote it")
        return cls(folder, info)

    @property
    def name(self) -> str:
        """The folder's own name."""
        return self.path.resolve().name

    @property
    def settings(self) -> dict[str, Any]:
        """Every resolved setting; those that were None are absent."""
        return self.info.get("settings", {})

    @property
    def task_folder(self) -> Path:
        """The run's own copy of the task."""
        return self.path / "task"

    @property
    def ranking_path(self) -> Path:
        """Where the ranking lies once it is written."""
        return self.path / "ranking.json"

    def lock(self) -> None:
        """Claim the run for writing; StoreError names the process that already writes to it."""
        if self._lock is None:
            self._lock = acquire(self.path / ".lock")

    def close(self) -> None:
        """Give up the lock, if it is held."""
        if self._lock is not None:
            release(self._lock)
            self._lock = None

    def writer(self) -> str | None:
        """Id of the process that writes to the run now, or None."""
        return str(os.getpid()) if self._lock is not None else holder(self.path / ".lock")

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def journal(self, event: Event) -> None:
        """Add one event; it is on disk when this returns."""
        with self._write():
            append_line(self.path / "journal.jsonl", event.to_json())

    def events(self) -> list[Event]:
        """Read all events of the journal, in order.

        A line torn by a crash at the end is left out; a damaged one before it is replaced by a `note` that says so.
        """
        file = self.path / "journal.jsonl"
        with storing(file, "read"):
            *lines, rest = file.read_bytes().split(b"\n")
        found: list[Event] = []
        for number, line in enumerate([*lines, rest], 1):
            event = _event(line)
            if event is not None:
                found.append(event)
            elif line.strip() and number <= len(lines):
                text = f"line {number} of {file.name} is damaged and was skipped"
                found.append(Event("note", {"text": text}, found[-1].time if found else 0.0))
        return found

    def candidate(self, id: str, make: bool = False) -> Path:
        """Return the folder of a candidate or baseline; `make` it if it is not there yet."""
        folder = self.path / "candidates" / _checked(id)
        if make:
            with self._write(), storing(folder, "write"):
                folder.mkdir(parents=True, exist_ok=True)
        return folder

    def candidates(self) -> list[str]:
        """Ids of all that have a folder, sorted."""
        folder = self.path / "candidates"
        if not folder.is_dir():
            return []
        with storing(folder, "read"):
            return sorted(item.name for item in folder.iterdir() if item.is_dir() and _NAME.fullmatch(item.name))

    def write_text(self, id: str, name: str, text: str) -> Path:
        """Write a candidate's file whole; returns its path."""
        file = self.candidate(id, make=True) / _checked(name)
        with self._write():
            write_atomic(file, text)
        return file

    def write_json(self, id: str, name: str, value: Any) -> Path:
        """Write a candidate's JSON file whole; non-finite numbers become null."""
        return self.write_text(id, name, _json(value))

    def append_jsonl(self, id: str, name: str, value: Any) -> None:
        """Add one line of JSON to a candidate's file."""
        file = self.candidate(id, make=True) / _checked(name)
        with self._write():
            append_line(file, json.dumps(finite(value), allow_nan=False))

    def read_candidate(self, id: str, name: str) -> Any:
        """Read a candidate's file: parsed for .json, the whole lines for .jsonl, else its text; None if it is missing.

        Raises StoreError if it is damaged.
        """
        file = self.candidate(id) / _checked(name)
        text = read_text(file)
        if text is None or file.suffix not in (".json", ".jsonl"):
            return text
        if file.suffix == ".json":
            return _parsed(text, file)
        *lines, _ = text.split("\n")
        return [value for value in map(_value, lines) if value is not None]

    def write_ranking(self, ranking: Ranking) -> Path:
        """Write ranking.json whole; returns its path."""
        with self._write():
            write_atomic(self.ranking_path, _json(ranking.to_dict()))
        return self.ranking_path

    def read_ranking(self) -> Ranking | None:
        """Read the ranking; None if the run has none yet, StoreError if it is damaged."""
        text = read_text(self.ranking_path)
        if text is None:
            return None
        try:
            return ranking_from_dict(_parsed(text, self.ranking_path))
        except ValueError as error:
            raise StoreError(f"{self.ranking_path} is damaged: {error}") from error

    def finished(self) -> list[str]:
        """Ids of the candidates that have a result on disk."""
        return [id for id in self.candidates() if (self.path / "candidates" / id / "result.json").is_file()]

    @contextmanager
    def _write(self) -> Iterator[None]:
        """Hold the lock for a write, and say what is safe when the disk is full."""
        with self._writing:
            self.lock()
            try:
                yield
            except DiskFullError as error:
                count = len(self.finished())
                kept = f"{count} finished candidate{' is' if count == 1 else 's are'}"
                raise DiskFullError(f"{error}; {kept} in {self.path}") from error


def _new_folder(root: Path, name: str) -> Path:
    with storing(root / name, "write"):
        root.mkdir(parents=True, exist_ok=True)
        number = 1
        while True:
            path = root / (name if number == 1 else f"{name}-{number}")
            try:
                path.mkdir()
                return path
            except FileExistsError:
                number += 1


def _copy_task(source: Path, target: Path) -> None:
    def copy(file: str, copied: str) -> None:
        # copytree gathers OSErrors into one unreadable list; a StoreError passes straight through
        with storing(Path(copied), "write"):
            shutil.copyfile(file, copied)

    with storing(source, "copy"):
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"), copy_function=copy)


def _versions() -> dict[str, str]:
    """Versions of Python and of the packages a result may depend on, read without importing them."""
    found = {"python": platform.python_version(), "platform": platform.platform()}
    for package in _PACKAGES:
        with suppress(importlib.metadata.PackageNotFoundError):
            found[package] = importlib.metadata.version(package)
    return found


def _safe(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-.") or "task"


def _checked(name: str) -> str:
    """Return a name that stays inside its folder."""
    if not _NAME.fullmatch(name):
        raise StoreError(f"{name!r} is no candidate id or file name of a run")
    return name


def _json(value: Any) -> str:
    return json.dumps(finite(value), allow_nan=False, indent=1) + "\n"


def _parsed(text: str, file: Path) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise StoreError(f"{file} is damaged: {error}") from error


def _value(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _event(line: bytes) -> Event | None:
    try:
        event = Event.from_json(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event.kind, str) and isinstance(event.time, int | float) else None
