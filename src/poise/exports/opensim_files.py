"""Files for OpenSim: the body of a person as a model, its motion in coordinates of that model, forces on the feet.

The model has the links, axes, masses and inertias of the human model of Poise, with the names that OpenSim's full-body
models use, in OpenSim's axes (x forward, y up, z to the right). All angles have the signs of the model of Poise, so
flexion of the knee is positive. Joints with a common center, such as the three of a hip, become one joint; the links of
some grams between them are added to the next segment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.exports.formats import ExportRequest
from poise.exports.joint_trajectory import ExportError, reorder_joints
from poise.extras import scipy
from poise.human import OpenSimMotion, write_motion
from poise.robots import GRAVITY, SIDES, Robot

#: From x forward, y left, z up to x forward, y up, z right.
TO_OPENSIM = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
#: Coordinates of the pelvis: rotations about z, x, y of the parent in this order, then translations.
PELVIS_COORDINATES = ("pelvis_tilt", "pelvis_list", "pelvis_rotation", "pelvis_tx", "pelvis_ty", "pelvis_tz")
#: Names of OpenSim by those of Poise, without the side.
COORDINATE_NAMES = {
    "hip_flexion": "hip_flexion", "hip_adduction": "hip_adduction", "hip_rotation": "hip_rotation",
    "knee_flexion": "knee_angle", "ankle_dorsiflexion": "ankle_angle", "ankle_inversion": "subtalar_angle",
    "toes_extension": "mtp_angle", "shoulder_flexion": "arm_flex", "shoulder_adduction": "arm_add",
    "shoulder_rotation": "arm_rot", "elbow_flexion": "elbow_flex", "forearm_pronation": "pro_sup",
    "wrist_flexion": "wrist_flex", "wrist_deviation": "wrist_dev", "fingers_flexion": "fingers_flex",
}  # fmt: skip
BODY_NAMES = {
    "thigh": "femur", "shank": "tibia", "foot": "calcn", "toes": "toes", "upper_arm": "humerus", "forearm": "radius",
    "hand": "hand", "fingers": "fingers",
}  # fmt: skip
#: Links lighter than this share of the body belong to the next segment.
LIGHT_LINK = 1e-4


def _renamed(name: str, names: Mapping[str, str]) -> str:
    side = next((side for side in SIDES if name.startswith(f"{side}_")), None)
    if side is None:
        return name
    stem = name.removeprefix(f"{side}_")
    return f"{names.get(stem, stem)}_{side[0]}"


def coordinate_name(joint: str) -> str:
    """Return the OpenSim name of a joint: ``coordinate_name("left_knee_flexion") == "knee_angle_l"``."""
    return _renamed(joint, COORDINATE_NAMES)


@dataclass(frozen=True, eq=False)
class OpenSimBody:
    """A body and the joint that connects it to its parent, in OpenSim's axes.

    Attributes:
        name, parent: names of the body and of its parent.
        joints: indices of the joints of the robot that it merges.
        inertia: mass, center of mass and inertia in the frame of the body.
        translation, rotation: place of the joint in the parent, m and 3 x 3.
        axes: axis of each joint.
    """

    name: str
    parent: str
    joints: tuple[int, ...]
    inertia: pinocchio.Inertia
    translation: Array
    rotation: Array
    axes: tuple[Array, ...]


def opensim_bodies(robot: Robot, mass: float | None = None) -> list[OpenSimBody]:
    """Return the bodies of the human model, parents first; with another total mass (kg) if given."""
    model = robot.model
    if "pelvis" not in robot.frames or "left_knee_flexion" not in list(model.names):
        raise ExportError(f"'{robot.name}' is not the human model; OpenSim models are written for people")
    scale = 1.0 if mass is None else mass / robot.mass
    links = {joint: _link_of(robot, joint) for joint in range(1, model.njoints)}
    bodies = [OpenSimBody("pelvis", "ground", (1,), _turned(model.inertias[1], scale), np.zeros(3), np.eye(3), ())]
    owner = {1: "pelvis"}
    for joint in range(2, model.njoints):
        if joint in owner:
            continue
        chain = [joint]
        while model.inertias[chain[-1]].mass < LIGHT_LINK * robot.mass and len(model.children[chain[-1]]) == 1:
            chain.append(int(model.children[chain[-1]][0]))
        name = _renamed(links[chain[-1]], BODY_NAMES)
        owner |= dict.fromkeys(chain, name)
        inertia = model.inertias[chain[-1]]
        for light in chain[:-1]:
            inertia = inertia + model.inertias[light]
        place = model.jointPlacements[joint]
        bodies.append(
            OpenSimBody(
                name,
                owner[int(model.parents[joint])],
                tuple(chain),
                _turned(inertia, scale),
                TO_OPENSIM @ place.translation,
                TO_OPENSIM @ place.rotation @ TO_OPENSIM.T,
                tuple(TO_OPENSIM @ _axis(model, each) for each in chain),
            )
        )
    return bodies


def _link_of(robot: Robot, joint: int) -> str:
    """Return the name of the link that a joint moves: the body frame at its origin."""
    frames = robot.model.frames
    return next(
        frame.name
        for frame in frames
        if frame.parentJoint == joint
        and frame.type == pinocchio.FrameType.BODY
        and np.linalg.norm(frame.placement.translation) < 1e-9
    )


def _turned(inertia: pinocchio.Inertia, scale: float) -> pinocchio.Inertia:
    about = TO_OPENSIM @ inertia.inertia @ TO_OPENSIM.T
    return pinocchio.Inertia(scale * inertia.mass, TO_OPENSIM @ inertia.lever, scale * about)


def _axis(model: pinocchio.Model, joint: int) -> Array:
    data = model.joints[joint].createData()
    model.joints[joint].calc(data, pinocchio.neutral(model))
    column = np.array(data.S, dtype=float).ravel()  # a copy: the memory belongs to the data
    return column[3:].copy()  # linear, then angular


# -- Motion ------------------------------------------------------------------------------------------------------------


def coordinate_names(robot: Robot) -> tuple[str, ...]:
    """Return the names of all coordinates, pelvis first, in the order of the robot's joints."""
    return (*PELVIS_COORDINATES, *(coordinate_name(joint.name) for joint in robot.joints))


def coordinates(robot: Robot, q: Array) -> Array:
    """Return the coordinates of the model for configurations (n x nq), n x k: angles in degrees, translations in m."""
    unknown = np.asarray(~np.isfinite(q).all(axis=1))  # gaps of a measured motion
    quaternion = np.where(unknown[:, None], np.array([0.0, 0.0, 0.0, 1.0]), q[:, 3:7])
    rotation = scipy.spatial.transform.Rotation.from_quat(quaternion).as_matrix()
    turned = TO_OPENSIM @ rotation @ TO_OPENSIM.T
    angles = np.unwrap(scipy.spatial.transform.Rotation.from_matrix(turned).as_euler("ZXY"), axis=0)
    angles[unknown] = np.nan
    joints = np.column_stack([q[:, joint.q] for joint in robot.joints])
    return np.column_stack([np.degrees(angles), q[:, :3] @ TO_OPENSIM.T, np.degrees(joints)])


def configurations(robot: Robot, motion: OpenSimMotion) -> Array:
    """Return the configurations (n x nq) of a motion in the coordinates of the model, the inverse of `coordinates`.

    >>> configurations(robot, read_motion("ik.mot"))
    """
    values = {
        name: motion.column(name) * (np.radians(1.0) if motion.in_degrees and angle else 1.0)
        for name, angle in zip(motion.names, motion.angle_columns, strict=True)
    }
    angles = np.column_stack([values[name] for name in PELVIS_COORDINATES[:3]])
    turned = scipy.spatial.transform.Rotation.from_euler("ZXY", angles).as_matrix()
    quaternion = scipy.spatial.transform.Rotation.from_matrix(TO_OPENSIM.T @ turned @ TO_OPENSIM).as_quat()
    position = np.column_stack([values[name] for name in PELVIS_COORDINATES[3:]]) @ TO_OPENSIM
    q = np.column_stack([position, quaternion, np.zeros((len(position), robot.model.nq - 7))])
    for joint in robot.joints:
        q[:, joint.q] = values[coordinate_name(joint.name)]
    return q


def export_opensim(job: ExportRequest, file: Path) -> None:
    """Write the motion in the coordinates of the model that `export_osim` writes: degrees, m."""
    trajectory, robot = job.trajectory(), job.robot
    opensim_bodies(robot)  # raises an error for other robots
    q, _ = reorder_joints(trajectory, robot)
    write_motion(OpenSimMotion(coordinate_names(robot), trajectory.time, coordinates(robot, q)), file)
    job.progress(trajectory.duration)


def export_grf(job: ExportRequest, file: Path) -> None:
    """Write the measured ground forces on both feet as OpenSim reads them: ``ground_force_r_vx``, ... of each side."""
    recording, robot = job.recording, job.robot
    names: list[str] = []
    columns: list[Array] = []
    for side in ("right", "left"):
        foot = robot.foot(side).name  # type: ignore[arg-type]
        source = next(
            (kind for kind in ("measured", "plate", "estimated") if f"{kind}/force/{foot}" in recording), None
        )
        if source is None:
            raise ExportError("the recording has no measured ground forces; record 'poise human torques' with --out")
        wrench = np.nan_to_num(np.asarray(recording[f"{source}/force/{foot}"], dtype=float))
        point = np.nan_to_num(np.asarray(recording[f"{source}/contact_point/{foot}"], dtype=float))
        force, moment = wrench[:, :3], wrench[:, 3:]
        loaded = force[:, 2] > 1.0
        load = np.where(loaded, force[:, 2], 1.0)
        # At the height of the sole: the point about which the moment is vertical.
        offset = np.column_stack([-moment[:, 1] / load, moment[:, 0] / load, np.zeros(len(load))])
        center, free = point + offset, moment - np.cross(offset, force)
        letter = side[0]
        for word, kind, values in (("force", "v", force), ("force", "p", center), ("torque", "", free)):
            names += [f"ground_{word}_{letter}_{kind}{axis}" for axis in "xyz"]
            columns.append(np.where(loaded[:, None], values, 0.0) @ TO_OPENSIM.T)
    write_motion(OpenSimMotion(tuple(names), recording.time, np.hstack(columns)), file)
    job.progress(recording.duration)


# -- Model -------------------------------------------------------------------------------------------------------------


def export_osim(job: ExportRequest, file: Path) -> None:
    """Write the body as an OpenSim 4 model, with the markers of a fitted trial on its segments."""
    provenance = job.recording.provenance
    mass = provenance.get("mass")
    tree = opensim_model(job.robot, mass if isinstance(mass, float) else None, provenance.get("markers") or {})
    ElementTree.indent(tree)
    file.write_bytes(b'<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(tree, encoding="utf-8"))
    job.progress(job.recording.duration)


def opensim_model(
    robot: Robot, mass: float | None = None, markers: Mapping[str, Any] | None = None
) -> ElementTree.Element:
    """Return an OpenSim model of a person as XML.

    Args:
        robot: human model.
        mass: of the person (kg), if another than that of the model.
        markers: by label: ``{"link": ..., "location": [x, y, z]}`` in the axes of the link (m).
    """
    document = ElementTree.Element("OpenSimDocument", Version="40000")
    model = ElementTree.SubElement(document, "Model", name="poise_human")
    _text(model, "gravity", [0.0, -GRAVITY, 0.0])
    _text(model, "length_units", "meters")
    _text(model, "force_units", "N")
    bodies = opensim_bodies(robot, mass)
    body_objects = _objects(model, "BodySet", "bodyset")
    for body in bodies:
        element = ElementTree.SubElement(body_objects, "Body", name=body.name)
        about = body.inertia.inertia
        _text(element, "mass", body.inertia.mass)
        _text(element, "mass_center", body.inertia.lever)
        _text(element, "inertia", [about[0, 0], about[1, 1], about[2, 2], about[0, 1], about[0, 2], about[1, 2]])
    joint_objects = _objects(model, "JointSet", "jointset")
    for body in bodies:
        _joint(joint_objects, robot, body)
    owner = {_link_of(robot, body.joints[-1]): body.name for body in bodies}
    marker_objects = _objects(model, "MarkerSet", "markerset")
    for label, place in (markers or {}).items():
        if place["link"] not in owner:
            raise ExportError(f"marker '{label}' is on '{place['link']}', which is no segment of the model")
        element = ElementTree.SubElement(marker_objects, "Marker", name=label.replace(" ", "_"))
        _text(element, "socket_parent_frame", f"/bodyset/{owner[place['link']]}")
        _text(element, "location", TO_OPENSIM @ np.asarray(place["location"], dtype=float))
    return document


def _joint(objects: ElementTree.Element, robot: Robot, body: OpenSimBody) -> None:
    is_root = body.parent == "ground"
    parent_frame, child_frame = f"{body.parent}_offset", f"{body.name}_offset"
    joint = ElementTree.SubElement(objects, "CustomJoint", name=f"{body.parent}_{body.name}")
    _text(joint, "socket_parent_frame", parent_frame)
    _text(joint, "socket_child_frame", child_frame)
    names = list(PELVIS_COORDINATES) if is_root else [coordinate_name(robot.model.names[j]) for j in body.joints]
    holder = ElementTree.SubElement(joint, "coordinates")
    ranges = dict(zip((each.name for each in robot.joints), zip(*_ranges(robot), strict=True), strict=True))
    for k, name in enumerate(names):
        coordinate = ElementTree.SubElement(holder, "Coordinate", name=name)
        low, high = (-10.0, 10.0)
        if not is_root:
            low, high = ranges[robot.model.names[body.joints[k]]]
        _text(coordinate, "range", [low, high])
        _text(coordinate, "clamped", "false")
    frames = ElementTree.SubElement(joint, "frames")
    parent = "/ground" if is_root else f"/bodyset/{body.parent}"
    euler = scipy.spatial.transform.Rotation.from_matrix(body.rotation).as_euler("XYZ")
    for frame, socket, translation, orientation in (
        (parent_frame, parent, body.translation, euler),
        (child_frame, f"/bodyset/{body.name}", np.zeros(3), np.zeros(3)),
    ):
        element = ElementTree.SubElement(frames, "PhysicalOffsetFrame", name=frame)
        _text(element, "socket_parent", socket)
        _text(element, "translation", translation)
        _text(element, "orientation", orientation)
    transform = ElementTree.SubElement(joint, "SpatialTransform")
    z, x, y = np.eye(3)[[2, 0, 1]]
    rotations = [z, x, y] if is_root else _three_axes(body.axes)
    for k, axis in enumerate(rotations):
        _transform_axis(transform, f"rotation{k + 1}", axis, names[k] if k < min(len(names), 3) else None)
    for k, axis in enumerate(np.eye(3)):
        _transform_axis(transform, f"translation{k + 1}", axis, names[3 + k] if is_root else None)


def _ranges(robot: Robot) -> tuple[list[float], list[float]]:
    return robot.limits.lower.tolist(), robot.limits.upper.tolist()


def _three_axes(axes: Sequence[Array]) -> list[Array]:
    """Complete one or two axes to three that are linearly independent."""
    found = list(axes)
    if len(found) == 1:
        found.append(np.eye(3)[int(np.abs(found[0]).argmin())])
    if len(found) == 2:
        normal = np.cross(found[0], found[1])
        found.append(normal / np.linalg.norm(normal))
    return found


def _transform_axis(transform: ElementTree.Element, name: str, axis: Array, coordinate: str | None) -> None:
    element = ElementTree.SubElement(transform, "TransformAxis", name=name)
    if coordinate is not None:
        _text(element, "coordinates", coordinate)
    _text(element, "axis", axis)
    if coordinate is None:
        _text(ElementTree.SubElement(element, "Constant", name="function"), "value", 0.0)
    else:
        _text(ElementTree.SubElement(element, "LinearFunction", name="function"), "coefficients", [1.0, 0.0])


def _objects(model: ElementTree.Element, kind: str, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(ElementTree.SubElement(model, kind, name=name), "objects")


def _text(parent: ElementTree.Element, name: str, value: Any) -> None:
    text = value if isinstance(value, str) else " ".join(f"{number:.12g}" for number in np.atleast_1d(value))
    ElementTree.SubElement(parent, name).text = text
