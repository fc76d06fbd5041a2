"""Fitting: a person's body and motion from markers."""

from poise.human.fitting.fit import Fit, Placed, fit
from poise.human.fitting.motion import Motion, motion
from poise.human.fitting.points import Points
from poise.human.fitting.tracking import Tracked, Tracker

__all__ = ["Fit", "Motion", "Placed", "Points", "Tracked", "Tracker", "fit", "motion"]
