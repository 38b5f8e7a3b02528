"""Draws, splits, delays, pushes, the row and the order of a step."""

from dataclasses import replace

import numpy as np
import pytest

from eureka_lite.reward import check
from eureka_lite.sim.world import SPARSE, World
from tests.tasks import still, task


def rolled(whole, steps=20, split="train", programs=(None,), per=4, seeds=None, threads=2, action=None) -> World:
    world = World(whole, list(programs), per, split, seeds, threads)
    world.reset()
    for t in range(steps):
        world.policy.numpy()[:] = np.sin(0.7 * t + np.arange(world.policy.shape[1])) if action is None else action
        world.step()
    return world


def column(world: World, name: str) -> np.ndarray:
    return world.signals.numpy()[:, world.task.signals[name].columns].copy()


FIELDS = [(name, r.name) for name in ("cartpole", "pour_cup") for r in task(name).randomization]


@pytest.mark.parametrize(("name", "entry"), FIELDS)
def test_every_randomization_changes_the_motion(name, entry):
    ends = []
    declared = next(r for r in task(name).randomization if r.name == entry)
    for at in declared.test:
        whole = still(name, entry, at=at)
        if name == "cartpole":  # a pole that falls: friction, mass and gravity all show
            whole = replace(whole, initial=replace(whole.initial, joints={"hinge": (0.1, 0.1)}))
        world = rolled(whole, 15)
        ends.append(np.concatenate([world.physics.qpos.numpy()[0], world.physics.qvel.numpy()[0]]))
        world.close()
    assert np.abs(ends[0] - ends[1]).max() > 1e-6


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_an_action_moves_nothing_before_its_delay_is_over(steps):
    whole = still("cartpole", "action_delay", at=0.02 * steps)
    world = World(whole, [None], 2, "train")
    world.reset()
    speeds = []
    for _ in range(4):
        world.policy.fill_(1.0)
        world.step()
        speeds.append(abs(float(column(world, "cart_vel")[0, 0])))
    world.close()
    assert all(speed < 1e-9 for speed in speeds[:steps])
    assert all(speed > 1e-3 for speed in speeds[steps:])


def test_a_reset_empties_the_delay_buffer():
    whole = replace(
        still("cartpole", "action_delay", at=0.04), control=replace(task("cartpole").control, episode_s=0.1)
    )
    world = World(whole, [None], 2, "train")
    world.reset()
    for _ in range(5):
        world.policy.fill_(1.0)
        world.step()
    assert (world.truncated.numpy() == 1.0).all()
    world.policy.fill_(0.0)
    for _ in range(3):
        world.step()
        assert np.abs(column(world, "cart_vel")).max() < 1e-9
    world.close()


def test_test_draws_are_wider_and_splits_never_meet():
    drawn = {}
    for split in ("train", "selection", "test"):
        world = World(task("pour_cup"), [None], 256, split, [5])
        world.reset()
        drawn[split] = dict(zip(world.draw_names, world.draws.numpy().T.copy(), strict=True))
        world.close()
    for entry in task("pour_cup").randomization:
        train, test = drawn["train"][entry.name], drawn["test"][entry.name]
        assert train.min() >= entry.train[0] and train.max() <= entry.train[1]
        assert test.min() >= entry.test[0] and test.max() <= entry.test[1]
        assert np.ptp(test) > 1.2 * np.ptp(train)
        assert np.ptp(train) > 0.9 * (entry.train[1] - entry.train[0])
        for a, b in (("train", "selection"), ("train", "test"), ("selection", "test")):
            assert not np.isin(drawn[a][entry.name], drawn[b][entry.name]).any()
    far = drawn["train"]["distance of target"]
    assert 0.10 <= far.min() < 0.11 and 0.21 < far.max() <= 0.22


def test_held_out_ranges_of_the_pour_are_half_as_wide_again():
    for entry in task("pour_cup").randomization:
        middle = entry.nominal if entry.name != "action_delay" else 0.0
        for inner, outer in zip(entry.train, entry.test, strict=True):
            assert abs(outer - middle) == pytest.approx(1.5 * abs(inner - middle))


def test_candidates_with_one_seed_meet_the_same_worlds():
    world = World(task("pour_cup"), [None] * 3, 8, "train", [1, 1, 2])
    world.reset()
    draws = world.draws.numpy().reshape(3, 8, -1)
    assert (draws[0] == draws[1]).all()
    assert (draws[0] != draws[2]).any()
    world.close()


@pytest.mark.parametrize("name", ["cartpole", "pour_cup"])
def test_the_number_of_threads_changes_nothing(name):
    ends = []
    for threads in (1, 2, 3):
        world = rolled(task(name), 60, per=7, threads=threads)
        ends.append(np.concatenate([world.signals.numpy().ravel(), world.observation.numpy().ravel()]))
        world.close()
    assert (ends[0] == ends[1]).all() and (ends[0] == ends[2]).all()


def test_pushes_move_the_pole_and_only_off_the_nominal_split():
    whole = replace(still("cartpole"), pushes=task("cartpole").pushes)
    speed = {}
    for split in ("nominal", "train"):
        world = rolled(whole, 200, split, per=8, action=0.0)
        speed[split] = np.abs(column(world, "cart_vel")).max()
        world.close()
    assert speed["nominal"] < 1e-6 < 1e-3 < speed["train"]


def test_noise_is_in_the_observation_and_never_in_the_row():
    world = rolled(task("cartpole"), 5, per=64)
    row = world.signals.numpy()[:, world.observation_columns]
    sensed = world.observation.numpy()
    noise = (sensed - row)[:, 0]
    assert 0.001 < noise.std() < 0.004
    assert world.signals.numpy()[:, 0] == pytest.approx(world.physics.qpos.numpy()[:, 0])
    world.close()


def test_a_row_is_the_truth_at_the_end_of_the_step():
    world = rolled(task("pour_cup"), 10, per=4)
    model, lip = world.physics.model, column(world, "lip_pos")
    site = model.site("lip").id
    import mujoco

    data = mujoco.MjData(model)
    for w in range(4):
        data.qpos[:] = world.physics.qpos.numpy()[w]
        mujoco.mj_kinematics(model, data)
        assert lip[w] == pytest.approx(data.site_xpos[site], abs=1e-6)
    world.close()


def test_rewards_fitness_and_statistics_of_a_step():
    whole = task("cartpole")
    program = check("def reward(s, prev):\n    return {'here': 2.0, 'gain': s.time - prev.time}\n", whole.signals)
    world = rolled(whole, 3, programs=[program, SPARSE, None], per=4, action=0.0)
    paid = world.reward.numpy().reshape(3, 4)
    assert paid[0] == pytest.approx(2.02, abs=1e-5)
    statistics = world.statistics.numpy().reshape(3, 4, -1, 5)
    assert statistics[0, :, 0, 0] == pytest.approx(6.0)  # sum of `here` over three steps
    assert statistics[0, :, 1, 0] == pytest.approx(0.06, abs=1e-5)
    assert (paid[2] == 0.0).all()
    world.close()


def test_the_sparse_reward_pays_as_over_says():
    last = rolled(
        replace(still("pour_cup"), control=replace(task("pour_cup").control, episode_s=0.16)), 3, programs=[SPARSE]
    )
    assert (last.reward.numpy() == 0.0).all()
    last.close()
    mean = rolled(still("cartpole"), 3, programs=[SPARSE], action=0.0)
    assert mean.reward.numpy() == pytest.approx(1.0 / 500)
    mean.close()


def test_a_fallen_pole_ends_the_episode_with_its_share():
    whole = still("cartpole")
    world = World(whole, [SPARSE], 2, "train")
    world.reset()
    length = 0
    while True:
        world.policy.fill_(1.0)
        world.step()
        length += 1
        if world.mask.numpy().any():
            break
    assert (world.terminated.numpy() == 1.0).all()
    assert world.episode_fitness.numpy() == pytest.approx((length - 1) / 500, abs=1.01 / 500)
    assert (column(world, "time") == 0.0).all()
    assert (world.prev.numpy() == world.signals.numpy()).all()
    angle = world.terminal_observation.numpy()[:, 2]
    assert (np.abs(angle) > 0.45).all()
    assert (np.abs(world.observation.numpy()[:, 2]) < 0.1).all()
    world.close()


def test_a_non_finite_reward_is_named_with_world_step_and_quantity():
    whole = task("cartpole")
    bad = check("def reward(s):\n    return {'fine': 1.0, 'root': sqrt(0.05 - s.time)}\n", whole.signals)
    good = check("def reward(s):\n    return {'fine': 1.0}\n", whole.signals)
    world = rolled(whole, 6, programs=[good, bad], per=4, action=0.0)
    found = world.non_finite()
    assert list(found) == [1]
    assert found[1].quantity == "reward component 'root'"
    assert found[1].step == 3
    assert np.isfinite(world.reward.numpy()[:4]).all()
    world.close()
