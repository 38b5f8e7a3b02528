"""The live screen as lines of text: a pure function of the run's state and the terminal's size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.text import Text

from eureka_lite.report.columns import Column, bar, cropped, joined, rule, table
from eureka_lite.report.lines import fit_words, proposer_words, spend_words
from eureka_lite.report.state import BASELINES, Row, RunState
from eureka_lite.report.text import UNICODE, Glyphs, clock_time, count, duration, number, roughly, sparkline

STYLES = {
    "trained": "green",
    "stopped": "magenta",
    "stopping": "magenta",
    "failed": "red",
    "no reply": "red",
    "rejected": "yellow",
    "duplicate": "yellow",
    "training": "cyan",
}

LogLine = tuple[float, str, str]
"""Time, text, style."""


def screen(
    run: RunState, log: Sequence[LogLine], width: int, height: int, now: float, glyphs: Glyphs = UNICODE
) -> list[Text]:
    """Draw the run in at most `height` lines of at most `width` cells.

    Short terminals lose the rules, then the log, then rows of the table; narrow ones lose columns.
    """
    roomy = height >= 20
    separator = [rule(width, glyphs=glyphs)] if roomy else []
    head = [*_head(run, width, now, glyphs), *separator]
    foot = [rule(width, glyphs=glyphs), _best(run, width, glyphs), _speed(run, width, glyphs), *separator]
    logged = max(1, height // 6)
    room = height - len(head) - len(foot) - logged - 1
    rows = _rows(run, width, room, glyphs) if room > 0 else []
    lines = [*head, *rows, *foot]
    lines += _log(log, width, height - len(lines), glyphs)
    return [cropped(line, width, glyphs) for line in lines[:height]]


def _head(run: RunState, width: int, now: float, glyphs: Glyphs) -> list[Text]:
    title = Text.assemble(("eureka-lite  ", "bold cyan") if width >= 60 else "", (run.goal or "no goal yet", "bold"))
    who = f"{'proposer: ' if width >= 60 else ''}{proposer_words(run.proposer, run.models)}"
    facts = [
        (2, Text(f"task {run.task}" if run.task else "")),
        (1, Text(who)),
        (3, Text(f"seed {run.seed}" if run.seed else "")),
    ]
    return [title, joined(facts, width, glyphs), _overall(run, width, now, glyphs)]


def _overall(run: RunState, width: int, now: float, glyphs: Glyphs) -> Text:
    """Show generation, phase, a bar over the whole run, elapsed and estimated time."""
    where = ""
    if run.generation:
        long = width >= 60
        where = (
            f"generation {run.generation} of {run.generations}" if long else f"gen {run.generation}/{run.generations}"
        )
    if run.ended is not None or run.final_started is not None:
        where = ""
    left = run.left(now)
    times = duration(run.elapsed(now))
    if width >= 76:
        times += " elapsed"
    if run.ended is None:
        guess = "time left unknown" if left is None else f"about {roughly(left)} left"
        times += f" {glyphs.dot} {guess}" if width >= 60 else "" if left is None else f" ~{roughly(left)}"
    style = {"failed": "bold red", "finished": "bold green"}.get(run.phase, "cyan")
    before = joined([(1, Text(where, style="bold")), (2, Text(run.phase, style=style))], max(8, width // 2), glyphs)
    space = width - before.cell_len - len(times) - 4
    middle = bar(_share(run), space, style, glyphs) if space >= 4 else Text("")
    return Text("  ").join(part for part in (before, middle, Text(times)) if part.plain)


def _share(run: RunState) -> float:
    """How much of the whole run is done; the final verdict counts as one generation."""
    if run.phase == "finished":
        return 1.0
    rows = run.visible()
    share = sum(row.share for row in rows) / len(rows) if rows else 0.0
    if run.final_started is not None:
        return (run.generations + share) / (run.generations + 1)
    return (max(0, run.generation - 1) + share) / (run.generations + 1) if run.generations > 0 else 0.0


def _rows(run: RunState, width: int, room: int, glyphs: Glyphs) -> list[Text]:
    """Draw the head of the table and at most `room` rows; what does not fit is summed up in the last one."""
    every = run.visible()
    rows, rest = (every, []) if len(every) <= room else _chosen(run, every, room - 1)
    narrow, curve = width < 60, 8 if width < 60 else 12 if width < 100 else 24
    points = [value for row in run.rows.values() for value in row.curve if value is not None]
    low, high = min(points, default=0.0), max(points, default=1.0)
    curves = [Text(sparkline(r.curve, curve, low, high, r.curve_points, glyphs), style="cyan") for r in rows]
    lengths = [Text(number(row.episode_length, "")) for row in rows]
    columns = [
        Column("", [_mark(run, row, glyphs) for row in rows]),
        Column("id", [Text(row.id, style="" if row.done else "bold") for row in rows], minimum=6, floor=6),
        Column("state", [_state(row, narrow) for row in rows], floor=9),
        Column("progress", [_progress(row, 8 if width < 100 else 12, glyphs) for row in rows], drop=9 if narrow else 3),
        Column("fitness", [_fitness(row) for row in rows], right=True, floor=7),
        Column("curve", curves, drop=4, floor=min(curve, max((r.curve_points for r in rows), default=0))),
        Column("95 % interval", [Text(_interval(row)) for row in rows], drop=8 if width < 100 else 2, floor=14),
        Column("length", lengths, drop=8 if width < 100 else 5, right=True),
        Column("note", [_remark(row) for row in rows], drop=7 if width < 70 else 0, minimum=20),
    ]
    lines = table(columns, width, glyphs, gap=1 if width < 60 else 2)
    if rest:
        states = ", ".join(f"{amount} {state}" for state, amount in Counter(row.state for row in rest).most_common())
        lines.append(Text(f"  and {len(rest)} more: {states}", style="dim"))
    return lines


def _chosen(run: RunState, rows: list[Row], room: int) -> tuple[list[Row], list[Row]]:
    """Show the best, whatever still works before what is done; keep the order."""
    sign = -1.0 if run.direction == "min" else 1.0

    def urgency(row: Row) -> tuple[bool, float]:
        return row.done and row.value is None, -sign * row.value if row.value is not None else float("inf")

    kept = {row.id for row in sorted(rows, key=urgency)[: max(0, room)]}
    return [row for row in rows if row.id in kept], [row for row in rows if row.id not in kept]


def _mark(run: RunState, row: Row, glyphs: Glyphs) -> Text:
    leader = run.leader()
    best = row.id == run.best or (leader is not None and row.id == leader.id and not run.best)
    return Text(glyphs.best if best else " ", style="bold yellow")


def _state(row: Row, narrow: bool) -> Text:
    """On narrow screens the share of the training stands here, too."""
    training = narrow and row.steps > 0.0 and not row.done
    return Text(f"{row.share:.0%}" if training else row.state, style=STYLES.get(row.state, ""))


def _progress(row: Row, width: int, glyphs: Glyphs) -> Text:
    if row.steps <= 0.0:
        return Text("")
    style = STYLES.get(row.state, "cyan")
    share = min(1.0, row.step / row.steps) if row.state in ("failed", "stopped") else row.share
    return bar(share, width, style, glyphs) + Text(f" {share:4.0%}")


def _fitness(row: Row) -> Text:
    return Text(number(row.value, ""), style="bold green" if row.selection else "")


def _interval(row: Row) -> str:
    words = fit_words(row.selection) if row.selection else ""
    return words[words.index("[") :] if "[" in words else ""


def _remark(row: Row) -> Text:
    style = STYLES.get(row.state, "") if row.state in ("failed", "rejected", "duplicate", "no reply") else "dim"
    return Text(row.note, style=style) if row.note else Text(", ".join(row.components), style="dim")


def _best(run: RunState, width: int, glyphs: Glyphs) -> Text:
    parts: list[tuple[int, Text]] = []
    if run.best:
        row = run.rows.get(run.best)
        measured = fit_words(row.selection) if row is not None and row.selection else number(run.best_fitness)
        label = f"{glyphs.best} best so far " if width >= 60 else f"{glyphs.best} "
        parts.append((1, Text.assemble((label, "yellow"), (run.best, "bold"), " ", (measured, "bold green"))))
    else:
        leader = run.leader()
        words = "none measured yet" if leader is None else f"{leader.id} {number(leader.fitness)} in training"
        parts.append((1, Text.assemble((f"{'best so far' if leader is None else 'leading'} ", "yellow"), words)))
    for index, name in enumerate(BASELINES):
        value = run.rows[name].value if name in run.rows else None
        if value is not None:
            parts.append((2 + index, Text.assemble((f"{name} ", "dim"), number(value))))
    return joined(parts, width, glyphs)


def _speed(run: RunState, width: int, glyphs: Glyphs) -> Text:
    speed = f"{count(run.speed)} {'world-steps/s' if width >= 60 else 'steps/s'}" if run.speed is not None else ""
    replies = f"{run.replies} {'reply' if run.replies == 1 else 'replies'}"
    return joined([(1, Text(speed)), (2, Text(spend_words(run, short=width < 60))), (3, Text(replies))], width, glyphs)


def _log(log: Sequence[LogLine], width: int, room: int, glyphs: Glyphs) -> list[Text]:
    """Draw the newest lines, oldest first."""
    lines: list[Text] = []
    for time, text, style in log[-room:] if room > 0 else []:
        stamp = f"{clock_time(time)}  " if width >= 60 else ""
        lines.append(cropped(Text.assemble((stamp, "dim"), (text, style)), width, glyphs))
    return lines
