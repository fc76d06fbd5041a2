"""Motion segments: from where a robot is to where its navigation points are to be, in a time that the ground allows."""

from poise.plans.segment.body import Body
from poise.plans.segment.center import Severity
from poise.plans.segment.planner import Planner
from poise.plans.segment.segment import Beginning, Phase, Rates, Sample, Segment
from poise.plans.segment.settings import SegmentSettings

__all__ = ["Beginning", "Body", "Phase", "Planner", "Rates", "Sample", "Segment", "SegmentSettings", "Severity"]
