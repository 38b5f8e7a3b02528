"""From a model's reply to code: which block of the reply is the reward program."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

FENCE = re.compile(r"^[ \t]*(?:```|~~~)[^\n]*\n(.*?)(?:^[ \t]*(?:```|~~~)[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
DEFINITION = re.compile(r"^[ \t]*def[ \t]+\w*reward\w*[ \t]*\(", re.MULTILINE)
ANY_DEFINITION = re.compile(r"^[ \t]*def[ \t]+\w+[ \t]*\(", re.MULTILINE)


@dataclass(frozen=True)
class Extraction:
    """What was found in a reply.

    Attributes:
        code: the program's text, or "".
        verdict: found, none (no program in it) or truncated (it breaks off inside the program).
        block: which block was taken, in words.
    """

    code: str
    verdict: Literal["found", "none", "truncated"]
    block: str


def extract(reply: str) -> Extraction:
    """Find the last block that defines a reward function; a reply without fences counts from its first `def`."""
    text = _cleaned(reply)
    blocks = [(match.group(1), match.group(0)) for match in FENCE.finditer(text)]
    for number in range(len(blocks), 0, -1):
        code, whole = blocks[number - 1]
        if DEFINITION.search(code):
            closed = whole.rstrip().endswith(("```", "~~~"))
            verdict = "found" if closed or _complete(code) else "truncated"
            return Extraction(_dedented(code), verdict, f"block {number} of {len(blocks)}")
    if not blocks:
        found = ANY_DEFINITION.search(text) if DEFINITION.search(text) else None
        if found:
            code = _dedented(text[found.start() :])
            return Extraction(_program_lines(code), "found", "text without a fence")
    return Extraction("", "none", "no block defines a reward function")


def _cleaned(reply: str) -> str:
    """Line ends, byte-order mark, tabs, and what a model thought aloud."""
    text = reply.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    text = re.sub(r"<think(?:ing)?>.*?</think(?:ing)?>", "", text, flags=re.DOTALL)
    return text.expandtabs(4)


def _dedented(code: str) -> str:
    lines = code.strip("\n").split("\n")
    indents = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    cut = min(indents, default=0)
    return "\n".join(line[cut:].rstrip() for line in lines).strip("\n") + "\n"


def _program_lines(code: str) -> str:
    """The lines up to prose: a line at the margin that is neither def nor blank nor assignment."""
    kept: list[str] = []
    for line in code.split("\n"):
        if line and not line[0].isspace() and not re.match(r"(def\b|#|@|[A-Za-z_]\w*\s*=|\)|\]|\})", line):
            break
        kept.append(line)
    return "\n".join(kept).strip("\n") + "\n"


def _complete(code: str) -> bool:
    """The text ends in a return: it may well be whole, though its fence never closes."""
    lines = [line.strip() for line in code.strip().split("\n") if line.strip()]
    if not lines or code.count("(") != code.count(")") or code.count("{") != code.count("}"):
        return False
    return any(line.startswith("return") for line in lines) and not lines[-1].endswith((",", ":", "\\"))
