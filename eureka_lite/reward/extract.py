"""From a model's reply to code: which block of the reply is the reward program.

A reply may hold sketches, thoughts, several versions, and be damaged on its way. The last block that defines a reward
function counts, with the helpers that it needs from earlier blocks. Nothing of the text is executed.
"""

from __future__ import annotations

import ast
import html
import json
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

OPENING = re.compile(r"^[ \t>]*(`{3,16}|~{3,16})[ \t]*([^`\n]*)$")
DEFINITION = re.compile(r"^[ \t]*def[ \t]+\w*reward\w*[ \t]*\(", re.MULTILINE | re.IGNORECASE)
CODE_BEGINS = re.compile(r"(def|class|import|from|@)\b|@|#|[A-Za-z_]\w*\s*(:[^=]*)?=[^=]")
THOUGHT = r"think(?:ing)?|thought|reasoning|reflection|scratchpad"
HIDDEN = {0x200B: None, 0x200C: None, 0x200D: None, 0x2060: None, 0xFEFF: None, 0xA0: " ", 0x202F: " ", 0x3000: " "}
TYPOGRAPHIC = str.maketrans("“”„‟″‘’‚‛′−–—×", "\"\"\"\"\"'''''---*")
MENDS: tuple[Callable[[str], str], ...] = (
    lambda code: code,
    html.unescape,
    lambda code: code.translate(TYPOGRAPHIC),
    lambda code: html.unescape(code).translate(TYPOGRAPHIC),
    lambda code: re.sub(r"^(>>>|\.\.\.) ?", "", code, flags=re.MULTILINE),
    lambda code: re.sub(r"^> ?", "", code, flags=re.MULTILINE),
)
# a reply may be anything: these keep the time short, far above what a program can be
MAX_REPLY, MAX_CODE, MAX_STARTS = 300_000, 50_000, 50


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


@dataclass(frozen=True)
class _Block:
    """The inside of a fence; `closed` if the fence ends."""

    text: str
    tag: str
    closed: bool


def extract(reply: str, cut_off: bool = False) -> Extraction:
    """Find the program of a reply; `cut_off` says that the endpoint ended the reply at its token limit."""
    text, thinking = _without_thoughts(_cleaned(reply[-MAX_REPLY:]))
    inner = _from_json(text)
    if inner is not None:
        found = extract(inner, cut_off)
        return Extraction(found.code, found.verdict, f"{found.block} in a JSON text") if found.code else found
    blocks = _blocks(text)
    for number in range(len(blocks), 0, -1):
        block = blocks[number - 1]
        inner = _from_json(block.text) or (block.text if _blocks(block.text) else None)
        if inner is not None and DEFINITION.search(inner):
            found = extract(inner, cut_off)
            return Extraction(found.code, found.verdict, f"{found.block} in block {number} of {len(blocks)}")
        if "def" in block.text and DEFINITION.search(_mended(block.text)):
            return _from_blocks(blocks, number, cut_off)
    if not blocks or not any(block.text.strip() for block in blocks):
        return _from_prose(text, cut_off)
    if thinking or (cut_off and not blocks[-1].closed):
        return Extraction("", "truncated", "it breaks off before the program")
    found = _from_prose(text, cut_off)
    return found if found.verdict == "found" else Extraction("", "none", "no block defines a reward function")


def _from_blocks(blocks: list[_Block], number: int, cut_off: bool) -> Extraction:
    block = blocks[number - 1]
    code = _mended(block.text)
    tree = _parsed(code)
    if tree is None and not block.closed:
        trimmed = _program_lines(code)
        code, tree = (trimmed, _parsed(trimmed)) if _parsed(trimmed) else (code, None)
    where = f"block {number} of {len(blocks)}"
    if not block.closed and (cut_off or not (_ends_whole(tree) if tree else _complete(code))):
        return Extraction(code, "truncated", where)
    if tree is not None:
        earlier = [(i, _mended(b.text)) for i, b in enumerate(blocks[: number - 1], 1)]
        code, used = _with_helpers(code, tree, earlier)
        if used:
            where += f", with helpers from block {' and '.join(map(str, used))}"
    return Extraction(code, "found", where)


def _from_prose(text: str, cut_off: bool) -> Extraction:
    """A program without a fence: from the first line of code on, up to the prose after it."""
    lines = text.split("\n")
    last = max((i for i, line in enumerate(lines) if DEFINITION.match(line)), default=-1)
    starts = [i for i, line in enumerate(lines[: last + 1]) if CODE_BEGINS.match(line.strip())]
    first: str | None = None
    for i in starts[-MAX_STARTS:]:
        code = _program_lines(_dedented("\n".join(lines[i:])))
        if not DEFINITION.search(html.unescape(code)):
            continue
        code = _mended(code)
        first = first or (code if DEFINITION.match(lines[i]) else None)
        tree = _parsed(code)
        if tree is not None:
            whole = _ends_whole(tree) and not (cut_off and text.rstrip().endswith(code.rstrip()))
            return Extraction(code, "found" if whole else "truncated", "text without a fence")
    if first is not None:
        whole = _complete(first) and not cut_off
        return Extraction(first, "found" if whole else "truncated", "text without a fence")
    if cut_off:
        return Extraction("", "truncated", "it breaks off before the program")
    return Extraction("", "none", "no reward function in it")


# --- the reply's text ---------------------------------------------------------------------------------------------


def _cleaned(reply: str) -> str:
    """Line ends, byte-order mark, invisible characters, tabs."""
    return reply.replace("\r\n", "\n").replace("\r", "\n").translate(HIDDEN).expandtabs(4)


def _without_thoughts(text: str) -> tuple[str, bool]:
    """What a model thought aloud is no answer; True if it never stops thinking."""
    kept, begin, thought = [], 0, ""
    for tag in re.finditer(rf"<(/?)({THOUGHT})>", text, re.IGNORECASE):
        word = tag[2].lower()
        if not tag[1] and not thought:
            kept.append(text[begin : tag.start()])
            thought = word
        elif tag[1] and thought in ("", word):
            if not thought:  # the opening tag belongs to the prompt of some models
                kept.clear()
            begin, thought = tag.end(), ""
    return "".join(kept) + ("" if thought else text[begin:]), bool(thought)


def _from_json(text: str) -> str | None:
    """The text with the program, where the reply is a JSON value."""
    text = text.strip()
    if text[:1] not in ("{", "[", '"') or "def" not in text:
        return None
    try:
        found = _texts(json.loads(text, strict=False))
    except (ValueError, RecursionError):
        return None
    return next((t for t in reversed(found) if DEFINITION.search(t)), None)


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for item in items for text in _texts(item)]


def _blocks(text: str) -> list[_Block]:
    """The fenced blocks in order; the last may be open."""
    found: list[_Block] = []
    inside: list[str] | None = None
    fence = tag = ""
    for line in text.split("\n"):
        marks = OPENING.match(line)
        if inside is None:
            if marks:
                inside, fence, tag = [], marks[1], marks[2].strip()
            continue
        if marks and not marks[2].strip() and marks[1][0] == fence[0] and len(marks[1]) >= len(fence):
            found.append(_Block("\n".join(inside), tag, True))
            inside = None
        elif line.rstrip().endswith(fence) and not marks:  # glued to the last line of code
            found.append(_Block("\n".join([*inside, line.rstrip()[: -len(fence)]]), tag, True))
            inside = None
        elif marks and marks[2].strip() and marks[1] == fence:  # the next block begins, this one was never closed
            found.append(_Block("\n".join(inside), tag, True))
            inside, tag = [], marks[2].strip()
        else:
            inside.append(line)
    if inside is not None:
        found.append(_Block("\n".join(inside), tag, False))
    return found


# --- the code -----------------------------------------------------------------------------------------------------


def _mended(code: str) -> str:
    """Undo what was done to code on its way, but only where it cannot be read without."""
    code = _dedented(code)
    for mend in MENDS:
        tried = mend(code)
        if _parsed(tried) is not None:
            return tried
    return code


def _parsed(code: str) -> ast.Module | None:
    if len(code) > MAX_CODE:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _dedented(code: str) -> str:
    lines = code.strip("\n").split("\n")
    indents = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    cut = min(indents, default=0)
    return "\n".join(line[cut:].rstrip() for line in lines).strip("\n") + "\n"


def _program_lines(code: str) -> str:
    """The lines up to prose: a line at the margin that begins nothing of a program."""
    kept: list[str] = []
    for line in code.split("\n"):
        if line and not line[0].isspace() and not CODE_BEGINS.match(line) and not re.match(r"[)\]}]|if __name__", line):
            break
        kept.append(line)
    return "\n".join(kept).strip("\n") + "\n"


def _with_helpers(code: str, tree: ast.Module, earlier: list[tuple[int, str]]) -> tuple[str, list[int]]:
    """Put what the code uses but does not define before it, from earlier blocks; and the numbers of those blocks."""
    used: list[int] = []
    for number, text in reversed(earlier):
        other = _parsed(text)
        missing = _loaded(tree) - _defined(tree)
        if other is None or not missing:
            continue
        lines = text.split("\n")
        wanted: list[ast.stmt] = []
        while True:
            more = [node for node in other.body if node not in wanted and _names_of(node) & missing]
            if not more:
                break
            wanted += more
            missing |= {name for node in more for name in _loaded(node)}
        if wanted:
            parts = ["\n".join(lines[_first(node) - 1 : node.end_lineno]) for node in other.body if node in wanted]
            code = "\n\n\n".join([*parts, code])
            used.insert(0, number)
            tree = _parsed(code) or tree
    return code, used


def _first(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", [])
    return min([node.lineno, *(d.lineno for d in decorators)])


def _names_of(node: ast.stmt) -> set[str]:
    """What a statement of a module defines, if it is a function or a constant."""
    if isinstance(node, ast.FunctionDef):
        return {node.name}
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return {target.id for target in targets if isinstance(target, ast.Name)}
    return set()


def _loaded(tree: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def _defined(tree: ast.AST) -> set[str]:
    stored = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    named = {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    return stored | named | {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}


def _ends_whole(tree: ast.Module) -> bool:
    """The last reward function ends in a return on the way that falls through."""
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and "reward" in n.name.lower()]
    return bool(functions) and _returns(functions[-1].body)


def _returns(body: list[ast.stmt]) -> bool:
    last = body[-1]
    if isinstance(last, ast.If):
        return _returns(last.body) and bool(last.orelse) and _returns(last.orelse)
    return isinstance(last, ast.Return)


def _complete(code: str) -> bool:
    """Whether code that cannot be read for another reason comes to a return."""
    lines = [line.strip() for line in code.strip().split("\n") if line.strip()]
    if not lines or code.count("(") != code.count(")") or code.count("{") != code.count("}"):
        return False
    return any(line.startswith("return") for line in lines) and not lines[-1].endswith((",", ":", "\\"))
