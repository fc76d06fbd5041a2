"""What recordings tell when they are looked at closely: phases, cycles, smoothness, tracks, walks, one scale for all.

>>> from poise import analysis
>>> analysis.spectral_arc_length(tracks.velocity(robot.hand("right")), recording.period)
>>> analysis.normalised(recording)["center_of_mass"]
>>> analysis.style_measures(analysis.walked(recording, robot)).arm_swing
"""

from poise.analysis.anatomy import anatomical_leg_length, turnings
from poise.analysis.body_tracks import Tracks, landmarks, tracked
from poise.analysis.contact_quality import distance, ground_penetration, share_inside, sliding, support_hulls
from poise.analysis.equivalence import BOUND, REMARK, PairedTest, paired_tests
from poise.analysis.gait_curves import (
    JOINTS,
    ROTATIONS,
    Agreement,
    Norm,
    Rotation,
    Spread,
    agreement,
    norm,
    norm_joints,
    over_cycle,
    over_people,
    range_of_motion,
    root_mean_square_error,
)
from poise.analysis.gait_cycle import Cycle, Cycles, Lengths, best_cycle, cycles, gait_cycles, lengths
from poise.analysis.gait_events import (
    LOADED,
    RULE,
    GaitEvent,
    belt_speed,
    events_from_markers,
    events_from_plates,
    in_order,
    walking_direction,
)
from poise.analysis.motion_phases import (
    Normalised,
    Phase,
    Rhythm,
    aligned,
    cycle_difference,
    joint_angles,
    normalised,
    phases,
    rhythm,
)
from poise.analysis.recorded_walk import Speed, Walked, supports, walked
from poise.analysis.recording_comparison import RecordingComparison, compare_recordings
from poise.analysis.signals import (
    FEWEST,
    Peak,
    log_dimensionless_jerk,
    low_passed,
    peak,
    peak_rate,
    root_mean_square,
    root_mean_square_rate,
    spectral_arc_length,
    torque_arc_length,
)
from poise.analysis.step_detection import Footprint, Step
from poise.analysis.stride_comparison import LIFT_OFF, Span, StrideComparison, Strides, compare_strides, strides_of
from poise.analysis.walk_measures import MEASURES, Measure, StyleMeasures, style_measures
from poise.robots import Limb, limbs

__all__ = [
    "BOUND",
    "FEWEST",
    "JOINTS",
    "LIFT_OFF",
    "LOADED",
    "MEASURES",
    "REMARK",
    "ROTATIONS",
    "RULE",
    "Agreement",
    "Cycle",
    "Cycles",
    "Footprint",
    "GaitEvent",
    "Lengths",
    "Limb",
    "Measure",
    "Norm",
    "Normalised",
    "PairedTest",
    "Peak",
    "Phase",
    "RecordingComparison",
    "Rhythm",
    "Rotation",
    "Span",
    "Speed",
    "Spread",
    "Step",
    "StrideComparison",
    "Strides",
    "StyleMeasures",
    "Tracks",
    "Walked",
    "agreement",
    "aligned",
    "anatomical_leg_length",
    "belt_speed",
    "best_cycle",
    "compare_recordings",
    "compare_strides",
    "cycle_difference",
    "cycles",
    "distance",
    "events_from_markers",
    "events_from_plates",
    "gait_cycles",
    "ground_penetration",
    "in_order",
    "joint_angles",
    "landmarks",
    "lengths",
    "limbs",
    "log_dimensionless_jerk",
    "low_passed",
    "norm",
    "norm_joints",
    "normalised",
    "over_cycle",
    "over_people",
    "paired_tests",
    "peak",
    "peak_rate",
    "phases",
    "range_of_motion",
    "rhythm",
    "root_mean_square",
    "root_mean_square_error",
    "root_mean_square_rate",
    "share_inside",
    "sliding",
    "spectral_arc_length",
    "strides_of",
    "style_measures",
    "support_hulls",
    "supports",
    "torque_arc_length",
    "tracked",
    "turnings",
    "walked",
    "walking_direction",
]
