"""Quality of a reproduced gait: errors of joint angles, heels and center of mass, foot sliding, penetration, ZMP."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.analysis import (
    TABLE_I_JOINTS,
    ground_penetration,
    normalize_cycle,
    range_of_motion,
    root_mean_square_error,
    share_inside,
    sliding_distance,
    trajectory_distance,
)
from poise.arrays import Array
from poise.human.gait.contact_schedule import SupportTrajectory, single_support_mask, support_trajectory
from poise.human.gait.reproduction import Reproduction, lowest_heights
from poise.robots import SIDES


@dataclass(frozen=True, eq=False)
class ReproductionQuality:
    """Measures of one reproduction. Angles in degrees, lengths in mm, shares from 0 to 1.

    Attributes:
        reproduction: the reproduction.
        curves, reference_curves: the twelve joint angles of Table I of [Boukheddimi2019] at 0 to 100 % of the cycle,
            101 x 12, simulated and measured.
        heel_error: horizontal error of the heels, root mean square over the cycle, of the worse foot.
        center_of_mass_error: error of the center of mass, root mean square over the cycle; NaN if trunk or arms are not
            measured.
        penetration, reference_penetration: largest depth of a foot point below its lowest height in the reference.
        foot_slide, reference_foot_slide: sliding of the ball of the foot in single support, of the worse foot.
        zmp_inside, reference_zmp_inside: share of time in which the zero-moment point is in the support polygon; NaN
            if trunk or arms are not measured.
        joint_limit_margin: smallest distance of any joint from a limit of its range; negative beyond it.
        peak_acceleration: largest acceleration of any joint, rad/s².
        control_milliseconds: mean computation time of a controller step.
    """

    reproduction: Reproduction
    curves: Array
    reference_curves: Array
    heel_error: float
    center_of_mass_error: float
    penetration: float
    reference_penetration: float
    foot_slide: float
    reference_foot_slide: float
    zmp_inside: float
    reference_zmp_inside: float
    joint_limit_margin: float
    peak_acceleration: float
    control_milliseconds: float

    @property
    def ranges(self) -> Array:
        """Ranges of motion of the twelve joint angles."""
        return range_of_motion(self.curves)

    @property
    def reference_ranges(self) -> Array:
        """Ranges of motion of the reference."""
        return range_of_motion(self.reference_curves)

    @property
    def differences(self) -> Array:
        """Differences of the twelve ranges of motion, simulated minus measured."""
        return self.ranges - self.reference_ranges

    @property
    def errors(self) -> Array:
        """Root mean square error of each joint angle over the cycle, 12."""
        return root_mean_square_error(self.curves, self.reference_curves)

    @property
    def worst_joint(self) -> tuple[str, float]:
        """The joint angle with the largest difference in range of motion, and that difference."""
        k = int(np.argmax(np.abs(self.differences)))
        return TABLE_I_JOINTS[k], float(self.differences[k])


def measure_reproduction(reproduction: Reproduction) -> ReproductionQuality:
    """Compare a reproduction with its reference at the times of the simulation.

    >>> quality = measure_reproduction(reproduce(reference, variant=BEST))
    >>> quality.worst_joint, quality.zmp_inside
    (('left_hip_flexion', -1.2), 0.86)
    """
    r, reference, cycle = reproduction, reproduction.reference, reproduction.cycle
    lowest = lowest_heights(reference, cycle)
    ground = float(np.median(lowest))
    q, v, a = (np.array(part) for part in zip(*(reference.sample(float(t)) for t in r.time), strict=True))
    simulated = support_trajectory(reference, cycle, r.time, r.q, r.v, r.a, ground)
    measured = support_trajectory(reference, cycle, r.time, q, v, a, ground)
    angles = [reference.robot.joint(name).q for name in TABLE_I_JOINTS]
    limits = reference.robot.limits
    return ReproductionQuality(
        r,
        normalize_cycle(r.time, np.degrees(r.q[:, angles]), cycle, kind="spline"),
        normalize_cycle(r.time, np.degrees(q[:, angles]), cycle, kind="spline"),
        max(_rms_distance(simulated.point(side, "heel")[:, :2], measured.point(side, "heel")[:, :2]) for side in SIDES),
        _rms_distance(simulated.center_of_mass, measured.center_of_mass) if reference.whole_body else np.nan,
        1e3 * ground_penetration(simulated.foot_points[..., 2], lowest).worst,
        1e3 * ground_penetration(measured.foot_points[..., 2], lowest).worst,
        _foot_slide(simulated, r),
        _foot_slide(measured, r),
        share_inside(simulated.zmp, simulated.support_polygons) if reference.whole_body else np.nan,
        share_inside(measured.zmp, measured.support_polygons) if reference.whole_body else np.nan,
        float(np.degrees(min((r.q[:, 7:] - limits.lower).min(), (limits.upper - r.q[:, 7:]).min()))),
        float(np.abs(r.a[:, 6:]).max()),
        r.milliseconds,
    )


def _rms_distance(track: Array, reference: Array) -> float:
    """Root mean square distance over the cycle, mm."""
    return 1e3 * trajectory_distance(track, reference).root_mean_square


def _foot_slide(motion: SupportTrajectory, reproduction: Reproduction) -> float:
    """Sliding of the ball of the foot in single support, mm, of the worse foot."""
    time, cycle = reproduction.time, reproduction.cycle
    slides = [
        sliding_distance(motion.point(side, "first_metatarsal"), single_support_mask(cycle, side, time))
        for side in SIDES
    ]
    return 1e3 * max(slides)
