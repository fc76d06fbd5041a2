"""What is drawn of a robot: its visual shapes, as geoms that touch nothing.

A Collada file may hold several materials, whose triangles the reader behind `robot.visual_geometry` mixes up; such a
mesh is drawn by its convex hull here. Pictures with every detail are made by `poise.report`.
"""

from __future__ import annotations

import mujoco
import numpy as np
import pinocchio
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from poise.errors import RobotError
from poise.plants.engine.body import quaternion
from poise.plants.engine.solids import SEEN
from poise.robots import Robot
from poise.robots.shapes import vertices

Array = NDArray[np.float64]
Faces = NDArray[np.int32]

#: For shapes without a colour of their own.
PLAIN = (0.80, 0.80, 0.78, 1.0)


def add_looks(spec: mujoco.MjSpec, bodies: list[mujoco.MjsBody], robot: Robot) -> tuple[str, ...]:
    """Adds the shapes; returns one note for each that cannot be drawn."""
    try:
        shapes = list(robot.visual_geometry.geometryObjects)
    except RobotError as error:
        return (f"nothing of the robot is drawn: {error}",)
    notes = []
    for i, shape in enumerate(shapes):
        try:
            kind, size = _solid(spec, shape, f"shape {i}")
        except (ValueError, QhullError, AttributeError) as error:
            notes.append(f"'{shape.name}' is not drawn: {' '.join(str(error).split())[:80] or type(error).__name__}")
            continue
        color = tuple(float(part) for part in shape.meshColor)
        bodies[shape.parentJoint].add_geom(
            type=kind,
            size=size,
            meshname=f"shape {i}" if kind == mujoco.mjtGeom.mjGEOM_MESH else "",
            pos=shape.placement.translation,
            quat=quaternion(shape.placement.rotation),
            contype=0,
            conaffinity=0,
            group=SEEN,
            rgba=color if max(color[:3]) > 0.0 else PLAIN,  # black says that nobody chose
        )
    return tuple(notes)


def _solid(
    spec: mujoco.MjSpec, shape: pinocchio.GeometryObject, name: str
) -> tuple[mujoco.mjtGeom, tuple[float, float, float]]:
    """Kind and size of the geom; a mesh is added to the world, a solid that MuJoCo lacks becomes the box around it."""
    solid, kinds = shape.geometry, mujoco.mjtGeom
    match type(solid).__name__:
        case "Sphere":
            return kinds.mjGEOM_SPHERE, (solid.radius, 0.0, 0.0)
        case "Cylinder":
            return kinds.mjGEOM_CYLINDER, (solid.radius, solid.halfLength, 0.0)
    if not hasattr(solid, "tri_indices"):
        half = np.abs(vertices(shape)).max(axis=0)
        return kinds.mjGEOM_BOX, (float(half[0]), float(half[1]), float(half[2]))
    points, faces = _surface(shape)
    if len(faces) < 4:
        raise ValueError("its mesh has fewer than four triangles")
    spec.add_mesh(
        name=name,
        uservert=points.ravel(),
        userface=faces.ravel(),
        inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL,  # the only kind that any surface has
    )
    return kinds.mjGEOM_MESH, (1.0, 1.0, 1.0)


def _surface(shape: pinocchio.GeometryObject) -> tuple[Array, Faces]:
    points = vertices(shape)
    if not np.isfinite(points).all():
        raise ValueError("its mesh is not finite")
    if shape.meshPath.lower().endswith(".dae"):
        hull = ConvexHull(points)
        outward = np.cross(
            points[hull.simplices[:, 1]] - points[hull.simplices[:, 0]],
            points[hull.simplices[:, 2]] - points[hull.simplices[:, 0]],
        )
        turned = np.einsum("ni,ni->n", outward, hull.equations[:, :3]) < 0.0
        faces = np.where(turned[:, None], hull.simplices[:, ::-1], hull.simplices)
        return points, faces.astype(np.int32)
    triangles = (shape.geometry.tri_indices(i) for i in range(shape.geometry.num_tris))
    faces = np.array([(t[0], t[1], t[2]) for t in triangles], dtype=np.int32).reshape(-1, 3)
    return points, faces[:, ::-1] if np.prod(shape.meshScale) < 0.0 else faces
