"""The two seams of the simulation: the engine of rigid bodies and the auxiliary physics beside it.

Nothing here knows rewards or learners. An engine is one file that implements `Physics`; another kind of matter (a
liquid, a cloth) is one file that implements `Auxiliary`.
"""

from __future__ import annotations

from typing import Protocol

import mujoco
import numpy as np
import warp as wp

from eureka_lite.task.task import Randomization


class Physics(Protocol):
    """W worlds of one MuJoCo model.

    All arrays are Warp float32 arrays on one device with the engine's own field names, current at the end of a step
    (position and velocity stage recomputed; forces are those of the last substep).

    Attributes:
        model: the compiled model.
        qpos: [W, nq].
        qvel: [W, nv].
        sensordata: [W, nsensordata].
        site_xpos: [W, nsite] vec3.
        site_xmat: [W, nsite] mat33.
        gravity: [W] vec3, m/s^2.
    """

    model: mujoco.MjModel
    qpos: wp.array
    qvel: wp.array
    sensordata: wp.array
    site_xpos: wp.array
    site_xmat: wp.array
    gravity: wp.array

    def step(self, ctrl: np.ndarray, wrench: np.ndarray) -> None:
        """Advance all worlds by one control step.

        Args:
            ctrl: [W, nu] in actuator units.
            wrench: [W, bodies, 6] force and torque on the bodies given at construction, world frame, N and N m.
        """
        ...

    def reset(self, ids: np.ndarray, qpos: np.ndarray, qvel: np.ndarray, mocap_pos: np.ndarray) -> None:
        """Start `ids` [n] anew at the given state rows [n, ...], with empty delay buffers."""
        ...

    def randomize(self, ids: np.ndarray, entries: list[tuple[Randomization, np.ndarray]]) -> None:
        """Write drawn values [n] of each entry into the physics of the worlds `ids`; call before `reset`."""
        ...


class Auxiliary(Protocol):
    """Other matter that moves along with the rigid bodies.

    Attributes:
        quantities: names of what it measures, the columns of `values`.
        values: [W, quantities] float32.
        bodies: ids of the bodies that it pushes.
        wrench: [W, bodies, 6] mean wrench over the last control step, at each body's centre of mass, world frame.
    """

    quantities: tuple[str, ...]
    values: wp.array
    bodies: tuple[int, ...]
    wrench: wp.array

    def step(self) -> None:
        """Move along with the bodies' motion over the last control step."""
        ...

    def reset(self, mask: wp.array) -> None:
        """Start anew in the worlds whose mask is 1."""
        ...

    def randomize(self, ids: np.ndarray, field: str, values: np.ndarray) -> None:
        """Write drawn values [n] of one of its own fields into the worlds `ids`."""
        ...
