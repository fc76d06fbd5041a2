"""Motion segments: from where a robot is to where its navigation points are to be, in a time that the ground allows."""

from poise.cpu import variant_path

__path__ = variant_path(__path__)

from poise.plans.segment.center_path import Severity
from poise.plans.segment.planner import Planner
from poise.plans.segment.segment import Beginning, Rates, Sample, Segment, SegmentPhase, SegmentSettings
from poise.plans.segment.three_masses import Body

__all__ = ["Beginning", "Body", "Planner", "Rates", "Sample", "Segment", "SegmentPhase", "SegmentSettings", "Severity"]
