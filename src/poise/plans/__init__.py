"""Plans: references over time, without tasks, that behaviors follow.

| topic | contents |
|---|---|
| walks | `Style`, gait parameters, footsteps, swing feet, divergent component of motion (DCM), step adaptation |
| balance of a style | `check_walk`, `repair_style`: check by a pendulum, and the smallest change that passes |
| guidance | navigation points, operator commands, workspace: the goal of the next motion ([Sugihara2008]) |
| motion segments | balanced motions of all navigation points to a goal |
| reference trajectories | standing, squatting and a walk planned in advance, for position servos ([Galdeano2014]) |
"""

from poise.plans.center_height import HeightOscillation
from poise.plans.feasibility import FeasibilityCheck, check_feasibility, check_walk
from poise.plans.foot_roll import FootRoll
from poise.plans.footstep_plan import (
    STOPPING_TIME,
    CenterReference,
    CenterState,
    DcmReference,
    FootstepPlan,
    SinusoidReference,
    capture_feet,
)
from poise.plans.footsteps import Footstep, GaitPhase, PhaseKind, Stairway, SwingTrajectory
from poise.plans.gait_parameters import LARGEST_EXTENSION, BodyDimensions, GaitParameters, Speed, gait_of_style
from poise.plans.guidance.guiding_modes import guided_goal
from poise.plans.guidance.limb_reach import LegReach
from poise.plans.guidance.navigation_points import Goal, HandPoint, NavigationPoints
from poise.plans.guidance.operator_command import (
    COMMAND_AXES,
    GUIDING_MODES,
    GuidingMode,
    OperatorCommand,
    guiding_mode,
    make_command,
)
from poise.plans.guidance.workspace import Workspace, standing_points
from poise.plans.reference_trajectory import (
    ZERO_TWIST,
    LiveSquatReference,
    ReferenceTrajectory,
    SquatOscillator,
    SquatReference,
    StandReference,
    TrajectorySample,
    WalkingPattern,
)
from poise.plans.segment.capture_step import capture_segment
from poise.plans.segment.planner import Planner
from poise.plans.segment.segment import (
    InitialState,
    MotionSegment,
    PointRates,
    SegmentPhase,
    SegmentSample,
    SegmentSettings,
)
from poise.plans.segment.three_masses import ThreeMassModel, zmp_path
from poise.plans.step_adaptation import StepAdapter, capture_phase
from poise.plans.style import NEUTRAL, PARAMETERS, SINUSOID_PARAMETERS, STYLES, Style
from poise.plans.style_repair import StyleRepair, repair_style, sinusoid_defaults
from poise.plans.support_region import StanceSoles, SupportRegion, sole_corners

__all__ = [
    "COMMAND_AXES",
    "GUIDING_MODES",
    "LARGEST_EXTENSION",
    "NEUTRAL",
    "PARAMETERS",
    "SINUSOID_PARAMETERS",
    "STOPPING_TIME",
    "STYLES",
    "ZERO_TWIST",
    "BodyDimensions",
    "CenterReference",
    "CenterState",
    "DcmReference",
    "FeasibilityCheck",
    "FootRoll",
    "Footstep",
    "FootstepPlan",
    "GaitParameters",
    "GaitPhase",
    "Goal",
    "GuidingMode",
    "HandPoint",
    "HeightOscillation",
    "InitialState",
    "LegReach",
    "LiveSquatReference",
    "MotionSegment",
    "NavigationPoints",
    "OperatorCommand",
    "PhaseKind",
    "Planner",
    "PointRates",
    "ReferenceTrajectory",
    "SegmentPhase",
    "SegmentSample",
    "SegmentSettings",
    "SinusoidReference",
    "Speed",
    "SquatOscillator",
    "SquatReference",
    "Stairway",
    "StanceSoles",
    "StandReference",
    "StepAdapter",
    "Style",
    "StyleRepair",
    "SupportRegion",
    "SwingTrajectory",
    "ThreeMassModel",
    "TrajectorySample",
    "WalkingPattern",
    "Workspace",
    "capture_feet",
    "capture_phase",
    "capture_segment",
    "check_feasibility",
    "check_walk",
    "gait_of_style",
    "guided_goal",
    "guiding_mode",
    "make_command",
    "repair_style",
    "sinusoid_defaults",
    "sole_corners",
    "standing_points",
    "zmp_path",
]
