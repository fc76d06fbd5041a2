"""Motion segments: curves of limbs, and margins of the zero moment point and of the legs."""

from collections.abc import Sequence

import numpy
from numpy.typing import NDArray

from poise.arrays import Array

class Masses:
    """Three-mass model: total mass and mass of a leg (kg), position of the leg mass from hip (0) to sole (1), and
    inertia of the trunk about its roll and pitch axes (kg m²).
    """

    def __init__(
        self, mass: float, leg_mass: float, leg_mass_position: float, roll_inertia: float, pitch_inertia: float
    ) -> None: ...

class LegLimits:
    """Hips in the body frame and ankles in the frames of the soles, left then right (m); limits of their distance."""

    def __init__(self, hips: Sequence[float], ankles: Sequence[float], longest: float, shortest: float) -> None: ...

class SwingCurve:
    """Curve of a stepping foot, see `limb_curves.SwingCurve`."""

    def __init__(
        self,
        start: Sequence[float],
        rate: Sequence[float],
        goal: Sequence[float],
        lift: float,
        begin: float,
        seconds: float,
        cycloid: bool,
        bulge: Sequence[float],
    ) -> None: ...
    def at(self, times: Array) -> NDArray[numpy.float64]:
        """Return position and yaw (x, y, z, yaw), their rates and accelerations (3, n, 4)."""

class LimbMotion:
    """Motion of feet and trunk during a segment; `swing_foot` is 0 (left), 1 (right) or -1 (no foot moves)."""

    def __init__(
        self,
        left: Sequence[float],
        right: Sequence[float],
        swing_foot: int,
        swing: SwingCurve | None,
        left_hip: Sequence[float],
        right_hip: Sequence[float],
        attitude: Sequence[float],
        attitude_rate: Sequence[float],
        attitude_goal: Sequence[float],
        seconds: float,
    ) -> None: ...

def quintic_curves(
    times: Array, start: Array, rate: Array, goal: Array, begin: float, seconds: float
) -> NDArray[numpy.float64]:
    """Return value, rate and acceleration of a quintic from a start to rest at a goal (3, n, k)."""

def angular_momentum_rate(
    body: Masses, limbs: LimbMotion, times: Array, center: Array, acceleration: Array
) -> NDArray[numpy.float64]:
    """Return the rate of the angular momentum about the center of mass, per unit mass, about x and y (m²/s², n x 2)."""

def check_balance(
    body: Masses,
    leg_limits: LegLimits,
    limbs: LimbMotion,
    times: Array,
    center: Array,
    acceleration: Array,
    phase_ends: Sequence[float],
    phase_feet: Sequence[Sequence[Sequence[float]]],
    half_length: float,
    half_width: float,
    ground: float,
) -> tuple[float, float, float, float]:
    """Return the smallest ZMP margin (m), vertical force per mass (m/s²), extension and flexion margin of a leg (m).

    `phase_feet` are the feet on the ground in each phase, which ends at `phase_ends` (s); `half_length` and
    `half_width` are half sizes of a sole (m); `ground` is the height of the plane of the ZMP (m).
    """
