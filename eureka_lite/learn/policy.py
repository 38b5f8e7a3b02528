"""A trained policy as a file: weights and observation statistics of one candidate, in safetensors.

Pure torch; the names of observations and actions travel along as text, so that a policy is never fed the wrong row.
"""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from eureka_lite.learn.networks import Population, Shapes
from eureka_lite.learn.normalize import ObservationNormalizer
from eureka_lite.learn.ppo import Ppo


class PolicyError(ValueError):
    """A policy file that cannot be used here, and why."""


class Policies:
    """K frozen policies that act side by side, without exploration.

    Attributes:
        candidates: K.
    """

    def __init__(self, population: Population, normalizer: ObservationNormalizer) -> None:
        self.population, self.normalizer, self.candidates = population, normalizer, population.candidates

    @torch.no_grad()
    def __call__(self, observation: Tensor) -> Tensor:
        """Mean actions [K, N, actions] for observations [K, N, observations]."""
        return self.population.mean(self.normalizer(observation))


def save_policy(path: Path, learner: Ppo, k: int, about: dict[str, str]) -> None:
    """Write candidate k's policy with `about` as its metadata."""
    tensors = {name: value[k].detach().clone().contiguous() for name, value in learner.population.parameters.items()}
    tensors["observation_mean"] = learner.normalizer.mean[k].clone()
    tensors["observation_var"] = learner.normalizer.var[k].clone()
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file(tensors, str(path), metadata=about)


def load_policies(paths: list[Path], task_hash: str | None = None) -> Policies:
    """Read policies of the same shapes.

    Raises:
        PolicyError: a file is missing or broken, shapes differ, or it was trained on another version of the task.
    """
    loaded = [_read(path, task_hash) for path in paths]
    first = loaded[0]
    observations, twice_hidden = first["w1"].shape
    shapes = Shapes(observations, first["log_std"].shape[1], twice_hidden // 2)
    population = Population(shapes, [0] * len(paths), 1.0)
    normalizer = ObservationNormalizer(len(paths), observations)
    with torch.no_grad():
        for k, tensors in enumerate(loaded):
            for name, parameter in population.parameters.items():
                if tensors[name].shape != parameter[k].shape:
                    raise PolicyError(f"{paths[k]}: its networks have another shape than those of {paths[0]}")
                parameter[k] = tensors[name]
            normalizer.mean[k], normalizer.var[k] = tensors["observation_mean"], tensors["observation_var"]
    return Policies(population, normalizer)


def _read(path: Path, task_hash: str | None) -> dict[str, Tensor]:
    try:
        with safe_open(str(path), framework="pt") as file:
            about = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise PolicyError(f"{path}: not a readable policy: {error}") from None
    if task_hash is not None and about.get("task_hash") != task_hash:
        raise PolicyError(f"{path}: trained on another version of the task ({about.get('task_hash')}, not {task_hash})")
    return tensors
