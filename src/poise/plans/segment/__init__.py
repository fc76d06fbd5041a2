"""Motion segments: balanced motions of all navigation points from the current state to a goal.

`Planner.plan` returns a `MotionSegment` from an `InitialState` and a goal; its duration is long enough for balance.
"""

from poise.cpu import variant_path

__path__ = variant_path(__path__)

from poise.plans.segment.center_path import RelaxationWeights
from poise.plans.segment.planner import Planner
from poise.plans.segment.segment import (
    InitialState,
    MotionSegment,
    PointRates,
    SegmentPhase,
    SegmentSample,
    SegmentSettings,
)
from poise.plans.segment.three_masses import ThreeMassModel

__all__ = [
    "InitialState",
    "MotionSegment",
    "Planner",
    "PointRates",
    "RelaxationWeights",
    "SegmentPhase",
    "SegmentSample",
    "SegmentSettings",
    "ThreeMassModel",
]
