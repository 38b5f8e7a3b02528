"""Reflection: what happened in a training, in words and numbers for the next prompt.

Everything in it was measured in training or on the selection worlds; nothing comes from the sealed test worlds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from eureka_lite.evolve.record import Record
from eureka_lite.evolve.statistics import rank_correlation
from eureka_lite.store.formats import Fit
from eureka_lite.task.task import Task

STRONG = 0.3


def result_file(record: Record, selection: Fit | None) -> dict[str, Any]:
    """`result.json`: the course of the training, its endings, profiles, and the measured selection."""
    curve = record.result.get("curve") or []
    components: dict[str, dict[str, list[Any]]] = {}
    for point in curve:
        for name, values in (point.get("components") or {}).items():
            entry = components.setdefault(name, {key: [] for key in ("mean", "min", "max", "share")})
            for key, series in entry.items():
                series.append(values.get(key))
    measured = record.result.get("measured") or {}
    terminated = measured.get("terminated")
    return {
        "id": record.id,
        "status": record.status,
        "reason": record.reason,
        "steps": record.result.get("world_steps"),
        "curve": [{key: point.get(key) for key in ("step", "fitness", "return", "episode_length", "terminated")}
                  for point in curve],
        "components": components,
        "endings": None if terminated is None else {"terminated": terminated, "time_out": 1.0 - terminated},
        "profiles": measured.get("profiles") or {},
        "draw_correlations": draw_correlations(record),
        "selection": None if selection is None else
        {"mean": selection.mean, "ci95": list(selection.ci95), "worlds": selection.worlds,
         "training_seeds": selection.training_seeds},
        "selection_worlds": measured.get("fitness"),
        "draws": measured.get("draws"),
        "nonfinite": record.result.get("non_finite"),
    }  # fmt: skip


def draw_correlations(record: Record) -> dict[str, float]:
    """Spearman's correlation of selection fitness with each randomized quantity, strongest first."""
    if record.selection is None:
        return {}
    draws = (record.result.get("measured") or {}).get("draws") or {}
    fitness = record.selection[0]
    found = {name: rank_correlation(np.array(values, float), fitness) for name, values in draws.items()}
    known = [(name, value) for name, value in found.items() if value is not None]
    return dict(sorted(known, key=lambda item: -abs(item[1])))


def feedback(record: Record, task: Task, selection: Fit | None) -> str:
    """The reflection text of one candidate."""
    lines: list[str] = []
    fitness = task.fitness
    if record.status == "failed" or selection is None:
        lines.append(f"Training ended early: {record.reason}.")
    else:
        low, high = selection.ci95
        lines.append(
            f"Fitness ({fitness.name}: {fitness.doc}; {fitness.direction}imize, {fitness.range[0]:g} to "
            f"{fitness.range[1]:g}) on {selection.worlds} unseen worlds: {selection.mean:.3f} "
            f"(95 % interval {low:.3f} to {high:.3f}, one training seed)."
        )
    curve = record.result.get("curve") or []
    if curve:
        lines.append(f"Course of the training, {len(curve)} checkpoints:")
        lines.append(f"  world-steps: {_series([p.get('step') for p in curve], 0)}")
        lines.append(f"  fitness: {_series([p.get('fitness') for p in curve], 3)}")
        lines.append(f"  return (your reward): {_series([p.get('return') for p in curve], 2)}")
        lines.append(f"  episode length of {task.control.episode_steps}: "
                     f"{_series([p.get('episode_length') for p in curve], 0)}")  # fmt: skip
        lines += _components(curve)
    measured = record.result.get("measured") or {}
    if selection is not None:
        terminated = float(measured.get("terminated") or 0.0)
        lines.append(f"How episodes end: {terminated:.0%} early, {1.0 - terminated:.0%} at the time limit.")
    if measured.get("profiles") and selection is not None:
        lines.append("What the policy did (mean over the worlds, ten moments of an episode):")
        lines += [f"  {name}: {_series(values, 3)}" for name, values in measured["profiles"].items()]
    broken = record.result.get("non_finite")
    lines.append("Non-finite numbers: " + (f"{record.reason}" if broken else "none") + ".")
    strong = {name: value for name, value in draw_correlations(record).items() if abs(value) >= STRONG}
    if strong and selection is not None:
        shown = ", ".join(f"{name} ({value:+.2f})" for name, value in list(strong.items())[:4])
        lines.append(f"Fitness goes with these drawn quantities (rank correlation): {shown}.")
    elif selection is not None:
        lines.append("Fitness goes with none of the randomized quantities in particular.")
    return "\n".join(lines) + "\n"


def _components(curve: list[dict[str, Any]]) -> list[str]:
    """Per component at each checkpoint: mean, and over all of them min, max and share of |total|."""
    lines = []
    names = list(curve[-1].get("components") or {})
    for name in names:
        points = [(point.get("components") or {}).get(name) or {} for point in curve]
        lines.append(f"  component {name!r}:")
        lines.append(f"    mean: {_series([p.get('mean') for p in points], 4)}")
        lines.append(f"    min: {_series([p.get('min') for p in points], 4)}")
        lines.append(f"    max: {_series([p.get('max') for p in points], 4)}")
        lines.append(f"    share of |total|: {_series([p.get('share') for p in points], 2)}")
    return lines


def _series(values: list[Any], digits: int) -> str:
    shown = ["?" if value is None or value != value else f"{value:.{digits}f}" for value in values]
    return "[" + ", ".join("0" if s.strip("-0.") == "" and s != "?" else s for s in shown) + "]"
