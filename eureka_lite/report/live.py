"""The live screen: a full terminal that is redrawn a few times per second while a run goes on."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from rich.console import Console
from rich.live import Live
from rich.text import Text

from eureka_lite.report.lines import describe
from eureka_lite.report.screen import LogLine, screen
from eureka_lite.report.state import RunState
from eureka_lite.report.terminal import harmless
from eureka_lite.store.events import Event

KEPT_LINES = 100


class LiveReporter:
    """Draws the run over the whole terminal and leaves the last picture behind when it is closed."""

    def __init__(
        self, console: Console, run: RunState | None = None, clock: Callable[[], float] = time.time, rate: float = 4.0
    ) -> None:
        self.console = console
        self.run = run or RunState()
        self.log: deque[LogLine] = deque(maxlen=KEPT_LINES)
        self._clock = clock
        self._glyphs = harmless(console)
        self._guard = threading.RLock()
        self._live = Live(console=console, screen=True, get_renderable=self.picture, refresh_per_second=rate)
        self._closed = False

    def handle(self, event: Event) -> None:
        """Take in one event; the next redraw shows it."""
        with self._guard:
            line = describe(event, self.run)
            if line is not None and line[1] != "dim":
                self.log.append((event.time, *line))
            self.run.apply(event)
        if not self._closed and not self._live.is_started:
            self._live.start(refresh=True)

    def close(self) -> None:
        """Leave the full screen and print the last picture once, to stay on the terminal."""
        if self._closed:
            return
        self._closed = True
        if self._live.is_started:
            with suppress(OSError, SystemExit):  # the terminal may be gone, the run is not
                self._live.stop()
                self.console.print(self.picture(spare=1))

    def picture(self, spare: int = 0) -> Text:
        """Draw the screen at the console's present size, with `spare` lines left for the prompt."""
        with self._guard:
            width, height = self.console.size
            lines = screen(self.run, tuple(self.log), width, max(1, height - spare), self._clock(), self._glyphs)
        return Text("\n", no_wrap=True).join(lines)
