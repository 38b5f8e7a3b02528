"""Actor and critic of K candidates as stacked weights.

Pure torch; knows no task and no simulator. All parameters of a candidate are one row of a flat tensor, so that gradient
norms, learning rates and Adam act per candidate on plain [K, P] tensors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

LOG_STD_BOUNDS = (-4.0, 1.0)


@dataclass(frozen=True)
class Shapes:
    """Sizes of one candidate's networks."""

    observations: int
    actions: int
    hidden: int

    @property
    def heads(self) -> int:
        """Columns of each head; one column alone would not be bit-equal across K in `baddbmm`, so at least 2."""
        return max(2, self.actions)

    @property
    def layout(self) -> dict[str, tuple[int, int]]:
        """Parameters and their shapes: layer 1 of both, then actor (w, b) and critic (v, c)."""
        o, h, d = self.observations, self.hidden, self.heads
        return {
            "w1": (o, 2 * h), "b1": (1, 2 * h),
            "w2": (h, h), "b2": (1, h), "w3": (h, d), "b3": (1, d),
            "v2": (h, h), "c2": (1, h), "v3": (h, 2), "c3": (1, 2),
            "log_std": (1, self.actions),
        }  # fmt: skip


class Population:
    """K pairs of two-layer tanh networks, actor and critic side by side in one first layer.

    Making one sets torch to one thread per operation, in the whole process: how torch shares a sum among threads
    depends on the sum's size, so that a candidate's last digits would depend on K. `Ppo` spreads candidates over
    threads instead.

    Args:
        shapes: sizes, the same for all candidates.
        seeds: one per candidate; equal seeds give equal weights.
        start_std: standard deviation of the first actions, in units of the action range's half.

    Attributes:
        flat: [K, P] parameters.
        grad: [K, P] their gradients.
    """

    def __init__(self, shapes: Shapes, seeds: list[int], start_std: float) -> None:
        torch.set_num_threads(1)
        size = sum(math.prod(shape) for shape in shapes.layout.values())
        size += -size % 16  # whole vector registers per row
        self._view(shapes, torch.zeros(len(seeds), size), torch.zeros(len(seeds), size))
        for k, seed in enumerate(seeds):
            self._initialize(k, torch.Generator().manual_seed(seed), start_std)

    def _view(self, shapes: Shapes, flat: Tensor, grad: Tensor) -> None:
        self.shapes, self.candidates, self.flat, self.grad = shapes, len(flat), flat, grad
        self.parameters: dict[str, Tensor] = {}
        start = 0
        for name, shape in shapes.layout.items():
            part = slice(start, start + math.prod(shape))
            view = flat[:, part].view(self.candidates, *shape).detach().requires_grad_()
            view.grad = grad[:, part].view(self.candidates, *shape)
            self.parameters[name] = view
            start = part.stop

    def part(self, first: int, last: int) -> Population:
        """Candidates `first` to `last` - 1 on the same memory."""
        part = Population.__new__(Population)
        # by way of NumPy, since views of one tensor share its version counter and autograd in two threads must not
        flat, grad = (torch.from_numpy(whole.numpy()[first:last]) for whole in (self.flat, self.grad))
        part._view(self.shapes, flat, grad)
        return part

    @torch.no_grad()
    def _initialize(self, k: int, generator: torch.Generator, start_std: float) -> None:
        """Orthogonal weights, gain sqrt(2) inside, 0.01 for actions, 1 for values (Huang et al. 2022, details 2)."""
        h = self.shapes.hidden
        gains = {"w2": 2**0.5, "v2": 2**0.5, "w3": 0.01, "v3": 1.0}
        for half in (slice(0, h), slice(h, 2 * h)):
            weight = torch.empty(self.shapes.observations, h)
            torch.nn.init.orthogonal_(weight, 2**0.5, generator)
            self.parameters["w1"][k, :, half] = weight
        for name, gain in gains.items():
            weight = torch.empty(self.parameters[name].shape[1:])
            torch.nn.init.orthogonal_(weight, gain, generator)
            self.parameters[name][k] = weight
        self.parameters["log_std"][k] = math.log(start_std)

    def mean(self, x: Tensor) -> Tensor:
        """Mean actions [K, B, actions] for normalized observations [K, B, observations]."""
        p, h = self.parameters, self.shapes.hidden
        first = torch.baddbmm(p["b1"][:, :, :h], x, p["w1"][:, :, :h]).tanh_()
        second = torch.baddbmm(p["b2"], first, p["w2"]).tanh_()
        return torch.baddbmm(p["b3"], second, p["w3"])[:, :, : self.shapes.actions]

    def value(self, x: Tensor) -> Tensor:
        """Values [K, B]."""
        p, h = self.parameters, self.shapes.hidden
        first = torch.baddbmm(p["b1"][:, :, h:], x, p["w1"][:, :, h:]).tanh_()
        second = torch.baddbmm(p["c2"], first, p["v2"]).tanh_()
        return torch.baddbmm(p["c3"], second, p["v3"])[:, :, 0]

    def both(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Mean actions [K, B, actions] and values [K, B] with one shared first product."""
        p = self.parameters
        # split, not sliced twice: the gradient of a slice is a whole array of zeros
        actor, critic = torch.baddbmm(p["b1"], x, p["w1"]).tanh().split(self.shapes.hidden, 2)
        actor = torch.baddbmm(p["b2"], actor, p["w2"]).tanh()
        critic = torch.baddbmm(p["c2"], critic, p["v2"]).tanh()
        mean = torch.baddbmm(p["b3"], actor, p["w3"])[:, :, : self.shapes.actions]
        return mean, torch.baddbmm(p["c3"], critic, p["v3"])[:, :, 0]

    @property
    def log_std(self) -> Tensor:
        """[K, 1, actions]."""
        return self.parameters["log_std"]

    @torch.no_grad()
    def bound_log_std(self) -> None:
        """Keep log-std where the density is a number."""
        self.parameters["log_std"].clamp_(*LOG_STD_BOUNDS)
