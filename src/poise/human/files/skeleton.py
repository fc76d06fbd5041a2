"""Skeletons as trials: the joint centres of a BVH file, in metres, whatever its unit is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from poise.human.files.bvh import read_bvh
from poise.human.files.bvh_motion import BvhMotion, first_frame_apart
from poise.human.trial import Trial

#: Units that BVH files are in (m): their format does not say which. The last is that of the files of CMU.
UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "inch": 0.0254, "0.45 inch": 0.0254 / 0.45}
#: Height of a skeleton, from its lowest to its highest joint, of a person of usual stature (m).
TALL = 1.65


def read_skeleton(path: str | Path, up: str | None = None) -> Trial:
    """The joint centres of a BVH file as a trial, which `fit` takes with the marker set ``skeleton``.

    The unit is the one of `UNITS` in which the skeleton is as tall as a person; a first frame that is far from the
    second, the T-pose that is added to many files, is left out. The notes tell of both.

    >>> human.fit(read_skeleton("07_01.bvh")).rms
    """
    whole = read_bvh(path, up=up or "y")
    skip = int(first_frame_apart(whole.rotations))
    motion = read_bvh(path, up=up or "y", skip=skip) if skip else whole
    length = _length(motion)
    unit = min(UNITS, key=lambda name: abs(np.log(UNITS[name] * length / TALL)))
    trial = replace(
        motion, offsets=UNITS[unit] * motion.offsets, translations=UNITS[unit] * motion.translations
    ).as_trial()
    return trial.replace(notes=(*trial.notes, f"Lengths taken to be in units of {unit}, by the size of the skeleton."))


def _length(motion: BvhMotion) -> float:
    """From the lowest to the highest joint, median over the frames, in units of the file."""
    heights = motion.positions()[:, :, 2]
    return float(np.median(heights.max(axis=1) - heights.min(axis=1))) or 1.0
