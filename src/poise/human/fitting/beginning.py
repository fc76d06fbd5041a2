"""Beginning: a body of about the right size, and a posture near that of one frame, before anything is fitted."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.human.fitting.measured import Measured, median
from poise.human.fitting.pelvis import Girdle, Pelvis
from poise.robots import Robot, load_robot
from poise.robots.human import BodyShape
from poise.robots.human.dumas import STATURE
from poise.robots.parts import SIDES

Array = NDArray[np.float64]

#: Height of the anterior spines and of the hip centres above the floor as shares of the stature: on the mean body of
#: 1.77 m they are at 0.99 and 0.93 m.
SPINES, HIPS = 0.56, 0.53
#: Lengths between centres are believed if they are within these shares of the mean body's.
PLAUSIBLE = (0.5, 1.6)
#: A floor that is further than this from the lowest markers is not z = 0 (m).
FLOOR = 0.15


def stature(measured: Measured, sex: str) -> float:
    """A person's height (m) from how high the pelvis is over the lowest markers; that of the tables if it lies down."""
    girdle = Girdle.of(measured.landmarks())
    high = np.nanmedian((girdle.left[:, 2] + girdle.right[:, 2]) / 2.0)
    low = np.nanmin(median(measured.positions[:, :, 2])) - 0.03  # heel and toe markers are 3 cm high
    guess = float((high - low) / (HIPS if girdle.centers else SPINES))
    return guess if 0.8 < guess < 2.5 else STATURE[sex]


def first_shape(measured: Measured, pelvis: Pelvis, height: float, mass: float | None, sex: str) -> BodyShape:
    """The mean body of a height with a person's own pelvis, and with the lengths between centres that are known."""
    shape = BodyShape.of(height, mass, sex).changed(hip_width=pelvis.hip_width, spines_width=pelvis.width)
    seen = measured.landmarks()

    def apart(one: str, other: str, usual: float) -> float:
        if f"{one}_center" not in seen or f"{other}_center" not in seen:
            return usual
        length = float(np.nanmedian(np.linalg.norm(seen[f"{one}_center"] - seen[f"{other}_center"], axis=1)))
        return length if PLAUSIBLE[0] * usual < length < PLAUSIBLE[1] * usual else usual

    between = {"thigh": ("hip", "knee"), "shank": ("knee", "ankle")}
    between |= {"upper_arm": ("shoulder", "elbow"), "forearm": ("elbow", "wrist")}
    found = {
        name: tuple(apart(f"{side}_{one}", f"{side}_{two}", getattr(shape, name)[i]) for i, side in enumerate(SIDES))
        for name, (one, two) in between.items()
    }
    width = apart("left_shoulder", "right_shoulder", shape.shoulder_width)
    return shape.changed(**found, shoulder_width=width)


def robot_of(shape: BodyShape) -> Robot:
    """The robot of a shape, which a recording can name."""
    return load_robot("human", height=shape.height, mass=shape.mass, sex=shape.sex, shape=shape.numbers())


def posture(robot: Robot, seen: Mapping[str, Array], pelvis: Pelvis, rest: Array) -> Array:
    """A rest posture with the pelvis where its markers are, in a frame that shows it (each landmark 3, m)."""
    rotation, origin = Girdle.of(seen).frames()
    pose = pinocchio.SE3(rotation, origin - rotation @ pelvis.origin)
    return np.concatenate([pinocchio.SE3ToXYZQUAT(pose), rest[7:]])


def shown(measured: Measured) -> NDArray[np.bool_]:
    """Which frames show the pelvis whole (n)."""
    return Girdle.of(measured.landmarks()).shown


def floor_of(measured: Measured) -> float:
    """Height of the floor (m): 0, as laboratories have it, if the feet's markers agree; NaN otherwise."""
    feet = [k for k, marker in enumerate(measured.markers) if marker.segment.endswith(("_foot", "_toes"))]
    if not feet:
        return np.nan
    lowest = float(np.nanmin(median(measured.positions[:, feet, 2])))
    return 0.0 if 0.0 < lowest < FLOOR else np.nan
