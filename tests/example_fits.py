"""Fits of the sample walk and of recorded trials, each computed once."""

from functools import cache
from pathlib import Path

import pytest

from poise import human
from poise.human import Fit, fit, sample_trial

#: Walks beside the repository, with their static trials.
TRIALS = {
    "one": ("pig_one/PiG_Motion-FlatFoot-One.c3d", "pig_one/PiG_Calibration-FlatFoot-One.c3d"),
    "hole": ("pig_hole/PiG_Motion-FlatFoot-Hole.c3d", "pig_hole/PiG_Calibration-FlatFoot-Hole.c3d"),
    "first": ("opensim_subject01/walk_free_01.trc", None),
    "second": ("opensim_subject01/walk_free_02.trc", None),
}


@cache
def sample_fit(marker_set: str = "skin49") -> Fit:
    walk, static = sample_trial(marker_set=marker_set)
    return fit(walk, static)


def recorded_fit(name: str) -> Fit:
    """Return the fit of a recorded trial beside the repository; skip the test if there is none."""
    from marker_files import mocap

    walk, static = TRIALS[name]
    return _fit(mocap(walk), mocap(static) if static else None)


@cache
def _fit(walk: Path, static: Path | None) -> Fit:
    return fit(human.read_trial(walk), human.read_trial(static) if static else None)


each_trial = pytest.mark.parametrize("name", TRIALS)
