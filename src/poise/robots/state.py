"""State: where a robot is, how it moves, and what it stands on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pinocchio
from numpy.typing import ArrayLike, NDArray

from poise.errors import StateError
from poise.geometry import polygon
from poise.robots.parts import Foot, Frame

if TYPE_CHECKING:
    from poise.robots.robot import Robot

Array = NDArray[np.float64]

#: A quaternion this close to unit length is one: integration in double precision drifts far less in an hour.
UNIT_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class State:
    """A robot at one instant. It cannot change; `replace` makes another.

    Args:
        robot: whose state it is.
        q: configuration: position of the base in the world (m), its quaternion (x, y, z, w), joint angles (rad).
        v: velocity: linear (m/s) and angular (rad/s) of the base in its own frame, joint rates (rad/s); or rest.
        time: seconds since the motion began.
        contacts: the parts that stand on something, usually feet.

    >>> start = poise.load_robot("g1").stance("standing")
    >>> start.pose(start.robot.hand("left")).translation  # where the left hand is, in the world
    """

    robot: Robot
    q: Array
    v: Array = None  # type: ignore[assignment]  # zeros, made below
    time: float = 0.0
    contacts: tuple[Frame, ...] = ()

    def __post_init__(self) -> None:
        model = self.robot.model
        joints = model.nv - 6
        q = self._numbers("q", self.q, model.nq, f"7 of the base and {joints} joint angles")
        rates = np.zeros(model.nv) if self.v is None else self.v
        v = self._numbers("v", rates, model.nv, f"6 of the base and {joints} joint rates")
        length = float(np.linalg.norm(q[3:7]))
        if abs(length - 1.0) > UNIT_TOLERANCE:
            raise self._error("q", f"the quaternion q[3:7] has length {length:.6g}; divide it by its length")
        try:
            time = float(self.time)
        except (TypeError, ValueError):
            time = float("nan")
        if not np.isfinite(time):
            raise self._error("time", f"time is {self.time!r}; expected a number of seconds")
        self.__dict__.update(q=q, v=v, time=time, contacts=self._parts())

    @classmethod
    def _trusted(cls, robot: Robot, q: Array, v: Array, time: float, contacts: tuple[Frame, ...]) -> State:
        """A state from values that are known to be right, without looking at them: for the control loop.

        The arrays are taken over, not copied: whoever hands them in must not write to them again.
        """
        q.setflags(write=False)
        v.setflags(write=False)
        state = object.__new__(cls)
        fields = state.__dict__  # one by one: half the time of update()
        fields["robot"] = robot
        fields["q"] = q
        fields["v"] = v
        fields["time"] = time
        fields["contacts"] = contacts
        return state

    def replace(self, **changes: Any) -> State:
        """The same state but for the given fields, checked anew: ``state.replace(time=0.5, contacts=())``."""
        try:
            return replace(self, **changes)
        except TypeError:
            wrong = sorted(set(changes) - {"robot", "q", "v", "time", "contacts"})
            raise self._error(
                ", ".join(wrong), f"a state has no {', '.join(wrong)}; it has robot, q, v, time, contacts"
            ) from None

    def pose(self, frame: Frame) -> pinocchio.SE3:
        """Pose of a frame in the world, ``world_from_frame``."""
        return self.robot._placed(self).oMf[frame.index].copy()

    @cached_property
    def center_of_mass(self) -> Array:
        """Center of mass in the world (m, 3)."""
        return _fixed(pinocchio.centerOfMass(self.robot.model, self.robot._placed(self), self.q, False))

    @cached_property
    def support_polygon(self) -> Array:
        """Convex hull of all contacts, seen from above: k x 2 (m), counter-clockwise.

        A foot counts with the corners of its sole, any other part with its origin.
        """
        points = [np.zeros((0, 2))]
        for part in self.contacts:
            pose = self.pose(part)
            corners = part.corners if isinstance(part, Foot) else np.zeros((1, 3))
            points.append((corners @ pose.rotation.T + pose.translation)[:, :2])
        return _fixed(polygon.convex_hull(np.vstack(points)))

    @cached_property
    def support_center(self) -> Array:
        """Centroid of the support polygon (m, 2)."""
        if len(self.support_polygon) == 0:
            raise self._error("contacts", "without contacts there is no support; give contacts=robot.feet")
        return _fixed(polygon.centroid(self.support_polygon))

    def __repr__(self) -> str:
        on = " and ".join(part.name for part in self.contacts) or "nothing"
        return f"State({self.robot.name}, time {self.time:g} s, on {on})"

    def _parts(self) -> tuple[Frame, ...]:
        given: Any = self.contacts
        contacts = tuple(given) if isinstance(given, Iterable) else (given,)
        for part in contacts:
            if not isinstance(part, Frame):
                raise self._error("contacts", f"{part!r} is not a part of a robot; give e.g. robot.foot('left')")
            if part.robot_name != self.robot.name:
                raise self._error("contacts", f"{part.name} belongs to {part.robot_name}; give parts of this robot")
        return contacts

    def _numbers(self, what: str, values: ArrayLike, size: int, parts: str) -> Array:
        try:
            numbers = np.array(values, dtype=np.float64)
        except (TypeError, ValueError):
            raise self._error(what, f"{what} is not an array of numbers: {str(values)[:60]!r}") from None
        if numbers.shape != (size,):
            raise self._error(what, f"{what} has shape {numbers.shape}; expected {size} numbers, {parts}")
        if not np.isfinite(numbers).all():
            wrong = ", ".join(str(i) for i in np.flatnonzero(~np.isfinite(numbers))[:5])
            raise self._error(what, f"{what} is NaN or infinite at index {wrong}; expected finite numbers")
        numbers.flags.writeable = False
        return numbers

    def _error(self, element: str, message: str) -> StateError:
        return StateError(f"State of {self.robot.name}: {message}", robot=self.robot.name, element=element)


def _fixed(values: ArrayLike) -> Array:
    array = np.array(values, dtype=np.float64)
    array.flags.writeable = False
    return array
