"""Proximal policy optimization of a population (Schulman et al. 2017), everything per candidate.

Pure torch. The K candidates share shapes and nothing else: advantages, statistics, learning rates and gradient norms
are rows of their own, and no operation mixes rows, so a candidate's curve does not depend on who its siblings are.
Shapes: K candidates, N worlds each, T steps of a rollout, B = T * N samples.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import torch
from torch import Tensor

from eureka_lite.learn.networks import Population, Shapes
from eureka_lite.learn.normalize import ObservationNormalizer, ReturnScaler


@dataclass(frozen=True)
class Settings:
    """PPO's numbers, the same for all candidates of a run.

    Attributes:
        rollout: T, control steps between updates.
        epochs, minibatches: passes over a rollout and parts of a pass.
        gamma, lam: discount and GAE's lambda.
        clip: of the probability ratio and of the value's change (Schulman et al. 2017, eq. 7).
        entropy: weight of the entropy bonus.
        value: weight of the value loss.
        rate: first learning rate of Adam; afterwards it follows the KL divergence.
        kl_target: divergence per update that the rate aims at (rsl_rl's rule: / 1.5 above twice it, x 1.5 below half).
        gradient_norm: largest norm of a candidate's gradient.
        hidden: width of the two layers of actor and critic.
        start_std: standard deviation of the first actions.
    """

    rollout: int = 32
    epochs: int = 4
    minibatches: int = 4
    gamma: float = 0.99
    lam: float = 0.95
    clip: float = 0.2
    entropy: float = 0.005
    value: float = 1.0
    rate: float = 1e-3
    kl_target: float = 0.015
    gradient_norm: float = 1.0
    hidden: int = 64
    start_std: float = 1.0


class Ppo:
    """The learner: `act` T times, each followed by `record`, then `update`.

    Args:
        shapes: of the networks.
        worlds: N.
        seeds: one per candidate, for weights and exploration noise.
        settings: PPO's numbers.
        threads: the candidates are cut into as many parts, which are improved side by side; no result depends on it.
    """

    RATES = (1e-5, 1e-2)

    def __init__(self, shapes: Shapes, worlds: int, seeds: list[int], settings: Settings, threads: int = 1) -> None:
        k, t, n = len(seeds), settings.rollout, worlds
        self.settings, self.shapes, self.candidates, self.worlds = settings, shapes, k, n
        self.population = Population(shapes, seeds, settings.start_std)
        self.normalizer = ObservationNormalizer(k, shapes.observations)
        self.scaler = ReturnScaler(k, n, settings.gamma)
        bounds = [k * i // min(threads, k) for i in range(min(threads, k) + 1)]
        self._parts = [slice(a, b) for a, b in zip(bounds[:-1], bounds[1:], strict=True)]
        self._adams = [Adam(self.population.part(part.start, part.stop), settings.rate) for part in self._parts]
        self._pool = ThreadPoolExecutor(len(self._parts), "learner")
        self.diverged = torch.zeros(k, dtype=torch.bool)
        self._noise = [torch.Generator().manual_seed(seed + 1) for seed in seeds]
        self._shuffle = torch.Generator().manual_seed(0)
        self._x = torch.zeros(t + 2, k, n, shapes.observations)  # rows t: last, t + 1: where truncated episodes ended
        self._raw = torch.zeros(t, k, n, shapes.observations)
        self._action, self._mean = torch.zeros(t, k, n, shapes.actions), torch.zeros(t, k, n, shapes.actions)
        self._reward, self._terminated, self._truncated = (torch.zeros(t, k, n) for _ in range(3))
        self._explore = torch.zeros(t, k, n, shapes.actions)
        self._t = 0
        self._first = True

    @torch.no_grad()
    def act(self, observation: Tensor) -> Tensor:
        """Sample actions [K, N, actions] for observations [K, N, observations]."""
        t, population = self._t, self.population
        if t == 0:
            for k, generator in enumerate(self._noise):
                self._explore[:, k].normal_(generator=generator)
        if self._first:  # the statistics must not wait for the first update
            self.normalizer.update(observation)
        self._raw[t] = observation
        x = self.normalizer(observation)
        self._x[t] = x
        mean = population.mean(x)
        self._mean[t] = mean
        action = mean + population.log_std.exp() * self._explore[t]
        self._action[t] = action
        return action

    @torch.no_grad()
    def record(self, reward: Tensor, terminated: Tensor, truncated: Tensor, terminal_observation: Tensor) -> bool:
        """Note what the action led to ([K, N] each; observations before the reset); True when the rollout is full."""
        t = self._t
        self._reward[t], self._terminated[t], self._truncated[t] = reward, terminated, truncated
        if bool(truncated.any()):  # an episode is longer than a rollout: a world truncates once per rollout at most
            ended = truncated[:, :, None] > 0.0
            torch.where(ended, self.normalizer(terminal_observation), self._x[-1], out=self._x[-1])
        self._t += 1
        return self._t == self.settings.rollout

    def update(self, last_observation: Tensor, alive: Tensor) -> None:
        """Improve every candidate that is `alive` [K] by the recorded rollout."""
        advantage, target, old_value, old_log_prob = self._targets(last_observation)
        data = self._samples(advantage, target, old_value, old_log_prob)
        samples = data["x"].shape[1]
        orders = [torch.randperm(samples, generator=self._shuffle) for _ in range(self.settings.epochs)]
        jobs = [
            self._pool.submit(
                self._improve, adam, {name: value[part] for name, value in data.items()}, orders, alive[part],
                self.diverged[part],
            )
            for adam, part in zip(self._adams, self._parts, strict=True)
        ]  # fmt: skip
        for job in jobs:
            job.result()
        if not self._first:
            self.normalizer.update(self._raw.transpose(0, 1).reshape(self.candidates, samples, -1))
        self._first, self._t = False, 0

    @torch.no_grad()
    def _targets(self, last_observation: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Advantages by GAE (Schulman et al. 2016, eq. 16), value targets, values, log-probabilities; [T, K, N] each.

        An episode that was cut off goes on in the value of the observation it ended in; one that failed does not.
        """
        settings, t, k, n = self.settings, self.settings.rollout, self.candidates, self.worlds
        self._x[t] = self.normalizer(last_observation)
        x = self._x.transpose(0, 1).reshape(k, (t + 2) * n, -1)
        value = self.population.value(x).view(k, t + 2, n).transpose(0, 1)
        done = torch.maximum(self._terminated, self._truncated)
        reward = self.scaler(self._reward, done)
        following = torch.where(self._truncated > 0.0, value[-1], value[1 : t + 1]) * (1.0 - self._terminated)
        delta = reward + settings.gamma * following - value[:t]
        advantage, running = torch.empty_like(delta), torch.zeros(k, n)
        for i in reversed(range(t)):
            running = delta[i] + settings.gamma * settings.lam * (1.0 - done[i]) * running
            advantage[i] = running
        log_prob = gaussian_log_prob(self._action, self._mean, self.population.log_std)
        return advantage, advantage + value[:t], value[:t], log_prob

    def _samples(self, advantage: Tensor, target: Tensor, value: Tensor, log_prob: Tensor) -> dict[str, Tensor]:
        """The rollout as [K, B, ...], advantages normalized per candidate."""
        k, b = self.candidates, self.settings.rollout * self.worlds

        def flat(x: Tensor) -> Tensor:
            return x.transpose(0, 1).reshape(k, b, *x.shape[3:])

        advantage = flat(advantage)
        centered = advantage - advantage.mean(1, keepdim=True)
        advantage = centered / (centered.square().mean(1, keepdim=True).sqrt() + 1e-8)
        return {
            "x": flat(self._x[: self.settings.rollout]), "action": flat(self._action), "mean": flat(self._mean),
            "log_prob": flat(log_prob), "advantage": advantage, "target": flat(target), "value": flat(value),
        }  # fmt: skip

    def _improve(
        self, adam: Adam, data: dict[str, Tensor], orders: list[Tensor], alive: Tensor, diverged: Tensor
    ) -> None:
        """All epochs of one part of the candidates."""
        old_log_std = adam.population.log_std.detach().clone()
        for order in orders:
            for chosen in order.chunk(self.settings.minibatches):
                batch = {name: value.index_select(1, chosen) for name, value in data.items()}
                self._step(adam, batch, old_log_std, alive, diverged)

    def _step(self, adam: Adam, batch: dict[str, Tensor], old_log_std: Tensor, alive: Tensor, diverged: Tensor) -> None:
        """One minibatch: clipped surrogate, clipped value loss, entropy; then Adam."""
        settings, population = self.settings, adam.population
        mean, value = population.both(batch["x"])
        log_std = population.log_std
        log_prob = gaussian_log_prob(batch["action"], mean, log_std)
        ratio = (log_prob - batch["log_prob"]).clamp(-20.0, 20.0).exp()
        surrogate = torch.minimum(
            ratio * batch["advantage"], ratio.clamp(1.0 - settings.clip, 1.0 + settings.clip) * batch["advantage"]
        )
        moved = (value - batch["value"]).clamp(-settings.clip, settings.clip)
        value_loss = torch.maximum(
            (value - batch["target"]).square(), (batch["value"] + moved - batch["target"]).square()
        )
        entropy = log_std.sum(-1)  # up to a constant
        loss = -surrogate.mean(1) + 0.5 * settings.value * value_loss.mean(1) - settings.entropy * entropy[:, 0]
        population.grad.zero_()
        loss.sum().backward()
        with torch.no_grad():
            kl = gaussian_kl(batch["mean"], old_log_std, mean.detach(), log_std.detach()).mean(1)
            finite = torch.isfinite(population.grad).all(1) & torch.isfinite(loss)
            diverged |= ~finite & alive
            adam.follow(kl, settings.kl_target)
            adam.step(settings.gradient_norm, alive & finite)
            population.bound_log_std()

    @torch.no_grad()
    def best_action(self, observation: Tensor) -> Tensor:
        """Mean actions [K, N, actions], without exploration."""
        return self.population.mean(self.normalizer(observation))


class Adam:
    """Adam (Kingma and Ba 2015) on the flat parameters with one learning rate per candidate."""

    BETAS, EPS = (0.9, 0.999), 1e-5

    def __init__(self, population: Population, rate: float) -> None:
        self.population = population
        self.rate = torch.full((population.candidates,), rate)
        self.first, self.second = torch.zeros_like(population.flat), torch.zeros_like(population.flat)
        self.steps = 0

    def follow(self, kl: Tensor, target: float) -> None:
        """Move each candidate's rate so that its divergence [K] stays near the target."""
        rate = torch.where(kl > 2.0 * target, self.rate / 1.5, self.rate)
        rate = torch.where((kl < 0.5 * target) & (kl > 0.0), rate * 1.5, rate)
        self.rate = rate.clamp(*Ppo.RATES)

    def step(self, gradient_norm: float, mask: Tensor) -> None:
        """Update the candidates in `mask` [K] with their gradients clipped to `gradient_norm`."""
        grad = self.population.grad
        norm = grad.square().sum(1, keepdim=True).sqrt()
        grad = torch.where(mask[:, None], grad * (gradient_norm / (norm + 1e-6)).clamp(max=1.0), 0.0)
        self.steps += 1
        self.first.lerp_(grad, 1.0 - self.BETAS[0])
        self.second.mul_(self.BETAS[1]).addcmul_(grad, grad, value=1.0 - self.BETAS[1])
        unbias = [1.0 - beta**self.steps for beta in self.BETAS]
        step = (self.first / unbias[0]) / ((self.second / unbias[1]).sqrt_() + self.EPS)
        self.population.flat.sub_(torch.where(mask[:, None], step * self.rate[:, None], 0.0))


def gaussian_log_prob(action: Tensor, mean: Tensor, log_std: Tensor) -> Tensor:
    """Log-density of actions [..., A] under independent Gaussians, summed over A."""
    z = (action - mean) * (-log_std).exp()
    return (-0.5 * z.square() - log_std - 0.5 * math.log(2.0 * math.pi)).sum(-1)


def gaussian_kl(old_mean: Tensor, old_log_std: Tensor, mean: Tensor, log_std: Tensor) -> Tensor:
    """KL(old || new) of independent Gaussians [K, B, A], summed over A."""
    ratio = (2.0 * (old_log_std - log_std)).exp()
    shift = (old_mean - mean).square() * (-2.0 * log_std).exp()
    return (log_std - old_log_std + 0.5 * (ratio + shift - 1.0)).sum(-1)
