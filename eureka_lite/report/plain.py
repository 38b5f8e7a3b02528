"""Output for pipes, logs and programs: plain lines, or one JSON object per event."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from rich.console import Console
from rich.text import Text

from eureka_lite.report.lines import describe, training_words
from eureka_lite.report.state import RunState
from eureka_lite.report.terminal import harmless
from eureka_lite.report.text import clock_time
from eureka_lite.store.events import Event

PROGRESS_EVERY_S = 10.0


class PlainReporter:
    """Prints one line per noteworthy event, and how training goes every ten seconds."""

    def __init__(self, console: Console, run: RunState | None = None, clock: Callable[[], float] = time.time) -> None:
        self.console = console
        self.run = run or RunState()
        harmless(console)
        self._clock = clock
        self._said = 0.0
        self._guard = threading.Lock()
        self._open = True

    def handle(self, event: Event) -> None:
        """Print an event, if it is worth a line."""
        with self._guard:
            line = describe(event, self.run)
            self.run.apply(event)
            if event.kind == "training_started":
                self._said = self._clock()
            if event.kind == "progress" and self._clock() - self._said >= PROGRESS_EVERY_S:
                self._said = self._clock()
                line = training_words(self.run, self._said), ""
            if line is not None and self._open:
                text = Text.assemble((clock_time(event.time), "dim"), " ", line)
                self._open = printed(self.console, text)

    def close(self) -> None:
        """Nothing is held back, so there is nothing to do."""


class JsonReporter:
    """Prints every event as one line of JSON, the same line as in the journal."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._guard = threading.Lock()
        self._open = True

    def handle(self, event: Event) -> None:
        """Print one event."""
        with self._guard:
            if self._open:
                self._open = printed(self.console, Text(event.to_json()))

    def close(self) -> None:
        """Nothing is held back, so there is nothing to do."""


def printed(console: Console, line: Text) -> bool:
    """Print one line, however long; False if the reader went away (`| head`).

    That must not end a run that is safe in its journal; rich would exit the program.
    """
    try:
        console.print(line, soft_wrap=True)
        console.file.flush()
    except (OSError, SystemExit):
        return False
    return True
