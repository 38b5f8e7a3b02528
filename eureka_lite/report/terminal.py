"""What a terminal can show."""

from __future__ import annotations

import io

from rich.console import Console

from eureka_lite.report.text import ASCII, UNICODE, Glyphs


def harmless(console: Console) -> Glyphs:
    """Let a terminal that lacks a character show `?` for it, and return the drawing characters that it has."""
    if isinstance(console.file, io.TextIOWrapper):
        console.file.reconfigure(errors="replace")
    return UNICODE if console.encoding.lower().startswith("utf") else ASCII
