"""Fitting: a person's body and motion from markers."""

from poise.human.fitting.body_fit import Fit, Motion, fit, motion
from poise.human.fitting.marker_tracking import Placed, Points, Tracked, Tracker

__all__ = ["Fit", "Motion", "Placed", "Points", "Tracked", "Tracker", "fit", "motion"]
