"""The pour is physical: what a policy could exploit is tried here by hand."""

import numpy as np
import pytest

from eureka_lite.sim.world import World
from tests.tasks import still, task

RATE = np.array([0.8, 0.8, 0.3, 5.0])  # joint speeds at full action: m/s, rad/s
DT = 0.04


class Hand:
    """Worlds of the pour that are driven by where the lip or the cup shall be and how far it is tilted."""

    def __init__(self, worlds: int = 8, split: str = "nominal", seed: int = 0, whole=None) -> None:
        self.task = whole or task("pour_cup")
        self.world = World(self.task, [None], worlds, split, [seed])
        self.world.reset()

    def signal(self, name: str, before_reset: bool = False) -> np.ndarray:
        rows = self.world.prev if before_reset else self.world.signals
        return rows.numpy()[:, self.task.signals[name].columns].copy()

    def drive(self, point: str, to: np.ndarray, tilt: float) -> None:
        """One step towards: `point` (lip_pos or cup_pos) at `to` [W, 3], cup tilted by `tilt` rad."""
        error = np.zeros((self.world.worlds, 4))
        error[:, :3] = to - self.signal(point)
        error[:, 3] = tilt - self.signal("joint_pos")[:, 3]
        self.world.policy.numpy()[:] = np.clip(error / (6.0 * DT * RATE), -1.0, 1.0)
        self.world.step()

    def close(self) -> None:
        self.world.close()


def pour(tilt: float, over_target: bool = True) -> Hand:
    """Move the lip over the target (or far away from it), then tilt slowly."""
    hand = Hand(16)
    goal = hand.signal("target_pos") + [-0.01, 0.0, 0.0]
    if not over_target:
        goal[:, :2] = [-0.35, -0.3] * np.where(goal[:, 1:2] < 0.0, [1.0, -1.0], [1.0, 1.0])
    for t in range(99):
        now = min(tilt, max(0.0, (t - 20) * DT * 1.2))
        goal[:, 2] = 0.12 + 0.13 * max(0.0, np.cos(now))  # the cup below the lip stays clear of the target
        hand.drive("lip_pos", goal, now)
    return hand


def test_a_scripted_pour_gets_most_of_it_in():
    hand = pour(1.6)
    assert hand.signal("liquid_in_target").mean() > 0.7
    assert hand.signal("liquid_in_cup").mean() < 0.2
    hand.close()


def test_a_small_tilt_pours_nothing():
    hand = pour(1.0)
    assert hand.signal("joint_pos")[:, 3] == pytest.approx(1.0, abs=0.05)
    assert (hand.signal("liquid_in_cup") == 1.0).all()
    hand.close()


def test_what_misses_the_target_is_spilled():
    hand = pour(1.8, over_target=False)
    spilled = hand.signal("liquid_spilled")
    assert spilled.mean() > 0.6
    assert (hand.signal("liquid_in_target") == 0.0).all()
    hand.close()


def test_a_full_cup_lowered_into_the_target_scores_nothing():
    hand = Hand(16)
    for t in range(99):
        over = hand.signal("target_pos") + ([0.0, 0.0, 0.14] if t < 40 else [0.0, 0.0, -0.2])
        hand.drive("cup_pos", over, 0.0)
        assert (hand.signal("liquid_in_target") == 0.0).all()
        height = hand.signal("cup_pos")[:, 2] - hand.signal("target_pos")[:, 2]
        assert (height > 0.05).all(), "the cups do not collide"
    assert (hand.signal("liquid_in_cup") == 1.0).all()
    assert (hand.world.episode_fitness.numpy() == 0.0).all()
    hand.world.policy.fill_(0.0)
    hand.world.step()  # the last of the episode
    assert (hand.world.truncated.numpy() == 1.0).all()
    assert (hand.world.episode_fitness.numpy() == 0.0).all()
    hand.close()


def local(hand: Hand, container: int) -> np.ndarray:
    """Particles in a container's frame [W, particles, 3]."""
    liquid, physics = hand.world.auxiliary, hand.world.physics
    site = physics.model.site(("cup", "target")[container]).id
    origin, frame = physics.site_xpos.numpy()[:, site], physics.site_xmat.numpy()[:, site]
    return np.einsum("wji,wpj->wpi", frame, liquid.x.numpy() - origin[:, None])


@pytest.fixture(scope="module")
def shaken():
    """Violent random motion of 64 worlds for 3 episodes with all randomization on: what was seen of the particles."""
    hand = Hand(64, "test", seed=3)
    generator, sizes = np.random.default_rng(0), hand.task.liquid.containers
    liquid = hand.world.auxiliary
    seen = {"totals": [], "low": [], "walls": 0, "crossed": 0, "left": 0, "arrived": 0}
    before = [local(hand, c) for c in range(2)]
    inside = liquid.inside.numpy().copy()
    hold = None
    for t in range(300):
        if t % 6 == 0:
            hold = generator.uniform(-1.0, 1.0, (64, 4)) * 1.5
        hand.world.policy.numpy()[:] = hold
        hand.world.step()
        fresh = hand.world.mask.numpy() > 0
        seen["totals"].append(liquid.values.numpy().sum(1))
        seen["low"].append(liquid.x.numpy()[..., 2].min())
        now = liquid.inside.numpy().copy()
        for c, (_, radius, height, wall) in enumerate(sizes.values()):
            points = local(hand, c)
            rho, z = np.hypot(points[..., 0], points[..., 1]), points[..., 2]
            shell = (rho > radius + 0.001) & (rho < radius + wall - 0.001) & (z > 0.0) & (z < height - 0.01)
            seen["walls"] += int(shell.sum())
            changed = (now[..., c] != inside[..., c]) & ~fresh[:, None]
            rim = np.maximum(z, before[c][..., 2]) > height - 0.035
            seen["crossed"] += int((changed & ~rim).sum())
            seen["left" if c == 0 else "arrived"] += int(changed.sum())
            before[c] = points
        inside = now
    hand.close()
    return seen


def test_no_particle_is_lost(shaken):
    assert np.abs(np.array(shaken["totals"]) - 1.0).max() < 1e-6


def test_no_particle_is_in_a_wall_or_under_the_table(shaken):
    assert shaken["walls"] == 0
    assert min(shaken["low"]) > task("pour_cup").liquid.particle_radius - 0.002


def test_liquid_leaves_and_enters_over_the_rim_only(shaken):
    assert shaken["left"] > 300, "the shaking spills too little to test anything"
    assert shaken["crossed"] == 0


def test_its_weight_is_felt_by_the_gripper():
    heights = {}
    for density in (0.0, 1.0, 3.0):
        hand = Hand(4, "train", whole=still("pour_cup", "liquid_density", at=density))
        force = []
        for t in range(60):
            hand.world.policy.fill_(0.0)
            hand.world.step()
            if t >= 20:
                force.append(hand.world.auxiliary.wrench.numpy()[:, 0, 2].copy())
        liquid = hand.task.liquid
        weight = liquid.particles * liquid.density * density * 4.0 / 3.0 * np.pi * liquid.particle_radius**3 * 9.81
        assert -np.mean(force) == pytest.approx(weight, rel=0.01)
        heights[density] = float(hand.signal("joint_pos")[:, 2].mean())
        hand.close()
    assert heights[0.0] - heights[1.0] == pytest.approx(1.75 / 2500.0, rel=0.1)  # weight / the servo's stiffness
    assert heights[0.0] - heights[3.0] == pytest.approx(3 * 1.75 / 2500.0, rel=0.1)


def test_the_liquid_rests():
    hand = Hand(4)
    for _ in range(20):
        hand.world.policy.fill_(0.0)
        hand.world.step()
    assert np.abs(hand.world.auxiliary.v.numpy()).max() < 0.05
    assert (hand.signal("liquid_in_cup") == 1.0).all()
    hand.close()
