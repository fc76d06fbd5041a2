"""Contacts with the environment, their forces, and readings of force sensors, encoders and the IMU."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np
import pinocchio
from numpy.typing import ArrayLike

from poise.arrays import Array
from poise.errors import StateError
from poise.robots import Foot, Frame, State

ForceModel = Literal["wrench", "vertices", "normals"]

#: Tolerance (m) within which corners lie in the plane of the contact and a polygon is a rectangle.
FLATNESS_TOLERANCE = 1e-6
#: Friction of rubber or plastic soles on a dry floor; textbooks give 0.5 to 1.
DEFAULT_FRICTION = 0.7


class LoadedPatch:
    """Part of the length of a rectangular contact that bears force, for feet that roll over their heel or toes.

    It may change at any tick; friction and moments of the contact are limited to it. At first it is the whole length.

    Attributes:
        begin, end: limits along the x axis of the contact, from -1 at the rear edge to 1 at the front edge.
    """

    __slots__ = ("begin", "end")

    def __init__(self) -> None:
        self.begin, self.end = -1.0, 1.0

    def set(self, begin: float = -1.0, end: float = 1.0) -> None:
        """Set the limits; without arguments the whole length bears force."""
        self.begin, self.end = begin, end


class Contact:
    """A unilateral contact with friction: a polygon, fixed to a frame, that presses on a plane of the world.

    The contact frame has its origin p in the middle of the corners, z along the normal (out of the surface, towards the
    body) and x along the projection of the x axis of the given frame. The unknowns y of the contact give the wrench
    ``φ = G y`` about p, in the axes of the contact frame. There are three parametrizations:

    - ``wrench``: y = (f, m / r), force and moment; r, the distance of the farthest corner from p, gives both one scale
    - ``vertices``: y = (f_1, ..., f_l), a force at each corner
    - ``normals``: y = (φ, f⊥), the wrench and the normal forces at the corners, related by ``Q_c (φ, f⊥) = 0``, as in
      [Saab2012] eq. 8; friction is not limited unless a friction cone is added

    A contact in one point always has a force there as its unknowns (``vertices``).

    Args:
        frame: a foot, a hand, or any frame.
        corners: l x 3 in that frame (m), counter-clockwise about the normal; None: those of the sole for a foot, the
            origin for any other frame.
        normal: direction out of the surface, in that frame.
        friction: μ.
        forces: parametrization of the forces, see above.
        largest_force: largest normal force that surface and robot can bear (N).
        name: name in recordings; None: that of the frame.
        patch: part of the length of a rectangular sole that bears force, which the caller changes as the foot rolls;
            None: always the whole.

    >>> contacts = [Contact(foot) for foot in robot.feet]
    >>> Contact(robot.hand("left"), normal=(0, 0, 1), friction=0.5)
    """

    def __init__(
        self,
        frame: Frame,
        corners: ArrayLike | None = None,
        normal: ArrayLike = (0.0, 0.0, 1.0),
        friction: float = DEFAULT_FRICTION,
        forces: ForceModel = "wrench",
        largest_force: float = math.inf,
        name: str | None = None,
        patch: LoadedPatch | None = None,
    ) -> None:
        self.patch = patch
        if not isinstance(frame, Frame):
            raise StateError(f"contact frame is {frame!r}; expected a part of a robot, e.g. robot.foot('left')")
        self.frame, self.name = frame, frame.name if name is None else str(name)
        points = corners if corners is not None else frame.corners if isinstance(frame, Foot) else np.zeros((1, 3))
        self.corners = self._check_array("corners", points, (-1, 3))
        axis = self._check_array("normal", normal, (3,))
        if not np.linalg.norm(axis) > 0.0:
            raise self._error("the normal is zero; give the direction out of the surface")
        if not (isinstance(friction, (int, float)) and 0.0 < friction < math.inf):
            raise self._error(f"friction is {friction!r}; expected a positive number")
        if not (isinstance(largest_force, (int, float)) and largest_force > 0.0):
            raise self._error(f"largest_force is {largest_force!r}; expected a positive number (N)")
        if forces not in get_args(ForceModel):
            raise self._error(f"forces is {forces!r}; expected {', '.join(get_args(ForceModel))}")
        self.friction, self.largest_force = float(friction), float(largest_force)
        self.frame_from_contact = _contact_frame(self.corners.mean(axis=0), axis / np.linalg.norm(axis))
        R, p = self.frame_from_contact.rotation, self.frame_from_contact.translation
        local = (self.corners - p) @ R
        if np.abs(local[:, 2]).max() > FLATNESS_TOLERANCE:
            raise self._error("the corners do not lie in one plane across the normal; give corners of a flat patch")
        #: Corners in the x-y plane of the contact frame, l x 2 (m).
        self.outline: Array = local[:, :2]
        self.radius = float(np.linalg.norm(self.outline, axis=1).max())
        if len(local) > 1 and np.linalg.matrix_rank(self.outline, tol=FLATNESS_TOLERANCE) < 2:
            raise self._error(
                f"its {len(local)} corners lie on a line; give one point, or three or more around an area"
            )
        self.forces: ForceModel = "vertices" if self.point_like else forces
        #: G, 6 x size: maps the unknowns to the wrench about p, in the axes of the contact frame.
        self.basis: Array = self._basis()
        self.size = self.basis.shape[1]

    @property
    def point_like(self) -> bool:
        """Whether the contact is a single point, about which the body can rotate freely."""
        return len(self.corners) == 1

    @property
    def rectangle(self) -> tuple[float, float] | None:
        """Half lengths along x and y (m) if the outline is a rectangle along the contact axes, else None."""
        if len(self.outline) != 4:
            return None
        half = np.abs(self.outline).max(axis=0)
        return (
            (float(half[0]), float(half[1])) if np.abs(np.abs(self.outline) - half).max() < FLATNESS_TOLERANCE else None
        )

    @property
    def normal_row(self) -> Array:
        """Row that maps the unknowns to the normal force: ``f_z = row y``."""
        row: Array = self.basis[2]
        return row

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Contact) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @cached_property
    def _key(self) -> tuple[object, ...]:
        where = (self.corners.tobytes(), self.frame_from_contact.rotation.tobytes())
        return (self.name, self.frame, *where, self.friction, self.forces, self.largest_force)

    def __repr__(self) -> str:
        return f"Contact({self.name}, {len(self.corners)} corners, friction {self.friction:g}, {self.forces})"

    def _basis(self) -> Array:
        if self.forces == "wrench":
            return np.diag([1.0] * 3 + [self.radius] * 3)
        if self.forces == "vertices":
            return np.hstack([np.vstack([np.eye(3), _moment_matrix(x, y)]) for x, y in self.outline])
        return np.hstack([np.eye(6), np.zeros((6, len(self.outline)))])

    def _check_array(self, label: str, values: ArrayLike, shape: tuple[int, ...]) -> Array:
        try:
            numbers = np.array(values, dtype=np.float64)
        except (TypeError, ValueError):
            numbers = np.full(1, np.nan)
        fits = numbers.ndim == len(shape) and numbers.shape[-1] == 3 and numbers.size > 0
        if not (fits and np.isfinite(numbers).all()):
            expected = "l x 3 finite numbers" if len(shape) == 2 else "3 finite numbers"
            raise self._error(f"{label} is {' '.join(str(values).split())[:60]}; expected {expected}")
        return numbers

    def _error(self, message: str) -> StateError:
        return StateError(f"contact of {self.name}: {message}", robot=self.frame.robot_name, element=self.name)


def contact_of(part: Frame | Contact) -> Contact:
    """Return the contact itself, or a contact with default arguments for a frame."""
    return part if isinstance(part, Contact) else Contact(part)


def _contact_frame(origin: Array, normal: Array) -> pinocchio.SE3:
    """Return a pose with z along the normal and x along the projection of the first axis not near the normal."""
    forward = next(axis for axis in np.eye(3) if abs(axis @ normal) < 0.9)
    x = forward - (forward @ normal) * normal
    x /= np.linalg.norm(x)
    return pinocchio.SE3(np.column_stack([x, np.cross(normal, x), normal]), origin)


def _moment_matrix(x: float, y: float) -> Array:
    """Return the matrix that maps a force at r = (x, y, 0) to its moment ``r x f``."""
    return np.array([[0.0, 0.0, y], [0.0, 0.0, -x], [-y, x, 0.0]])


# -- External forces and sensor readings -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, slots=True)
class ContactForces:
    """Forces of the environment on the robot at its contacts, at one instant.

    Attributes:
        names: names of the contacts, e.g. those of the frames of the feet.
        wrenches: per contact the force (N) and its moment about the contact point (N m), in world axes: (k, 6).
        points: per contact the contact point in the world (m): (k, 3); for a sole its middle.
    """

    names: tuple[str, ...]
    wrenches: Array
    points: Array

    def __getitem__(self, name: str) -> Array:
        """Return the wrench at a contact; zeros if there is no contact of that name."""
        return self.wrenches[self.names.index(name)] if name in self.names else np.zeros(6)

    @property
    def total(self) -> Array:
        """Sum of all forces (N, 3)."""
        return np.asarray(self.wrenches[:, :3].sum(axis=0))


@dataclass(frozen=True, eq=False, slots=True)
class Imu:
    """Readings of an inertial measurement unit (IMU) in the base.

    Attributes:
        orientation: world_from_base as a quaternion (x, y, z, w).
        angular_velocity: angular velocity of the base in base axes (rad/s).
        acceleration: acceleration of the base minus gravity in base axes (m/s²): at rest 9.81 upwards.
    """

    orientation: Array
    angular_velocity: Array
    acceleration: Array


@dataclass(frozen=True, eq=False, slots=True)
class SensorReadings:
    """Sensor readings of a plant at the time of a state.

    Attributes:
        forces: forces of the environment on every part that can have contact; for a foot, the reading of the 6-axis
            ankle sensor, moved to the sole.
        cells: per foot, by name, the normal forces at the corners of its sole (N, 4).
        imu: reading of the IMU in the base.
        positions, velocities: joint angles and velocities from the encoders (rad, rad/s).
        truth: true state of the plant; for evaluation only, since a real robot does not know it.
    """

    forces: ContactForces
    cells: Mapping[str, Array]
    imu: Imu
    positions: Array
    velocities: Array
    truth: State
