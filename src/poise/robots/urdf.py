"""URDF files: parsing into a pinocchio model, checks and repair of inertias, and loading of link shapes.

With I the rotational inertia about the center of mass (kg m^2), the second moments of the mass along its principal axes
are ``s_i = trace(I)/2 - eigenvalue_i(I)``. Each is an integral of a square, so a solid body has ``s_i > 0``. This
implies that I is positive definite and that its eigenvalues satisfy the triangle inequality. Physics engines refuse
all other inertias.
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
from poise.extras import coal
from poise.robots.description import Description, mirrored_name


def read_urdf(path: Path) -> str:
    """Return the text of a URDF file; raise `RobotError` if it is not XML with a ``<robot>`` element.

    Some published files contain ``package:///name`` instead of ``package://name``; this is corrected here.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or "it is not a text file"
        raise RobotError(f"{path}: cannot be read: {reason}; give the path of a URDF file", file=str(path)) from None
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise RobotError(f"{path}: not a URDF, because it is not XML: {error}", file=str(path)) from None
    if root.tag != "robot":
        message = f"{path}: not a URDF: its outermost element is <{root.tag}>, expected <robot>"
        raise RobotError(message, file=str(path), element=root.tag)
    return text.replace("package:///", "package://")


def build_model(path: Path, text: str) -> pinocchio.Model:
    """Build the pinocchio model of a URDF text with a free-flyer base and no locked joints.

    The parser skips elements that it cannot read; here they raise `RobotError`, like all other failures.
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
    message = f"{path}: no model can be built from this URDF: {reason}"
    raise RobotError(message, file=str(path), element=element[1] if element else "")


def mimic_joints(text: str) -> dict[str, str]:
    """Return the joints with a ``<mimic>`` element, each with the joint that it follows."""
    ties = [(joint.get("name", ""), joint.find("mimic")) for joint in ElementTree.fromstring(text).iter("joint")]
    return {name: mimic.get("joint", "") for name, mimic in ties if mimic is not None}


def clean_message(text: str) -> str:
    """Reduce an error message of a compiled library to one line without its source locations."""
    message = re.search(r"^message: ([^\n]*)", text, re.MULTILINE)
    lines = [message[1]] if message else text.splitlines()
    messages = [re.sub(r"^(Error|Warning):\s*", "", line.strip()).rstrip(".") for line in lines]
    return "; ".join(line for line in messages if line and not re.search(r"^at line \d+ in |not initialized", line))


@contextmanager
def capture_stderr() -> Iterator[IO[str]]:
    """Redirect the standard error stream, including that of compiled libraries, to the temporary file yielded."""
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
    """Return the ids of the locked joints, and a configuration with their angles (rad)."""
    q = pinocchio.neutral(model)
    indices = [int(model.getJointId(name)) for name in locked]
    for index, angle in zip(indices, locked.values(), strict=True):
        joint = model.joints[index]
        if joint.nv == 1:  # planar and floating joints are locked at their neutral configuration
            q[joint.idx_q : joint.idx_q + joint.nq] = [angle] if joint.nq == 1 else [np.cos(angle), np.sin(angle)]
    return indices, q


# -- Checks and repair of inertias -----------------------------------------------------------------------------------


#: Second moments below this fraction of the largest are rounding errors: the body would be 0.1 % as thick as long.
MIN_MOMENT_RATIO = 1e-6
#: Density (kg/m^3) and mass (kg) used for repairs: a ball of aluminum is about as compact as a robot part can be, and
#: one gram is negligible.
ALUMINIUM_DENSITY, MIN_MASS = 2700.0, 1e-3
#: Left and right bodies are mirror images if their masses agree within 1 % and their centers of mass within 1 mm.
MASS_TOLERANCE, POSITION_TOLERANCE = 0.01, 1e-3

MIRROR = np.diag([1.0, -1.0, 1.0])


def second_moments(inertia: Array) -> Array:
    """Return the three second moments s of a rotational inertia about the center of mass (kg m^2, ascending)."""
    eigenvalues = np.linalg.eigvalsh(inertia)
    return np.asarray(eigenvalues.sum() / 2 - eigenvalues[::-1])


def is_physical(body: pinocchio.Inertia) -> bool:
    """Return whether a solid body can have this mass and inertia."""
    if not (np.isfinite(body.mass) and np.isfinite(body.lever).all() and np.isfinite(body.inertia).all()):
        return False
    moments = second_moments(body.inertia)
    return bool(body.mass > 0.0 and moments[0] > MIN_MOMENT_RATIO * moments[-1])


def repaired_inertia(body: pinocchio.Inertia) -> pinocchio.Inertia:
    """Raise each second moment to at least ``s = m r^2 / 5``, that of an aluminum ball of the same mass m, radius r.

    The center of mass is kept, and so is the mass unless it is below `MIN_MASS`.
    """
    eigenvalues, axes = np.linalg.eigh(body.inertia)
    mass = max(body.mass, MIN_MASS)
    radius = (mass / ALUMINIUM_DENSITY * 3 / (4 * np.pi)) ** (1 / 3)
    moments = np.maximum(eigenvalues.sum() / 2 - eigenvalues, mass * radius**2 / 5)
    return pinocchio.Inertia(mass, body.lever, axes @ np.diag(moments.sum() - moments) @ axes.T)


def mirrored_inertia(model: pinocchio.Model, joint: int) -> tuple[pinocchio.Inertia, str] | None:
    """Return the mirrored inertia of the same body on the other side and the name of its joint.

    None if there is no such body, if its inertia is not physical, or if mass or center of mass differ.
    """
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
    """Check that every moving body of a model has a physical inertia; return the repairs made, one sentence each.

    With ``repair_inertias``, a body takes the mirrored inertia of its counterpart on the other side, or else that of
    `repaired_inertia`. Without it, the first unphysical inertia raises `RobotError` with the name of its link.
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
            f"that of '{_link_name(model, model.getJointId(image[1]))}' is used, mirrored"
            if image
            else "it was increased"
        )
        notes.append(f"the inertia of '{link}' is not physical; {source}")
    return tuple(notes)


def _inertia_fault(model: pinocchio.Model, body: pinocchio.Inertia, link: str) -> str:
    if not pinocchio.computeTotalMass(model) > 0.0 and not any(inertia.mass < 0.0 for inertia in model.inertias):
        return "the total mass is zero; give each moving link an <inertial>"
    if not np.isfinite(body.inertia).all():
        return f"link '{link}' has an inertia that is not finite; correct its <inertial>"
    if body.mass < 0.0:
        return f"link '{link}' has mass {body.mass:.3g} kg; expected a positive number"
    values = ", ".join(f"{value:.3g}" for value in np.linalg.eigvalsh(body.inertia))
    return (
        f"link '{link}' (with its fixed links) has mass {body.mass:.3g} kg and principal inertias {values} kg m^2, "
        "which is not physical; correct its <inertial> or give repair_inertias=True"
    )


def _link_name(model: pinocchio.Model, joint: int) -> str:
    """Return the name of the first link that a joint moves."""
    links = (frame.name for frame in model.frames if frame.parentJoint == joint and frame.type == pinocchio.BODY)
    return str(next(links, model.names[joint]))


# -- Shapes and meshes -----------------------------------------------------------------------------------------------


#: Rotation of a mesh with y up (as declared in some Collada files) to z up.
Y_UP = pinocchio.SE3(pinocchio.rpy.rpyToMatrix(np.pi / 2, 0.0, 0.0), np.zeros(3))
#: Number of points on a circle: the error between two points is 1 - cos(pi / 24), 0.9 % of the radius; on a sphere it
#: occurs in both directions.
CIRCLE_POINTS = 24
#: Number of visual or collision geometries kept in memory for robots with the same shapes; those of G1 take 250 MB.
CACHE_SIZE = 6


@dataclass(frozen=True)
class GeometrySource:
    """Source of the shapes: the URDF, the directories of its packages, and the joints locked in the model.

    `text` is the URDF from which the model was built, even if the file changed later. If the URDF was generated, `path`
    is only a name.
    """

    path: Path
    packages: tuple[Path, ...]
    locked: Mapping[str, float]
    text: str

    def cache_key(self) -> str | None:
        """Return a hash of URDF text, locked joints, packages, and size and modification time of all meshes.

        None if a mesh is not in the known folders: pinocchio searches more folders, and a change would go unnoticed.
        """
        facts: list[object] = [str(self.path), self.text, sorted(self.locked.items()), list(map(str, self.packages))]
        for address in self.mesh_addresses():
            stamps = [_size_and_time(place) for place in self._mesh_paths(address)]
            if not any(stamps):
                return None
            facts.append((address, stamps))
        return hashlib.sha256(repr(facts).encode()).hexdigest()[:32]

    def mesh_addresses(self) -> list[str]:
        """Return the addresses of all mesh files, sorted."""
        return sorted({mesh.get("filename", "") for mesh in ElementTree.fromstring(self.text).iter("mesh")})

    def load(self, kind: pinocchio.GeometryType) -> pinocchio.GeometryModel:
        """Load the visual or collision shapes, attached to the joints and frames of the robot's model.

        Robots with the same shapes share the meshes, but not the placements.
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
        """Return the paths at which a mesh may be found."""
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
    """Return the lowest and highest z of the shapes in a configuration (m); of the frames if there are no shapes."""
    data = model.createData()
    pinocchio.framesForwardKinematics(model, data, q)
    heights = [] if len(shapes.geometryObjects) else [pose.translation[2:] for pose in data.oMf]
    for shape in shapes.geometryObjects:
        pose = data.oMi[shape.parentJoint] * shape.placement
        heights.append(shape_vertices(shape) @ pose.rotation[2] + pose.translation[2])
    all_heights = np.concatenate(heights)
    return float(all_heights.min()), float(all_heights.max())


def shape_vertices(shape: pinocchio.GeometryObject) -> Array:
    """Return the vertices of a mesh, or points on the surface of a primitive shape, in its own frame (k x 3, m).

    For spheres and cylinders the points are on circles around z, with an error below 2 % of the radius; for any other
    primitive shape they are the corners of its bounding box.
    """
    geometry = shape.geometry
    if isinstance(geometry, coal.BVHModelBase):
        return np.asarray(geometry.vertices())  # already scaled
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
    """Return points on circles around z with the given radii and heights (m)."""
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
    """Return whether a Collada file declares that its y axis is up; the mesh reader ignores that declaration."""
    if not mesh.lower().endswith(".dae"):
        return False
    with open(mesh, encoding="utf-8", errors="replace") as file:
        match = re.search(r"<up_axis>\s*(\w+)\s*</up_axis>", file.read(65536))  # it is in the header
    return match is not None and match[1] == "Y_UP"
