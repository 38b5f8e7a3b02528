"""Lines of text that never exceed a width: cropping, joining, tables and bars.

Knows nothing of runs. Widths are terminal cells, so wide characters count twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.text import Text

from eureka_lite.report.text import UNICODE, Glyphs

HEAD = "dim"


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes:
        title: its head.
        cells: one text per row.
        drop: when the table is too wide, columns go from the highest number down; 0 stays.
        right: whether it is aligned to the right, as numbers are.
        minimum: cells it may be squeezed to; 0 if it must show whole.
        floor: cells it has at the least, so that it stands still while its texts change.
    """

    title: str
    cells: Sequence[Text]
    drop: int = 0
    right: bool = False
    minimum: int = 0
    floor: int = 0

    @property
    def width(self) -> int:
        """Cells that its longest text needs."""
        return max([self.floor, cell_len(self.title), *(cell.cell_len for cell in self.cells)])

    @property
    def least(self) -> int:
        """Cells that it needs at the least."""
        return min(self.width, max(self.minimum, cell_len(self.title))) if self.minimum else self.width


def cropped(text: Text, width: int, glyphs: Glyphs = UNICODE) -> Text:
    """Return a copy that is at most `width` cells wide, with an ellipsis if something is missing."""
    copy = text.copy()
    if copy.cell_len > width:
        copy.truncate(max(0, width - cell_len(glyphs.ellipsis)), overflow="crop")
        copy.rstrip()
        copy.append(glyphs.ellipsis[: max(0, width)])
    return copy


def padded(text: Text, width: int, right: bool = False, glyphs: Glyphs = UNICODE) -> Text:
    """Return a copy that is exactly `width` cells wide."""
    copy = cropped(text, width, glyphs)
    space = width - copy.cell_len
    return Text(" " * space) + copy if right else copy + Text(" " * space)


def joined(parts: Sequence[tuple[int, Text]], width: int, glyphs: Glyphs = UNICODE) -> Text:
    """Join parts by a dot, as many as fit; of (importance, part) pairs the highest numbers are left out first."""
    separator = Text.assemble((f" {glyphs.dot} ", "dim"))
    kept = [part for part in parts if part[1].plain]
    while len(kept) > 1 and sum(part.cell_len for _, part in kept) + 3 * (len(kept) - 1) > width:
        kept.remove(max(reversed(kept), key=lambda part: part[0]))
    return cropped(separator.join(part for _, part in kept), width, glyphs)


def table(columns: Sequence[Column], width: int, glyphs: Glyphs = UNICODE, gap: int = 2) -> list[Text]:
    """Lay out columns as a head and one line per row, each at most `width` cells wide."""
    kept = list(columns)
    while sum(c.least for c in kept) + gap * (len(kept) - 1) > width and any(c.drop for c in kept):
        kept.remove(max(kept, key=lambda column: column.drop))
    spare = width - gap * (len(kept) - 1) - sum(column.least for column in kept)
    widths: list[int] = []
    for column in kept:
        extra = min(column.width - column.least, max(0, spare))
        widths.append(column.least + extra)
        spare -= extra
    space = Text(" " * gap)
    lines: list[Text] = []
    for index in range(-1, max((len(column.cells) for column in kept), default=0)):
        texts = [Text(c.title, style=HEAD) if index < 0 else c.cells[index] for c in kept]
        cells = [padded(text, w, c.right, glyphs) for text, w, c in zip(texts, widths, kept, strict=True)]
        line = cropped(space.join(cells), width, glyphs)
        line.rstrip()
        lines.append(line)
    return lines


def bar(share: float, width: int, style: str, glyphs: Glyphs = UNICODE) -> Text:
    """Draw a bar of which `share`, 0 to 1, is filled."""
    filled = min(width, max(0, round(share * width)))
    return Text.assemble((glyphs.bar * filled, style), (glyphs.bar_left * (width - filled), "bright_black"))


def rule(width: int, title: str = "", glyphs: Glyphs = UNICODE) -> Text:
    """Draw a line across, with a title near its left end."""
    if not title:
        return Text(glyphs.rule * width, style="bright_black")
    head = Text.assemble((glyphs.rule * 2 + " ", "bright_black"), (title, "bold"), " ")
    return cropped(head + Text(glyphs.rule * max(0, width - head.cell_len), style="bright_black"), width, glyphs)
