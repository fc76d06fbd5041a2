"""URDF: the text of a robot's model, its inertias, and the shapes of its links.

With I the rotational inertia about the center of mass (kg m^2), the second moments of the mass along its principal axes
are ``s_i = trace(I)/2 - eigenvalue_i(I)``. Each is an integral of a square, so a solid body has ``s_i > 0``: this says
at once that I is positive definite and that its eigenvalues satisfy the triangle inequality. Physics engines refuse
anything else.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from xml.etree import ElementTree

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.errors import RobotError
from poise.robots.description import Description, mirrored_name


def read_urdf(path: Path) -> str:
    """The text of a URDF file, checked to be XML with a robot in it.

    ``package:///name`` is written where ``package://name`` is meant in some published files; it is corrected here.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or "it is not a text file"
        raise RobotError(f"{path}: cannot be read: {reason}; give the path of a URDF file", file=str(path)) from None
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise RobotError(f"{path}: not a URDF, since it is not XML: {error}", file=str(path)) from None
    if root.tag != "robot":
        message = f"{path}: not a URDF: its outermost element is <{root.tag}>, expected <robot>"
        raise RobotError(message, file=str(path), element=root.tag)
    return text.replace("package:///", "package://")


def build_model(path: Path, text: str) -> pinocchio.Model:
    """The model with a free-flying base, all joints moving.

    The parser drops an element that it cannot read and goes on; here that is an error, too.
    """
    model, failure = None, ""
    with capture_stderr() as captured:
        try:
            model = pinocchio.buildModelFromXML(text, pinocchio.JointModelFreeFlyer(), "root_joint")
        except Exception as error:
            failure = str(error) or type(error).__name__
        captured.seek(0)
        output = captured.read()
    reason = clean_message(output if "Error" in output else failure)
    if model is not None and not reason:
        return model
    element = re.search(r"(?:link|joint) ?[\['](.+?)[\]']", reason, re.IGNORECASE)
    message = f"{path}: not a URDF that can be built: {reason}"
    raise RobotError(message, file=str(path), element=element[1] if element else "")


def mimic_joints(text: str) -> dict[str, str]:
    """Joints that a URDF ties to another joint (``<mimic>``), each with the one that leads."""
    ties = [(joint.get("name", ""), joint.find("mimic")) for joint in ElementTree.fromstring(text).iter("joint")]
    return {name: mimic.get("joint", "") for name, mimic in ties if mimic is not None}


def clean_message(text: str) -> str:
    """What a library below has to say, in one line and without where in its own sources it says so."""
    message = re.search(r"^message: ([^\n]*)", text, re.MULTILINE)
    lines = [message[1]] if message else text.splitlines()
    words = [re.sub(r"^(Error|Warning):\s*", "", line.strip()).rstrip(".") for line in lines]
    return "; ".join(line for line in words if line and not re.search(r"^at line \d+ in |not initialized", line))


@contextmanager
def capture_stderr() -> Iterator[IO[str]]:
    """Keep what compiled libraries write to the standard error stream: it can be read from the file that is given."""
    with tempfile.TemporaryFile("w+", errors="replace") as captured:
        if sys.stderr is not None:
            sys.stderr.flush()
        saved_stderr = os.dup(2)
        os.dup2(captured.fileno(), 2)
        try:
            yield captured
        finally:
            os.dup2(saved_stderr, 2)
            os.close(saved_stderr)


# -- Locked joints ---------------------------------------------------------------------------------------------------


def reduction_arguments(model: pinocchio.Model, locked: Mapping[str, float]) -> tuple[list[int], Array]:
    """Numbers of the locked joints, and a configuration with their angles (rad)."""
    q = pinocchio.neutral(model)
    indices = [int(model.getJointId(name)) for name in locked]
    for index, angle in zip(indices, locked.values(), strict=True):
        joint = model.joints[index]
        if joint.nv == 1:  # a planar or floating joint is locked where it is
            q[joint.idx_q : joint.idx_q + joint.nq] = [angle] if joint.nq == 1 else [np.cos(angle), np.sin(angle)]
    return indices, q


# -- Inertias that no solid body can have ----------------------------------------------------------------------------


#: Moments below this fraction of the largest are rounding, not thickness: the body would be 0.1 % as thick as long.
MIN_MOMENT_RATIO = 1e-6
#: A ball of aluminium (kg/m^3) is about as compact as a part of a robot can be, and a gram (kg) is as good as nothing.
ALUMINIUM_DENSITY, MIN_MASS = 2700.0, 1e-3
#: Twins have the same mass (1 %) and mirrored centers of mass (1 mm).
MASS_TOLERANCE, POSITION_TOLERANCE = 0.01, 1e-3

MIRROR = np.diag([1.0, -1.0, 1.0])


def second_moments(inertia: Array) -> Array:
    """The three moments s of a rotational inertia about the center of mass (kg m^2, ascending)."""
    eigenvalues = np.linalg.eigvalsh(inertia)
    return np.asarray(eigenvalues.sum() / 2 - eigenvalues[::-1])


def is_physical(body: pinocchio.Inertia) -> bool:
    """Whether a solid body can have this mass and inertia."""
    if not (np.isfinite(body.mass) and np.isfinite(body.lever).all() and np.isfinite(body.inertia).all()):
        return False
    moments = second_moments(body.inertia)
    return bool(body.mass > 0.0 and moments[0] > MIN_MOMENT_RATIO * moments[-1])


def repaired_inertia(body: pinocchio.Inertia) -> pinocchio.Inertia:
    """The body with each moment at least that of a ball of aluminium of its mass m and radius r, ``s = m r^2 / 5``.

    Its center stays, and so does its mass unless it has none.
    """
    eigenvalues, axes = np.linalg.eigh(body.inertia)
    mass = max(body.mass, MIN_MASS)
    radius = (mass / ALUMINIUM_DENSITY * 3 / (4 * np.pi)) ** (1 / 3)
    moments = np.maximum(eigenvalues.sum() / 2 - eigenvalues, mass * radius**2 / 5)
    return pinocchio.Inertia(mass, body.lever, axes @ np.diag(moments.sum() - moments) @ axes.T)


def mirrored_inertia(model: pinocchio.Model, joint: int) -> tuple[pinocchio.Inertia, str] | None:
    """The inertia of the same body on the other side, mirrored, and the name of its joint, if there is a sound one."""
    name = mirrored_name(model.names[joint], list(model.names))
    other = model.getJointId(name) if name else joint
    if other == joint or not is_physical(model.inertias[other]):
        return None
    data = model.createData()
    pinocchio.forwardKinematics(model, data, pinocchio.neutral(model))
    body = data.oMi[other].act(model.inertias[other])
    image = data.oMi[joint].actInv(pinocchio.Inertia(body.mass, MIRROR @ body.lever, MIRROR @ body.inertia @ MIRROR))
    original = model.inertias[joint]
    same = abs(image.mass - original.mass) < MASS_TOLERANCE * original.mass
    return (image, str(name)) if same and np.abs(image.lever - original.lever).max() < POSITION_TOLERANCE else None


def check_inertias(model: pinocchio.Model, description: Description) -> tuple[str, ...]:
    """Make sure that every moving body of a model can exist; returns what was repaired, one sentence each.

    With leave to repair, a body takes the inertia of its sound twin on the other side, or else becomes compact;
    without, the first that cannot exist is an error which names its link.
    """
    file = str(description.urdf)
    notes = []
    for joint in range(1, model.njoints):
        body = model.inertias[joint]
        if is_physical(body):
            continue
        link = _link_name(model, joint)
        repairable = np.isfinite(body.inertia).all() and np.isfinite(body.lever).all() and body.mass >= 0.0
        if not (description.repair_inertias and repairable and pinocchio.computeTotalMass(model) > 0.0):
            raise RobotError(f"{file}: {_inertia_fault(model, body, link)}", file=file, element=link)
        image = mirrored_inertia(model, joint)
        model.inertias[joint] = image[0] if image else repaired_inertia(body)
        source = (
            f"that of '{_link_name(model, model.getJointId(image[1]))}' is used, mirrored" if image else "it was raised"
        )
        notes.append(f"the inertia of '{link}' is that of no solid body; {source}")
    return tuple(notes)


def _inertia_fault(model: pinocchio.Model, body: pinocchio.Inertia, link: str) -> str:
    if not pinocchio.computeTotalMass(model) > 0.0 and not any(inertia.mass < 0.0 for inertia in model.inertias):
        return "all links together have no mass; give each moving link an <inertial>"
    if not np.isfinite(body.inertia).all():
        return f"link '{link}' has an inertia that is not finite; correct its <inertial>"
    if body.mass < 0.0:
        return f"link '{link}' has mass {body.mass:.3g} kg; expected a positive number"
    values = ", ".join(f"{value:.3g}" for value in np.linalg.eigvalsh(body.inertia))
    return (
        f"link '{link}' (with what is fixed to it) has mass {body.mass:.3g} kg and principal inertias {values} kg m^2, "
        "which no solid body has; correct its <inertial> or give repair_inertias=True"
    )


def _link_name(model: pinocchio.Model, joint: int) -> str:
    """The first link that a joint moves."""
    links = (frame.name for frame in model.frames if frame.parentJoint == joint and frame.type == pinocchio.BODY)
    return str(next(links, model.names[joint]))


# -- The shapes of a robot, with their meshes ------------------------------------------------------------------------


#: Turns a mesh with y up (as some Collada files say of themselves) so that z is up.
Y_UP = pinocchio.SE3(pinocchio.rpy.rpyToMatrix(np.pi / 2, 0.0, 0.0), np.zeros(3))
#: Points on a circle: between two of them it bulges by 1 - cos(pi / 24), 0.9 % of its radius, and a ball both ways.
CIRCLE_POINTS = 24
#: Shapes of so many robots, drawn or colliding, are kept for the next that has the same; those of G1 take 250 MB.
CACHE_SIZE = 6


@dataclass(frozen=True)
class GeometrySource:
    """Where the shapes are: the URDF, the directories of its packages, and the joints locked in the model.

    The text is that of which the model was built, whatever became of the file since; of a URDF that was made rather
    than read, the path is only a name.
    """

    path: Path
    packages: tuple[Path, ...]
    locked: Mapping[str, float]
    text: str

    def cache_key(self) -> str | None:
        """The same for shapes that are the same: description, locked joints, and the meshes by size and time.

        None if a mesh is not where we look, as its reader knows more folders: nobody could tell that it changed.
        """
        facts: list[object] = [str(self.path), self.text, sorted(self.locked.items()), list(map(str, self.packages))]
        for address in self.mesh_addresses():
            stamps = [_size_and_time(place) for place in self._mesh_paths(address)]
            if not any(stamps):
                return None
            facts.append((address, stamps))
        return hashlib.sha256(repr(facts).encode()).hexdigest()[:32]

    def mesh_addresses(self) -> list[str]:
        """Addresses of the files of meshes."""
        return sorted({mesh.get("filename", "") for mesh in ElementTree.fromstring(self.text).iter("mesh")})

    def load(self, kind: pinocchio.GeometryType) -> pinocchio.GeometryModel:
        """The visual or collision shapes, attached to the joints and frames of the robot's model.

        Meshes are shared by all robots that have the same, where each is placed is not.
        """
        key = self.cache_key()
        if key is None:
            return self._load(kind)
        name = (key, str(kind))
        with _lock:
            shapes = _cached.get(name)
        if shapes is None:
            shapes = self._load(kind)
        with _lock:
            _cached[name] = shapes
            _cached.move_to_end(name)
            while len(_cached) > CACHE_SIZE:
                _cached.popitem(last=False)
        return shapes.copy()

    def _mesh_paths(self, address: str) -> list[Path]:
        """Where a mesh may lie."""
        if not address.startswith("package://"):
            return [self.path.parent / address.removeprefix("file://")]
        return [package / address.removeprefix("package://") for package in self.packages]

    def _load(self, kind: pinocchio.GeometryType) -> pinocchio.GeometryModel:
        model = build_model(self.path, self.text)
        folders = [str(folder) for folder in self.packages]
        failure = ""
        with capture_stderr():
            try:
                shapes = pinocchio.buildGeomFromUrdfString(model, self.text, kind, package_dirs=folders)
            except Exception as error:
                failure = clean_message(str(error)) or type(error).__name__
        if failure:
            mesh = re.search(r"package://\S+|\S+\.(?:stl|dae|obj|ply)\b", failure, re.IGNORECASE)
            message = (
                f"{self.path}: its shapes cannot be read: {failure}; give packages=[...], the folders of its meshes"
            )
            raise RobotError(message, file=str(self.path), element=mesh[0] if mesh else "")
        for shape in shapes.geometryObjects:
            if _has_y_up(shape.meshPath):
                shape.placement = shape.placement * Y_UP
        if self.locked:
            _, shapes = pinocchio.buildReducedModel(model, shapes, *reduction_arguments(model, self.locked))
        return shapes


_cached: OrderedDict[tuple[str, str], pinocchio.GeometryModel] = OrderedDict()
_lock = threading.Lock()


def vertical_extent(model: pinocchio.Model, q: Array, shapes: pinocchio.GeometryModel) -> tuple[float, float]:
    """Lowest and highest point of the shapes in a configuration (m); of the frames if there are no shapes."""
    data = model.createData()
    pinocchio.framesForwardKinematics(model, data, q)
    heights = [] if len(shapes.geometryObjects) else [pose.translation[2:] for pose in data.oMf]
    for shape in shapes.geometryObjects:
        pose = data.oMi[shape.parentJoint] * shape.placement
        heights.append(shape_vertices(shape) @ pose.rotation[2] + pose.translation[2])
    all_heights = np.concatenate(heights)
    return float(all_heights.min()), float(all_heights.max())


def shape_vertices(shape: pinocchio.GeometryObject) -> Array:
    """The vertices of a mesh, or points of the surface of a simple shape, in its own frame (m).

    Of a ball or a cylinder they are on circles around z, between which it bulges by less than 2 % of its radius; of any
    other simple shape they are the corners of the box around it.
    """
    geometry = shape.geometry
    if hasattr(geometry, "vertices"):  # of coal, whose classes of meshes are many
        return np.asarray(geometry.vertices())  # the scale of the mesh is in them
    match type(geometry).__name__:
        case "Sphere":
            latitude = np.linspace(-np.pi / 2, np.pi / 2, CIRCLE_POINTS // 2 + 1)
            return _circle_points(geometry.radius * np.cos(latitude), geometry.radius * np.sin(latitude))
        case "Cylinder":
            return _circle_points(np.full(2, geometry.radius), geometry.halfLength * np.array([-1.0, 1.0]))
    geometry.computeLocalAABB()
    low, high = geometry.aabb_local.min_, geometry.aabb_local.max_
    return np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])


def _circle_points(radii: Array, heights: Array) -> Array:
    """Points on circles around z."""
    angle = np.linspace(0.0, 2.0 * np.pi, CIRCLE_POINTS, endpoint=False)
    x, y = np.outer(radii, np.cos(angle)), np.outer(radii, np.sin(angle))
    return np.column_stack([x.ravel(), y.ravel(), np.repeat(heights, CIRCLE_POINTS)])


def _size_and_time(file: Path) -> tuple[int, int] | None:
    try:
        about = file.stat()
    except (OSError, ValueError):
        return None
    return about.st_size, about.st_mtime_ns


def _has_y_up(mesh: str) -> bool:
    """Whether a Collada file says that its y axis is up; the mesh reader leaves that to us."""
    if not mesh.lower().endswith(".dae"):
        return False
    with open(mesh, encoding="utf-8", errors="replace") as file:
        found = re.search(r"<up_axis>\s*(\w+)\s*</up_axis>", file.read(65536))  # it stands in the head of the file
    return found is not None and found[1] == "Y_UP"
