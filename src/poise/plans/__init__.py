"""References over time: footsteps, the divergent component of motion, swinging feet, styles."""

from poise.plans.feasibility import Verdict, repaired, verdict
from poise.plans.footstep_plan import STOP, Divergent, Motion, Reference, Route, Sinusoid, swinging
from poise.plans.footsteps import Footstep, Kind, Phase, Stairway, Swing
from poise.plans.gait_parameters import BodyDimensions, Pace, Speed, paced
from poise.plans.guidance.guiding_modes import guided
from poise.plans.guidance.limb_reach import Legs
from poise.plans.guidance.navigation_points import Goal, HandPoint, Points
from poise.plans.guidance.stick import AXES, MODES, Mode, Stick, mode_named, stick_of
from poise.plans.guidance.workspace import Workspace, standing
from poise.plans.reference_trajectory import (
    STILL,
    Course,
    LiveSquatting,
    Pattern,
    SquatOscillator,
    Squatting,
    Standing,
    Wanted,
)
from poise.plans.segment.capture_step import caught
from poise.plans.segment.planner import Planner
from poise.plans.segment.segment import Beginning, Rates, Sample, Segment, SegmentPhase, SegmentSettings
from poise.plans.segment.three_masses import Body, zero_moment_way
from poise.plans.step_adaptation import Stepping
from poise.plans.style import NEUTRAL, PARAMETERS, STYLES, Style
from poise.plans.support_region import Support, corners

__all__ = [
    "AXES",
    "MODES",
    "NEUTRAL",
    "PARAMETERS",
    "STILL",
    "STOP",
    "STYLES",
    "Beginning",
    "Body",
    "BodyDimensions",
    "Course",
    "Divergent",
    "Footstep",
    "Goal",
    "HandPoint",
    "Kind",
    "Legs",
    "LiveSquatting",
    "Mode",
    "Motion",
    "Pace",
    "Pattern",
    "Phase",
    "Planner",
    "Points",
    "Rates",
    "Reference",
    "Route",
    "Sample",
    "Segment",
    "SegmentPhase",
    "SegmentSettings",
    "Sinusoid",
    "Speed",
    "SquatOscillator",
    "Squatting",
    "Stairway",
    "Standing",
    "Stepping",
    "Stick",
    "Style",
    "Support",
    "Swing",
    "Verdict",
    "Wanted",
    "Workspace",
    "caught",
    "corners",
    "guided",
    "mode_named",
    "paced",
    "repaired",
    "standing",
    "stick_of",
    "swinging",
    "verdict",
    "zero_moment_way",
]
