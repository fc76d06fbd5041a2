"""Reference walk: a measured motion as a twice differentiable curve, with the quantities that tasks track.

Notation: y(t) are the coordinates of a configuration, given by any smooth function: position p of the base (m),
quaternion c = (x, y, z, w) of any nonzero length, joint angles (rad). With n² = cᵀc, R the rotation of c, and ``vec``
the vector part of a product of quaternions:

    ω = 2 vec(c* ċ) / n²,            ω̇ = 2 vec(c* c̈) / n² - 2 (cᵀċ / n²) ω
    u = Rᵀ ṗ,                        u̇ = Rᵀ p̈ - ω x u

are the angular and the linear velocity of the base in its own frame and their rates, as in pinocchio's v and a.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
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
from poise.arrays import Array, Mask
from poise.errors import GaitError
from poise.extras import scipy
from poise.human.fitting.filtered_motion import (
    bridge_gaps,
    configuration_mask,
    continuous_quaternions,
    filter_motion,
)
from poise.human.fitting.visibility import leg_seen
from poise.robots import SIDES, Frame, Robot, Side

if TYPE_CHECKING:
    from poise.human.fitting.body_fit import Fit


#: Coordinates of a configuration with their first and second derivatives, at a time (s).
CurveFunction = Callable[[float], tuple[Array, Array, Array]]


def motion_from_derivatives(y: Array, rate: Array, acceleration: Array) -> tuple[Array, Array, Array]:
    """Convert the coordinates of a configuration (nq) and their derivatives to (q, v, a) of pinocchio.

    >>> q, v, a = motion_from_derivatives(*curve_function(0.3))
    """
    c, square = y[3:7], float(y[3:7] @ y[3:7])
    q = y.copy()
    q[3:7] /= np.sqrt(square)
    R = _rotation(q[3:7])
    angular_velocity = 2.0 / square * _vector_part(c, rate[3:7])
    angular_acceleration = 2.0 / square * (_vector_part(c, acceleration[3:7]) - float(c @ rate[3:7]) * angular_velocity)
    linear_velocity = R.T @ rate[:3]
    v = np.concatenate([linear_velocity, angular_velocity, rate[7:]])
    a = np.concatenate(
        [R.T @ acceleration[:3] - _cross(angular_velocity, linear_velocity), angular_acceleration, acceleration[7:]]
    )
    return q, v, a


def derivatives_from_motion(q: Array, v: Array, a: Array | None = None) -> tuple[Array, Array]:
    """Return ẏ and ÿ of a configuration with a unit quaternion, the inverse of `motion_from_derivatives`; ÿ is zero
    if a is not given.

    ṗ = R u,   p̈ = R (u̇ + ω x u),   ċ = c ω / 2,   c̈ = c ω̇ / 2 - |ω|² c / 4
    """
    R, u, angular_velocity = _rotation(q[3:7]), v[:3], v[3:6]
    rate = np.concatenate([R @ u, 0.5 * _quaternion_vector_product(q[3:7], angular_velocity), v[6:]])
    if a is None:
        return rate, np.zeros_like(rate)
    quaternion_acceleration = (
        0.5 * _quaternion_vector_product(q[3:7], a[3:6]) - 0.25 * float(angular_velocity @ angular_velocity) * q[3:7]
    )
    return rate, np.concatenate([R @ (a[:3] + _cross(angular_velocity, u)), quaternion_acceleration, a[6:]])


class ConfigurationCurve:
    """A motion that can be sampled at any time: a target of `poise.tasks.Configuration`."""

    def __init__(self, curve_function: CurveFunction) -> None:
        self.curve_function = curve_function

    def sample(self, time: float) -> tuple[Array, Array, Array]:
        """Return configuration, velocity and acceleration at a time (s)."""
        return motion_from_derivatives(*self.curve_function(time))


def _vector_part(c: Array, d: Array) -> Array:
    """Return the vector part of c* d."""
    (x, y, z, w), (a, b, e, f) = c, d
    return np.array([w * a - x * f - y * e + z * b, w * b - y * f - z * a + x * e, w * e - z * f - x * b + y * a])


def _quaternion_vector_product(c: Array, vector: Array) -> Array:
    """Return the product of a quaternion and a vector."""
    (x, y, z, w), (a, b, e) = c, vector
    return np.array([w * a + y * e - z * b, w * b + z * a - x * e, w * e + x * b - y * a, -x * a - y * b - z * e])


def _rotation(c: Array) -> Array:
    """Return the rotation matrix of a unit quaternion."""
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


#: Points under a foot that can touch the ground, from heel to toes; frames of the human model.
FOOT_POINTS = ("heel", "first_metatarsal", "fifth_metatarsal", "toe_tip")

#: Distance of events from a gap, s: the filter and the search for an initial contact need the frames around it.
EVENT_MARGIN = 0.1
#: Number of cached samples: one tick needs two.
CACHED_SAMPLES = 4


@dataclass(frozen=True, eq=False)
class ReferenceSample:
    """The quantities of a reference walk that tasks track, at one time; those other than q, v, a in world axes.

    Attributes:
        q, v, a: configuration, velocity and acceleration of pinocchio.
        heels: by side, position (m), velocity (m/s) and acceleration (m/s²) of the heel.
        center_of_mass: position (m), velocity (m/s) and acceleration (m/s²).
        angular_momentum: about the center of mass (kg m²/s), and its rate (N m).
    """

    q: Array
    v: Array
    a: Array
    heels: dict[Side, tuple[Array, Array, Array]]
    center_of_mass: tuple[Array, Array, Array]
    angular_momentum: tuple[Array, Array]


class ReferenceWalk(ConfigurationCurve):
    """A walk of a human model as cubic splines through its configurations, twice differentiable.

    Args:
        robot: a human model.
        time: n, s, increasing.
        q: n x nq, low-pass filtered; the motion of `fit` is, and `ReferenceWalk.from_measured` filters. Values that are
            not known are NaN: gaps are bridged for the splines, and have no events and no gait cycles. Joints that are
            never known stay at rest.
        name: of the subject.
        overground: convert treadmill walking to overground walking by adding the displacement of the belt to the base.
        known: which values of q are known (n x nq); by default those that are not NaN.

    Attributes:
        foot_points: frames of the eight points under the feet, `FOOT_POINTS` of the left foot, then of the right.
        heel_frames: frame of the heel by side.
        known: which values of the configurations are known (n x nq).
        belt_speed: of the treadmill, m/s; 0 for overground walking.

    >>> reference = ReferenceWalk.from_fit(human.fit(trial, static))
    >>> q, v, a = reference.sample(0.8)
    """

    def __init__(
        self,
        robot: Robot,
        time: ArrayLike,
        q: ArrayLike,
        name: str = "",
        overground: bool = True,
        known: Mask | None = None,
    ) -> None:
        self.robot, self.name = robot, name
        self.time, coordinates = np.array(time, dtype=np.float64), np.array(q, dtype=np.float64)
        n = len(self.time)
        if n < 4 or coordinates.shape != (n, robot.model.nq) or not (np.diff(self.time) > 0.0).all():
            shapes = f"{coordinates.shape} configurations at {self.time.shape} times"
            raise GaitError(f"{shapes}; expected four or more of {robot.model.nq} numbers, times increasing")
        if np.isinf(coordinates).any():
            raise GaitError("a configuration is infinite; expected finite numbers, or NaN where it is unknown")
        self.known = np.isfinite(coordinates) if known is None else known & np.isfinite(coordinates)
        if not self.known[:, :7].any():
            raise GaitError("the pelvis is not known in any frame; expected a motion with a pelvis")
        self.heel_frames: dict[Side, Frame] = {side: robot.frame(f"{side}_heel") for side in SIDES}
        self.foot_points = tuple(robot.frame(f"{side}_{point}") for side in SIDES for point in FOOT_POINTS)
        self._data = robot.model.createData()
        self._samples: dict[float, ReferenceSample] = {}
        self.belt_speed = 0.0
        self._fit_splines(continuous_quaternions(bridge_gaps(self.time, coordinates, self.known)))
        if overground:
            self._convert_to_overground()

    @classmethod
    def from_fit(cls, fit: Fit) -> ReferenceWalk:
        """Make a reference from a fit, whose motion is already filtered."""
        name = fit.trial.subject.name or Path(fit.trial.path).stem
        return cls(fit.robot, fit.time, fit.motion.q, name, known=configuration_mask(fit.motion.seen))

    @classmethod
    def from_measured(cls, robot: Robot, time: Array, q: Array, cutoff: float = 6.0, name: str = "") -> ReferenceWalk:
        """Make a reference from raw configurations at equal steps, low-pass filtered without lag (cut-off in Hz)."""
        return cls(robot, time, filter_motion(robot, time, q, cutoff).q, name)

    @property
    def q(self) -> Array:
        """The configurations that the splines pass through, bridged where unknown (n x nq)."""
        return self._coordinates

    def leg_known(self, side: Side) -> Mask:
        """Return the frames in which pelvis and leg are known (n)."""
        return leg_seen(self.robot, self.known[:, 1:], side)

    def is_known(self, begin: float, end: float) -> bool:
        """Return whether pelvis and both legs are known in all frames from one time to another (s)."""
        inside = (self.time >= begin - 1e-9) & (self.time <= end + 1e-9)
        return bool(inside.any() and all(self.leg_known(side)[inside].all() for side in SIDES))

    def at(self, time: float) -> ReferenceSample:
        """Return all quantities that tasks track at a time (s); the last few samples are cached."""
        sample = self._samples.pop(time, None) or self._compute_sample(*self.sample(time))
        self._samples[time] = sample
        if len(self._samples) > CACHED_SAMPLES:
            del self._samples[next(iter(self._samples))]
        return sample

    @cached_property
    def foot_positions(self) -> Array:
        """Positions of `foot_points` at the times of the splines (n x 8 x 3, m)."""
        return self.foot_positions_at(self._coordinates)

    def foot_positions_at(self, q: Array) -> Array:
        """Compute the positions of the points under the feet (n x 8 x 3, m) in some postures (n x nq)."""
        model, data = self.robot.model, self._data
        positions = np.empty((len(q), len(self.foot_points), 3))
        for k, posture in enumerate(q):
            pinocchio.forwardKinematics(model, data, posture)
            for i, point in enumerate(self.foot_points):
                positions[k, i] = pinocchio.updateFramePlacement(model, data, point.index).translation
        return positions

    @cached_property
    def events(self) -> tuple[GaitEvent, ...]:
        """Initial contacts and toe-offs by `poise.analysis.EVENT_RULE`, from heels and first metatarsals.

        Gaps have no events, nor have the frames beside them (`EVENT_MARGIN`), where a foot may only seem to turn back.
        """
        legs = {side: self.leg_known(side) for side in SIDES}
        seen = [side for side in SIDES if legs[side].any()]
        if not seen:
            return ()
        heel, toe = (
            {side: np.where(legs[side][:, np.newaxis], self.foot_point(point)[side], np.nan) for side in seen}
            for point in ("heel", "first_metatarsal")
        )
        events = events_from_markers(self.time, heel, toe, self._coordinates[:, :3])
        return tuple(event for event in events if self._far_from_gap(event, legs[event.side]))

    @cached_property
    def cycles(self) -> tuple[GaitCycle, ...]:
        """Gait cycles of both feet during which pelvis and legs are known, in order of time."""
        return self.known_cycles(gait_cycles(self.events))

    def known_cycles(self, cycles: Iterable[GaitCycle]) -> tuple[GaitCycle, ...]:
        """Return the gait cycles during which pelvis and both legs are known."""
        return tuple(cycle for cycle in cycles if self.is_known(cycle.initial_contact, cycle.end))

    def _far_from_gap(self, event: GaitEvent, known: Mask) -> bool:
        unknown = self.time[~known]
        return not len(unknown) or float(np.abs(unknown - event.time).min()) > EVENT_MARGIN

    def cycle(self, side: Side | None = None) -> GaitCycle:
        """Return the gait cycle of a foot in the middle of the walk; by default of the right foot, if it has any."""
        ends = float(self.time[0]), float(self.time[-1])
        if side is None:
            feet = {each.side for each in self.cycles}
            side = "right" if "right" in feet or not feet else "left"
        known = [cycle for cycle in self.cycles if cycle.side == side]
        if not known and any(cycle.side == side for cycle in gait_cycles(self.events)):
            raise GaitError(f"no gait cycle of the {side} foot without a gap in the markers of pelvis and legs")
        if not known:
            return best_cycle(self.events, *ends, side)  # raises an error that lists the missing events
        return max(known, key=lambda each: (min(each.initial_contact - ends[0], ends[1] - each.end), -each.end))

    def foot_point(self, point: str) -> dict[Side, Array]:
        """Return the positions of one of `FOOT_POINTS` by side, (n, 3), m."""
        return {
            side: self.foot_positions[:, len(FOOT_POINTS) * i + FOOT_POINTS.index(point)]
            for i, side in enumerate(SIDES)
        }

    def _fit_splines(self, coordinates: Array) -> None:
        self._coordinates = coordinates
        value = scipy.interpolate.CubicSpline(self.time, coordinates)
        rate, acceleration = value.derivative(1), value.derivative(2)
        super().__init__(lambda time: (value(time), rate(time), acceleration(time)))

    def _convert_to_overground(self) -> None:
        toes = self.foot_point("first_metatarsal")
        try:
            direction = walking_direction(self._coordinates[:, :3], self.foot_point("heel"), toes)
        except GaitError:
            return  # standing: there is no walking direction
        self.belt_speed = belt_speed(self.time, toes, direction)
        if self.belt_speed > 0.0:
            shifted = self._coordinates.copy()
            shifted[:, :3] += self.belt_speed * (self.time - self.time[0])[:, np.newaxis] * direction
            self._fit_splines(shifted)
            del self.foot_positions

    def _compute_sample(self, q: Array, v: Array, a: Array) -> ReferenceSample:
        model, data, axes = self.robot.model, self._data, pinocchio.LOCAL_WORLD_ALIGNED
        pinocchio.computeCentroidalMomentumTimeVariation(model, data, q, v, a)  # includes forward kinematics
        heels: dict[Side, tuple[Array, Array, Array]] = {}
        for side, frame in self.heel_frames.items():
            position = pinocchio.updateFramePlacement(model, data, frame.index).translation.copy()
            velocity = pinocchio.getFrameVelocity(model, data, frame.index, axes).linear.copy()
            heel_acceleration = pinocchio.getFrameClassicalAcceleration(model, data, frame.index, axes).linear.copy()
            heels[side] = (position, velocity, heel_acceleration)
        mass, momentum, force = self.robot.mass, data.hg, data.dhg
        center = (data.com[0].copy(), momentum.linear / mass, force.linear / mass)
        return ReferenceSample(q, v, a, heels, center, (momentum.angular.copy(), force.angular.copy()))
