"""The liquid: particles poured between containers, in Warp beside the engine's rigid bodies.

One auxiliary physics behind `sim.auxiliary.Auxiliary`: it reads the poses of container sites at the end of a control
step, moves its particles along, fills its own quantities for the row and gives back the wrench that the particles put
on the bodies that carry containers. It knows no reward and no learner.

Method: position-based dynamics with small substeps (Macklin et al. 2019, "Small Steps in Physics Simulation"): predict,
push overlapping particles apart, project out of walls, derive velocities from the change of position. Walls are
cylinder shells with a rounded rim and a flat floor. Every particle remembers for every container on which side of the
wall it is; the side can only change above the rim, so no particle ever passes a wall however hard it is pushed.
"""

# pyright: reportInvalidTypeForm=false, reportAssignmentType=false, reportOperatorIssue=false, reportCallIssue=false
# pyright: reportArgumentType=false, reportGeneralTypeIssues=false, reportIndexIssue=false, reportOptionalMemberAccess=false
from __future__ import annotations

import mujoco
import numpy as np
import warp as wp

from eureka_lite.sim.physics import Physics
from eureka_lite.sim.slices import Slices
from eureka_lite.task.task import Liquid

VISCOSITY = wp.constant(0.03)  # share of the relative displacement that touching particles exchange per substep
TABLE_GRIP = wp.constant(0.2)  # share of its horizontal displacement that a particle on the table loses per substep
SPILLED_RADII = wp.constant(2.5)  # a particle outside all containers, lower than this many radii, counts as spilled


@wp.struct
class Container:
    """Inner radius, height of the rim above the inner floor, wall thickness; metres."""

    radius: float
    height: float
    wall: float


@wp.func
def wall_push(p: wp.vec3, inside: int, c: Container, r: float) -> wp.vec3:
    """Where a particle at `p` (container frame, z = 0 on the inner floor) must go to touch the walls no more."""
    middle = c.radius + 0.5 * c.wall
    radial = wp.sqrt(p[0] * p[0] + p[1] * p[1])
    if p[2] > c.height:  # above the rim's plane: only the rounded rim is in the way
        reach = r + 0.5 * c.wall
        dr = radial - middle
        dz = p[2] - c.height
        distance = wp.sqrt(dr * dr + dz * dz)
        if distance < reach and distance > 1.0e-9 and radial > 1.0e-9:
            new_radial = middle + dr * reach / distance
            return wp.vec3(p[0] * new_radial / radial, p[1] * new_radial / radial, c.height + dz * reach / distance)
        return p
    if inside == 1:
        q = p
        limit = c.radius - r
        if radial > limit:
            q = wp.vec3(p[0] * limit / radial, p[1] * limit / radial, p[2])
        return wp.vec3(q[0], q[1], wp.max(q[2], r))
    limit = c.radius + c.wall + r
    bottom = -c.wall - r
    if radial < limit and p[2] > bottom:
        if p[2] - bottom < limit - radial:
            return wp.vec3(p[0], p[1], bottom)
        if radial > 1.0e-9:
            return wp.vec3(p[0] * limit / radial, p[1] * limit / radial, p[2])
        return wp.vec3(limit, 0.0, p[2])
    return p


@wp.kernel
def flow(
    first_world: int,
    substeps: int,
    dt: float,
    radius: float,
    table: float,
    particle_mass: float,
    gravity: wp.array(dtype=wp.vec3),
    density: wp.array(dtype=float),
    containers: wp.array(dtype=Container),
    site: wp.array(dtype=int),
    lever: wp.array(dtype=wp.vec3),
    site_pos: wp.array2d(dtype=wp.vec3),
    site_mat: wp.array2d(dtype=wp.mat33),
    last_pos: wp.array2d(dtype=wp.vec3),
    last_quat: wp.array2d(dtype=wp.quat),
    x: wp.array2d(dtype=wp.vec3),
    v: wp.array2d(dtype=wp.vec3),
    start: wp.array2d(dtype=wp.vec3),
    inside: wp.array3d(dtype=wp.int32),
    wrench: wp.array3d(dtype=float),
    quantities: wp.array2d(dtype=float),
):
    """Move the particles of one world through one control step of `substeps` x `dt`; a thread per world."""
    w = first_world + wp.tid()
    particles = x.shape[1]
    count = site.shape[0]
    h = dt
    g = gravity[w]
    mass = particle_mass * density[w]
    for c in range(count):
        for k in range(6):
            wrench[w, c, k] = 0.0
    diameter = 2.0 * radius
    fastest = radius / h
    for s in range(substeps):
        for i in range(particles):
            start[w, i] = x[w, i]
            x[w, i] = x[w, i] + (v[w, i] + g * h) * h
        for i in range(particles):
            xi = x[w, i]
            for j in range(i + 1, particles):
                d = xi - x[w, j]
                squared = wp.dot(d, d)
                if squared < diameter * diameter:
                    length = wp.sqrt(squared)
                    n = wp.vec3(0.0, 0.0, 1.0)
                    if length > 1.0e-9:
                        n = d / length
                    slip = (x[w, j] - start[w, j]) - (xi - start[w, i])
                    push = n * (0.5 * (diameter - length)) + slip * (0.5 * VISCOSITY)
                    xi = xi + push
                    x[w, j] = x[w, j] - push
            x[w, i] = xi
        blend = float(s + 1) / float(substeps)
        for c in range(count):
            shape = containers[c]
            new_pos = site_pos[w, site[c]]
            new_quat = wp.quat_from_matrix(site_mat[w, site[c]])
            old_quat = last_quat[w, c]
            if wp.dot(new_quat, old_quat) < 0.0:
                old_quat = -old_quat
            origin = last_pos[w, c] + (new_pos - last_pos[w, c]) * blend
            q = wp.normalize(old_quat + (new_quat - old_quat) * blend)
            turn = wp.quat_to_matrix(q)
            back = wp.transpose(turn)
            reach = shape.radius + shape.wall + radius
            arm = turn * lever[c]
            force = wp.vec3(0.0)
            torque = wp.vec3(0.0)
            for i in range(particles):
                here = x[w, i]
                p = back * (here - origin)
                squared = p[0] * p[0] + p[1] * p[1]
                side = inside[w, i, c]
                if p[2] > shape.height:
                    side = 0
                    if squared < shape.radius * shape.radius:
                        side = 1
                    inside[w, i, c] = side
                if side == 1 or (squared < reach * reach and p[2] < shape.height + reach and p[2] > -reach):
                    moved = turn * (wall_push(p, side, shape, radius) - p)
                    x[w, i] = here + moved
                    push = moved * (-mass / h)
                    force += push
                    torque += wp.cross(here - origin - arm, push)
            for k in range(3):
                wrench[w, c, k] = wrench[w, c, k] + force[k]
                wrench[w, c, 3 + k] = wrench[w, c, 3 + k] + torque[k]
        for i in range(particles):
            here = x[w, i]
            if here[2] < table + radius:
                keep = 1.0 - TABLE_GRIP
                from_ = start[w, i]
                here = wp.vec3(
                    from_[0] + (here[0] - from_[0]) * keep, from_[1] + (here[1] - from_[1]) * keep, table + radius
                )
                x[w, i] = here
            moved = (here - start[w, i]) / h
            speed = wp.length(moved)
            if speed > fastest:
                moved = moved * (fastest / speed)
            v[w, i] = moved
    for c in range(count):
        last_pos[w, c] = site_pos[w, site[c]]
        last_quat[w, c] = wp.quat_from_matrix(site_mat[w, site[c]])
        for k in range(6):
            wrench[w, c, k] = wrench[w, c, k] / (float(substeps) * h)
    share = 1.0 / float(particles)
    for c in range(count + 2):
        quantities[w, c] = 0.0
    for i in range(particles):
        place = count + 1
        if x[w, i][2] < table + SPILLED_RADII * radius:
            place = count
        found = int(0)
        for c in range(count):
            if found == 0 and inside[w, i, c] == 1:
                origin = site_pos[w, site[c]]
                p = wp.transpose(site_mat[w, site[c]]) * (x[w, i] - origin)
                if p[2] <= containers[c].height:
                    place = c
                    found = 1
        quantities[w, place] = quantities[w, place] + share


@wp.kernel
def refill(
    mask: wp.array(dtype=wp.int32),
    source: int,
    particle_mass: float,
    table_angle: wp.array(dtype=float),
    gravity: wp.array(dtype=wp.vec3),
    density: wp.array(dtype=float),
    site: wp.array(dtype=int),
    lever: wp.array(dtype=wp.vec3),
    settled: wp.array(dtype=wp.vec3),
    site_pos: wp.array2d(dtype=wp.vec3),
    site_mat: wp.array2d(dtype=wp.mat33),
    last_pos: wp.array2d(dtype=wp.vec3),
    last_quat: wp.array2d(dtype=wp.quat),
    x: wp.array2d(dtype=wp.vec3),
    v: wp.array2d(dtype=wp.vec3),
    inside: wp.array3d(dtype=wp.int32),
    wrench: wp.array3d(dtype=float),
    quantities: wp.array2d(dtype=float),
):
    """Put all particles of the masked worlds at rest into the source container, turned about its axis."""
    w = wp.tid()
    if mask[w] == 0:
        return
    count = site.shape[0]
    particles = x.shape[1]
    turn = wp.quat_from_axis_angle(wp.vec3(0.0, 0.0, 1.0), table_angle[w])
    for c in range(count):
        last_pos[w, c] = site_pos[w, site[c]]
        last_quat[w, c] = wp.quat_from_matrix(site_mat[w, site[c]])
        for k in range(6):
            wrench[w, c, k] = 0.0
    for c in range(count + 2):
        quantities[w, c] = 0.0
    quantities[w, source] = 1.0
    frame = site_mat[w, site[source]]
    weight = gravity[w] * (particle_mass * density[w])
    force = wp.vec3(0.0)
    torque = wp.vec3(0.0)
    for i in range(particles):
        local = frame * wp.quat_rotate(turn, settled[i])
        x[w, i] = site_pos[w, site[source]] + local
        v[w, i] = wp.vec3(0.0)
        for c in range(count):
            inside[w, i, c] = 0
        inside[w, i, source] = 1
        force += weight
        torque += wp.cross(local - frame * lever[source], weight)
    for k in range(3):
        wrench[w, source, k] = force[k]
        wrench[w, source, 3 + k] = torque[k]


class Particles:
    """The liquid of W worlds; implements `Auxiliary`.

    `values` holds the shares of the particles in each container, in the order of the task file (a particle that is
    inside two counts for the first), then spilled, then in the air: they sum to 1.
    """

    def __init__(self, liquid: Liquid, physics: Physics, worlds: int, control_dt: float, slices: Slices) -> None:
        model, count, n = physics.model, len(liquid.containers), liquid.particles
        self.liquid, self._physics, self._slices = liquid, physics, slices
        sites = [model.site(site).id for site, *_ in liquid.containers.values()]
        self.bodies = tuple(int(model.site_bodyid[site]) for site in sites)
        self.quantities = (*(f"in:{name}" for name in liquid.containers), "spilled", "air")
        self._source = list(liquid.containers).index(liquid.source)
        shapes = []
        for _, radius, height, wall in liquid.containers.values():
            shape = Container()
            shape.radius, shape.height, shape.wall = radius, height, wall
            shapes.append(shape)
        self._mass = liquid.density * 4.0 / 3.0 * np.pi * liquid.particle_radius**3
        self._dt = control_dt / liquid.substeps
        self.density = wp.array(np.ones(worlds, np.float32), dtype=float, device="cpu")
        self._density_view = self.density.numpy()
        self.angle = wp.zeros(worlds, dtype=float, device="cpu")
        self._angle_view = self.angle.numpy()
        self.x = wp.zeros((worlds, n), dtype=wp.vec3, device="cpu")
        self.v = wp.zeros((worlds, n), dtype=wp.vec3, device="cpu")
        self.wrench = wp.zeros((worlds, count, 6), dtype=float, device="cpu")
        self.values = wp.zeros((worlds, count + 2), dtype=float, device="cpu")
        self.inside = wp.zeros((worlds, n, count), dtype=wp.int32, device="cpu")
        self._start = wp.zeros((worlds, n), dtype=wp.vec3, device="cpu")
        self._last_pos = wp.zeros((worlds, count), dtype=wp.vec3, device="cpu")
        self._last_quat = wp.zeros((worlds, count), dtype=wp.quat, device="cpu")
        self._containers = wp.array(shapes, dtype=Container, device="cpu")
        self._site = wp.array(sites, dtype=int, device="cpu")
        self._lever = wp.array(_levers(model, sites), dtype=wp.vec3, device="cpu")
        self._settled = wp.array(settle(liquid, self._dt), dtype=wp.vec3, device="cpu")
        self._launches = [
            wp.launch(
                flow, dim=size, device="cpu", record_cmd=True, block_dim=1,
                inputs=[first, liquid.substeps, self._dt, liquid.particle_radius, liquid.table_height, self._mass,
                        physics.gravity, self.density, self._containers, self._site, self._lever, physics.site_xpos,
                        physics.site_xmat, self._last_pos, self._last_quat, self.x, self.v, self._start, self.inside,
                        self.wrench, self.values],
            ).launch
            for first, size in slices.ranges
        ]  # fmt: skip

    def step(self) -> None:
        """See `Auxiliary.step`."""
        self._slices.run(self._launches)

    def reset(self, mask: wp.array) -> None:
        """See `Auxiliary.reset`."""
        wp.launch(
            refill, dim=len(self.density), device="cpu", block_dim=1,
            inputs=[mask, self._source, self._mass, self.angle, self._physics.gravity, self.density, self._site,
                    self._lever, self._settled, self._physics.site_xpos, self._physics.site_xmat, self._last_pos,
                    self._last_quat, self.x, self.v, self.inside, self.wrench, self.values],
        )  # fmt: skip

    def randomize(self, ids: np.ndarray, field: str, values: np.ndarray) -> None:
        """See `Auxiliary.randomize`: `liquid_density` (a multiple of the nominal one), `turn` (radians) of the fill."""
        {"liquid_density": self._density_view, "turn": self._angle_view}[field][ids] = values


def _levers(model: mujoco.MjModel, sites: list[int]) -> np.ndarray:
    """Centre of mass of each site's body, in the site's frame [containers, 3]."""
    levers = []
    for site in sites:
        turn = np.zeros(9)
        mujoco.mju_quat2Mat(turn, model.site_quat[site])
        body = model.site_bodyid[site]
        levers.append(turn.reshape(3, 3).T @ (model.body_ipos[body] - model.site_pos[site]))
    return np.array(levers, dtype=np.float32)


def settle(liquid: Liquid, dt: float, seconds: float = 3.0) -> np.ndarray:
    """Let the particles fall into an upright source container and return where they come to rest.

    Returns:
        [particles, 3] float32 in the container's frame.
    """
    _, radius, height, wall = liquid.containers[liquid.source]
    n, r = liquid.particles, liquid.particle_radius
    layer = [(a, b) for a in np.arange(-radius + r, radius - r + 1e-6, 2.05 * r)
             for b in np.arange(-radius + r, radius - r + 1e-6, 2.05 * r) if np.hypot(a, b) <= radius - r]  # fmt: skip
    start = [(*layer[i % len(layer)], r + 2.05 * r * (i // len(layer))) for i in range(n)]
    start = np.array(start) + np.random.default_rng(0).uniform(-0.02 * r, 0.02 * r, (n, 3))
    shape = Container()
    shape.radius, shape.height, shape.wall = radius, float(start[:, 2].max() + 2.0 * r + height), wall
    one = {"device": "cpu"}
    x = wp.array(start[None].astype(np.float32), dtype=wp.vec3, **one)
    v = wp.zeros((1, n), dtype=wp.vec3, **one)
    upright = wp.array([[[0.0, 0.0, 0.0, 1.0]]], dtype=wp.quat, **one)
    wp.launch(
        flow, dim=1, device="cpu", block_dim=1,
        inputs=[0, round(seconds / dt), dt, r, -10.0, 1.0, wp.array([[0.0, 0.0, -9.81]], dtype=wp.vec3, **one),
                wp.array([1.0], dtype=float, **one), wp.array([shape], dtype=Container, **one),
                wp.array([0], dtype=int, **one), wp.zeros(1, dtype=wp.vec3, **one),
                wp.zeros((1, 1), dtype=wp.vec3, **one),
                wp.array([[np.eye(3)]], dtype=wp.mat33, **one), wp.zeros((1, 1), dtype=wp.vec3, **one), upright, x, v,
                wp.zeros((1, n), dtype=wp.vec3, **one), wp.array(np.ones((1, n, 1), np.int32), dtype=wp.int32, **one),
                wp.zeros((1, 1, 6), dtype=float, **one), wp.zeros((1, 3), dtype=float, **one)],
    )  # fmt: skip
    return x.numpy()[0]
