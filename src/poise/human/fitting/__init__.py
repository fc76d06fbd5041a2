"""Model scaling and inverse kinematics: body dimensions, marker placement and motion of a person from markers."""

from poise.human.fitting.body_fit import Fit, fit
from poise.human.fitting.calibrated_subject import CalibratedSubject
from poise.human.fitting.filtered_motion import FilteredMotion, filter_motion
from poise.human.fitting.marker_tracking import BodyPoints, MarkerPlacement, MarkerTracker, TrackingResult

__all__ = [
    "BodyPoints",
    "CalibratedSubject",
    "FilteredMotion",
    "Fit",
    "MarkerPlacement",
    "MarkerTracker",
    "TrackingResult",
    "filter_motion",
    "fit",
]
