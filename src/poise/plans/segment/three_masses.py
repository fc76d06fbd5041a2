"""Three-mass model of a robot (trunk and two legs), and the zero moment point (ZMP) of motion segments from it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.errors import RobotError
from poise.geometry import so3
from poise.plans.segment.segment import MotionSegment, ground_height
from poise.robots import GRAVITY, SIDES, Robot, Side
from poise.state import natural_frequency

#: Fraction of the velocity limit of a knee that is used: servos under load can follow it.
KNEE_SPEED_SHARE = 0.6
#: Margin on all sides of a sole that is left to the feedback, as a fraction of its half width.
SOLE_MARGIN = 0.25
#: Largest shift of the ZMP by a swing leg, as a fraction of half the sole.
SWING_ZMP_SHARE = 0.35


@dataclass(frozen=True, eq=False)
class ThreeMassModel:
    """Model of a robot as point masses of trunk and two legs, with the inertia of the trunk.

    The ZMP of a single point mass and that of the whole body differ by centimeters in a quick step. The two leg masses
    account for most of that: each is on the line from hip to sole, at the fraction `leg_mass_position` of it.

    Args:
        mass: total mass (kg).
        omega: ω (1/s) of the center of mass (CoM) when standing.
        height: height of the CoM above the soles when standing (m).
        sole_half: half length and half width of a sole (m).
        sole_margin: margin on all sides of a sole, left to the feedback (m).
        leg_mass: mass of one leg (kg).
        leg_mass_position: position of the mass of a leg on the line from hip to sole (0 to 1).
        hips: by side, hips relative to the CoM in trunk axes when standing (m).
        trunk_inertia: inertia of everything but the legs about its roll and pitch axes (kg m²).
        leg_shortening_speed: speed at which the knee can shorten a leg in the standing stance (m/s).
    """

    mass: float
    omega: float
    height: float
    sole_half: tuple[float, float]
    sole_margin: float
    leg_mass: float
    leg_mass_position: float
    hips: Mapping[Side, tuple[float, float, float]]
    trunk_inertia: tuple[float, float]
    leg_shortening_speed: float

    def shortest_swing(self, swing_vector: complex) -> float:
        """Return the shortest duration T (s) of a swing by a vector (m, along + i across the stance sole).

        A leg with an acceleration a moves the ZMP by ``m_l λ h a / (m g)``, with h the height of the CoM; the limit is
        `SWING_ZMP_SHARE` of half the sole. The peak acceleration of the quintic is 5.77 times its length per T². With
        faster swings the errors of the three-mass model reach the size of the sole, and the arms move violently to
        compensate them.
        """
        shift = self.leg_mass * self.leg_mass_position * self.height / (self.mass * GRAVITY)
        length, width = (SWING_ZMP_SHARE * half / shift for half in self.sole_half)
        return math.sqrt(5.77 * max(abs(swing_vector.real) / length, abs(swing_vector.imag) / width))

    @classmethod
    def of(cls, robot: Robot) -> ThreeMassModel:
        """Measure the model of a robot in its standing stance."""
        if len(robot.feet) != 2:
            raise RobotError(f"{robot.name} has {len(robot.feet)} feet; motion segments need two", element="feet")
        stance = robot.stance("standing")
        model, data = robot.model, robot.model.createData()
        pinocchio.computeJointJacobians(model, data, stance.q)
        center = stance.center_of_mass
        masses, mass_positions, knees = [], [], []
        hips: dict[Side, tuple[float, float, float]] = {}
        legs: set[int] = set()
        for foot in robot.feet:
            chain = [joint for joint in model.supports[foot.joint] if joint > 1]
            legs |= set(chain)
            placed = [data.oMi[joint].act(model.inertias[joint]) for joint in chain]
            leg_inertia = sum(placed[1:], placed[0])
            hip, sole = (
                np.mean([data.oMi[joint].translation for joint in chain[:3]], axis=0),
                stance.pose(foot).act(foot.sole.center),
            )
            x, y, z = (float(value) for value in hip - center)
            hips[foot.side] = (x, y, z)
            masses.append(leg_inertia.mass)
            mass_positions.append((hip[2] - leg_inertia.lever[2]) / (hip[2] - sole[2]))
            knees.append(_leg_shortening_speed(robot, chain, data))
        trunk_parts = [
            data.oMi[joint].act(model.inertias[joint]) for joint in range(1, model.njoints) if joint not in legs
        ]
        trunk = sum(trunk_parts[1:], trunk_parts[0])
        half = robot.feet[0].sole.half_size
        height = float(center[2] - np.mean([stance.pose(foot).translation[2] for foot in robot.feet]))
        return cls(
            mass=robot.mass,
            omega=natural_frequency(height),
            height=height,
            sole_half=half,
            sole_margin=SOLE_MARGIN * half[1],
            leg_mass=float(np.mean(masses)),
            leg_mass_position=float(np.mean(mass_positions)),
            hips=MappingProxyType(hips),
            trunk_inertia=(float(trunk.inertia[0, 0]), float(trunk.inertia[1, 1])),
            leg_shortening_speed=float(np.mean(knees)),
        )


def _leg_shortening_speed(robot: Robot, chain: list[int], data: pinocchio.Data) -> float:
    """Return the speed (m/s) at which the knee shortens a leg, at `KNEE_SPEED_SHARE` of its velocity limit.

    The knee is the joint that shortens the leg most.
    """
    J = pinocchio.getJointJacobian(robot.model, data, chain[-1], pinocchio.LOCAL_WORLD_ALIGNED)[:3]
    leg = data.oMi[chain[-1]].translation - data.oMi[chain[0]].translation
    rates = {joint: abs(float(J[:, joint.v] @ leg)) for joint in robot.joints if joint.index in chain}
    knee = max(rates, key=rates.__getitem__)
    # Velocity limits in robot descriptions are sometimes placeholders: no knee is faster than two turns per second.
    return (
        KNEE_SPEED_SHARE
        * rates[knee]
        / float(np.linalg.norm(leg))
        * min(float(robot.limits.velocity[knee.v - 6]), 12.0)
    )


# -- Zero moment point of the whole body -----------------------------------------------------------------------------


def angular_momentum_rate(
    body: ThreeMassModel,
    offsets: Sequence[Array],
    feet: Sequence[tuple[Array, Array]],
    center: tuple[Array, Array],
    angular_acceleration: Array,
) -> Array:
    """Return L̇ / m, the rate of the angular momentum about the CoM per unit mass, about x and y (m²/s², n x 2).

        L̇ = Σ_legs m_l [s_l] s̈_l + m_t [s_t] s̈_t + I φ̈,   s_l = λ (f_l - p) + (1 - λ) h_l,   m_t s_t = -Σ m_l s_l

    where [s] is the cross product with s. Legs of mass m_l are at the fraction λ of the line from hip h_l to sole f_l,
    relative to the CoM p; the position of the trunk follows from that of the CoM.

    Args:
        body: three-mass model of the robot.
        offsets: h_l, in world axes (m, 3).
        feet: positions and accelerations of the soles, (n, 3) each, in the same order.
        center: p and p̈ (n, 3).
        angular_acceleration: φ̈ of the trunk about x and y (rad/s², n x 2).
    """
    p, acceleration = center
    share, trunk = body.leg_mass_position, body.mass - 2.0 * body.leg_mass
    rate = np.array(body.trunk_inertia) * angular_acceleration
    s = [share * (f - p) + (1.0 - share) * h for (f, _), h in zip(feet, offsets, strict=True)]
    a = [share * (f - acceleration) for _, f in feet]
    sum_s, sum_a = s[0] + s[1], a[0] + a[1]
    parts = [(body.leg_mass, s[0], a[0]), (body.leg_mass, s[1], a[1]), (body.leg_mass**2 / trunk, sum_s, sum_a)]
    for m, r, b in parts:
        rate[:, 0] += m * (r[:, 1] * b[:, 2] - r[:, 2] * b[:, 1])
        rate[:, 1] += m * (r[:, 2] * b[:, 0] - r[:, 0] * b[:, 2])
    return rate / body.mass


def zero_moment_points(
    center: Array, acceleration: Array, ground: float | Array, moments: Array
) -> tuple[Array, Array]:
    """Return the ZMP (m, n x 2), and the vertical contact force per unit mass (m/s², n).

    z = p_xy - (p̈_xy (p_z - z_g) + (L̇_y, -L̇_x) / m) / (p̈_z + g)

    Args:
        center, acceleration: p and p̈ of the CoM in the world (m, m/s², n x 3).
        ground: z_g, height of the plane of the ZMP (m).
        moments: L̇ / m about x and y, see `angular_momentum_rate` (m²/s², n x 2).
    """
    vertical_force = acceleration[:, 2] + GRAVITY
    height = (center[:, 2] - ground)[:, None]
    rotation_term = np.stack([moments[:, 1], -moments[:, 0]], axis=1)
    return center[:, :2] - (acceleration[:, :2] * height + rotation_term) / vertical_force[:, None], vertical_force


def zmp_path(body: ThreeMassModel, segment: MotionSegment, times: Array) -> tuple[Array, Array]:
    """Return the ZMP of the whole body at some times of a segment (m, n x 2), and the vertical force per unit mass.

    The ZMP is in the horizontal plane of the foot that stays on the ground, see `ground_height`.
    """
    p, a = (
        np.array(part) for part in zip(*((c[0], c[2]) for c in map(segment.center.at, times.tolist())), strict=True)
    )
    points, feet = segment.initial.points, []
    for side in SIDES:
        if segment.swing_curve is not None and side == segment.goal.step:
            x, _, foot_acceleration = segment.swing_curve.at(times)
            feet.append((x[:, :3], foot_acceleration[:, :3]))
        else:
            feet.append((points.feet[side].position, np.zeros(3)))
    R = so3.yaw_matrix(float(points.attitude[2]))
    hips = [R @ body.hips[side] for side in SIDES]
    angular_acceleration = segment.attitude.at(times)[2][:, :2] @ R[:2, :2].T
    moments = angular_momentum_rate(body, hips, feet, (p, a), angular_acceleration)
    return zero_moment_points(p, a, ground_height(segment.initial, segment.goal), moments)
