"""The CPU engine: `mujoco.batch.Batch`, a thread pool of MuJoCo worlds, behind the `Physics` protocol.

Results are bit-identical at any thread count. Copies between the engine's float64 rows and the float32 arrays of the
rest of the step are the only ones on the way.
"""

from __future__ import annotations

import mujoco
import numpy as np
import warp as wp
from mujoco.batch import Batch

from eureka_lite.sim.randomize import Place, apply
from eureka_lite.task.fields import FIELDS, target_rows
from eureka_lite.task.task import Randomization, Task

VELOCITY = mujoco.mjtStage.mjSTAGE_VEL
NOTHING = mujoco.mjtStage.mjSTAGE_NONE


def compile_model(task: Task) -> mujoco.MjModel:
    """Compile the task's scene, with delay buffers as long as the longest drawn action delay."""
    spec = mujoco.MjSpec.from_file(str(task.scene))
    longest = max((max(*r.train, *r.test) for r in task.randomization if r.field == "action_delay"), default=0.0)
    own = [actuator.delay for actuator in spec.actuators]
    if longest > 0.0:
        for actuator in spec.actuators:  # a delay of their own stays the default
            actuator.nsample = max(actuator.nsample, int(np.ceil(longest / spec.option.timestep)) + 1)
            actuator.delay = max(actuator.delay, longest)
    model = spec.compile()
    for actuator in range(model.nu if longest > 0.0 else 0):
        model.actuator_delay[actuator] = own[actuator]
    # The default would start a diverged world anew without a word; the row must show it instead.
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET
    return model


class MujocoCpu:
    """`worlds` worlds on `threads` threads; see `Physics` for the arrays.

    Args:
        task: gives scene and decimation.
        worlds: W.
        threads: of the engine's pool.
        bodies: ids of the bodies that `step` puts wrenches on.
    """

    name = "mujoco"

    def __init__(self, task: Task, worlds: int, threads: int, bodies: tuple[int, ...]) -> None:
        self.model = compile_model(task)
        self.worlds, self.bodies = worlds, list(bodies)
        self._decimation = task.control.decimation
        self._batch = Batch(self.model, worlds, threads, True)
        self._sources = {name: self._batch.bind(name) for name in ("qpos", "qvel")}
        if self.model.nsensordata:
            self._sources["sensordata"] = self._batch.bind("sensordata")
        self._sites = task.liquid is not None
        if self._sites:
            self._sources |= {name: self._batch.bind(name) for name in ("site_xpos", "site_xmat")}
        self._ctrl = self._batch.bind("ctrl")
        self._act = self._batch.bind("act") if self.model.na else None
        self._xfrc = self._batch.bind("xfrc_applied")
        self._mocap = self._batch.bind("mocap_pos") if self.model.nmocap else None
        self.qpos = wp.zeros((worlds, self.model.nq), dtype=float, device="cpu")
        self.qvel = wp.zeros((worlds, self.model.nv), dtype=float, device="cpu")
        self.sensordata = wp.zeros((worlds, max(1, self.model.nsensordata)), dtype=float, device="cpu")
        self.site_xpos = wp.zeros((worlds, max(1, self.model.nsite)), dtype=wp.vec3, device="cpu")
        self.site_xmat = wp.zeros((worlds, max(1, self.model.nsite)), dtype=wp.mat33, device="cpu")
        gravity = np.tile(self.model.opt.gravity.astype(np.float32), (worlds, 1))
        self.gravity = wp.array(gravity, dtype=wp.vec3, device="cpu")
        self._views = {name: getattr(self, name).numpy() for name in self._sources}
        self._gravity_view = self.gravity.numpy()
        self._nominal: dict[str, np.ndarray] = {}
        self._expanded: dict[str, np.ndarray] = {}
        self._places: dict[tuple[str, str], Place] = {}
        self._setpoints = self._servo_setpoints()

    def _servo_setpoints(self) -> list[tuple[int, int]]:
        """(activation, qpos address) of the servos that integrate a commanded velocity into a setpoint."""
        pairs = []
        for i in range(self.model.nu):
            actuator = self.model.actuator(i)
            integrates = actuator.dyntype[0] == mujoco.mjtDyn.mjDYN_INTEGRATOR
            if integrates and actuator.trntype[0] == mujoco.mjtTrn.mjTRN_JOINT:
                joint = self.model.joint(int(actuator.trnid[0]))
                pairs.append((int(actuator.actadr[0]), int(joint.qposadr[0])))
        return pairs

    def step(self, ctrl: np.ndarray, wrench: np.ndarray) -> None:
        """See `Physics.step`."""
        self._ctrl[:] = ctrl
        if self.bodies:
            self._xfrc[:, self.bodies] = wrench
        self._batch.step(nstep=self._decimation, stage=VELOCITY)
        for name, source in self._sources.items():
            self._views[name].reshape(source.shape)[...] = source

    def reset(self, ids: np.ndarray, qpos: np.ndarray, qvel: np.ndarray, mocap_pos: np.ndarray) -> None:
        """See `Physics.reset`."""
        ids = np.ascontiguousarray(ids, dtype=np.int32)
        self._batch.reset(ids, stage=NOTHING)
        self._sources["qpos"][ids] = qpos
        self._sources["qvel"][ids] = qvel
        if self._mocap is not None:
            self._mocap[ids] = mocap_pos
        for activation, address in self._setpoints:
            assert self._act is not None
            self._act[ids, activation] = qpos[:, address]
        self._batch.forward(ids, stage=VELOCITY)
        for name, source in self._sources.items():
            self._views[name].reshape(source.shape)[ids] = source[ids]

    def randomize(self, ids: np.ndarray, entries: list[tuple[Randomization, np.ndarray]]) -> None:
        """See `Physics.randomize`."""
        stale = False
        for entry, values in entries:
            field = FIELDS[entry.field]
            stale |= field.stale
            for name in field.arrays:
                array, nominal, place = self._array(entry, name)
                apply(array, nominal, ids, values.astype(np.float64), entry.operation, place)
        if "opt.gravity" in self._expanded:
            self._gravity_view[ids] = self._expanded["opt.gravity"][ids]
        if stale:
            self._batch.set_const(np.ascontiguousarray(ids, dtype=np.int32))

    def _array(self, entry: Randomization, name: str) -> tuple[np.ndarray, np.ndarray, Place]:
        """The per-world array of a model field, its nominal values and where the entry writes."""
        if name not in self._expanded:
            owner, attribute = (self.model.opt, name[4:]) if name.startswith("opt.") else (self.model, name)
            self._nominal[name] = np.array(getattr(owner, attribute), dtype=np.float64)
            self._expanded[name] = self._batch.expand(name)
        key = (entry.name, name)
        if key not in self._places:
            field = FIELDS[entry.field]
            rows = target_rows(self.model, field, entry.target)
            columns = None if name == "body_inertia" else field.columns
            self._places[key] = Place(self._nominal[name].shape, rows, columns)
        return self._expanded[name], self._nominal[name], self._places[key]
