"""Parts of a robot (joints, frames, feet, hands, gaze), joint limits and rotor inertias."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.errors import RobotError, unknown_name_error

if TYPE_CHECKING:
    from poise.robots.description import Description

Side = Literal["left", "right"]

SIDES: tuple[Side, Side] = ("left", "right")


def other_side(side: Side) -> Side:
    """Return the opposite side of the body."""
    return "left" if side == "right" else "right"


def side_sign(side: Side) -> float:
    """Return the sign of y on a side: 1 for left, -1 for right."""
    return 1.0 if side == "left" else -1.0


@dataclass(frozen=True)
class Joint:
    """An actuated joint with one degree of freedom.

    Args:
        name: as in the robot's description.
        index: id in the pinocchio model.
        q: index of its angle (rad, or m for a sliding joint) in a configuration.
        v: index of its rate in a velocity; ``v - 6`` is its index in `JointLimits`.
    """

    name: str
    index: int
    q: int
    v: int


@dataclass(frozen=True)
class Frame:
    """A coordinate frame fixed to one body.

    Args:
        name: as in the robot's description, or as added by its data file.
        index: id in the pinocchio model.
        joint: id of the joint that carries it.
        robot_name: name of the robot to which it belongs.
    """

    name: str
    index: int
    joint: int
    robot_name: str


@dataclass(frozen=True)
class Sole:
    """The flat rectangle under a foot that touches the ground, in the foot's frame (m)."""

    x_min: float
    x_max: float
    y_min: float
    y_max: float

    @property
    def corners(self) -> Array:
        """The four corners, counter-clockwise seen from above, from the front left one: 4 x 3 (m)."""
        x, X, y, Y = self.x_min, self.x_max, self.y_min, self.y_max
        return np.array([[X, Y, 0.0], [x, Y, 0.0], [x, y, 0.0], [X, y, 0.0]])

    @property
    def center(self) -> Array:
        """Middle of the rectangle (m, 3)."""
        return np.array([(self.x_min + self.x_max) / 2, (self.y_min + self.y_max) / 2, 0.0])

    @property
    def size(self) -> tuple[float, float]:
        """Length and width (m)."""
        return self.x_max - self.x_min, self.y_max - self.y_min

    @property
    def half_size(self) -> tuple[float, float]:
        """Half length and half width (m)."""
        return 0.5 * (self.x_max - self.x_min), 0.5 * (self.y_max - self.y_min)


@dataclass(frozen=True)
class Foot(Frame):
    """A foot: the frame of its sole, with x towards the toes, y to the left, z up, origin on the ground plane."""

    side: Side
    sole: Sole

    @property
    def corners(self) -> Array:
        """Corners of the sole in this frame, counter-clockwise from the front left one: 4 x 3 (m)."""
        return self.sole.corners


@dataclass(frozen=True)
class Hand(Frame):
    """A hand: the frame that is moved to a target in reaching."""

    side: Side


@dataclass(frozen=True)
class GazeFrame(Frame):
    """Frame of the eyes or camera, and the viewing direction as a unit vector in that frame."""

    axis: tuple[float, float, float]


def contact_points(part: Frame, rotation: Array, position: Array) -> Array:
    """Return the points at which a part touches its environment, in the world: k x 3 (m).

    These are the corners of the sole of a foot, and the origin of any other part.

    Args:
        part: the part.
        rotation, position: its pose, ``world_from_part`` (3 x 3) and m (3).
    """
    corners = part.corners if isinstance(part, Foot) else np.zeros((1, 3))
    return np.asarray(corners @ rotation.T + position)


# -- Joint limits and rotor inertias ---------------------------------------------------------------------------------


#: Default acceleration limit: full speed within a tenth of a second (s), but at most 200 rad/s^2, with which a joint
#: turns 0.1 rad from rest in 32 ms.
DEFAULT_RISE_TIME, MAX_ACCELERATION = 0.1, 200.0


@dataclass(frozen=True, eq=False)
class JointLimits:
    """Limits of the actuated joints, one value per joint in the order of `Robot.joints` (index ``v - 6``).

    Args:
        lower, upper: range of the joint angle (rad; m for a sliding joint), lower < upper.
        velocity: largest speed (rad/s), positive.
        acceleration: largest acceleration (rad/s^2), positive.
        torque: largest torque (N m), positive.

    All values are finite; the arrays are read-only.
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


def read_limits(model: pinocchio.Model, joints: Sequence[Joint], description: Description) -> JointLimits:
    """Return the limits of the model, corrected by those of the description.

    Raises:
        RobotError: if a limit is missing, not finite or not positive, or a range is empty.
    """
    q, v = [joint.q for joint in joints], [joint.v for joint in joints]
    velocity = _apply_corrections("velocity", model.upperVelocityLimit[v], joints, description)
    values = {
        "lower": _apply_corrections("lower", model.lowerPositionLimit[q], joints, description),
        "upper": _apply_corrections("upper", model.upperPositionLimit[q], joints, description),
        "velocity": velocity,
        "acceleration": _apply_corrections(
            "acceleration", np.minimum(velocity / DEFAULT_RISE_TIME, MAX_ACCELERATION), joints, description
        ),
        "torque": _apply_corrections("torque", model.upperEffortLimit[v], joints, description),
    }
    for kind, array in values.items():
        valid = np.isfinite(array) & (np.abs(array) < 1e6)  # pinocchio uses 1.8e308 if there is no limit
        if kind not in ("lower", "upper"):
            valid &= array > 0.0
        for joint, value in zip(np.array(joints, dtype=object)[~valid], array[~valid], strict=True):
            raise _limit_error(
                description, joint, f"{kind} limit {value:g}; expected a positive finite number, give", kind
            )
    for joint, low, high in zip(joints, values["lower"], values["upper"], strict=True):
        if not low < high:
            raise _limit_error(
                description, joint, f"the range {low:g} to {high:g}; expected lower < upper, give", "lower"
            )
    return JointLimits(**values)


def read_armature(
    model: pinocchio.Model, joints: Sequence[Joint], limits: JointLimits, description: Description
) -> Array:
    """Return the reflected rotor inertia of each joint (kg m²): that of the model, corrected by the description."""
    model_values = model.armature[[joint.v for joint in joints]]
    if description.armature_per_torque is not None:
        model_values = description.armature_per_torque * limits.torque
    values = _merge_by_joint("[armature]", description.armature, model_values, joints, description)
    for joint, value in zip(joints, values, strict=True):
        if not 0.0 <= value < 1e6:
            raise RobotError(
                f"{description.file}: joint '{joint.name}' has armature {value:g}; expected kg m², zero or more",
                file=description.file,
                element=joint.name,
            )
    return values


def _apply_corrections(kind: str, model_values: Array, joints: Sequence[Joint], description: Description) -> Array:
    return _merge_by_joint(f"[limits.{kind}]", description.limits[kind], model_values, joints, description)


def _merge_by_joint(
    table: str, corrections: Mapping[str, float], model_values: Array, joints: Sequence[Joint], description: Description
) -> Array:
    """Return the model's values, replaced for the joints that a table names ("*" replaces all others)."""
    names = [joint.name for joint in joints]
    for name in corrections:
        if name != "*" and name not in names and name not in description.locked:
            raise unknown_name_error(f"{table} names no joint:", name, names, description.file)
    default = corrections.get("*")
    defaults = model_values if default is None else np.full(len(names), default)
    return np.array(
        [corrections.get(name, value) for name, value in zip(names, defaults, strict=True)], dtype=np.float64
    )


def _limit_error(description: Description, joint: Joint, fault: str, kind: str) -> RobotError:
    file = str(description.urdf)
    example = f"limits={{'{kind}': {{'{joint.name}': ...}}}}"
    return RobotError(f"{file}: joint '{joint.name}' has {fault} {example}", file=file, element=joint.name)
