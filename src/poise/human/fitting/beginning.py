"""Beginning: a body of about the right size, and a posture near that of one frame, before anything is fitted."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.human.fitting.measured import Measured, median
from poise.human.fitting.pelvis import Pelvis, pelvis_frames, spines
from poise.robots import Robot, load_robot
from poise.robots.human import BodyShape
from poise.robots.human.dumas import STATURE

Array = NDArray[np.float64]

#: Height of the anterior spines above the floor as a share of the stature: 1.77 m have 0.99 m on the mean body.
SPINES = 0.56
#: A floor that is further than this from the lowest markers is not z = 0 (m).
FLOOR = 0.15


def stature(measured: Measured, sex: str) -> float:
    """A person's height (m) from how high the pelvis is over the lowest markers; that of the tables if it lies down."""
    left, right, _ = spines(measured.landmarks())
    high = np.nanmedian((left[:, 2] + right[:, 2]) / 2.0)
    low = np.nanmin(median(measured.positions[:, :, 2])) - 0.03  # heel and toe markers are 3 cm high
    guess = float((high - low) / SPINES)
    return guess if 0.8 < guess < 2.5 else STATURE[sex]


def first_shape(pelvis: Pelvis, height: float, mass: float | None, sex: str) -> BodyShape:
    """The mean body of a height with a person's own pelvis."""
    shape = BodyShape.of(height, mass, sex)
    return shape.changed(hip_width=pelvis.hip_width, spines_width=pelvis.width)


def robot_of(shape: BodyShape) -> Robot:
    """The robot of a shape, which a recording can name."""
    return load_robot("human", height=shape.height, mass=shape.mass, sex=shape.sex, shape=shape.numbers())


def posture(robot: Robot, seen: Mapping[str, Array], pelvis: Pelvis, rest: Array) -> Array:
    """A rest posture with the pelvis where its markers are, in a frame that shows it (each landmark 3, m)."""
    left, right, back = (point[None] for point in spines(seen))
    rotation, origin = pelvis_frames(left, right, back)
    middle = (pelvis.places["left_asis"] + pelvis.places["right_asis"]) / 2.0
    pose = pinocchio.SE3(rotation[0], origin[0] - rotation[0] @ middle)
    return np.concatenate([pinocchio.SE3ToXYZQUAT(pose), rest[7:]])


def shown(measured: Measured) -> Array:
    """Which frames show the pelvis whole (n)."""
    whole = [np.isfinite(part).all(axis=1) for part in spines(measured.landmarks())]
    return np.asarray(whole[0] & whole[1] & whole[2])


def floor_of(measured: Measured) -> float:
    """Height of the floor (m): 0, as laboratories have it, if the feet's markers agree; NaN otherwise."""
    feet = [k for k, marker in enumerate(measured.markers) if marker.segment.endswith(("_foot", "_toes"))]
    if not feet:
        return np.nan
    lowest = float(np.nanmin(median(measured.positions[:, feet, 2])))
    return 0.0 if 0.0 < lowest < FLOOR else np.nan
