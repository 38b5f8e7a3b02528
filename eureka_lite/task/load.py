"""From a task folder to a Task: read, check every name against the MJCF, explain every mistake.

A task folder holds `task.toml`, `scene.xml`, `functions.py` (in the reward language) and `rewards/human.py`. The
functions are only read here as text; the reward room checks them.
"""

from __future__ import annotations

import hashlib
import tomllib
from pathlib import Path
from typing import Any

import mujoco

from eureka_lite.task.fields import FIELDS, target_names
from eureka_lite.task.reading import Table
from eureka_lite.task.signals import FOLD_OPERATIONS, KIND_SIZES, SOURCE_KINDS, Signal, SignalTable, Source
from eureka_lite.task.task import (
    LEARNING,
    Control,
    Fitness,
    InitialState,
    Liquid,
    Push,
    Randomization,
    Task,
    TaskError,
)

FORMAT = 1


def load_task(folder: Path | str, name: str | None = None) -> Task:
    """Read a task folder; the task is called like the folder unless `name` says otherwise.

    Raises:
        TaskError: what is wrong, with file, key and the nearest right name.
    """
    folder = Path(folder)
    path = folder / "task.toml"
    text = _read(path)
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise TaskError(f"{path}: not valid TOML: {error}") from None
    model = _compile(folder / "scene.xml")
    root = Table(data, path, "")
    if root.integer("format") != FORMAT:
        raise TaskError(f"{path}: format: this version reads format {FORMAT}, the file has {data.get('format')}")
    goal, words = root.text("goal"), root.texts("words")
    liquid = _liquid(root.table("liquid", optional=True), model)
    control, terminates = _control(root.table("control"), model)
    signals = _signals(root.table("signals"), model, liquid)
    task = Task(
        name=name or folder.resolve().name,
        folder=folder,
        hash=folder_hash(folder),
        goal=goal,
        words=tuple(words),
        control=control,
        signals=signals,
        functions=_read(folder / "functions.py"),
        terminates=terminates,
        actions=_named(model, "actuator"),
        observation=_observation(root.table("observation"), signals),
        fitness=_fitness(root.table("fitness")),
        initial=_initial(root.table("initial", optional=True), model),
        randomization=tuple(
            _randomization(name, table, model, liquid)
            for name, table in root.table("randomization", optional=True).tables()
        ),
        pushes=tuple(_push(name, table, model) for name, table in root.table("pushes", optional=True).tables()),
        liquid=liquid,
        profile=_profile(root.table("reflection", optional=True), signals),
        learning=_learning(root.table("learning", optional=True)),
    )
    root.done()
    for entry in task.randomization:
        if entry.field == "action_delay" and max(*entry.train, *entry.test) >= control.episode_s:
            raise TaskError(
                f"{path}: randomization.{entry.name}: a delay as long as an episode of {control.episode_s:g} s"
            )
    return task


def folder_hash(folder: Path) -> str:
    """16 hex digits over the names and bytes of all files of a task folder."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(f"{path.relative_to(folder).as_posix()}\0{path.stat().st_size}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise TaskError(f"{path}: cannot be read: {reason}") from None


def _compile(path: Path) -> mujoco.MjModel:
    if not path.is_file():
        raise TaskError(f"{path}: a task folder needs its MJCF scene there")
    try:
        model = mujoco.MjModel.from_xml_path(str(path))
    except ValueError as error:
        reason = " ".join(str(error).split())
        raise TaskError(f"{path}: MuJoCo refuses it: {reason}") from None
    if model.nu == 0:
        raise TaskError(f"{path}: no <actuator>: the policy has nothing to act on")
    for i in range(model.nsensor):
        if model.sensor_delay[i] > 0:
            raise TaskError(
                f"{path}: sensor {model.sensor(i).name!r}: delay would delay the truth; delay the observation instead"
            )
    for i in range(model.nu):
        if not model.actuator_ctrllimited[i]:
            raise TaskError(f"{path}: actuator {model.actuator(i).name!r}: ctrlrange is missing; actions scale to it")
    return model


def _named(model: mujoco.MjModel, kind: str) -> tuple[str, ...]:
    count = {"actuator": model.nu, "joint": model.njnt, "body": model.nbody, "geom": model.ngeom,
             "sensor": model.nsensor, "site": model.nsite}[kind]  # fmt: skip
    names = [getattr(model, kind)(i).name for i in range(count)]
    return tuple(name or f"{kind}{i}" for i, name in enumerate(names))


def _control(table: Table, model: mujoco.MjModel) -> tuple[Control, str | None]:
    rate, episode = table.number("rate_hz", above=0.0), table.number("episode_s", above=0.0)
    terminates = table.text("terminates", default="") or None
    substeps = 1.0 / (rate * model.opt.timestep)
    if abs(substeps - round(substeps)) > 1e-6 or round(substeps) < 1:
        raise table.error(
            "rate_hz", f"a control step of {1 / rate:g} s is no multiple of the scene's timestep {model.opt.timestep:g}"
        )
    if episode * rate < 2:
        raise table.error("episode_s", "an episode needs at least two control steps")
    table.done()
    return Control(rate, episode, round(substeps)), terminates


def _signals(table: Table, model: mujoco.MjModel, liquid: Liquid | None) -> SignalTable:
    signals = [_signal(name, entry, model, liquid) for name, entry in table.tables()]
    if not signals:
        raise table.error("", "at least one signal is needed")
    return SignalTable.of(signals)


def _signal(name: str, table: Table, model: mujoco.MjModel, liquid: Liquid | None) -> Signal:
    if not (name.isidentifier() and name.islower()):
        raise table.error("", "a signal's name is a lower-case Python identifier")
    given = [kind for kind in SOURCE_KINDS if kind in table]
    if len(given) != 1:
        raise table.error(
            "", f"exactly one source is needed, one of {', '.join(SOURCE_KINDS)}; found {given or 'none'}"
        )
    source, size, kind = _source(given[0], table, model, liquid)
    kind = table.choice("kind", tuple(KIND_SIZES), default=kind)
    fixed = KIND_SIZES[kind]
    size = table.integer("size", default=size or fixed or 1)
    if fixed is not None and size != fixed:
        raise table.error("kind", f"a {kind} has {fixed} elements, the source has {size}")
    labels = table.texts("labels", default=[])
    if labels and len(labels) != size:
        raise table.error("labels", f"{len(labels)} labels for {size} elements")
    low_high = table.pair("range") if "range" in table else None
    signal = Signal(name, kind, size, table.text("unit"), table.text("frame", default=""), table.text("doc"), source,  # type: ignore[arg-type]
                    tuple(labels), low_high)  # fmt: skip
    table.done()
    return signal


def _source(kind: str, table: Table, model: mujoco.MjModel, liquid: Liquid | None) -> tuple[Source, int | None, str]:
    """The source, its number of elements if it is known here, and the signal kind that this means."""
    if kind == "sensor":
        name = table.name("sensor", _named(model, "sensor"))
        size = int(model.sensor(name).dim[0])
        return Source(kind, (name,)), size, {1: "scalar", 3: "vec3"}.get(size, "vector")
    if kind in ("joint_pos", "joint_vel"):
        names = table.names(kind, _named(model, "joint"))
        for name in names:
            if int(model.joint(name).type[0]) not in (mujoco.mjtJoint.mjJNT_SLIDE, mujoco.mjtJoint.mjJNT_HINGE):
                raise table.error(kind, f"joint {name!r} is neither slide nor hinge; use an MJCF sensor per quantity")
        return Source(kind, tuple(names)), len(names), "scalar" if len(names) == 1 else "vector"
    if kind in ("action", "last_action"):
        table.flag(kind)
        return Source(kind), model.nu, "vector"
    if kind == "time":
        table.flag(kind)
        return Source(kind), 1, "scalar"
    if kind == "liquid":
        if liquid is None:
            raise table.error(kind, "this task has no [liquid]")
        quantities = (*(f"in:{name}" for name in liquid.containers), "spilled", "air")
        return Source(kind, (table.name("liquid", quantities),)), 1, "scalar"
    if kind == "fold":
        operation = table.choice("fold", FOLD_OPERATIONS)
        return Source(kind, (table.text("of"),), operation), 1, "scalar"
    return Source(kind, (table.text("expr"),)), None, "scalar"


def _observation(table: Table, signals: SignalTable) -> dict[str, float]:
    noise = table.numbers(signals.names)
    for name, value in noise.items():
        if value < 0.0:
            raise table.error(name, "a noise's standard deviation is not negative")
        if signals[name].source.kind == "action":
            raise table.error(name, "the policy cannot see the action that it is about to choose; use last_action")
    if not noise:
        raise table.error("", "at least one observed signal is needed")
    return noise


def _fitness(table: Table) -> Fitness:
    fitness = Fitness(
        name=table.text("name"),
        function=table.text("function"),
        over=table.choice("over", ("last", "mean", "max", "sum")),  # type: ignore[arg-type]
        direction=table.choice("direction", ("max", "min"), default="max"),  # type: ignore[arg-type]
        range=table.pair("range"),
        ended_early=table.number("ended_early") if "ended_early" in table else None,
        doc=table.text("doc"),
    )
    if fitness.over == "mean" and fitness.ended_early is None:
        raise table.error("ended_early", "a mean over the longest episode needs the value of the missing steps")
    table.done()
    return fitness


def _initial(table: Table, model: mujoco.MjModel) -> InitialState:
    joints = table.table("joints", optional=True).pairs(_named(model, "joint"))
    velocities = table.table("velocities", optional=True).pairs(_named(model, "joint"))
    mocap = tuple(model.body(i).name for i in range(model.nbody) if model.body_mocapid[i] >= 0)
    rings = table.table("rings", optional=True).pairs(mocap)
    table.done()
    return InitialState(joints, velocities, rings)


def _randomization(name: str, table: Table, model: mujoco.MjModel, liquid: Liquid | None) -> Randomization:
    field = table.name("field", tuple(FIELDS))
    spec = FIELDS[field]
    if field == "liquid_density" and liquid is None:
        raise table.error("field", "this task has no [liquid]")
    targets: tuple[str, ...] = ()
    if spec.targets:
        targets = tuple(table.names("target", ("*", *target_names(model, spec.targets))))
    operation = table.choice("operation", ("scale", "add", "set"))
    nominal = table.number("nominal", default={"scale": 1.0, "add": 0.0}.get(operation, 0.0))
    train = table.pair("train")
    entry = Randomization(name, field, targets, operation, nominal, train,  # type: ignore[arg-type]
                          table.pair("test") if "test" in table else train,
                          "1" if operation == "scale" else spec.unit)  # fmt: skip
    if field == "action_delay" and (operation != "set" or min(*entry.train, *entry.test) < 0.0):
        raise table.error("train", "a delay is set, in seconds, and not negative")
    if operation == "scale" and min(*entry.train, *entry.test) < 0.0:
        raise table.error("train", "a scale is not negative")
    table.done()
    return entry


def _push(name: str, table: Table, model: mujoco.MjModel) -> Push:
    body = table.name("body", _named(model, "body"), default=name)
    push = Push(body, table.pair("force"), table.number("duration_s", above=0.0), table.pair("every_s"))
    if push.every_s[0] < push.duration_s:
        raise table.error("every_s", "the next push may not start before the last has ended")
    table.done()
    return push


def _liquid(table: Table, model: mujoco.MjModel) -> Liquid | None:
    if table.empty:
        return None
    containers = {}
    for name, entry in table.table("containers").tables():
        site = entry.name("site", _named(model, "site"), default=name)
        containers[name] = (site, entry.number("radius", above=0.0), entry.number("height", above=0.0),
                            entry.number("wall", above=0.0))  # fmt: skip
        entry.done()
    liquid = Liquid(
        particles=table.integer("particles"),
        particle_radius=table.number("particle_radius", above=0.0),
        density=table.number("density", above=0.0),
        source=table.name("source", tuple(containers)),
        containers=containers,
        substeps=table.integer("substeps", default=8),
        table_height=table.number("table_height", default=0.0),
    )
    if liquid.particles < 1 or liquid.substeps < 1:
        raise table.error("particles", "at least one particle and one substep are needed")
    if liquid.particle_radius >= min(radius for _, radius, *_ in containers.values()):
        raise table.error("particle_radius", "a particle does not fit into the container")
    table.done()
    return liquid


def _learning(table: Table) -> dict[str, float]:
    values = table.numbers(tuple(LEARNING))
    for name, value in values.items():
        low, high, whole = LEARNING[name]
        if not low <= value <= high or (whole and value != int(value)):
            raise table.error(name, f"{'a whole number' if whole else 'a number'} from {low:g} to {high:g} is needed")
    return values


def _profile(table: Table, signals: SignalTable) -> tuple[str, ...]:
    names: list[Any] = table.texts("profile", default=[])
    for name in names:
        if name not in signals:
            raise table.error("profile", f"no signal {name!r}", near=(name, signals.names))
    table.done()
    return tuple(names)
