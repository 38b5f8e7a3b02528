"""World: the simulation of K candidates x N worlds of one task, as step() and reset().

The order of a step is the design's: action, delay (in the engine), disturbances, physics, row, reward, fitness,
termination, terminal rows, reset, refreshed rows, observation. It knows compiled programs, no learner: whoever trains
reads and writes its Warp arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import warp as wp

from eureka_lite.reward import MAX_COMPONENTS, Program
from eureka_lite.reward.kernel import Kernel, compile_program, compile_programs
from eureka_lite.reward.task_programs import task_programs
from eureka_lite.sim import kernels
from eureka_lite.sim.liquid import Particles
from eureka_lite.sim.mujoco_cpu import MujocoCpu
from eureka_lite.sim.physics import Auxiliary
from eureka_lite.sim.slices import Slices
from eureka_lite.task.signals import FOLD_OPERATIONS
from eureka_lite.task.task import Randomization, Task

SPLITS = ("nominal", "train", "selection", "test")
SPARSE = "sparse"


@dataclass(frozen=True)
class NonFinite:
    """The first number of a candidate that was not finite: where and when."""

    world: int
    step: int
    quantity: str

    def __str__(self) -> str:
        return f"non-finite {self.quantity} in world {self.world} at step {self.step}"


class World:
    """K candidates x N worlds; world w = k * N + n.

    Args:
        task: the task.
        programs: one checked reward program per candidate; SPARSE pays the fitness itself, None pays nothing.
        per_candidate: N.
        split: which ranges the physics is drawn from, and which random numbers: worlds of different splits never meet.
        seeds: of the draws, one per candidate; candidates with equal seeds meet the same worlds.
        stagger: cut the first episodes short, so that the worlds' episodes do not end in step; those are not counted.
        threads: of the engine, and slices of the rest.

    Attributes (Warp float32 arrays on the CPU, W = K * N worlds):
        policy: [W, actions], written by the learner before `step`.
        observation: [W, observations] after resets.
        terminal_observation: [W, observations] before resets: what the last step led to.
        reward, terminated, truncated: [W].
        signals, prev: [W, columns].
        draws: [W, quantities], see `draw_names`.
    """

    def __init__(
        self,
        task: Task,
        programs: list[Program | str | None],
        per_candidate: int,
        split: str = "train",
        seeds: list[int] | None = None,
        threads: int = 2,
        stagger: bool = False,
    ) -> None:
        self.task, self.split, self.stagger = task, split, stagger
        self.candidates, self.per_candidate = len(programs), per_candidate
        self.worlds = self.candidates * per_candidate
        self.slices = Slices(self.worlds, threads)
        self._randomizations = [r for r in task.randomization if split != "nominal"]
        bodies = self._bodies()
        self.physics = MujocoCpu(task, self.worlds, threads, bodies)
        self.auxiliary: Auxiliary | None = None
        if task.liquid is not None:
            self.auxiliary = Particles(task.liquid, self.physics, self.worlds, task.control.dt, self.slices)
        seeds = [0] * self.candidates if seeds is None else seeds
        split_seeds = np.array([SPLITS.index(split) + len(SPLITS) * seed for seed in seeds], np.int64)
        self._seeds = wp.array((split_seeds % (1 << 31)).astype(np.int32), dtype=wp.int32, device="cpu")
        self._allocate()
        self._lay_out_draws()
        self._lay_out_row()
        self._lay_out_disturbances(bodies)
        self._compile(programs)
        self._steps = self._record()

    # --- set-up -------------------------------------------------------------------------------------------------

    def _bodies(self) -> tuple[int, ...]:
        """Bodies that wrenches act on: pushed ones and those that carry a container and can move."""
        from eureka_lite.sim.mujoco_cpu import compile_model

        model = compile_model(self.task)
        bodies = [int(model.body(push.body).id) for push in self.task.pushes]
        if self.task.liquid is not None:
            for site, *_ in self.task.liquid.containers.values():
                body = int(model.site_bodyid[model.site(site).id])
                if model.body_weldid[body] != 0 and model.body_mocapid[body] < 0:
                    bodies.append(body)
        return tuple(dict.fromkeys(bodies))

    def _floats(self, *shape: int) -> wp.array:
        return wp.zeros(shape, dtype=float, device="cpu")

    def _ints(self, *shape: int) -> wp.array:
        return wp.zeros(shape, dtype=wp.int32, device="cpu")

    def _allocate(self) -> None:
        w, columns = self.worlds, self.task.signals.width
        actions = len(self.task.actions)
        names = list(self.task.observation)
        self.observation_columns = [
            c for name in names for c in range(*self.task.signals[name].columns.indices(1 << 30))
        ]
        noise = [self.task.observation[name] for name in names for _ in range(self.task.signals[name].size)]
        observations = len(self.observation_columns)
        self.policy, self.action, self.last_action = (self._floats(w, actions) for _ in range(3))
        self.ctrl = self._floats(w, actions)
        self.signals, self.prev = self._floats(w, columns), self._floats(w, columns)
        self.observation, self.terminal_observation = self._floats(w, observations), self._floats(w, observations)
        self.reward, self.terminated, self.truncated = (self._floats(w) for _ in range(3))
        self.outputs = self._floats(w, 1 + MAX_COMPONENTS)
        self._task_values = self._floats(w, 2)
        self.mask, self.episode, self.steps, self.age, self.fresh = (self._ints(w) for _ in range(5))
        self.event = self._ints(w, 3)
        self.fit_sum, self.fit_max, self.fit_last, self.return_sum = (self._floats(w) for _ in range(4))
        self.episode_fitness, self.episode_return = self._floats(w), self._floats(w)
        self.statistics, self.tally = self._floats(w, MAX_COMPONENTS, 5), self._floats(w, 5)
        self._noise = wp.array(np.array(noise, np.float32), dtype=float, device="cpu")
        self._columns = wp.array(np.array(self.observation_columns, np.int32), dtype=wp.int32, device="cpu")
        ctrlrange = self.physics.model.actuator_ctrlrange
        self._middle = wp.array(ctrlrange.mean(1).astype(np.float32), dtype=float, device="cpu")
        self._half = wp.array((ctrlrange[:, 1] - ctrlrange[:, 0]).astype(np.float32) / 2, dtype=float, device="cpu")

    def _lay_out_draws(self) -> None:
        """Every drawn quantity gets a column of `draws`: physics first, then the initial state."""
        model, initial = self.physics.model, self.task.initial
        ranges: list[tuple[str, tuple[float, float]]] = [
            (r.name, r.test if self.split == "test" else r.train) for r in self._randomizations
        ]
        ranges += [(f"start of {joint}", r) for joint, r in initial.joints.items()]
        ranges += [(f"start velocity of {joint}", r) for joint, r in initial.velocities.items()]
        for body, (near, far) in initial.rings.items():
            ranges += [(f"distance of {body}", (near, far)), (f"direction of {body}", (-np.pi, np.pi))]
        if self.auxiliary is not None:
            ranges.append(("turn of the liquid", (-np.pi, np.pi)))
        self.draw_names = tuple(name for name, _ in ranges)
        drawn = [r for _, r in ranges] or [(0.0, 0.0)]  # arrays of a task that draws nothing have one idle column
        low, high = np.array(drawn, np.float32).T.copy()
        self._low, self._high = (wp.array(a, dtype=float, device="cpu") for a in (low, high))
        self.draws = self._floats(self.worlds, len(drawn))
        self._draw_column = {name: i for i, name in enumerate(self.draw_names)}
        self._joint_address = {j: int(model.joint(j).qposadr[0]) for j in initial.joints}
        self._dof_address = {j: int(model.joint(j).dofadr[0]) for j in initial.velocities}
        self._mocap_row = {b: int(model.body(b).mocapid[0]) for b in initial.rings}
        mocap = [i for i in range(model.nbody) if model.body_mocapid[i] >= 0]
        self._mocap_start = np.zeros((model.nmocap, 3))
        for body in mocap:
            self._mocap_start[model.body_mocapid[body]] = model.body_pos[body]

    def _lay_out_row(self) -> None:
        model, source, index = self.physics.model, [], []
        joints = {"joint_pos": (kernels.QPOS, "qposadr"), "joint_vel": (kernels.QVEL, "dofadr")}
        plain = {"action": kernels.ACTION, "last_action": kernels.LAST_ACTION, "time": kernels.TIME}
        for signal in self.task.signals:
            kind, names = signal.source.kind, signal.source.names
            if kind == "sensor":
                address = int(model.sensor(names[0]).adr[0])
                source += [kernels.SENSOR] * signal.size
                index += range(address, address + signal.size)
            elif kind in joints:
                source += [joints[kind][0]] * signal.size
                index += [int(getattr(model.joint(name), joints[kind][1])[0]) for name in names]
            elif kind == "liquid":
                assert self.auxiliary is not None
                source.append(kernels.AUXILIARY)
                index.append(self.auxiliary.quantities.index(names[0]))
            else:
                source += [plain.get(kind, kernels.COMPUTED)] * signal.size
                index += range(signal.size)
        self._source = wp.array(np.array(source, np.int32), dtype=wp.int32, device="cpu")
        self._index = wp.array(np.array(index, np.int32), dtype=wp.int32, device="cpu")

    def _lay_out_disturbances(self, bodies: tuple[int, ...]) -> None:
        pushes = self.task.pushes if self.split != "nominal" else ()
        model, rate = self.physics.model, self.task.control.rate_hz

        def floats(values: list[float]) -> wp.array:
            return wp.array(np.array(values, np.float32), dtype=float, device="cpu")

        def ints(values: list[int]) -> wp.array:
            return wp.array(np.array(values, np.int32), dtype=wp.int32, device="cpu")

        self._push_force = [floats([p.force[i] for p in pushes]) for i in range(2)]
        self._push_pause = [floats([p.every_s[i] * rate for p in pushes]) for i in range(2)]
        self._push_duration = ints([max(1, round(p.duration_s * rate)) for p in pushes])
        self._push_slot = ints([bodies.index(int(model.body(p.body).id)) for p in pushes])
        count = max(1, len(pushes))
        self._next_push, self._push_ends = self._ints(self.worlds, count), self._ints(self.worlds, count)
        self._push_now = wp.zeros((self.worlds, count), dtype=wp.vec3, device="cpu")
        self.wrench = self._floats(self.worlds, max(1, len(bodies)), 6)
        carried = self.auxiliary.bodies if self.auxiliary is not None else ()
        self._auxiliary_slot = ints([bodies.index(b) if b in bodies else -1 for b in carried])

    def _compile(self, programs: list[Program | str | None]) -> None:
        own = task_programs(self.task)
        nothing = wp.zeros((1, 1), dtype=float, device="cpu")
        self._derived: list[tuple[int, str | None, Kernel, wp.array]] = []
        folds = sum(self.task.signals[name].source.kind == "fold" for name, _ in own.derived)
        self._fold_value, self._fold_memory = (self._floats(self.worlds, max(1, folds)) for _ in range(2))
        for name, program in own.derived:
            signal = self.task.signals[name]
            constants = _constants([program]) if program.constants else nothing
            self._derived.append((signal.column, signal.source.operation, compile_program(program), constants))
        self._own = [(0, compile_program(own.fitness), _constants([own.fitness]))]
        if own.terminates is not None:
            self._own.append((1, compile_program(own.terminates), _constants([own.terminates])))
        checked = [p for p in programs if isinstance(p, Program)]
        compiled = iter(compile_programs(checked))
        self.rewards = [next(compiled) if isinstance(p, Program) else None for p in programs]
        self.constants = _constants([p if isinstance(p, Program) else None for p in programs])
        self.components = [
            p.outputs if isinstance(p, Program) else ((self.task.fitness.name,) if p == SPARSE else ())
            for p in programs
        ]
        self._component_count = wp.array(
            np.array([len(c) for c in self.components], np.int32), dtype=wp.int32, device="cpu"
        )
        self._sparse = wp.array(np.array([p == SPARSE for p in programs], np.int32), dtype=wp.int32, device="cpu")

    def _record(self) -> dict[str, Callable[[], object]]:
        """Record the launches of a step once; each is replayed without building its arguments again."""
        physics, fitness, n = self.physics, self.task.fitness, self.per_candidate
        auxiliary = self.auxiliary.values if self.auxiliary else self._floats(1, 1)
        carried = self.auxiliary.wrench if self.auxiliary else self._floats(1, 1, 6)

        def launch(kernel: object, dim: int | tuple[int, ...], inputs: list) -> Callable[[], object]:
            recorded = wp.launch(kernel, dim=dim, inputs=inputs, device="cpu", record_cmd=True, block_dim=1)
            assert recorded is not None
            return recorded.launch

        row = [self._source, self._index, self.task.control.dt, physics.qpos, physics.qvel, physics.sensordata,
               self.action, self.last_action, self.steps, auxiliary]  # fmt: skip
        ended = fitness.ended_early if fitness.ended_early is not None else 0.0
        sense = [n, self._seeds, self._columns, self._noise, self.episode, self.steps, self.signals]
        w = self.worlds
        return {
            "draw": launch(kernels.draw, self.draws.shape, [self.mask, n, self._seeds, self.episode, self._low,
                                                                     self._high, self.draws]),
            "act": launch(kernels.act, self.policy.shape, [self._middle, self._half, self.policy, self.action,
                                                           self.last_action, self.ctrl]),
            "push": launch(kernels.push, w, [n, self._seeds, self.episode, self.steps, *self._push_force,
                                             self._push_duration, *self._push_pause, self._push_slot, self._next_push,
                                             self._push_ends, self._push_now, self._auxiliary_slot, carried,
                                             self.wrench]),
            "row": launch(kernels.fill_row, w, [*row, 1, self.signals, self.prev]),
            "fresh row": launch(kernels.fill_row, w, [*row, 0, self.signals, self.prev]),
            "judge": launch(kernels.judge, w, [n, self.task.control.episode_steps, int(self.stagger),
                                               kernels.OVER.index(fitness.over),
                                               ended, int(fitness.ended_early is not None), self._sparse,
                                               self._component_count, self.signals, self.outputs, self._task_values,
                                               self.steps, self.episode, self.age, self.fresh,
                                               self.fit_sum, self.fit_max, self.fit_last,
                                               self.reward, self.terminated, self.truncated, self.mask, self.event,
                                               self.episode_fitness, self.episode_return, self.return_sum,
                                               self.statistics, self.tally]),
            "begin": launch(kernels.begin, w, [self.mask, self.episode, self.steps, self.fresh, self.action,
                                               self.last_action]),
            "copy": launch(kernels.copy_rows, w, [self.mask, self.signals, self.prev]),
            "terminal": launch(kernels.observe, w, [self.mask, 0, *sense, self.terminal_observation]),
            "observe": launch(kernels.observe, w, [self.mask, 1, *sense, self.observation]),
        }  # fmt: skip

    # --- the step -----------------------------------------------------------------------------------------------

    def reset(self) -> None:
        """Start an episode in every world and forget all statistics."""
        self.episode.fill_(-1)
        self.age.zero_()
        self.event.zero_()
        self.forget()
        self.mask.fill_(1)
        self._restart()
        if self.stagger:
            offsets = np.arange(self.per_candidate) * self.task.control.episode_steps // self.per_candidate
            self.steps.numpy()[:] = np.tile(offsets, self.candidates)

    def forget(self) -> None:
        """Begin the statistics of components and episodes anew."""
        self.statistics.zero_()
        self.tally.zero_()

    def step(self) -> None:
        """Advance every world by one control step under `policy`; worlds that are done start a new episode."""
        self._steps["act"]()
        self._steps["push"]()
        self.physics.step(self.ctrl.numpy(), self.wrench.numpy())
        if self.auxiliary is not None:
            self.auxiliary.step()
        self._steps["row"]()
        self._derive(fresh=False)
        self._pay()
        self._steps["judge"]()
        self._steps["terminal"]()
        wp.copy(self.observation, self.terminal_observation)
        if self.mask.numpy().any():
            self._restart()

    def _pay(self) -> None:
        """Run the reward programs, the fitness and the termination on the rows."""
        n = self.per_candidate
        for k, kernel in enumerate(self.rewards):
            if kernel is not None:
                kernel.launch(self.signals, self.prev, self.constants, k, k * n, n, self.outputs, 0)
        for column, kernel, constants in self._own:
            kernel.launch(self.signals, self.prev, constants, 0, 0, self.worlds, self._task_values, column)

    def _derive(self, fresh: bool) -> None:
        """Compute the `expr` and `fold` columns in their order."""
        slot = 0
        for column, operation, kernel, constants in self._derived:
            if operation is None:
                kernel.launch(self.signals, self.prev, constants, 0, 0, self.worlds, self.signals, column)
                continue
            kernel.launch(self.signals, self.prev, constants, 0, 0, self.worlds, self._fold_value, slot)
            wp.launch(
                kernels.fold, dim=self.worlds, device="cpu", block_dim=1,
                inputs=[self.mask, int(fresh), FOLD_OPERATIONS.index(operation), column, self.task.control.dt,
                        self.steps, self._fold_value, self._fold_memory, slot, self.signals],
            )  # fmt: skip
            slot += 1

    def _restart(self) -> None:
        """Start a new episode in the masked worlds: draws, physics, liquid, rows, observation."""
        self._steps["begin"]()
        self._steps["draw"]()
        ids = np.flatnonzero(self.mask.numpy())
        draws = self.draws.numpy()[ids]
        rigid = [(r, draws[:, i]) for i, r in enumerate(self._randomizations) if not self._is_auxiliary(r)]
        if rigid:
            self.physics.randomize(ids, rigid)
        self.physics.reset(ids, *self._initial_state(draws))
        if self.auxiliary is not None:
            for i, r in enumerate(self._randomizations):
                if self._is_auxiliary(r):
                    self.auxiliary.randomize(ids, r.field, draws[:, i])
            self.auxiliary.randomize(ids, "turn", draws[:, self._draw_column["turn of the liquid"]])
            self.auxiliary.reset(self.mask)
        self._steps["fresh row"]()
        self._derive(fresh=True)
        self._steps["copy"]()
        self._steps["observe"]()

    @staticmethod
    def _is_auxiliary(entry: Randomization) -> bool:
        return entry.field.startswith("liquid_")

    def _initial_state(self, draws: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Drawn qpos [n, nq], qvel [n, nv] and mocap positions [n, nmocap, 3]."""
        model, column, n = self.physics.model, self._draw_column, len(draws)
        qpos, qvel = np.tile(model.qpos0, (n, 1)), np.zeros((n, model.nv))
        mocap = np.tile(self._mocap_start, (n, 1, 1))
        for joint, address in self._joint_address.items():
            qpos[:, address] += draws[:, column[f"start of {joint}"]]
        for joint, address in self._dof_address.items():
            qvel[:, address] = draws[:, column[f"start velocity of {joint}"]]
        for body, row in self._mocap_row.items():
            distance, angle = draws[:, column[f"distance of {body}"]], draws[:, column[f"direction of {body}"]]
            mocap[:, row, 0] += distance * np.cos(angle)
            mocap[:, row, 1] += distance * np.sin(angle)
        return qpos, qvel, mocap

    # --- what happened ------------------------------------------------------------------------------------------

    def non_finite(self) -> dict[int, NonFinite]:
        """The earliest non-finite number of each candidate that had one."""
        events = self.event.numpy().reshape(self.candidates, self.per_candidate, 3)
        found = {}
        for k in np.flatnonzero((events[:, :, 0] != kernels.FINE).any(1)):
            bad = events[k, :, 0] != kernels.FINE
            steps = np.where(bad, events[k, :, 2], np.iinfo(np.int32).max)
            n = int(steps.argmin())
            kind, what, step = (int(v) for v in events[k, n])
            found[int(k)] = NonFinite(n, step, self._quantity(int(k), kind, what))
        return found

    def _quantity(self, candidate: int, kind: int, what: int) -> str:
        if kind == kernels.BAD_SIGNAL:
            return f"signal {self.task.signals.column_names()[what]}"
        if kind == kernels.BAD_FITNESS:
            return f"fitness {self.task.fitness.name}"
        return "total reward" if what == 0 else f"reward component {self.components[candidate][what - 1]!r}"

    def close(self) -> None:
        """End the threads."""
        self.slices.close()


def _constants(programs: list[Program | None]) -> wp.array:
    """Numeric constants of programs as kernel arguments [programs, most constants]."""
    width = max([1, *(len(p.constants) for p in programs if p is not None)])
    table = np.zeros((len(programs), width), np.float32)
    for row, program in enumerate(programs):
        if program is not None:
            table[row, : len(program.constants)] = program.constants
    return wp.array(table, dtype=float, device="cpu")
