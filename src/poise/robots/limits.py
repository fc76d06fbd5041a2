"""What the joints of a robot can do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.errors import RobotError, unknown
from poise.robots.description import Description
from poise.robots.parts import Joint

#: A joint reaches its full speed in a tenth of a second where nothing better is known, and never needs more than
#: 200 rad/s^2: at that rate it turns 0.1 rad from rest in 32 ms.
RISE_TIME, FASTEST = 0.1, 200.0


@dataclass(frozen=True, eq=False)
class Limits:
    """Ranges of the actuated joints, one value per joint in the order of `Robot.joints` (index ``v - 6``).

    Args:
        lower, upper: range of the joint angle (rad; m for a sliding joint), lower < upper.
        velocity: largest speed (rad/s), positive.
        acceleration: largest acceleration (rad/s^2), positive.
        torque: largest torque (N m), positive.

    All are finite; the arrays cannot be written to.
    """

    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array
    torque: Array

    def __post_init__(self) -> None:
        for field in fields(self):
            values = np.array(getattr(self, field.name), dtype=np.float64)
            values.flags.writeable = False
            object.__setattr__(self, field.name, values)


def read_limits(model: pinocchio.Model, joints: Sequence[Joint], description: Description) -> Limits:
    """The limits of the model, corrected by those of the description, and checked."""
    q, v = [joint.q for joint in joints], [joint.v for joint in joints]
    velocity = _corrected("velocity", model.upperVelocityLimit[v], joints, description)
    values = {
        "lower": _corrected("lower", model.lowerPositionLimit[q], joints, description),
        "upper": _corrected("upper", model.upperPositionLimit[q], joints, description),
        "velocity": velocity,
        "acceleration": _corrected("acceleration", np.minimum(velocity / RISE_TIME, FASTEST), joints, description),
        "torque": _corrected("torque", model.upperEffortLimit[v], joints, description),
    }
    for kind, array in values.items():
        good = np.isfinite(array) & (np.abs(array) < 1e6)  # pinocchio writes 1.8e308 where there is no limit
        if kind not in ("lower", "upper"):
            good &= array > 0.0
        for joint, value in zip(np.array(joints, dtype=object)[~good], array[~good], strict=True):
            raise _error(description, joint, f"{kind} limit {value:g}; expected a positive finite number, give", kind)
    for joint, low, high in zip(joints, values["lower"], values["upper"], strict=True):
        if not low < high:
            raise _error(description, joint, f"the range {low:g} to {high:g}; expected lower < upper, give", "lower")
    return Limits(**values)


def read_armature(model: pinocchio.Model, joints: Sequence[Joint], limits: Limits, description: Description) -> Array:
    """Inertia of the rotors seen through their gears (kg m²), one per joint: the model's own, corrected."""
    given = model.armature[[joint.v for joint in joints]]
    if description.armature_per_torque is not None:
        given = description.armature_per_torque * limits.torque
    values = _merged("[armature]", description.armature, given, joints, description)
    for joint, value in zip(joints, values, strict=True):
        if not 0.0 <= value < 1e6:
            raise RobotError(
                f"{description.file}: joint '{joint.name}' has armature {value:g}; expected kg m², zero or more",
                file=description.file,
                element=joint.name,
            )
    return values


def _corrected(kind: str, given: Array, joints: Sequence[Joint], description: Description) -> Array:
    return _merged(f"[limits.{kind}]", description.limits[kind], given, joints, description)


def _merged(
    table: str, corrections: Mapping[str, float], given: Array, joints: Sequence[Joint], description: Description
) -> Array:
    """What is given, but for joints that a table names."""
    names = [joint.name for joint in joints]
    for name in corrections:
        if name != "*" and name not in names and name not in description.locked:
            raise unknown(f"{table} names no joint:", name, names, description.file)
    everywhere = corrections.get("*")
    usual = given if everywhere is None else np.full(len(names), everywhere)
    return np.array([corrections.get(name, value) for name, value in zip(names, usual, strict=True)], dtype=np.float64)


def _error(description: Description, joint: Joint, complaint: str, kind: str) -> RobotError:
    file = str(description.urdf)
    example = f"limits={{'{kind}': {{'{joint.name}': ...}}}}"
    return RobotError(f"{file}: joint '{joint.name}' has {complaint} {example}", file=file, element=joint.name)
