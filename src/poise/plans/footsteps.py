"""Footsteps, step geometry, gait phases, stairs, and swing-foot trajectories.

`StepGeometry` places the next footstep relative to the support foot, `GaitPhase` describes a single or double support,
`Stairway` moves footsteps onto treads, and `SwingTrajectory` moves a foot to a footstep that may change on the way.
"""

from __future__ import annotations

import cmath
import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from poise.arrays import Array
from poise.geometry import so3
from poise.robots import Foot, Side, State, other_side, side_sign
from poise.state import Snapshot


@dataclass(frozen=True)
class Footstep:
    """Placement of a foot on the ground.

    Args:
        side: left or right foot.
        x, y: middle of its sole in the world (m).
        yaw: heading of the toes in the world (rad, not wrapped: a walk may make several turns).
        z: height of the ground there (m).
    """

    side: Side
    x: float
    y: float
    yaw: float = 0.0
    z: float = 0.0

    @classmethod
    def of(cls, where: State | Snapshot, foot: Foot, yaw: float = 0.0) -> Footstep:
        """Return the current placement of a foot, with the equivalent yaw angle that is nearest to `yaw` (rad)."""
        pose = where.pose(foot)
        x, y, z = (float(value) for value in pose.act(foot.sole.center))
        return cls(foot.side, x, y, yaw + so3.wrap_angle(so3.yaw_of(pose.rotation) - yaw), z)

    @property
    def place(self) -> complex:
        """Horizontal position of the middle of the sole, as x + i y (m)."""
        return complex(self.x, self.y)

    @property
    def heading(self) -> complex:
        """Unit vector in the direction of the toes, as x + i y."""
        return cmath.exp(1j * self.yaw)

    def with_place(self, place: complex, z: float | None = None) -> Footstep:
        """Return the same footstep at another place (m), and at another height if `z` is given (m)."""
        return Footstep(self.side, place.real, place.imag, self.yaw, self.z if z is None else z)

    @property
    def position_xy(self) -> Array:
        """Horizontal position of the middle of the sole (m, 2)."""
        return np.array([self.x, self.y])

    @property
    def rotation(self) -> Array:
        """Rotation world_from_foot of a flat foot."""
        return so3.yaw_matrix(self.yaw)

    def corners(self, half: complex) -> list[complex]:
        """Return the corners of a sole of given half length + i half width (m), counter-clockwise from front left."""
        place, heading, (a, b) = self.place, self.heading, (half.real, half.imag)
        return [place + complex(x, y) * heading for x, y in ((a, b), (-a, b), (-a, -b), (a, -b))]

    @property
    def position(self) -> Array:
        """Middle of the sole (m, 3)."""
        return np.array([self.x, self.y, self.z])


@dataclass(frozen=True)
class StepGeometry:
    """Displacement of each step relative to the support foot.

    Args:
        forward: m per step, negative backwards.
        sideways: m per step, averaged over both feet, positive to the left.
        turn: rad per step, positive to the left.
        width: lateral distance between the middles of the feet (m).
        final_width: that of the last step, which ends beside the other foot (m); None: `width`.
    """

    forward: float = 0.0
    sideways: float = 0.0
    turn: float = 0.0
    width: float = 0.2
    final_width: float | None = None

    def next_footstep(self, support: Footstep, z: float | None = None) -> Footstep:
        """Return the next footstep of the swing foot, given the support foot.

        The feet follow both sides of a line that turns by `turn` per step. In a sideways walk, the foot on the side of
        the motion steps out by twice the amount, and the other foot closes up.
        """
        side = other_side(support.side)
        outward = side_sign(side)
        lateral = outward * self.width + 2.0 * self.sideways * (self.sideways * outward > 0.0)
        place = support.place + complex(self.forward, lateral) * cmath.exp(1j * (support.yaw + 0.5 * self.turn))
        return Footstep(side, place.real, place.imag, support.yaw + self.turn, support.z if z is None else z)

    def footstep_beside(self, support: Footstep) -> Footstep:
        """Return the footstep that brings the swing foot beside the support foot."""
        width = self.width if self.final_width is None else self.final_width
        return StepGeometry(width=width).next_footstep(support)

    @classmethod
    def from_speed(
        cls, speed: tuple[float, float, float], step_seconds: float, width: float, final_width: float | None = None
    ) -> StepGeometry:
        """Return the step geometry of a walk at (vx, vy, turning rate) in m/s and rad/s.

        Args:
            step_seconds: duration of a step (s).
            width: lateral distance between the feet (m).
            final_width: that of the last step (m); None: `width`.
        """
        vx, vy, wz = speed
        return cls(vx * step_seconds, vy * step_seconds, wz * step_seconds, width, final_width)


# -- Phases of a walk ------------------------------------------------------------------------------------------------


#: Only "single" has one foot on the ground; "starting" shifts the weight to the first support foot, "stopping" brings
#: it to rest between the feet.
PhaseKind = Literal["single", "double", "standing", "starting", "stopping"]


@dataclass(frozen=True)
class GaitPhase:
    """Phase of a walk: a single support, or a kind of double support.

    Attributes:
        kind: single support, or one of the phases with both feet on the ground.
        begin: time at its start (s).
        seconds: duration (s); infinite for standing.
        support: support foot; in a double support, the foot that bears the weight next.
        other_foot: the other foot; in a single support, the footstep that it left.
        goal: next footstep of the swing foot; equal to the support foot if no foot swings.
        steps: number of steps completed before this phase.
    """

    kind: PhaseKind
    begin: float
    seconds: float
    support: Footstep
    other_foot: Footstep
    goal: Footstep
    steps: int = 0

    @property
    def name(self) -> str:
        """Name of the phase in recordings."""
        if self.kind == "single":
            return f"{self.support.side} support"
        return "double support" if self.kind == "double" else self.kind

    @property
    def middle(self) -> complex:
        """Midpoint between the feet, as x + i y (m)."""
        return 0.5 * (self.support.place + self.other_foot.place)

    @property
    def stance_feet(self) -> tuple[Footstep, ...]:
        """The feet on the ground."""
        return (self.support,) if self.kind == "single" else (self.support, self.other_foot)

    def elapsed(self, time: float) -> float:
        return time - self.begin

    def is_over(self, time: float) -> bool:
        return time - self.begin >= self.seconds - 1e-9

    def first_support_feet(self, speed: tuple[float, float, float]) -> tuple[Footstep, Footstep]:
        """Return (support foot, swing foot) of the first step of a walk at a speed (m/s, m/s, rad/s).

        The right foot is the support foot, unless the walk moves or turns to the right.
        """
        _, lateral, turn = speed
        side = "left" if lateral < 0.0 or (lateral == 0.0 and turn < 0.0) else "right"
        return (self.support, self.other_foot) if self.support.side == side else (self.other_foot, self.support)

    # -- next phases -----------------------------------------------------------------------------------------------

    def starting_phase(self, time: float, seconds: float, support_foot: Footstep, swing_foot: Footstep) -> GaitPhase:
        """Return the phase in which the weight shifts to the first support foot."""
        return GaitPhase("starting", time, seconds, support_foot, swing_foot, support_foot, self.steps)

    def single_support_phase(self, time: float, seconds: float, goal: Footstep) -> GaitPhase:
        """Return the single support in which the foot on the side of `goal` swings to it."""
        swing_foot = self.other_foot if self.other_foot.side == goal.side else self.support
        support_foot = self.support if self.support.side == other_side(goal.side) else self.other_foot
        return GaitPhase("single", time, seconds, support_foot, swing_foot, goal, self.steps)

    def touchdown_phase(self, time: float, seconds: float, landing_foot: Footstep, kind: PhaseKind) -> GaitPhase:
        """Return the double support (of the given kind) after the swing foot has landed at `landing_foot`."""
        return GaitPhase(kind, time, seconds, landing_foot, self.support, landing_foot, self.steps + 1)

    def standing_phase(self, time: float) -> GaitPhase:
        """Return a phase of unlimited duration with both feet on the ground."""
        return replace(self, kind="standing", begin=time, seconds=math.inf)


# -- Stairway: known stairs, and footsteps on their treads -----------------------------------------------------------


#: Clearance of a sole from the edge of a tread (m): the landing error of a step.
TREAD_CLEARANCE = 0.02


@dataclass(frozen=True)
class Stairway:
    """Stairs that rise along x.

    Args:
        begin: x of the first riser (m).
        rise: height of one stair (m); negative: the stairs lead down.
        run: depth of one tread (m).
        count: number of stairs.
        back, front: distance from the middle of a sole to its back and front edge (m).
        clearance: smallest distance of a sole from the edge of a tread (m).
        half_width: half the width of a sole (m); zero: feet are assumed to point roughly along x.

    >>> plan = FootstepPlan(gait, steps=20, ground=Stairway(0.4, 0.05, 0.3, 4, back=0.085, front=0.085).place_on_tread)
    """

    begin: float
    rise: float
    run: float
    count: int
    back: float
    front: float
    clearance: float = TREAD_CLEARANCE
    half_width: float = 0.0

    def place_on_tread(self, step: Footstep) -> Footstep:
        """Return the footstep moved along x until the whole sole is on one tread, if the tread is deep enough."""
        c, s = abs(math.cos(step.yaw)), self.half_width * abs(math.sin(step.yaw))
        back, front = (max(end, end * c + s) + self.clearance for end in (self.back, self.front))
        x = self._clear_of_edge(step.x, back, front) if back + front <= self.run else step.x
        return step.with_place(complex(x, step.y), self.rise * self._tread_number(x))

    def _tread_number(self, x: float) -> int:
        return min(max(math.floor((x - self.begin) / self.run) + 1, 0), self.count)

    def _clear_of_edge(self, x: float, back: float, front: float) -> float:
        nearest = min(max(round((x - self.begin) / self.run), 0), self.count - 1)
        edge = self.begin + nearest * self.run
        low, high = edge - front, edge + back
        if not low < x < high:
            return x
        return low if x < edge else high


# -- Trajectory of the swing foot towards a footstep that may still move ---------------------------------------------


#: Fraction of the swing after which the foot is highest: slightly before the middle, so that it comes down slowly.
APEX_SHARE = 0.48
#: Downward acceleration at the apex, in lift heights per T². Similar to that of s³(1-s)³, which needs the least
#: acceleration of the hip at its start; a foot with zero acceleration at the apex would need twice as much.
APEX_ACCELERATION = 22.0
#: Touchdown speed, m/s: slow enough for a small impact, fast enough to reach the ground.
TOUCHDOWN_SPEED = 0.1
#: Largest speed (m/s) and acceleration (m/s²) of a foot that continues downwards because it has not met the ground.
SEARCH_SPEED, SEARCH_ACCELERATION = 0.35, 3.0
#: Fraction of the swing for which the foot is only lifted before it moves ahead onto a higher stair; smallest height
#: difference (m) that counts as a stair.
LIFT_SHARE, LEAST_STAIR = 0.22, 0.01
#: Fraction of the swing at its end for which the foot only moves down onto a lower stair, so that its heel clears the
#: edge.
HOVER_SHARE = 0.2
#: Fraction of the swing after which the sole has the pitch with which it lands: it may meet the ground early.
LEVEL_SHARE = 0.7
#: Pitch δ (rad) below which the height of a sole over its lower end is rounded off.
PITCH_ROUNDING = 0.08
#: Remaining seconds below which the curve is not replanned.
LEAST_REPLAN_TIME = 0.02

CurvePoint = tuple[complex, complex, complex]


def quintic_point(now: CurvePoint, end: CurvePoint, remaining: float, after: float) -> CurvePoint:
    """Evaluate the quintic from the point `now` to the point `end`, which it reaches in `remaining` seconds.

    Points are (value, rate, acceleration).

    Returns:
        The point `after` seconds from now; the end of the curve if `after` is larger than `remaining`.
    """
    (x, v, a), (x1, v1, a1), T = now, end, remaining
    s = min(after / T, 1.0)
    D = x1 - x - (v + 0.5 * a * T) * T
    V = (v1 - v - a * T) * T
    A = (a1 - a) * T * T
    c3, c4, c5 = 10.0 * D - 4.0 * V + 0.5 * A, -15.0 * D + 7.0 * V - A, 6.0 * D - 3.0 * V + 0.5 * A
    t = s * T
    value = x + t * (v + 0.5 * t * a) + s**3 * (c3 + s * (c4 + s * c5))
    rate = v + a * t + s**2 * (3.0 * c3 + s * (4.0 * c4 + s * 5.0 * c5)) / T
    return value, rate, a + s * (6.0 * c3 + s * (12.0 * c4 + s * 20.0 * c5)) / (T * T)


def sole_rise(pitch: CurvePoint, half_length: float) -> CurvePoint:
    """Return by how much the middle of a pitched sole is above its lower end (m), with rate and acceleration.

    ``h sin φ tanh(φ / δ)``, which is smooth at φ = 0.
    """
    if half_length == 0.0 or not (pitch[0] or pitch[1] or pitch[2]):
        return 0j, 0j, 0j
    angle, rate, faster = (part.real for part in pitch)
    s, c, t = math.sin(angle), math.cos(angle), math.tanh(angle / PITCH_ROUNDING)
    change = (1.0 - t * t) / PITCH_ROUNDING
    slope = c * t + s * change
    bend = -s * t + 2.0 * c * change - 2.0 * s * t * change / PITCH_ROUNDING
    return (
        complex(half_length * s * t),
        complex(half_length * slope * rate),
        complex(half_length * (slope * faster + bend * rate * rate)),
    )


@dataclass(frozen=True)
class SwingTrajectory:
    """Current point of a swing-foot trajectory, for the middle of the sole.

    The trajectory is replanned at every tick from its own last value, so that it stays smooth if the footstep moves.

    Attributes:
        plane: position x + i y (m), its rate and acceleration.
        height: height z of the lower end of the sole (m), its rate and acceleration.
        yaw: yaw (rad), its rate and acceleration.
        apex: largest height in the world (m).
        lift: height of the apex above the start (m).
        lift_share: fraction of the swing, at its start, in which the foot only moves up (onto a higher stair).
        hover_share: fraction of the swing, at its end, in which the foot only moves down (onto a lower stair).
        pitch: pitch of the sole, positive with the heel up (rad), its rate and acceleration.
        half_length: half the length of the sole (m).
        landing_pitch: pitch at touchdown (rad).
    """

    plane: CurvePoint
    height: CurvePoint
    yaw: CurvePoint
    apex: float
    lift: float
    lift_share: float = 0.0
    hover_share: float = 0.0
    pitch: CurvePoint = (0j, 0j, 0j)
    half_length: float = 0.0
    landing_pitch: float = 0.0

    @classmethod
    def of(cls, start: Footstep, goal: Footstep, lift: float) -> SwingTrajectory:
        """Return a trajectory at rest at `start`, with its apex `lift` (m) above the higher of start and goal."""
        rise = goal.z - start.z
        apex = max(start.z, goal.z) + lift
        lift_share, hover_share = LIFT_SHARE * (rise > LEAST_STAIR), HOVER_SHARE * (rise < -LEAST_STAIR)
        at_rest = (start.place, 0.0, 0.0), (start.z, 0.0, 0.0), (start.yaw, 0.0, 0.0)
        return cls(*at_rest, apex, lift + max(rise, 0.0), lift_share, hover_share)

    def leaving(self, point: tuple[Array, Array, Array], pitch: CurvePoint, half_length: float) -> SwingTrajectory:
        """Return the trajectory of a foot that leaves the ground while it rolls over its front edge.

        Args:
            point: position of the middle of the sole, its rate and acceleration (m).
            pitch: pitch of the sole (rad), its rate and acceleration.
            half_length: half the length of the sole (m).
        """
        place, rate, acceleration = (complex(part[0], part[1]) for part in point)
        z, z_rate, z_acceleration = (
            complex(part[2] - rise) for part, rise in zip(point, sole_rise(pitch, half_length), strict=True)
        )
        plane, height = (place, rate, acceleration), (z, z_rate, z_acceleration)
        return replace(self, plane=plane, height=height, pitch=pitch, half_length=half_length)

    @property
    def sole_height(self) -> CurvePoint:
        """Height of the middle of the sole (m), its rate and acceleration."""
        z, rise = self.height, sole_rise(self.pitch, self.half_length)
        return z[0] + rise[0], z[1] + rise[1], z[2] + rise[2]

    def rest_at(self, at: Footstep) -> SwingTrajectory:
        """Return the trajectory at rest at `at`, where the foot touched down before its planned time."""
        z = at.z - sole_rise(self.pitch, self.half_length)[0]
        pitch = (self.pitch[0], 0j, 0j)
        return replace(self, plane=(at.place, 0.0, 0.0), height=(z, 0.0, 0.0), yaw=(at.yaw, 0.0, 0.0), pitch=pitch)

    def advance(self, goal: Footstep, elapsed: float, remaining: float, period: float) -> SwingTrajectory:
        """Return the trajectory one period later.

        Args:
            goal: footstep to reach.
            elapsed: seconds since the start of the swing.
            remaining: seconds until the planned touchdown; negative if it is late.
            period: sampling period (s).
        """
        if remaining <= LEAST_REPLAN_TIME:  # straight down until contact
            (place, _, _), (z, z_rate, _), (yaw, _, _) = self.plane, self.height, self.yaw
            new_rate = (
                min(z_rate.real, -TOUCHDOWN_SPEED)
                if remaining > 0.0
                else max(z_rate.real - SEARCH_ACCELERATION * period, -SEARCH_SPEED)
            )
            return replace(
                self,
                plane=(place, 0.0, 0.0),
                height=(z + period * new_rate, new_rate, 0.0),
                yaw=(yaw, 0.0, 0.0),
                pitch=(self.pitch[0], 0j, 0j),
            )
        duration = elapsed + remaining
        time_to_hover = remaining - self.hover_share * duration
        if elapsed < self.lift_share * duration:
            plane = self.plane
        elif time_to_hover > LEAST_REPLAN_TIME:
            plane = quintic_point(self.plane, (goal.place, 0.0, 0.0), time_to_hover, period)
        else:
            plane = quintic_point(self.plane, (goal.place, 0.0, 0.0), max(remaining, LEAST_REPLAN_TIME), period)
        yaw_point = quintic_point(self.yaw, (goal.yaw, 0.0, 0.0), remaining, period)
        time_to_apex = APEX_SHARE * duration - elapsed
        apex_acceleration = -APEX_ACCELERATION * self.lift / duration**2
        if time_to_apex > LEAST_REPLAN_TIME:
            height = quintic_point(self.height, (self.apex, 0.0, apex_acceleration), time_to_apex, period)
        else:
            height = quintic_point(self.height, (goal.z, -TOUCHDOWN_SPEED, 0.0), remaining, period)
        until_level = remaining - (1.0 - LEVEL_SHARE) * duration
        if until_level > LEAST_REPLAN_TIME:
            pitch = quintic_point(self.pitch, (self.landing_pitch, 0.0, 0.0), until_level, period)
        else:
            pitch = (complex(self.landing_pitch), 0j, 0j)
        return replace(self, plane=plane, height=height, yaw=yaw_point, pitch=pitch)
