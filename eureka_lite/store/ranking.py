"""Reading `ranking.json` back into its dataclasses.

Bottom of the package: knows only `formats`. Keys it does not know are ignored, so an older program reads a newer file
of the same format.
"""

from __future__ import annotations

from typing import Any

from eureka_lite.store.formats import FORMAT, Candidate, Fit, Flag, Ranking, Spend


def ranking_from_dict(data: Any) -> Ranking:
    """Rebuild the Ranking that `Ranking.to_dict` wrote; ValueError says which part is missing or of another format."""
    if not isinstance(data, dict):
        raise ValueError("it is not a table")
    if data.get("format") != FORMAT:
        raise ValueError(f"its format is {data.get('format')!r}, this program reads {FORMAT}")
    try:
        return Ranking(
            task=data["task"],
            task_hash=data["task_hash"],
            goal=data["goal"],
            proposer=data["proposer"],
            models=list(data["models"]),
            seed=data["seed"],
            device=data["device"],
            engine=data["engine"],
            wall_s=data["wall_s"],
            spend=_spend(data["spend"]),
            fitness=dict(data["fitness"]),
            baselines={name: fit_from_dict(fit) for name, fit in data["baselines"].items()},
            candidates=[_candidate(item) for item in data["candidates"]],
        )
    except KeyError as error:
        raise ValueError(f"{error.args[0]!r} is missing") from error
    except (TypeError, AttributeError, IndexError) as error:
        raise ValueError(f"a value has the wrong type ({error})") from error


def fit_from_dict(data: dict[str, Any] | None) -> Fit | None:
    """Rebuild a Fit from its dict; None stays None. KeyError or TypeError if a part is missing."""
    if data is None:
        return None
    low, high = data["ci95"]
    return Fit(float(data["mean"]), (float(low), float(high)), int(data["worlds"]), int(data["training_seeds"]))


def _spend(data: dict[str, Any]) -> Spend:
    return Spend(data["prompt_tokens"], data["completion_tokens"], data["usd"], data["world_steps"])


def _candidate(data: dict[str, Any]) -> Candidate:
    return Candidate(
        id=data["id"],
        rank=data["rank"],
        status=data["status"],
        reason=data["reason"],
        selection=fit_from_dict(data["selection"]),
        test=fit_from_dict(data["test"]),
        tied_with=list(data["tied_with"]),
        human_normalized=data["human_normalized"],
        parents=list(data["parents"]),
        stopped_at_step=data["stopped_at_step"],
        flags=[Flag(flag["code"], flag["measured"], flag["threshold"]) for flag in data["flags"]],
        hash=data["hash"],
        reward=data["reward"],
    )
