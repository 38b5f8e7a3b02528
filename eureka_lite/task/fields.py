"""Which physical quantities a task can randomize.

One table for the loader, the engines and the error messages: a new field is one line in FIELDS. It knows MJCF names and
model arrays, no engine and no rewards.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import mujoco
import numpy as np


def _joint_dofs(model: mujoco.MjModel, name: str) -> list[int]:
    joint = model.joint(name)
    return list(range(int(joint.dofadr[0]), int(joint.dofadr[0]) + len(np.atleast_1d(joint.damping))))


def _id(kind: str) -> Callable[[mujoco.MjModel, str], list[int]]:
    return lambda model, name: [int(getattr(model, kind)(name).id)]


@dataclass(frozen=True)
class Field:
    """One quantity that can be randomized.

    Attributes:
        targets: what its `target` names: joint, body, geom, actuator, or "" for a quantity of the whole world.
        arrays: model arrays that change, `opt.` for options; empty for fields of the auxiliary physics.
        rows: model, target name -> rows of those arrays.
        columns: columns of a row that change, or None for all.
        stale: True where constants derived from it must be recomputed (`mj_setConst`).
        unit: of a value that is set; scales have none.
    """

    targets: str
    arrays: tuple[str, ...]
    rows: Callable[[mujoco.MjModel, str], list[int]] | None = None
    columns: tuple[int, ...] | None = None
    stale: bool = False
    unit: str = "1"


FIELDS: dict[str, Field] = {
    "gravity_z": Field("", ("opt.gravity",), columns=(2,), unit="m/s^2"),
    "geom_friction": Field("geom", ("geom_friction",), _id("geom"), (0,)),
    "body_mass": Field("body", ("body_mass", "body_inertia"), _id("body"), stale=True, unit="kg"),
    "joint_damping": Field("joint", ("dof_damping",), _joint_dofs, unit="N s/m or N m s/rad"),
    "joint_friction": Field("joint", ("dof_frictionloss",), _joint_dofs, unit="N or N m"),
    "joint_armature": Field("joint", ("dof_armature",), _joint_dofs, stale=True, unit="kg or kg m^2"),
    "actuator_strength": Field(
        "actuator", ("actuator_gainprm", "actuator_biasprm", "actuator_forcerange"), _id("actuator")
    ),
    "action_delay": Field("actuator", ("actuator_delay",), _id("actuator"), unit="s"),
    "liquid_density": Field("", (), unit="kg/m^3"),
}


def target_rows(model: mujoco.MjModel, field: Field, targets: tuple[str, ...]) -> list[int] | None:
    """Rows of the field's arrays that the targets mean; None for a quantity of the whole world.

    Raises:
        KeyError: a name that the model has not (MuJoCo's message lists those it has).
    """
    if not field.targets:
        return None
    assert field.rows is not None
    names = target_names(model, field.targets) if targets == ("*",) else targets
    return [row for name in names for row in field.rows(model, name)]


def target_names(model: mujoco.MjModel, kind: str) -> tuple[str, ...]:
    """All names of the model's joints, bodies, geoms or actuators, without the world body."""
    count = {"joint": model.njnt, "body": model.nbody, "geom": model.ngeom, "actuator": model.nu}[kind]
    names = [getattr(model, kind)(i).name for i in range(count)]
    return tuple(name for name in names if name and name != "world")
