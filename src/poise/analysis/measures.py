"""Measures of a walk: their names, units and meanings; `poise.analysis.style_measures` finds their values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Measure(NamedTuple):
    """What a number of a walk is.

    Attributes:
        unit: of it; "share" is a number without unit that is one for the whole.
        about: a sentence.
        ratio: whether it makes sense that one walk has so many times as much of it as another.
    """

    unit: str
    about: str
    ratio: bool = True


@dataclass(frozen=True)
class StyleMeasures:
    """The numbers of a walk; `MEASURES` tells unit and meaning of each. One that does not exist is NaN.

    >>> relaxed.arm_swing / neutral.arm_swing
    >>> for name, measure in MEASURES.items():
    ...     print(name, getattr(neutral, name), measure.unit, measure.about)
    """

    forward: float
    sideways: float
    turning: float
    step_length: float
    relative_step_length: float
    step_width: float
    step_height: float
    cadence: float
    single_support: float
    double_support: float
    slip: float
    chest_pitch: float
    gaze_pitch: float
    arm_swing: float
    arm_lift: float
    arm_torque: float
    center_height: float
    sway: float
    angular_momentum_x: float
    angular_momentum_y: float
    angular_momentum_z: float
    center_smoothness: float
    hand_smoothness: float
    cost_of_transport: float
    pressure_margin: float
    edge_time: float
    divergent_margin: float
    divergent_error: float


MEASURES: dict[str, Measure] = {
    "forward": Measure("m/s", "mean speed along the heading"),
    "sideways": Measure("m/s", "mean speed to the left of the heading", False),
    "turning": Measure("rad/s", "mean rate of the heading, positive to the left", False),
    "step_length": Measure("m", "how far a foot lands beyond the other"),
    "relative_step_length": Measure("leg lengths", "the same as a share of the leg"),
    "step_width": Measure("m", "how far a foot lands beside the other, from middle to middle"),
    "step_height": Measure("m", "how high the middle of the sole is lifted"),
    "cadence": Measure("steps/min", "how many steps a minute"),
    "single_support": Measure("s", "time on one foot, of each step"),
    "double_support": Measure("s", "time on both feet, of each step"),
    "slip": Measure("m", "how far a foot slid on the ground while it stood, at worst"),
    "chest_pitch": Measure("deg", "how far the chest leans forward of how it stands, on average", False),
    "gaze_pitch": Measure("deg", "how much further down than in standing the robot looks, on average", False),
    "arm_swing": Measure("deg", "range of the line from shoulder to hand, forward and back against the chest"),
    "arm_lift": Measure("deg", "how much further forward than in standing that line is, on average", False),
    "arm_torque": Measure("share", "root mean square torque of the arms, of its limits"),
    "center_height": Measure("m", "how much higher than in standing the center of mass is, on average", False),
    "sway": Measure("m", "amplitude of the center of mass sideways of its way, half its range"),
    "angular_momentum_x": Measure(
        "share", "root mean square about the center of mass and the axis ahead, of m h √(g h)"
    ),
    "angular_momentum_y": Measure("share", "the same about the axis to the left"),
    "angular_momentum_z": Measure("share", "the same about the vertical axis, which swinging arms keep small"),
    "center_smoothness": Measure(
        "", "log dimensionless jerk of the center of mass, by strides; higher is smoother", False
    ),
    "hand_smoothness": Measure("", "the same of the hands", False),
    "cost_of_transport": Measure("", "∫ Σ |τ v| dt / (m g distance): mechanical work of the joints"),
    "pressure_margin": Measure("m", "how far inside the sole the ground pushes, median of the time on one foot", False),
    "edge_time": Measure(
        "share", "time in which the ground pushes at an edge of the soles, nearer than 1 mm, of all the time"
    ),
    "divergent_margin": Measure(
        "m", "how far inside both soles the divergent component is at touchdowns, at worst", False
    ),
    "divergent_error": Measure(
        "m", "largest distance of the divergent component from its plan, where the controller recorded it"
    ),
}
