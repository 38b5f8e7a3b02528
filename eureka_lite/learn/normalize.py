"""Running statistics per candidate: observations to zero mean and unit variance, rewards to unit return."""

from __future__ import annotations

import torch
from torch import Tensor


class ObservationNormalizer:
    """Mean and variance of each observation, per candidate, by Chan's parallel update.

    Attributes:
        mean, var: [K, observations].
        count: samples so far, the same for all candidates.
    """

    EPS, CLIP = 1e-2, 8.0

    def __init__(self, candidates: int, observations: int) -> None:
        self.mean, self.var = torch.zeros(candidates, observations), torch.ones(candidates, observations)
        self.count = 0.0

    def update(self, x: Tensor) -> None:
        """Take in samples [K, B, observations]."""
        n = float(x.shape[1])
        mean = x.mean(1)
        var = (x - mean[:, None]).square_().mean(1)
        total = self.count + n
        delta = mean - self.mean
        if self.count == 0.0:
            self.mean, self.var = mean, var
        else:
            self.mean = self.mean + delta * (n / total)
            self.var = (self.var * self.count + var * n + delta.square() * (self.count * n / total)) / total
        self.count = total

    def __call__(self, x: Tensor) -> Tensor:
        """Normalize [K, B, observations]; the floor under the deviation keeps constant inputs small."""
        return ((x - self.mean[:, None]) / (self.var.sqrt() + self.EPS)[:, None]).clamp_(-self.CLIP, self.CLIP)


class ReturnScaler:
    """Divides rewards by the running standard deviation of the discounted return, per candidate.

    As in Gymnasium's NormalizeReward, so that rewards of 1e-3 and of 1e3 learn alike. Rewards keep their sign and zero.

    Attributes:
        var: [K] variance of the discounted return.
    """

    FLOOR, CLIP = 1e-12, 10.0

    def __init__(self, candidates: int, worlds: int, gamma: float) -> None:
        self.gamma = gamma
        self._return = torch.zeros(candidates, worlds)
        self.mean, self.var = torch.zeros(candidates), torch.zeros(candidates)
        self.count = 0.0

    def __call__(self, reward: Tensor, done: Tensor) -> Tensor:
        """Take in a rollout [T, K, N] and return its scaled rewards."""
        returns = torch.empty_like(reward)
        for t in range(len(reward)):
            self._return = self._return * self.gamma + reward[t]
            returns[t] = self._return
            self._return = self._return * (1.0 - done[t])
        n = float(reward.shape[0] * reward.shape[2])
        mean = returns.mean((0, 2))
        var = (returns - mean[None, :, None]).square_().mean((0, 2))
        total, delta = self.count + n, mean - self.mean
        self.mean = self.mean + delta * (n / total)
        self.var = (self.var * self.count + var * n + delta.square() * (self.count * n / total)) / total
        self.count = total
        scale = (self.var + self.FLOOR).rsqrt()
        return (reward * scale[None, :, None]).clamp_(-self.CLIP, self.CLIP)
