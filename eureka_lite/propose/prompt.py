"""What a language model is asked: chat messages from the jinja2 templates of a folder."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import jinja2
import numpy as np

from eureka_lite.propose.grammar import Choice, Grammar
from eureka_lite.propose.proposer import Parent, ProposerError, Request
from eureka_lite.propose.sketch import read_sketch
from eureka_lite.reward import MAX_COMPONENTS, function_table

EXAMPLE = ("reach", "regulate", "smooth", "still")

Message = dict[str, str]


def render(request: Request, folder: Path) -> list[Message]:
    """System and user message for a request; all samples of a generation get the same.

    Raises:
        ProposerError: a template is missing or wrong, with its file and line.
    """
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(str(folder)), undefined=jinja2.StrictUndefined,
                                     autoescape=False, keep_trailing_newline=True)  # fmt: skip
    facts: dict[str, Any] = {
        "goal": request.goal, "task": request.task, "signals": _signals(request), "functions": list(function_table()),
        "max_components": MAX_COMPONENTS, "example": _example(request),
    }  # fmt: skip
    if request.parents:
        facts |= {"best": request.parents[0], "others": [_brief(p) for p in request.parents[1:]],
                  "failures": request.failures}  # fmt: skip
    system = _rendered(environment, "system.j2", facts)
    user = _rendered(environment, "next.j2" if request.parents else "first.j2", facts)
    return [{"role": "system", "content": system}, {"role": "user", "content": user}]


def as_markdown(messages: list[Message]) -> str:
    """The messages as one text for `prompt.md`."""
    return "\n".join(f"# {message['role']}\n\n{message['content'].strip()}\n" for message in messages)


def _rendered(environment: jinja2.Environment, name: str, facts: dict[str, Any]) -> str:
    try:
        return environment.get_template(name).render(facts).strip() + "\n"
    except jinja2.TemplateNotFound as error:
        raise ProposerError(f"the prompt template {error.name} is missing in the prompts folder") from None
    except jinja2.TemplateSyntaxError as error:
        raise ProposerError(f"prompt template {error.name or name}, line {error.lineno}: {error.message}") from None
    except (jinja2.TemplateError, TypeError, ValueError) as error:
        raise ProposerError(f"prompt template {_place(error, name)}: {error}") from None


def _place(error: BaseException, name: str) -> str:
    """File and line of the template that an error came from."""
    place, trace = name, error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file.endswith(".j2"):
            place = f"{Path(file).name}, line {trace.tb_lineno}"
        trace = trace.tb_next
    return place


def _signals(request: Request) -> list[dict[str, Any]]:
    shown = []
    for signal in request.task.signals:
        columns = request.ranges.get(signal.name, [])
        ranges = ", ".join(f"{low:.3g} to {high:.3g}" for low, high in columns)
        kind = f"vector of {signal.size}" if signal.kind == "vector" else signal.kind
        kind = "quaternion (w, x, y, z)" if kind == "quat" else kind
        shown.append({"name": signal.name, "kind": kind, "unit": signal.unit, "frame": signal.frame,
                      "doc": signal.doc, "labels": signal.labels, "range": ranges})  # fmt: skip
    return shown


def _example(request: Request) -> str:
    """A program in the task's own names; a model that copies it copies valid names."""
    grammar = Grammar(request.task, request.ranges)
    families = [family for family in EXAMPLE if family in grammar.families][:3]
    return grammar.write(families, np.random.default_rng(0), Choice()).source()


def _brief(parent: Parent) -> dict[str, Any]:
    sketch = read_sketch(parent.source)
    return asdict(parent) | {"components": list(sketch.components) if sketch else ["of another form"]}
