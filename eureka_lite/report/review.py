"""The review of a run in the terminal: what came out, on what evidence, and what to type next."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from eureka_lite.report.candidate import component_lines, fact_lines
from eureka_lite.report.columns import Column, joined, rule, table
from eureka_lite.report.evidence import Entry, Evidence, gather
from eureka_lite.report.fields import number_of, text_of, texts_of
from eureka_lite.report.lines import proposer_words, spend_words
from eureka_lite.report.screen import STYLES
from eureka_lite.report.state import RunState
from eureka_lite.report.terminal import harmless
from eureka_lite.report.text import Glyphs, count, duration, number, printable
from eureka_lite.store.files import StoreError
from eureka_lite.store.formats import Fit
from eureka_lite.store.run import RunFolder


def review(run: RunFolder, console: Console, code: str | None = None) -> None:
    """Print what a run brought; with `code`, one candidate's reward and what its terms did instead.

    Shows what it can of a run that goes on, broke off or is damaged, and says what is missing. Raises StoreError if
    there is no candidate `code`.
    """
    glyphs, width = harmless(console), console.width
    evidence = gather(run)
    lines = _heading(evidence, width, glyphs)
    if code is not None:
        _known(evidence, code)
        entry = next((e for e in [*evidence.entries, *evidence.baselines] if e.id == code), Entry(code, "unknown"))
        _print(console, lines)
        _print_code(evidence, code, console, glyphs)
        _print(console, fact_lines(evidence, entry, width, glyphs) + component_lines(evidence, code, width, glyphs))
    else:
        _print(
            console,
            lines
            + _ranking(evidence, width, glyphs)
            + _flags(evidence, width, glyphs)
            + _unranked(evidence, console, glyphs),
        )
        best = next((entry.id for entry in evidence.entries if entry.rank is not None), None)
        if best is not None:
            _print_code(evidence, best, console, glyphs)
    _print(console, _problems(evidence, width, glyphs) + _next(evidence, code, width, glyphs))


def _heading(evidence: Evidence, width: int, glyphs: Glyphs) -> list[Text]:
    state, ranking, run = evidence.state, evidence.ranking, evidence.run
    proposer = printable(ranking.proposer) if ranking is not None else state.proposer
    models = texts_of({"models": ranking.models}, "models") if ranking is not None else state.models
    task = text_of({"task": ranking.task}, "task") if ranking is not None else state.task
    seed = text_of({"seed": ranking.seed}, "seed") if ranking is not None else state.seed
    goal = text_of({"goal": ranking.goal}, "goal") if ranking is not None else state.goal
    facts = [
        (2, Text(f"task {task or text_of(run.info, 'task', 'unknown')}")),
        (1, Text(f"{'proposer: ' if width >= 60 else ''}{proposer_words(proposer, models)}")),
        (3, Text(f"seed {seed or text_of(run.settings, 'seed', 'unknown')}")),
    ]
    lines = [Text(goal or "goal unknown", style="bold"), joined(facts, width, glyphs)]
    return [*lines, joined(_cost(evidence), width, glyphs), *_standing(evidence)]


def _cost(evidence: Evidence) -> list[tuple[int, Text]]:
    """Wall time, work and spend."""
    state, ranking = evidence.state, evidence.ranking
    if ranking is None:
        return [(1, Text(f"{duration(state.elapsed(state.last))} so far")), (2, Text(spend_words(state)))]
    spend = ranking.spend
    told = RunState(
        proposer=printable(ranking.proposer),
        prompt_tokens=spend.prompt_tokens,
        completion_tokens=spend.completion_tokens,
        replies=1,
    )
    return [
        (1, Text(f"finished in {duration(ranking.wall_s)}", style="green")),
        (2, Text(f"{count(spend.world_steps)} world-steps")),
        (2, Text(spend_words(told))),
        (3, Text(f"{spend.usd:.2f} USD" if spend.usd is not None else "")),
        (4, Text(f"engine {printable(ranking.engine)} on {printable(ranking.device)}")),
    ]


def _standing(evidence: Evidence) -> list[Text]:
    """Say that a run is not finished, and how far it came."""
    state = evidence.state
    if evidence.finished:
        return []
    if evidence.writer is not None and state.phase != "failed":
        where = f"process {evidence.writer}, generation {state.generation} of {state.generations}, {state.phase}"
        return [Text(f"RUNNING: {where}. What follows is provisional.", style="bold yellow")]
    if state.phase == "failed" and state.failure == "interrupted":
        return [Text("INTERRUPTED: what was finished follows.", style="bold yellow")]
    if state.phase == "failed":
        return [Text(f"FAILED: {state.failure}", style="bold red")]
    where = f"generation {state.generation} of {state.generations}, {state.phase}" if state.generation else state.phase
    return [Text(f"UNFINISHED: {where}. What follows is provisional.", style="bold yellow")]


def _ranking(evidence: Evidence, width: int, glyphs: Glyphs) -> list[Text]:
    ranked = [entry for entry in evidence.entries if entry.rank is not None]
    rows = [*ranked, *evidence.baselines]
    title = f"ranking{'' if evidence.finished else ' so far'}"
    fitness = evidence.ranking.fitness if evidence.ranking is not None else {}
    if text_of(fitness, "name"):
        more = "less" if fitness.get("direction") == "min" else "more"
        title += f" by {text_of(fitness, 'name')}, {more} is better"
    lines = [Text(""), rule(width, title, glyphs)]
    if not rows:
        return [*lines, Text("nothing is ranked yet" if not evidence.finished else "nothing could be ranked")]
    compared = _human_is_better(evidence.baselines, fitness.get("direction") == "min")
    columns = [
        Column("rank", [Text("-" if row.rank is None else str(row.rank), style="bold") for row in rows], right=True),
        Column("id", [Text(row.id, style="dim" if row.rank is None else "bold") for row in rows]),
        _fits("selection", [row.selection for row in rows], width, 0),
        _fits("test", [row.test for row in rows], width, 0 if any(row.test for row in rows) else 9),
        Column("of human", [Text(number(row.human, "") if compared else "") for row in rows], drop=3, right=True),
        _words("tied with", [row.tied_with for row in rows], 2),
        _words("parents", [row.parents for row in rows], 6),
        Column("status", [Text(row.status, style=STYLES.get(row.status, "dim")) for row in rows], drop=5),
        _words("terms", [row.components for row in rows], 7),
    ]
    shown = [column for column in columns if any(cell.plain for cell in column.cells)]
    return [*lines, *table(shown, width, glyphs), *_basis(rows)]


def _human_is_better(baselines: Sequence[Entry], less_is_better: bool) -> bool:
    """False where the sparse reward beats the human one: then the score normalized by both says nothing."""
    means = {entry.id: entry.test.mean for entry in baselines if entry.test is not None}
    if "human" not in means or "sparse" not in means:
        return True
    return means["human"] < means["sparse"] if less_is_better else means["human"] > means["sparse"]


def _fits(title: str, fits: Sequence[Fit | None], width: int, drop: int) -> Column:
    """Write means with their intervals; on narrow terminals the means alone."""
    cells: list[Text] = []
    for fit in fits:
        interval = f" [{number(fit.ci95[0])}, {number(fit.ci95[1])}]" if fit is not None and width >= 60 else ""
        cells.append(Text("" if fit is None else f"{number(fit.mean)}{interval}"))
    return Column(title, cells, drop=drop)


def _words(title: str, lists: Sequence[Sequence[str]], drop: int) -> Column:
    return Column(title, [Text(", ".join(words)) for words in lists], drop=drop, minimum=12)


def _basis(rows: Sequence[Entry]) -> list[Text]:
    """Say on how many worlds and training seeds the numbers rest."""
    lines: list[Text] = []
    for title, fits in (("selection", [row.selection for row in rows]), ("test", [row.test for row in rows])):
        known = [fit for fit in fits if fit is not None]
        if not known:
            continue
        worlds, seeds = max(fit.worlds for fit in known), min(fit.training_seeds for fit in known)
        words = f"{title}: {worlds:,} worlds, {seeds} training seed{'' if seeds == 1 else 's'} each"
        if seeds == 1:
            words += "; the interval says nothing of other seeds"
        lines.append(Text(words, style="dim"))
    return lines


def _flags(evidence: Evidence, width: int, glyphs: Glyphs) -> list[Text]:
    """Show the evidence against candidates, with what was measured."""
    rows = [(entry.id, flag) for entry in evidence.entries for flag in entry.flags]
    if not rows:
        return []
    columns = [
        Column("id", [Text(id) for id, _ in rows]),
        Column("flag", [Text(printable(flag.code), style="yellow") for _, flag in rows], minimum=10),
        Column("measured", [Text(number(number_of(vars(flag), "measured"))) for _, flag in rows], right=True),
        Column("threshold", [Text(number(number_of(vars(flag), "threshold"))) for _, flag in rows], right=True),
    ]
    return [Text(""), rule(width, "flags", glyphs), *table(columns, width, glyphs)]


def _unranked(evidence: Evidence, console: Console, glyphs: Glyphs) -> list[Text]:
    rows = [entry for entry in evidence.entries if entry.rank is None]
    if not rows:
        return []
    lines = [Text(""), rule(console.width, "not ranked", glyphs)]
    states = max(len(row.status) for row in rows)
    ids = max(len(row.id) for row in rows)
    for row in rows:
        head = Text.assemble(row.id.ljust(ids), "  ", (row.status.ljust(states), STYLES.get(row.status, "dim")), "  ")
        room = console.width - head.cell_len
        if room < 20:
            lines.append(head)
            head, room = Text("    "), console.width - 4
        wrapped = Text(row.reason or "no reason given", overflow="fold").wrap(console, max(1, room))
        for index, line in enumerate(wrapped):
            line.rstrip()
            lines.append((head if index == 0 else Text(" " * head.cell_len)) + line)
    return lines


def _print_code(evidence: Evidence, id: str, console: Console, glyphs: Glyphs) -> None:
    source = evidence.read(id, "reward.py")
    _print(console, [Text(""), rule(console.width, f"reward of {id}", glyphs)])
    if source is None:
        evidence.problem(f"candidates/{id}/reward.py is missing or damaged")
        _print(console, [Text("its code is missing", style="yellow")])
        return
    syntax = Syntax("", "python", theme="ansi_dark", background_color="default")
    highlighted = syntax.highlight(printable(source, lines=True))
    highlighted.rstrip()
    console.print(highlighted, soft_wrap=True)


def _problems(evidence: Evidence, width: int, glyphs: Glyphs) -> list[Text]:
    if not evidence.problems:
        return []
    lines = [Text(printable(problem), style="yellow") for problem in evidence.problems]
    return [Text(""), rule(width, "missing or damaged", glyphs), *lines]


def _next(evidence: Evidence, code: str | None, width: int, glyphs: Glyphs) -> list[Text]:
    run = shlex.quote(printable(_short(evidence.run.path)))
    ranked = [entry.id for entry in evidence.entries if entry.rank is not None]
    shown = f" --code {ranked[min(1, len(ranked) - 1)]}" if code is None and ranked else ""
    commands = [f"eureka-lite review {run}{shown}"]
    if code in ranked or ranked:
        commands.append(f"eureka-lite evaluate {run} {code if code in ranked else ranked[0]} --split test")
    return [Text(""), rule(width, "next", glyphs), *(Text(command, style="cyan") for command in commands)]


def _known(evidence: Evidence, id: str) -> None:
    known = [entry.id for entry in [*evidence.entries, *evidence.baselines]]
    if id not in known and not evidence.run.candidate(id).is_dir():
        listed = ", ".join(known[:8]) + (" ..." if len(known) > 8 else "") or "none"
        raise StoreError(f"{evidence.run.path} has no candidate {id!r}; it has {listed}")


def _short(path: Path) -> str:
    """Write a path as it is typed from here."""
    absolute = path.resolve()
    return str(absolute.relative_to(Path.cwd())) if absolute.is_relative_to(Path.cwd()) else str(absolute)


def _print(console: Console, lines: Sequence[Text]) -> None:
    for line in lines:
        console.print(line, soft_wrap=True)
