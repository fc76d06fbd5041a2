"""Reference walk: a measured motion as a twice differentiable curve, with the quantities that tasks follow.

Notation: y(t) are the numbers of a configuration, drawn by any smooth function: position p of the base (m), quaternion
c = (x, y, z, w) of any length but zero, joint angles (rad). With n² = cᵀc, R the rotation of c, and ``vec`` the vector
part of a product of quaternions:

    ω = 2 vec(c* ċ) / n²,            ω̇ = 2 vec(c* c̈) / n² - 2 (cᵀċ / n²) ω
    u = Rᵀ ṗ,                        u̇ = Rᵀ p̈ - ω x u

are the angular and the linear velocity of the base in its own axes and their rates: pinocchio's v and a.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pinocchio
from numpy.typing import ArrayLike

from poise.analysis import (
    GaitCycle,
    GaitEvent,
    belt_speed,
    best_cycle,
    events_from_markers,
    gait_cycles,
    walking_direction,
)
from poise.arrays import Array
from poise.errors import GaitError
from poise.extras import scipy
from poise.human.fitting.body_fit import motion
from poise.robots import SIDES, Frame, Robot, Side

if TYPE_CHECKING:
    from poise.human.fitting.body_fit import Fit


#: Numbers of a configuration with their first and second derivatives, at a time (s).
Drawn = Callable[[float], tuple[Array, Array, Array]]


def motion_of(y: Array, rate: Array, acceleration: Array) -> tuple[Array, Array, Array]:
    """(q, v, a) of a body from the numbers of its configuration (nq) and their derivatives.

    >>> q, v, a = motion_of(*drawn(0.3))
    """
    c, square = y[3:7], float(y[3:7] @ y[3:7])
    q = y.copy()
    q[3:7] /= np.sqrt(square)
    R = _rotation(q[3:7])
    turning = 2.0 / square * _vector_part(c, rate[3:7])
    faster = 2.0 / square * (_vector_part(c, acceleration[3:7]) - float(c @ rate[3:7]) * turning)
    moving = R.T @ rate[:3]
    v = np.concatenate([moving, turning, rate[7:]])
    a = np.concatenate([R.T @ acceleration[:3] - _cross(turning, moving), faster, acceleration[7:]])
    return q, v, a


def rates_of(q: Array, v: Array, a: Array | None = None) -> tuple[Array, Array]:
    """ẏ and ÿ of a configuration whose quaternion has unit length: the inverse of `motion_of`; at rest in ÿ without a.

    ṗ = R u,   p̈ = R (u̇ + ω x u),   ċ = c ω / 2,   c̈ = c ω̇ / 2 - |ω|² c / 4
    """
    R, u, turning = _rotation(q[3:7]), v[:3], v[3:6]
    rate = np.concatenate([R @ u, 0.5 * _times(q[3:7], turning), v[6:]])
    if a is None:
        return rate, np.zeros_like(rate)
    bent = 0.5 * _times(q[3:7], a[3:6]) - 0.25 * float(turning @ turning) * q[3:7]
    return rate, np.concatenate([R @ (a[:3] + _cross(turning, u)), bent, a[6:]])


def continuous(q: Array) -> Array:
    """Configurations (n, nq) with the signs of their quaternions such that each is near the one before."""
    nearer = np.sign(np.einsum("ij,ij->i", q[1:, 3:7], q[:-1, 3:7]))
    out = q.copy()
    out[1:, 3:7] *= np.cumprod(np.where(nearer == 0.0, 1.0, nearer))[:, np.newaxis]
    return out


class Curve:
    """A motion that can be asked at any time: a target of `poise.tasks.Configuration`."""

    def __init__(self, drawn: Drawn) -> None:
        self.drawn = drawn

    def sample(self, time: float) -> tuple[Array, Array, Array]:
        """Configuration, velocity and acceleration at a time (s)."""
        return motion_of(*self.drawn(time))


def _vector_part(c: Array, d: Array) -> Array:
    """Of c* d."""
    (x, y, z, w), (a, b, e, f) = c, d
    return np.array([w * a - x * f - y * e + z * b, w * b - y * f - z * a + x * e, w * e - z * f - x * b + y * a])


def _times(c: Array, vector: Array) -> Array:
    """The product of a quaternion and a vector."""
    (x, y, z, w), (a, b, e) = c, vector
    return np.array([w * a + y * e - z * b, w * b + z * a - x * e, w * e + x * b - y * a, -x * a - y * b - z * e])


def _rotation(c: Array) -> Array:
    """Of a unit quaternion."""
    x, y, z, w = c
    return np.array(
        [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
            [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
            [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
        ]
    )


def _cross(a: Array, b: Array) -> Array:
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


# -- Reference -------------------------------------------------------------------------------------------------------


#: Points under a foot that can touch the ground, from heel to toes; frames of the human body.
POINTS = ("heel", "first_metatarsal", "fifth_metatarsal", "toe_tip")

#: Moments that are kept: a tick asks for two.
REMEMBERED = 4


@dataclass(frozen=True, eq=False)
class Moment:
    """The reference at one time: configuration, velocity, acceleration; and in the world, with two derivatives, heels
    (m, by side) and center of mass (m), with one the angular momentum about it (kg m²/s)."""

    q: Array
    v: Array
    a: Array
    heels: dict[Side, tuple[Array, Array, Array]]
    center: tuple[Array, Array, Array]
    spin: tuple[Array, Array]


class Reference(Curve):
    """A walk of a human body, smooth enough to be differentiated twice: cubic splines through its configurations.

    Args:
        robot: the body, a human of the library.
        time: n, s, rising.
        q: n x nq, low-pass filtered; `Reference.filtered` does that, and what `fit` returns is.
        name: who walks.
        floor: whether to put a walk on a treadmill on the floor, by adding the way of the belt to the base.

    >>> reference = Reference.of(human.fit(trial, static))
    >>> q, v, a = reference.sample(0.8)
    """

    def __init__(self, robot: Robot, time: ArrayLike, q: ArrayLike, name: str = "", floor: bool = True) -> None:
        self.robot, self.name = robot, name
        self.time, numbers = np.array(time, dtype=np.float64), np.array(q, dtype=np.float64)
        n = len(self.time)
        if n < 4 or numbers.shape != (n, robot.model.nq) or not (np.diff(self.time) > 0.0).all():
            shapes = f"{numbers.shape} configurations at {self.time.shape} times"
            raise GaitError(f"{shapes}; give four or more of {robot.model.nq} numbers, times rising")
        if not np.isfinite(numbers).all():
            raise GaitError("a configuration is NaN or infinite; fill gaps before a walk is followed")
        self.heels: dict[Side, Frame] = {side: robot.frame(f"{side}_heel") for side in SIDES}
        self.points = tuple(robot.frame(f"{side}_{point}") for side in SIDES for point in POINTS)
        self._data = robot.model.createData()
        self._moments: dict[float, Moment] = {}
        self.belt = 0.0
        self._draw(continuous(numbers))
        if floor:
            self._leave_belt()

    @classmethod
    def of(cls, fit: Fit) -> Reference:
        """From a fit, whose motion is filtered already."""
        return cls(fit.robot, fit.time, fit.q, fit.trial.subject.name or Path(fit.trial.path).stem)

    @classmethod
    def filtered(cls, robot: Robot, time: Array, q: Array, cutoff: float = 6.0, name: str = "") -> Reference:
        """From configurations as measured, in equal steps: low-pass filtered there and back, at a cut-off in Hz."""
        return cls(robot, time, motion(robot, time, q, cutoff).q, name)

    @property
    def q(self) -> Array:
        """The configurations that the splines go through (n x nq)."""
        return self._numbers

    def at(self, time: float) -> Moment:
        """All that tasks follow, at a time (s); the last ones are remembered, since several tasks ask for each."""
        moment = self._moments.pop(time, None) or self._worked_out(*self.sample(time))
        self._moments[time] = moment
        if len(self._moments) > REMEMBERED:
            del self._moments[next(iter(self._moments))]
        return moment

    @cached_property
    def tracks(self) -> Array:
        """Places of the points under the feet at the times of the splines (n x 8 x 3, m), in the order of `points`."""
        return self.places(self._numbers)

    def places(self, q: Array) -> Array:
        """Places of the points under the feet (n x 8 x 3, m) in some postures (n x nq)."""
        model, data = self.robot.model, self._data
        found = np.empty((len(q), len(self.points), 3))
        for k, posture in enumerate(q):
            pinocchio.forwardKinematics(model, data, posture)
            for i, point in enumerate(self.points):
                found[k, i] = pinocchio.updateFramePlacement(model, data, point.index).translation
        return found

    @cached_property
    def events(self) -> tuple[GaitEvent, ...]:
        """Strikes and toe-offs by `poise.analysis.EVENT_RULE`, of the body's own heels and first metatarsals."""
        return events_from_markers(self.time, self.track("heel"), self.track("first_metatarsal"), self._numbers[:, :3])

    def cycle(self, side: Side | None = None) -> GaitCycle:
        """The gait cycle of a foot that stays farthest from the ends; by default of the right one, if it has any."""
        ends = float(self.time[0]), float(self.time[-1])
        if side is None:
            feet = {each.side for each in gait_cycles(self.events)}
            side = "right" if "right" in feet or not feet else "left"
        return best_cycle(self.events, *ends, side)

    def track(self, point: str) -> dict[Side, Array]:
        """Places of one of `POINTS` by side, (n, 3), m."""
        return {side: self.tracks[:, len(POINTS) * i + POINTS.index(point)] for i, side in enumerate(SIDES)}

    def _draw(self, numbers: Array) -> None:
        self._numbers = numbers
        value = scipy.interpolate.CubicSpline(self.time, numbers)
        rate, acceleration = value.derivative(1), value.derivative(2)
        super().__init__(lambda time: (value(time), rate(time), acceleration(time)))

    def _leave_belt(self) -> None:
        toes = self.track("first_metatarsal")
        try:
            direction = walking_direction(self._numbers[:, :3], self.track("heel"), toes)
        except GaitError:
            return  # somebody who stands goes nowhere
        self.belt = belt_speed(self.time, toes, direction)
        if self.belt > 0.0:
            moved = self._numbers.copy()
            moved[:, :3] += self.belt * (self.time - self.time[0])[:, np.newaxis] * direction
            self._draw(moved)
            del self.tracks

    def _worked_out(self, q: Array, v: Array, a: Array) -> Moment:
        model, data, axes = self.robot.model, self._data, pinocchio.LOCAL_WORLD_ALIGNED
        pinocchio.computeCentroidalMomentumTimeVariation(model, data, q, v, a)  # with all joints placed and moving
        heels: dict[Side, tuple[Array, Array, Array]] = {}
        for side, frame in self.heels.items():
            place = pinocchio.updateFramePlacement(model, data, frame.index).translation.copy()
            velocity = pinocchio.getFrameVelocity(model, data, frame.index, axes).linear.copy()
            faster = pinocchio.getFrameClassicalAcceleration(model, data, frame.index, axes).linear.copy()
            heels[side] = (place, velocity, faster)
        mass, momentum, force = self.robot.mass, data.hg, data.dhg
        center = (data.com[0].copy(), momentum.linear / mass, force.linear / mass)
        return Moment(q, v, a, heels, center, (momentum.angular.copy(), force.angular.copy()))
