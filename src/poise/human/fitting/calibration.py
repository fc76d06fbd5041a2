"""Calibration: body dimensions and marker placement from a walk and a static trial, from pelvis markers onwards.

The hip centres are those of Harrington et al. 2007 ("Prediction of the hip joint centre in adults, children, and
patients with cerebral palsy based on magnetic resonance imaging", Journal of Biomechanics 40), with the pelvic width W
between the anterior spines and its depth D from their middle to the middle of the posterior ones (m):

    forward  -0.24 D - 0.0099,   up  -0.30 W - 0.0109,   to either side  0.33 W + 0.0073
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.arrays import Array
from poise.human.fitting.body_adjustment import WIDE, Adjusted, Adjustment, Expected
from poise.human.fitting.marker_tracking import FIRST, RESTING, Points, Tracker
from poise.human.markers import Marker
from poise.human.trial import Trial, TrialError
from poise.robots import SIDES, STATURE, BodyShape, Robot, anthropometry, load_robot


@dataclass(frozen=True)
class Measured:
    """Markers of a trial in one order: labels of the trial, what they are, positions (n x m x 3, m; NaN in gaps)."""

    labels: tuple[str, ...]
    markers: tuple[Marker, ...]
    positions: Array

    @classmethod
    def of(cls, trial: Trial, found: Mapping[str, Marker], labels: tuple[str, ...] | None = None) -> Measured:
        """Those of the found markers that are ever seen; or exactly the given labels, NaN where the trial has none."""
        if labels is None:
            labels = tuple(label for label in found if np.isfinite(trial.marker(label)).all(axis=1).any())
        blank = np.full((len(trial.time), 3), np.nan)
        positions = np.stack([trial.marker(label) if label in trial.labels else blank for label in labels], axis=1)
        return cls(labels, tuple(found[label] for label in labels), positions)

    @property
    def weights(self) -> Array:
        return np.array([marker.weight for marker in self.markers])

    def landmarks(self) -> dict[str, Array]:
        """Positions by landmark (n x 3, m)."""
        return {
            marker.landmark: self.positions[:, k]
            for k, marker in enumerate(self.markers)
            if marker.landmark is not None
        }


def median(values: Array) -> Array:
    """Median over the first axis of what is there; NaN where nothing ever is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a marker that is never seen is no news here
        return np.asarray(np.nanmedian(values, axis=0))


# -- The pelvis ------------------------------------------------------------------------------------------------------


SKIN = ("left_asis", "right_asis", "left_psis", "right_psis", "sacrum")
CENTERS = ("left_hip_center", "right_hip_center", "lumbar_center")
#: Where L5S1 is, seen from the middle of the hip centres of the mean man: forward and up [Dumas2007].
LUMBAR = (
    anthropometry.LUMBAR["male"][0] - anthropometry.HIP["male"][0],
    anthropometry.LUMBAR["male"][1] - anthropometry.HIP["male"][1],
)


@dataclass(frozen=True)
class Pelvis:
    """A person's pelvis.

    Attributes:
        width, depth: between the anterior spines, and from front to back (m).
        hip_width: between the hip centres (m).
        places: of its landmarks, seen from the middle of the hip centres: x forward and y left in the plane of the
            spines, z up (m).
        origin: of the frame that its points span, seen from there as well (m).
    """

    width: float
    depth: float
    hip_width: float
    places: Mapping[str, Array]
    origin: Array


@dataclass(frozen=True)
class Girdle:
    """Three points that tell where a pelvis is: two at its sides and one behind, each n x 3 or 3 (m).

    They are the anterior spines and the middle of the posterior ones; or, of a skeleton without skin, the hip centres
    and the lumbar joint (`centers`).
    """

    left: Array
    right: Array
    back: Array
    centers: bool

    @classmethod
    def of(cls, seen: Mapping[str, Array]) -> Girdle:
        """From landmarks by name; an error says what is missing."""
        if "left_asis" not in seen and all(name in seen for name in CENTERS):
            return cls(seen["left_hip_center"], seen["right_hip_center"], seen["lumbar_center"], True)
        missing = [name for name in ("left_asis", "right_asis") if name not in seen]
        if missing:
            raise TrialError(f"no marker on {' and '.join(missing)}; expected both anterior spines of the pelvis")
        if "sacrum" in seen:
            return cls(seen["left_asis"], seen["right_asis"], seen["sacrum"], False)
        if "left_psis" not in seen or "right_psis" not in seen:
            raise TrialError("no marker on the back of the pelvis; expected both posterior spines or the sacrum")
        back = (seen["left_psis"] + seen["right_psis"]) / 2.0
        return cls(seen["left_asis"], seen["right_asis"], back, False)

    @property
    def shown(self) -> NDArray[np.bool_]:
        """Which frames show all three (n)."""
        parts = [np.isfinite(part).all(axis=-1) for part in (self.left, self.right, self.back)]
        return np.asarray(parts[0] & parts[1] & parts[2])

    def during(self, frames: NDArray[np.bool_]) -> Girdle:
        """The same in some frames."""
        return Girdle(self.left[frames], self.right[frames], self.back[frames], self.centers)

    def frames(self) -> tuple[Array, Array]:
        """Rotation (n x 3 x 3, columns x forward, y left, z up) and origin, the middle of the first two (n x 3, m).

        With spines, the three points lie in the plane that is level. With centres, the lumbar joint is where the mean
        body has it: up and behind.
        """
        origin = (self.left + self.right) / 2.0
        y = _unit(self.left - self.right)
        if not self.centers:
            z = _unit(np.cross(origin - self.back, y))
            return np.stack([np.cross(y, z), y, z], axis=-1), origin
        to_lumbar = self.back - origin
        up = _unit(to_lumbar - np.sum(to_lumbar * y, axis=-1, keepdims=True) * y)
        ahead = np.cross(y, up)
        sine, cosine = np.array(LUMBAR) / np.hypot(*LUMBAR)
        return np.stack([cosine * ahead + sine * up, y, cosine * up - sine * ahead], axis=-1), origin


def measure_pelvis(seen: Mapping[str, Array]) -> Pelvis:
    """The pelvis of a person from landmarks over time (n x 3, m); medians over the frames that show all of them."""
    girdle = Girdle.of(seen)
    whole = girdle.shown
    if not whole.any():
        raise TrialError("no frame shows the front and the back of the pelvis at once; expected its markers to be seen")
    girdle = girdle.during(whole)
    rotation, origin = girdle.frames()
    across = float(np.median(np.linalg.norm(girdle.left - girdle.right, axis=1)))
    depth = float(np.median(np.linalg.norm(origin - girdle.back, axis=1)))
    if not (0.1 < across < 0.5 and 0.05 < depth < 0.5):
        message = f"a pelvis {across:.3f} m wide and {depth:.3f} m deep"
        raise TrialError(f"{message}; expected about 0.24 and 0.15 m: check the units and the labels of its markers")
    if girdle.centers:
        middle, width, hip_width = np.zeros(3), across / (2.0 * anthropometry.HIP["male"][2]), across
    else:
        middle = np.array([0.24 * depth + 0.0099, 0.0, 0.30 * across + 0.0109])
        width, hip_width = across, 2.0 * (0.33 * across + 0.0073)
    places = {}
    for name in (*SKIN, *CENTERS):
        if name in seen:
            local = np.einsum("nji,nj->ni", rotation, seen[name][whole] - origin)
            places[name] = median(local) + middle
    return Pelvis(width, depth, hip_width, places, middle)


def _unit(vectors: Array) -> Array:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))


# -- Beginning -------------------------------------------------------------------------------------------------------


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


def frames_with_pelvis(measured: Measured) -> NDArray[np.bool_]:
    """Which frames show the pelvis whole (n)."""
    return Girdle.of(measured.landmarks()).shown


def floor_of(measured: Measured) -> float:
    """Height of the floor (m): 0, as laboratories have it, if the feet's markers agree; NaN otherwise."""
    feet = [k for k, marker in enumerate(measured.markers) if marker.segment.endswith(("_foot", "_toes"))]
    if not feet:
        return np.nan
    lowest = float(np.nanmin(median(measured.positions[:, feet, 2])))
    return 0.0 if 0.0 < lowest < FLOOR else np.nan


# -- Calibration: who walks here, how large, and where the markers sit -----------------------------------------------


#: Frames of the walk from which the body is adjusted: one cycle has all postures, and more frames add little.
FRAMES = 24
#: The standing frame counts as so many of these.
STANDING = 6


def calibrated(
    walk: Measured,
    standing: Measured | None,
    height: float | None,
    mass: float | None,
    sex: str,
    say: Callable[[float], object],
    notes: list[str],
) -> tuple[BodyShape, Adjusted]:
    """The shape of a person, and the places of the markers, from a walk and, if there is one, a person standing.

    Args:
        walk, standing: the same markers of both trials.
        height, mass: m and kg, if they are known.
        sex: whose tables.
        say: told how much is done (0 to 1).
        notes: what is done is added to these.
    """
    pelvis = measure_pelvis(walk.landmarks())
    tall = height or stature(walk, sex)
    shape = first_shape(walk, pelvis, tall, mass, sex)
    robot = robot_of(shape)
    expected = Expected.of(walk.markers, shape, pelvis.places)
    frames, weights, flat = _frames(walk, standing)
    postures = _begun(robot, walk, expected, frames, pelvis)
    expected = _seen_places(robot, expected, frames, postures)
    say(0.3)
    adjusted = Adjustment(robot, shape, expected, frames, weights, flat).solve(postures)
    say(1.0)
    found = adjusted.shape
    if height is None:
        found = replace(found, height=_height(found))
        if mass is None:
            found = replace(found, mass=22.5 * found.height**2)
    notes.append(f"body adjusted to {len(frames)} frames in {adjusted.steps} steps, {1e3 * adjusted.rms:.1f} mm rms")
    return found, adjusted


def _height(shape: BodyShape) -> float:
    """Of the vertex when standing straight (m)."""
    return shape.hip_height + shape.lumbar_up + shape.torso + shape.head


def _frames(walk: Measured, standing: Measured | None) -> tuple[Array, Array, Array]:
    """Frames to adjust to (K x m x 3), weights (K x m), and the height of the floor where soles are flat (K)."""
    shown = np.flatnonzero(frames_with_pelvis(walk))
    chosen = shown[np.unique(np.linspace(0, len(shown) - 1, FRAMES).round().astype(int))]
    frames, weights = walk.positions[chosen], np.tile(walk.weights, (len(chosen), 1))
    flat = np.full(len(chosen), np.nan)
    if standing is None:
        return frames, weights, flat
    ok = frames_with_pelvis(standing)
    if not ok.any():
        raise TrialError("the static trial never shows the whole pelvis; expected a person standing in view")
    still = median(standing.positions[ok])
    floor = floor_of(standing)
    return (
        np.concatenate([frames, still[None]]),
        np.concatenate([weights, STANDING * walk.weights[None]]),
        np.append(flat, floor),
    )


def _begun(robot: Robot, walk: Measured, expected: Expected, frames: Array, pelvis: Pelvis) -> Array:
    """Postures of the frames from landmarks alone."""
    known = np.array([marker.landmark is not None for marker in walk.markers])
    weights = np.where(known, walk.weights, 0.0)
    points = Points.on(robot.model, expected.links, expected.places)
    tracker = Tracker(robot, points, weights, robot.stance("standing").q, WIDE)
    postures = []
    for frame in frames:
        seen = {str(marker.landmark): frame[k] for k, marker in enumerate(walk.markers) if marker.landmark}
        guess = posture(robot, seen, pelvis, robot.stance("standing").q)
        postures.append(tracker.solve(frame, guess, 0.0, RESTING, FIRST)[0])
    return np.array(postures)


def _seen_places(robot: Robot, expected: Expected, frames: Array, postures: Array) -> Expected:
    """Markers that may be anywhere on their segment are expected where the first postures have them."""
    points = Points.on(robot.model, expected.links, expected.places)
    local = []
    for frame, q in zip(frames, postures, strict=True):
        points.world(q)
        origins = np.array([points.data.oMi[int(j)].translation for j in points.joints])
        local.append(np.einsum("mji,mj->mi", points.rotations(), frame - origins))
    free = expected.anywhere
    places = expected.places.copy()
    places[free] = median(np.array(local))[free]
    return replace(expected, places=places)
