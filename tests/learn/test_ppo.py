"""PPO's numbers by hand, and that candidates do not touch each other."""

from dataclasses import fields

import pytest
import torch

from eureka_lite.learn.networks import Population, Shapes
from eureka_lite.learn.normalize import ObservationNormalizer, ReturnScaler
from eureka_lite.learn.policy import Policies, PolicyError, load_policies, save_policy
from eureka_lite.learn.ppo import Ppo, Settings, gaussian_kl, gaussian_log_prob
from eureka_lite.task.task import LEARNING

SHAPES = Shapes(observations=3, actions=2, hidden=16)


def filled(seeds, rollout=4, worlds=5, rewards=None, threads=1, updates=1, alive=None, observe=None) -> Ppo:
    """A learner after some updates on an environment that does not react."""
    ppo = Ppo(SHAPES, worlds, seeds, Settings(rollout=rollout, epochs=2, minibatches=2, hidden=16), threads)
    k = len(seeds)
    generator = torch.Generator().manual_seed(7)
    alive = torch.ones(k, dtype=torch.bool) if alive is None else alive
    for _ in range(updates):
        for _ in range(rollout):
            one = torch.randn(worlds, 3, generator=generator)
            observation = torch.stack([one * (1.0 if observe is None else observe[i]) for i in range(k)])
            action = ppo.act(observation)
            reward = -action.square().sum(-1)
            if rewards is not None:
                reward = torch.stack([rewards[i](reward[i]) for i in range(k)])
            nothing = torch.zeros(k, worlds)
            ppo.record(reward, nothing, nothing, observation)
        ppo.update(torch.zeros(k, worlds, 3), alive)
    return ppo


def test_advantages_by_hand():
    """Three steps, two worlds: one runs on, one ends (terminated in step 1, truncated in step 2)."""
    settings = Settings(rollout=3, gamma=0.9, lam=0.8, hidden=16)
    ppo = Ppo(SHAPES, 2, [0], settings)
    observations = torch.randn(4, 1, 2, 3, generator=torch.Generator().manual_seed(1))
    end_of_episode = torch.randn(1, 2, 3, generator=torch.Generator().manual_seed(2))
    rewards = torch.tensor([[[1.0, 1.0]], [[2.0, -1.0]], [[0.5, 3.0]]])
    terminated = torch.tensor([[[0.0, 0.0]], [[0.0, 1.0]], [[0.0, 0.0]]])
    truncated = torch.tensor([[[0.0, 0.0]], [[0.0, 0.0]], [[0.0, 1.0]]])
    for t in range(3):
        ppo.act(observations[t])
        ppo.record(rewards[t], terminated[t], truncated[t], end_of_episode)
    scaled = ReturnScaler(1, 2, 0.9)(rewards, torch.maximum(terminated, truncated))
    advantage, target, value, _ = ppo._targets(observations[3])

    values = [ppo.population.value(ppo._x[t])[0].detach() for t in range(4)]
    final = ppo.population.value(ppo.normalizer(end_of_episode))[0].detach()
    g, gl = 0.9, 0.9 * 0.8
    for world, ends in ((0, False), (1, True)):
        r, vs = scaled[:, 0, world], [x[world] for x in values]
        delta2 = r[2] + g * (final[world] if ends else vs[3]) - vs[2]  # truncated: goes on in its last observation
        delta1 = r[1] + (0.0 if ends else g * vs[2]) - vs[1]  # terminated: worth nothing
        delta0 = r[0] + g * vs[1] - vs[0]
        a2 = delta2
        a1 = delta1 + (0.0 if ends else gl * a2)
        a0 = delta0 + gl * a1
        assert advantage[:, 0, world].tolist() == pytest.approx([float(a0), float(a1), float(a2)], abs=1e-5)
    assert torch.allclose(target, advantage + value)


def test_log_density_and_divergence_are_those_of_torch():
    mean, std, x = torch.randn(4, 5, 2), torch.rand(4, 1, 2) + 0.5, torch.randn(4, 5, 2)
    normal = torch.distributions.Normal(mean, std)
    assert torch.allclose(gaussian_log_prob(x, mean, std.log()), normal.log_prob(x).sum(-1), atol=1e-5)
    other_mean, other_std = torch.randn(4, 5, 2), torch.rand(4, 1, 2) + 0.5
    other = torch.distributions.Normal(other_mean, other_std)
    kl = torch.distributions.kl_divergence(normal, other).sum(-1)
    assert torch.allclose(gaussian_kl(mean, std.log(), other_mean, other_std.log()), kl, atol=1e-5)


def test_the_normalizer_is_mean_and_variance_of_all_samples():
    normalizer = ObservationNormalizer(2, 3)
    parts = [torch.randn(2, n, 3) * 4.0 + 2.0 for n in (5, 50, 7)]
    for part in parts:
        normalizer.update(part)
    whole = torch.cat(parts, 1)
    assert torch.allclose(normalizer.mean, whole.mean(1), atol=1e-4)
    assert torch.allclose(normalizer.var, whole.var(1, unbiased=False), rtol=1e-4)


def test_rewards_of_any_size_learn_alike():
    results = []
    for size in (1e-3, 1.0, 1e3):
        ppo = filled([3], updates=6, rollout=16, worlds=16, rewards=[lambda r, size=size: r * size])
        results.append(ppo.population.flat.clone())
    assert torch.allclose(results[0], results[1], atol=2e-3)
    assert torch.allclose(results[2], results[1], atol=2e-3)


def test_it_learns():
    """Small actions are paid: their mean size falls."""
    observation = torch.randn(1, 64, 3, generator=torch.Generator().manual_seed(0))
    before, after = (filled([3], updates=n, rollout=16, worlds=64) for n in (1, 60))
    size = [
        float(p.best_action(observation).square().mean() + p.population.log_std.detach().exp().square().mean())
        for p in (before, after)
    ]
    assert size[1] < 0.3 * size[0]


def test_permuting_candidates_permutes_the_results_bit_for_bit():
    seeds = [1, 2, 3, 4]
    straight, turned = filled(seeds, updates=3), filled(seeds[::-1], updates=3)
    assert (straight.population.flat == turned.population.flat.flip(0)).all()
    assert (straight.population.flat[0] != straight.population.flat[1]).any()


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_the_number_of_threads_changes_nothing(threads):
    seeds = [1, 2, 3, 4, 5]
    assert (filled(seeds, updates=3, threads=threads).population.flat == filled(seeds, updates=3).population.flat).all()


def test_bad_siblings_leave_a_candidate_bit_identical():
    def plain(r):
        return r

    bad = [plain, lambda r: r * float("nan"), lambda r: r * 1e38, lambda r: r * 0.0]
    good = filled([1, 2, 3, 4], updates=4, rewards=[plain] * 4)
    mixed = filled([1, 2, 3, 4], updates=4, rewards=bad)
    assert (good.population.flat[0] == mixed.population.flat[0]).all()
    assert mixed.diverged.tolist()[:2] == [False, True]
    assert torch.isfinite(mixed.population.flat[0]).all()


def test_a_stopped_candidate_stays_as_it_is():
    alive = torch.tensor([True, False])
    ppo = filled([1, 2], updates=3, alive=alive)
    fresh = Population(SHAPES, [1, 2], 1.0)
    assert (ppo.population.flat[1] == fresh.flat[1]).all()
    assert (ppo.population.flat[0] != fresh.flat[0]).any()


def test_a_task_may_set_exactly_the_settings_there_are():
    assert {f.name for f in fields(Settings)} == set(LEARNING) - {"steps"}
    defaults = Settings()
    for name, (low, high, _) in LEARNING.items():
        if name != "steps":
            assert low <= getattr(defaults, name) <= high


def test_a_policy_acts_alike_after_it_was_saved(tmp_path):
    ppo = filled([1, 2], updates=2)
    for k in range(2):
        save_policy(tmp_path / f"{k}.safetensors", ppo, k, {"task_hash": "h"})
    loaded = load_policies([tmp_path / "1.safetensors", tmp_path / "0.safetensors"], "h")
    observation = torch.randn(2, 7, 3)
    assert (loaded(observation.flip(0)) == Policies(ppo.population, ppo.normalizer)(observation).flip(0)).all()


def test_a_policy_that_does_not_fit_is_refused(tmp_path):
    save_policy(tmp_path / "p.safetensors", filled([1]), 0, {"task_hash": "h"})
    with pytest.raises(PolicyError, match="another version of the task"):
        load_policies([tmp_path / "p.safetensors"], "other")
    with pytest.raises(PolicyError, match=r"none\.safetensors"):
        load_policies([tmp_path / "none.safetensors"])
    (tmp_path / "broken.safetensors").write_bytes(b"\0" * 50)
    with pytest.raises(PolicyError, match="not a readable policy"):
        load_policies([tmp_path / "broken.safetensors"])
