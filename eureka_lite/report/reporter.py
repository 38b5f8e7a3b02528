"""The Reporter protocol: who shows a run while it goes on, and the choice among those there are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, Protocol

from rich.console import Console

from eureka_lite.report.live import LiveReporter
from eureka_lite.report.plain import JsonReporter, PlainReporter
from eureka_lite.report.state import RunState, direction_of
from eureka_lite.store.events import Event

Mode = Literal["live", "plain", "json"]


class Reporter(Protocol):
    """Shows events as they happen. It may be called from any thread and never raises because of what an event says."""

    def handle(self, event: Event) -> None:
        """Show one event."""
        ...

    def close(self) -> None:
        """Show what is left to show and give the terminal back; calling it twice does no harm."""
        ...


def make_reporter(
    mode: Mode, console: Console, settings: dict[str, Any] | None = None, past: Iterable[Event] = ()
) -> Reporter:
    """Make the reporter for a console.

    `live` becomes `plain` where there is no terminal to draw on. `settings` are the run's, for what events do not say
    (`direction` of the fitness). `past` are the events of a resumed run: taken in, not shown again.
    """
    if mode == "json":
        return JsonReporter(console)
    run = RunState(direction=direction_of(settings) or "max")
    for event in past:
        run.apply(event)
    run.pause()
    if mode == "plain" or not console.is_terminal or console.is_dumb_terminal:
        return PlainReporter(console, run)
    return LiveReporter(console, run)
