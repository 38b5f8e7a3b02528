"""Two rewards side by side in the terminal, component by component."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from eureka_lite.report.columns import rule
from eureka_lite.report.terminal import harmless
from eureka_lite.reward.explain import Change

COLOURS = {"same": "dim", "renamed": "cyan", "numbers": "yellow", "scaled": "yellow", "rewritten": "magenta",
           "new": "green", "gone": "red"}  # fmt: skip


def show_difference(changes: Sequence[Change], first: str, second: str, console: Console) -> None:
    """Print what became of every component: the words, and for what changed its formula before and after."""
    glyphs = harmless(console)
    console.print(rule(console.width, f"from {first} to {second}", glyphs), soft_wrap=True)
    wide = max((len(change.component) for change in changes), default=0)
    for change in changes:
        colour = COLOURS[change.kind]
        console.print(
            Text.assemble((change.component.ljust(wide), "bold"), "  ", (change.words, colour)), soft_wrap=True
        )
        if change.kind in ("same", "renamed"):
            continue
        for sign, formula, style in (("-", change.before, "red"), ("+", change.after, "green")):
            if formula is not None:
                console.print(Text(f"{' ' * wide}  {sign} {formula}", style=style), soft_wrap=True)
    if all(change.kind == "same" for change in changes):
        console.print(Text("both compute the same"), soft_wrap=True)
