"""Loading of robots: `load_robot` builds a `Robot` with its parts and stances from a name or a file.

A stance is placed with the middle between the soles at the world origin, x forward and z up. A balanced stance is then
corrected by moving the base and the joints that carry the feet, and only those, until

    both soles are flat at z = 0, side by side at their initial distance,
    the base has its initial orientation,
    the center of mass (CoM) is above the middle of the soles.

The equations are solved by Newton's method. Each step is the smallest change d of base and legs that solves the
linearized equations ``J d = e``: ``d = pinv(J) e``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.errors import RobotError, unknown_name_error
from poise.robots.catalogue import library_description
from poise.robots.description import Attachment, Description, parse_description, read_toml
from poise.robots.parts import Foot, Frame, GazeFrame, Hand, Joint, JointLimits, read_armature, read_limits
from poise.robots.robot import Robot
from poise.robots.urdf import GeometrySource, build_model, check_inertias, mimic_joints, read_urdf, reduction_arguments


@dataclass(frozen=True)
class RobotParts:
    """Frames, feet, hands, head and chest of a robot, as in the fields of `Robot`."""

    frames: dict[str, Frame]
    feet: tuple[Foot, ...]
    hands: tuple[Hand, ...]
    head: GazeFrame | None
    chest: Frame | None


def resolve_parts(model: pinocchio.Model, description: Description) -> RobotParts:
    """Find every part of a description in a model; frames for soles, hands and gaze are added to the model."""

    def resolve(section: str, part: Attachment) -> tuple[str, int, int, str]:
        index = _frame_index(model, description, section, part.frame)
        if not part.is_identity:
            index = _add_frame(model, description, section, part, index)
        return part.name, index, int(model.frames[index].parentJoint), description.name

    feet = tuple(Foot(*resolve("[feet]", part), side, sole) for side, (part, sole) in description.feet.items())
    hands = tuple(Hand(*resolve("[hands]", part), side) for side, part in description.hands.items())
    head = GazeFrame(*resolve("[gaze]", description.gaze[0]), description.gaze[1]) if description.gaze else None
    frames: dict[str, Frame] = {
        frame.name: Frame(frame.name, index, int(frame.parentJoint), description.name)
        for index, frame in enumerate(model.frames)
    }
    frames.update({part.name: part for part in (*feet, *hands)})
    if description.chest is not None:
        _frame_index(model, description, "chest", description.chest)
    chest = frames[description.chest] if description.chest is not None else None
    return RobotParts(frames, feet, hands, head, chest)


def _frame_index(model: pinocchio.Model, description: Description, section: str, name: str) -> int:
    if not model.existFrame(name):
        names = [frame.name for frame in model.frames]
        raise unknown_name_error(f"{section} names no frame of the robot:", name, names, description.file)
    return int(model.getFrameId(name))


def _add_frame(
    model: pinocchio.Model, description: Description, section: str, part: Attachment, parent_index: int
) -> int:
    if model.existFrame(part.name):
        message = f"{section} cannot add a frame '{part.name}', because it exists already; give another name"
        raise RobotError(f"{description.file}: {message}", file=description.file, element=part.name)
    parent = model.frames[parent_index]
    placement = parent.placement * pinocchio.SE3(
        pinocchio.rpy.rpyToMatrix(*part.rotation), np.array(part.position, dtype=np.float64)
    )
    return int(
        model.addFrame(pinocchio.Frame(part.name, parent.parentJoint, parent_index, placement, pinocchio.OP_FRAME))
    )


# -- Stances ---------------------------------------------------------------------------------------------------------


#: Newton's method on these smooth equations converges within ten steps or never. The tolerance (m, rad) is at rounding.
MAX_NEWTON_STEPS, TOLERANCE = 20, 1e-10


def solve_stance(
    model: pinocchio.Model,
    joints: Sequence[Joint],
    limits: JointLimits,
    feet: Sequence[Foot],
    description: Description,
    name: str,
) -> Array:
    """Return the configuration q of a named stance; raise `RobotError` if it cannot be reached or balanced."""
    stance = description.stances[name]
    names = [joint.name for joint in joints]
    for joint_name in stance.joints:
        if joint_name not in names and joint_name not in description.locked:
            raise unknown_name_error(f"[stances.{name}.joints] names no joint:", joint_name, names, description.file)
    q = posture_from_angles(model, joints, limits, stance.joints)
    _check_range(q, joints, limits, description, name)
    if not feet:
        return q
    q = place_on_ground(model, q, feet)
    if stance.balanced:
        q, error = balance_posture(model, q, feet)
        if not error <= TOLERANCE:
            message = f"[stances.{name}] cannot be balanced ({error:.2g} m or rad left); bend the knees more"
            raise RobotError(f"{description.file}: {message}", file=description.file, element=name)
        _check_range(q, joints, limits, description, name)
    return q


def posture_from_angles(
    model: pinocchio.Model, joints: Sequence[Joint], limits: JointLimits, angles: Mapping[str, float]
) -> Array:
    """Return q with the base at the origin and the given angles (rad); other joints at zero or the nearest limit."""
    q: Array = pinocchio.neutral(model)
    for joint, low, high in zip(joints, limits.lower, limits.upper, strict=True):
        q[joint.q] = angles.get(joint.name, min(max(0.0, low), high))
    return q


def place_on_ground(model: pinocchio.Model, q: Array, feet: Sequence[Foot]) -> Array:
    """Move the base of q so that the middle of the soles is at the world origin, x forward, z up."""
    data = model.createData()
    pinocchio.framesForwardKinematics(model, data, q)
    world_from_middle = pinocchio.SE3.Interpolate(data.oMf[feet[0].index], data.oMf[feet[-1].index], 0.5)
    world_from_base = world_from_middle.inverse() * pinocchio.XYZQUATToSE3(q[:7])
    return np.concatenate([pinocchio.SE3ToXYZQUAT(world_from_base), q[7:]])


def balance_posture(model: pinocchio.Model, q: Array, feet: Sequence[Foot]) -> tuple[Array, float]:
    """Return the balanced configuration near q, and the largest remaining error of the equations (m or rad)."""
    data = model.createData()
    pinocchio.framesForwardKinematics(model, data, q)
    sides = [float(data.oMf[foot.index].translation[1]) for foot in feet]
    sole_targets = [pinocchio.SE3(np.eye(3), np.array([0.0, side, 0.0])) for side in sides]
    center_target = np.mean([goal.act(foot.sole.center) for goal, foot in zip(sole_targets, feet, strict=True)], axis=0)
    base_rotation = data.oMi[1].rotation.copy()
    leg_indices = _leg_indices(model, feet)
    for _ in range(MAX_NEWTON_STEPS):
        J, e = _stance_equations(model, data, q, feet, sole_targets, base_rotation, center_target)
        error = float(np.abs(e).max())
        if error < TOLERANCE or not (np.isfinite(error) and np.isfinite(J).all()):
            break
        step = np.zeros(model.nv)
        step[leg_indices] = np.linalg.pinv(J[:, leg_indices]) @ e
        q = pinocchio.integrate(model, q, step)
    return q, error


def _stance_equations(
    model: pinocchio.Model,
    data: pinocchio.Data,
    q: Array,
    feet: Sequence[Foot],
    sole_targets: Sequence[pinocchio.SE3],
    base_rotation: Array,
    center_target: Array,
) -> tuple[Array, Array]:
    pinocchio.computeJointJacobians(model, data, q)
    pinocchio.updateFramePlacements(model, data)
    J, e = [], []
    for foot, goal in zip(feet, sole_targets, strict=True):
        J.append(pinocchio.getFrameJacobian(model, data, foot.index, pinocchio.LOCAL))
        e.append(pinocchio.log6(data.oMf[foot.index].actInv(goal)).vector)
    J.append(pinocchio.getJointJacobian(model, data, 1, pinocchio.LOCAL)[3:])
    e.append(pinocchio.log3(data.oMi[1].rotation.T @ base_rotation))
    J.append(pinocchio.jacobianCenterOfMass(model, data, q)[:2])
    e.append((center_target - data.com[0])[:2])
    return np.vstack(J), np.concatenate(e)


def _leg_indices(model: pinocchio.Model, feet: Sequence[Foot]) -> list[int]:
    """Return the indices in v of the base and of all joints that carry a foot."""
    joints = sorted({int(joint) for foot in feet for joint in model.supports[foot.joint] if joint > 0})
    return [model.idx_vs[joint] + i for joint in joints for i in range(model.nvs[joint])]


def _check_range(q: Array, joints: Sequence[Joint], limits: JointLimits, description: Description, name: str) -> None:
    for joint, low, high in zip(joints, limits.lower, limits.upper, strict=True):
        if not low <= q[joint.q] <= high:
            outside = f"puts '{joint.name}' at {q[joint.q]:.4g}, outside its range {low:.4g} to {high:.4g}"
            message = f"{description.file}: [stances.{name}] {outside}; change its joint angles"
            raise RobotError(message, file=description.file, element=joint.name)


# -- From a description to a Robot -----------------------------------------------------------------------------------


#: Largest number of degrees of freedom, including the base, before joints are locked. Pinocchio's Data contains four
#: arrays of nv³ numbers: 260 MB for this number, 8 MB for a humanoid with hands.
MAX_DEGREES_OF_FREEDOM = 200


def build_robot(description: Description) -> Robot:
    """Build a robot from its description."""
    text = read_urdf(description.urdf) if description.urdf_text is None else description.urdf_text
    shapes = GeometrySource(description.urdf, description.packages, description.locked, text)
    model = _lock_joints(_check_size(build_model(description.urdf, text), description), description)
    notes = (*check_inertias(model, description), *_mimic_notes(model, text))
    joints = _joints(model, description)
    limits = read_limits(model, joints, description)
    armature = read_armature(model, joints, limits, description)
    model.armature = np.concatenate([np.zeros(6), armature])
    parts = resolve_parts(model, description)
    stances = {
        name: _read_only(solve_stance(model, joints, limits, parts.feet, description, name))
        for name in description.stances
    }
    return Robot(
        name=description.name,
        model=model,
        source=description.source,
        joints=joints,
        frames=MappingProxyType(parts.frames),
        feet=parts.feet,
        hands=parts.hands,
        head=parts.head,
        chest=parts.chest,
        limits=limits,
        rest=_rest(stances, description, _read_only(posture_from_angles(model, joints, limits, {}))),
        stances=MappingProxyType(stances),
        servos=description.servos,
        notes=notes,
        load_arguments=description.load_arguments,
        _geometry=shapes,
        _height=description.height,
    )


def _check_size(model: pinocchio.Model, description: Description) -> pinocchio.Model:
    """Return the model; raise `RobotError` if it has too many joints, as memory grows with the cube of their number."""
    if model.nv > MAX_DEGREES_OF_FREEDOM:
        file = str(description.urdf)
        raise RobotError(
            f"{file}: {model.nv - 6} degrees of freedom; expected at most {MAX_DEGREES_OF_FREEDOM - 6}", file=file
        )
    return model


def _lock_joints(full_model: pinocchio.Model, description: Description) -> pinocchio.Model:
    for name in description.locked:
        if name not in list(full_model.names)[2:]:
            raise unknown_name_error("locked names no joint:", name, list(full_model.names)[2:], description.file)
    return (
        pinocchio.buildReducedModel(full_model, *reduction_arguments(full_model, description.locked))
        if description.locked
        else full_model
    )


def _mimic_notes(model: pinocchio.Model, text: str) -> list[str]:
    names = list(model.names)
    mimics = mimic_joints(text).items()
    return [
        f"joint '{name}' follows '{leader}' in its URDF but moves freely here"
        for name, leader in mimics
        if name in names
    ]


def _joints(model: pinocchio.Model, description: Description) -> tuple[Joint, ...]:
    file = str(description.urdf)
    joints = []
    for index in range(2, model.njoints):
        joint, name = model.joints[index], model.names[index]
        if (joint.nq, joint.nv) != (1, 1):
            kind = "continuous" if (joint.nq, joint.nv) == (2, 1) else joint.shortname().removeprefix("JointModel")
            advice = f"give it a range and the type revolute, or lock it with locked=['{name}']"
            raise RobotError(f"{file}: joint '{name}' is {kind}; {advice}", file=file, element=name)
        joints.append(Joint(name, index, int(joint.idx_q), int(joint.idx_v)))
    return tuple(joints)


def _rest(stances: Mapping[str, Array], description: Description, zero_posture: Array) -> Array:
    """Return the stance declared as ``rest_stance``, else the first stance, else the zero posture."""
    if description.rest_stance is None:
        return next(iter(stances.values()), zero_posture)
    if description.rest_stance not in stances:
        raise unknown_name_error("rest_stance names no stance:", description.rest_stance, stances, description.file)
    return stances[description.rest_stance]


def _read_only(values: Array) -> Array:
    values.flags.writeable = False
    return values


# -- load_robot ------------------------------------------------------------------------------------------------------


#: Number of folders above a URDF that are searched for its packages: published ones use package/urdf/variant/robot.urdf
MAX_PACKAGE_DEPTH = 4


def load_robot(name_or_path: str | Path, **parts: Any) -> Robot:
    """Load a robot of the library by its name, or any URDF file by its path.

    Args:
        name_or_path: ``"g1"``, ``"talos"``, ``"romeo"``, ``"icub"``, ``"nao"``, ``"mighty"``, ``"hoap3"``,
            ``"human"``; or the path of a URDF, or of the TOML file that describes one. If ``robot.toml`` is beside
            ``robot.urdf``, it is read automatically.
        parts: feet, hands, gaze, chest, stances, rest_stance, limits, locked, packages, ...: the keys of
            `poise.robots.description`; each replaces the key of the file. The human also takes height (m), mass (kg),
            sex (``"male"``, ``"female"``) and shape, a table of values of `poise.robots.human.BodyShape`.

    >>> robot = load_robot("g1")
    >>> robot = load_robot("arm.urdf", hands={"left": {"frame": "tool"}}, stances={"ready": {"joints": {"elbow": 1.0}}})
    """
    return build_robot(describe_robot(name_or_path, **parts))


def describe_robot(name_or_path: str | Path, **parts: Any) -> Description:
    """Return the description that `load_robot` would build; fast, and raises `RobotError` if there is no such robot."""
    text = str(name_or_path)
    path = Path(text)
    if path.suffix.lower() in (".urdf", ".toml", ".xml") or len(path.parts) > 1 or os.path.isfile(path):
        return _file_description(path, parts)
    return library_description(text, parts)


def _file_description(path: Path, parts: Mapping[str, Any]) -> Description:
    if not os.path.isfile(path):
        what = "is a folder" if os.path.isdir(path) else "there is no such file"
        raise RobotError(f"{path}: {what}; give the path of a URDF file", file=str(path))
    toml_path = path if path.suffix.lower() == ".toml" else path.with_suffix(".toml")
    values = read_toml(toml_path) if os.path.isfile(toml_path) else {}
    file = str(toml_path if os.path.isfile(toml_path) else path)
    values["urdf"] = path.name if path != toml_path else values.get("urdf", f"{path.stem}.urdf")
    folder = path.parent.resolve()
    nearby = (folder, *folder.parents)[: MAX_PACKAGE_DEPTH + 1]
    return parse_description({"source": str(path), **values, **parts}, path.stem, file, folder, nearby)
