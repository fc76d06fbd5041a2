"""Constraints that keep the origin of a frame, or the center of mass, inside a region."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from poise.arrays import Array
from poise.errors import TaskError
from poise.geometry import convex_hull, half_planes
from poise.parsing import format_value
from poise.robots import Frame, Robot, contact_points
from poise.state import CENTER_OF_MASS, FRAMES, Snapshot, _motion
from poise.tasks import (
    ACCELERATION,
    FrameTask,
    MotionTask,
    Task,
    TaskDynamics,
    TaskRows,
    VariableLayout,
    Writer,
    check_task_number,
    check_task_vector,
    frame_name,
)


class Polyhedron(FrameTask):
    """Keep the origin p of a frame inside a polyhedron ``N p <= b``, as [Saab2012] does for the left hand and foot.

    The value of row i is ``N_i p``, with an upper bound b_i (m), which it approaches no faster than the task dynamics
    allow.

    Args:
        frame: e.g. ``robot.hand("left")``.
        normals: N, one outward normal per row, in world axes; normals are scaled to unit length, and b with them.
        offsets: b, distance of each plane from the origin of the world along its normal (m).

    >>> constraints.Polyhedron(hand, normals=[[1, 0, 0], [0, 1, 1]], offsets=[0.4, 1.2])
    """

    unit = "m"

    def __init__(
        self,
        frame: Frame,
        normals: ArrayLike,
        offsets: ArrayLike,
        weight: ArrayLike = 1.0,
        dynamics: TaskDynamics | None = None,
        name: str = "",
        row_labels: Sequence[str] | None = None,
    ) -> None:
        name = name or f"polyhedron of {frame_name(frame)}"
        N, b = check_planes(normals, offsets, name)
        S = np.hstack([N, np.zeros_like(N)])
        row_labels = row_labels or [f"side {i}" for i in range(len(b))]
        super().__init__(frame, S, row_labels, np.zeros(3), name, weight, (np.full(len(b), -np.inf), b), dynamics)

    def sample_target(self, time: float) -> tuple[Array, Array, Array | None, Array | None]:
        return np.zeros(3), np.eye(3), None, None


class Box(FrameTask):
    """Keep the origin p of a frame inside a box in world axes: ``lower <= p <= upper``, in m.

    Args:
        frame: e.g. ``robot.hand("left")``.
        lower, upper: three numbers each; infinite for a missing side.

    >>> constraints.Box(robot.hand("left"), lower=(0.1, 0.2, 0.9), upper=(0.3, 0.4, 1.0))
    """

    unit = "m"

    def __init__(
        self,
        frame: Frame,
        lower: ArrayLike,
        upper: ArrayLike,
        weight: ArrayLike = 1.0,
        dynamics: TaskDynamics | None = None,
        name: str = "",
    ) -> None:
        name = name or f"box of {frame_name(frame)}"
        try:
            low, high = np.array(lower, dtype=np.float64), np.array(upper, dtype=np.float64)
        except (TypeError, ValueError):
            low = high = np.zeros(0)
        if low.shape != (3,) or high.shape != (3,) or not (low <= high).all():
            bounds = f"from {format_value(lower)} to {format_value(upper)}"
            raise TaskError(f"{name}: {bounds}; expected three numbers each, lower below upper", name)
        S = np.hstack([np.eye(3), np.zeros((3, 3))])
        super().__init__(frame, S, "xyz", np.zeros(3), name, weight, (low, high), dynamics)

    def sample_target(self, time: float) -> tuple[Array, Array, Array | None, Array | None]:
        return np.zeros(3), np.eye(3), None, None


def check_planes(normals: ArrayLike, offsets: ArrayLike, task: str, size: int = 3) -> tuple[Array, Array]:
    """Return normals scaled to unit length and their offsets; raise a TaskError if they are invalid."""
    try:
        N = np.atleast_2d(np.array(normals, dtype=np.float64))
    except (TypeError, ValueError):
        N = np.zeros(0)
    if N.ndim != 2 or N.shape[1] != size or not len(N) or not np.isfinite(N).all():
        raise TaskError(f"{task}: normals are {format_value(normals)}; expected {size} finite numbers per side", task)
    b = check_task_vector(offsets, len(N), "offsets", task)
    length = np.linalg.norm(N, axis=1)
    if not (length > 1e-9).all():
        raise TaskError(f"{task}: normal {int(np.argmin(length))} is zero; expected a direction", task)
    return N / length[:, None], b / length


# -- Constraints on the center of mass -------------------------------------------------------------------------------


class CenterOfMassPlanes(MotionTask):
    """Keep the center of mass c inside a polyhedron ``N c <= b`` (m, world axes), see `Polyhedron`."""

    unit = "m"
    required_terms = CENTER_OF_MASS

    def __init__(
        self,
        normals: ArrayLike,
        offsets: ArrayLike,
        weight: ArrayLike = 1.0,
        dynamics: TaskDynamics | None = None,
        name: str = "center of mass",
    ) -> None:
        self.normals, offsets = check_planes(normals, offsets, name)
        super().__init__(name, weight, (np.full(len(offsets), -np.inf), offsets), dynamics)

    def labels(self, robot: Robot) -> tuple[str, ...]:
        return tuple(f"side {i}" for i in range(len(self.normals)))

    def bind_error(self, snapshot: Snapshot, task_rows: TaskRows, layout: VariableLayout) -> Sequence[Writer]:
        return _point_writers(snapshot, np.ascontiguousarray(self.normals), task_rows, layout)


def HalfSpace(
    frame: Frame | None,
    normal: ArrayLike,
    offset: float,
    weight: ArrayLike = 1.0,
    dynamics: TaskDynamics | None = None,
    name: str = "",
) -> Task:
    """Keep a point on one side of a plane: ``nᵀ p <= offset`` along the normal n, in m.

    Args:
        frame: frame with origin p; None: p is the center of mass.
        normal: n; it is scaled to unit length, and the offset with it.
        offset: distance of the plane from the origin of the world along n (m).

    >>> constraints.HalfSpace(robot.hand("right"), normal=(0, 0, -1), offset=-0.05)  # at least 5 cm above the floor
    """
    if frame is None:
        return CenterOfMassPlanes(normal, offset, weight, dynamics, name or "half space of the center of mass")
    name = name or f"half space of {frame_name(frame)}"
    return Polyhedron(frame, normal, offset, weight, dynamics, name, ["side"])


class CenterOfMassInside(MotionTask):
    """Keep the center of mass above the support polygon, at least `margin` inside its edges.

    Args:
        margin: distance from the edges (m). If the polygon is too small for it, the distance of the mean of its corners
            from the nearest edge is used instead.
        polygon: k x 2 corners in the world (m); None: the support polygon of the contacts of the state, updated at
            every tick.
        contacts: without `polygon`, how many contacts of the state span the polygon, from the first on; it determines
            the number of rows.
        dynamics: task dynamics; `Decay(5)` if not given. With torques give ``Decay(2)``: a rate above √(g / height of
            the center of mass) lets it approach an edge faster than forces inside the soles can stop it.

    >>> constraints.CenterOfMassInside(margin=0.01)
    """

    unit = "m"
    required_terms = CENTER_OF_MASS | FRAMES

    def __init__(
        self,
        margin: float = 0.0,
        polygon: ArrayLike | None = None,
        contacts: int = 2,
        weight: ArrayLike = 1.0,
        dynamics: TaskDynamics | None = None,
        name: str = "center of mass above its support",
    ) -> None:
        self.margin = check_task_number(margin, "margin", name)
        self.polygon = None if polygon is None else _check_polygon(polygon, name)
        if not isinstance(contacts, int) or contacts < 1:
            raise TaskError(f"{name}: contacts is {format_value(contacts)}; expected a number, one or more", name)
        self.contact_count = contacts
        # A convex polygon has at most two sharp corners, and half_planes adds a side for each.
        self.row_count = 4 * contacts + 2 if self.polygon is None else len(half_planes(self.polygon)[1])
        super().__init__(name, weight, (-np.inf, np.inf), dynamics, self.row_count)

    def labels(self, robot: Robot) -> tuple[str, ...]:
        return tuple(f"edge {i}" for i in range(self.row_count))

    def bind_error(self, snapshot: Snapshot, task_rows: TaskRows, layout: VariableLayout) -> Sequence[Writer]:
        S = np.zeros((self.row_count, 3))
        writers = _point_writers(snapshot, S, task_rows, layout)
        if self.polygon is not None:
            _set_edges(S, task_rows.high, self.polygon, self.margin)
            return writers
        corners = np.zeros((0, 2))

        def write_polygon() -> None:
            nonlocal corners
            current = _support_corners(snapshot, self.contact_count)
            if current.shape != corners.shape or np.abs(current - corners).max(initial=0.0) > 1e-7:  # 0.1 micrometer
                corners = current
                _set_edges(S, task_rows.high, convex_hull(corners), self.margin)

        return [write_polygon, *writers]


def _point_writers(snapshot: Snapshot, S: Array, task_rows: TaskRows, layout: VariableLayout) -> Sequence[Writer]:
    """Return the writers of rows on S c, with c the center of mass; S (k x 3) is read at every tick."""
    writer = _motion.PointWriter(
        snapshot.center_of_mass_jacobian,
        snapshot.center_of_mass,
        snapshot.center_of_mass_drift,
        S,
        np.zeros(3),
        task_rows.error,
        task_rows.A,
        task_rows.drift,
    )
    return [writer.write, writer.write_drift] if layout.order == ACCELERATION else [writer.write]


def _check_polygon(polygon: ArrayLike, task: str) -> Array:
    """Return the corners of a polygon; raise a TaskError if it has no area."""
    try:
        corners = convex_hull(polygon)
    except (TypeError, ValueError):
        corners = np.zeros((0, 2))
    if len(corners) < 3:
        raise TaskError(f"{task}: polygon is {format_value(polygon)}; expected k x 2 corners around an area", task)
    return corners


def _support_corners(snapshot: Snapshot, contacts: int) -> Array:
    """Return the corners of the first contacts of the state in the ground plane (m, n x 2)."""
    points = [np.zeros((0, 2))]
    for part in snapshot.state.contacts[:contacts] if snapshot.state is not None else ():
        points.append(contact_points(part, snapshot.rotation(part), snapshot.position(part))[:, :2])
    return np.vstack(points)


def _set_edges(S: Array, high: Array, polygon: Array, margin: float) -> None:
    """Write one half plane per row; rows without an edge are disabled by an infinite bound."""
    S[:], high[:] = 0.0, np.inf
    if len(polygon) == 0:
        return
    A, b = half_planes(polygon)
    max_margin = float(min(b - A @ polygon.mean(axis=0)))  # a larger margin would leave no point
    S[: len(b), :2] = A
    high[: len(b)] = b - min(margin, max(max_margin, 0.0))
