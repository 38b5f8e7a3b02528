"""What one candidate's terms did in training, as lines of text."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from eureka_lite.report.columns import Column, joined, rule, table
from eureka_lite.report.evidence import Entry, Evidence
from eureka_lite.report.fields import mapping, number_of
from eureka_lite.report.screen import STYLES
from eureka_lite.report.text import Glyphs, number, printable, sparkline
from eureka_lite.store.formats import Fit


def fact_lines(evidence: Evidence, entry: Entry, width: int, glyphs: Glyphs) -> list[Text]:
    """Say what became of a candidate: status, fitness, parents, reason, how its episodes ended."""
    rank = f"rank {entry.rank}" if entry.rank is not None else ""
    parents = f"from {', '.join(entry.parents)}" if entry.parents else ""
    facts = [(1, Text(entry.status, style=STYLES.get(entry.status, ""))), (2, Text(rank, style="bold"))]
    lines = [Text(""), joined([*facts, (3, Text(parents))], width, glyphs)]
    fits = [f"{name} {_fit(fit)}" for name, fit in (("selection", entry.selection), ("test", entry.test)) if fit]
    if fits:
        lines.append(joined([(index, Text(words)) for index, words in enumerate(fits)], width, glyphs))
    if entry.reason:
        lines.append(Text(entry.reason, style="yellow"))
    return lines + _episode_lines(mapping(evidence.read(entry.id, "result.json")), glyphs)


def component_lines(evidence: Evidence, id: str, width: int, glyphs: Glyphs) -> list[Text]:
    """Draw the table of a candidate's terms: share of the reward, mean at the start and the end, extremes, course."""
    result = evidence.read(id, "result.json")
    terms = mapping(mapping(result).get("components"))
    lines = [Text(""), rule(width, "terms", glyphs)]
    if not terms:
        why = "no result yet" if result is None else "the result lists none"
        return [*lines, Text(f"nothing is known of its terms: {why}", style="yellow")]
    means = [_series(term, "mean") for term in terms.values()]
    columns = [
        Column("term", [Text(printable(name), style="bold") for name in terms], minimum=8),
        Column("share", [Text(_percent(_last(term, "share"))) for term in terms.values()], right=True),
        Column("mean first", [Text(number(mean[0] if mean else None)) for mean in means], drop=2, right=True),
        Column("last", [Text(number(_last(term, "mean"))) for term in terms.values()], right=True),
        Column("min", [Text(number(_extreme(term, "min", min))) for term in terms.values()], drop=3, right=True),
        Column("max", [Text(number(_extreme(term, "max", max))) for term in terms.values()], drop=4, right=True),
        Column("mean in training", [Text(_curve(mean, glyphs), style="cyan") for mean in means], drop=1),
    ]
    return [*lines, *table(columns, width, glyphs)]


def _episode_lines(result: dict[str, Any], glyphs: Glyphs) -> list[Text]:
    lines: list[Text] = []
    points = result.get("curve")
    curve = [number_of(point, "fitness") for point in points] if isinstance(points, list) else []
    known = [value for value in curve if value is not None]
    if known:
        drawn = sparkline(curve, 30, min(known), max(known), glyphs=glyphs)
        span = f"{number(known[0])} to {number(known[-1])}, best {number(max(known))} and worst {number(min(known))}"
        lines.append(Text.assemble("fitness in training ", (drawn, "cyan"), f"  {span}"))
    endings = {
        printable(name): number_of(mapping(result.get("endings")), name) for name in mapping(result.get("endings"))
    }
    shares = [f"{_percent(share)} {name.replace('_', ' ')}" for name, share in endings.items() if share is not None]
    if shares:
        lines.append(Text(f"episodes ended: {', '.join(shares)}"))
    broken = mapping(result.get("nonfinite"))
    if broken:
        words = ", ".join(f"{printable(key)} {printable(value)}" for key, value in broken.items())
        lines.append(Text(f"non-finite: {words}", style="red"))
    return lines


def _fit(fit: Fit) -> str:
    return f"{number(fit.mean)} [{number(fit.ci95[0])}, {number(fit.ci95[1])}]"


def _series(term: Any, key: str) -> list[float]:
    """Read a list of numbers, or one number as a list."""
    value = mapping(term).get(key)
    items = value if isinstance(value, list) else [value]
    return [found for item in items if (found := number_of({"item": item}, "item")) is not None]


def _last(term: Any, key: str) -> float | None:
    series = _series(term, key)
    return series[-1] if series else None


def _extreme(term: Any, key: str, choose: Any) -> float | None:
    return choose(_series(term, key), default=None)


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"


def _curve(values: list[float], glyphs: Glyphs) -> str:
    return sparkline(values, 16, min(values), max(values), glyphs=glyphs) if values else ""
