"""The parent's side of a worker process: start it, ask it, outlive it.

Imports neither torch nor Warp. The worker gets no secrets: environment variables that look like keys stay here.
"""

from __future__ import annotations

import json
import os
import queue
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from eureka_lite.store.events import Event

SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|^(OPENAI|AZURE|ANTHROPIC|AWS|HF)_", re.IGNORECASE)
SILENCE_S = 1800.0
FAREWELL_S = 2.0


class WorkerError(RuntimeError):
    """The worker answered with an error."""


class WorkerDied(RuntimeError):
    """The worker process ended, or gave no sign of life, while it was asked for something."""


class Worker:
    """A worker process for one task folder.

    Args:
        folder: the task folder.
        threads: of engine, slices and torch.
        handle: gets every event that is not the answer.
    """

    def __init__(self, folder: Path, threads: int, handle: Callable[[Event], None]) -> None:
        self._folder, self._threads, self._handle = folder, threads, handle
        self._process: subprocess.Popen[str] | None = None
        self._events: queue.Queue[Event | None] = queue.Queue()
        self._complaints: list[str] = []
        self._jobs = 0

    def ask(self, do: str, **request: Any) -> Any:
        """Send a request and return its result; events of its progress go to `handle`.

        Raises:
            WorkerError: what the worker could not do.
            WorkerDied: how the process ended; the next `ask` starts a new one.
        """
        process = self._start()
        self._jobs += 1
        job = request.pop("name", None) or f"{do}-{self._jobs}"
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps({"job": job, "do": do, **request}) + "\n")
            process.stdin.flush()
        except OSError:
            raise self._died() from None
        while True:
            try:
                event = self._events.get(timeout=SILENCE_S)
            except queue.Empty:
                self.close()
                raise WorkerDied(f"the training process gave no sign of life for {SILENCE_S:g} s") from None
            if event is None:
                raise self._died()
            if event.kind == "result" and event.data.get("job") == job:
                return event.data["value"]
            if event.kind == "error" and event.data.get("job") == job:
                raise WorkerError(event.data["reason"])
            self._handle(event)

    def _start(self) -> subprocess.Popen[str]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self._events, self._complaints = queue.Queue(), []
        environment = {name: value for name, value in os.environ.items() if not SECRET.search(name)}
        # one OpenMP thread: more would spin while they wait and take the cores from the simulation
        environment |= {"OMP_WAIT_POLICY": "PASSIVE", "OMP_NUM_THREADS": "1"}
        package_root = str(Path(__file__).resolve().parents[2])
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [package_root, os.environ.get("PYTHONPATH")]))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "eureka_lite.work", str(self._folder), str(self._threads)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8",
            env=environment, start_new_session=True,
        )  # fmt: skip
        threading.Thread(target=self._read, args=(self._process, self._events), daemon=True).start()
        threading.Thread(target=self._read_complaints, args=(self._process, self._complaints), daemon=True).start()
        return self._process

    @staticmethod
    def _read(process: subprocess.Popen[str], events: queue.Queue[Event | None]) -> None:
        assert process.stdout is not None
        with process.stdout as lines:
            for line in lines:
                with suppress(ValueError):
                    events.put(Event.from_json(line))
        events.put(None)

    @staticmethod
    def _read_complaints(process: subprocess.Popen[str], complaints: list[str]) -> None:
        assert process.stderr is not None
        with process.stderr as lines:
            for line in lines:
                complaints.append(line.rstrip())
                del complaints[:-20]

    def _died(self) -> WorkerDied:
        code = self.close()
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        last = self._complaints[-1] if self._complaints else ""
        return WorkerDied(f"the training process died ({how})" + (f": {last}" if last else ""))

    def close(self) -> int:
        """End the process, kindly if it listens, and return its exit code."""
        process, self._process = self._process, None
        if process is None:
            return 0
        assert process.stdin is not None
        with suppress(OSError):  # what could not be sent to a dead process
            process.stdin.close()
        try:
            return process.wait(FAREWELL_S)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
