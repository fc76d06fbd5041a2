"""Calibration: who walks here, how large, and where the markers sit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from poise.human.errors import TrialError
from poise.human.fitting import beginning
from poise.human.fitting.adjusting import WIDE, Adjusted, Adjustment
from poise.human.fitting.expected import Expected
from poise.human.fitting.measured import Measured, median
from poise.human.fitting.pelvis import Pelvis, measure_pelvis
from poise.human.fitting.points import Points
from poise.human.fitting.tracking import FIRST, RESTING, Tracker
from poise.robots import Robot
from poise.robots.human import BodyShape

Array = NDArray[np.float64]

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
    tall = height or beginning.stature(walk, sex)
    shape = beginning.first_shape(walk, pelvis, tall, mass, sex)
    robot = beginning.robot_of(shape)
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
    shown = np.flatnonzero(beginning.shown(walk))
    chosen = shown[np.unique(np.linspace(0, len(shown) - 1, FRAMES).round().astype(int))]
    frames, weights = walk.positions[chosen], np.tile(walk.weights, (len(chosen), 1))
    flat = np.full(len(chosen), np.nan)
    if standing is None:
        return frames, weights, flat
    ok = beginning.shown(standing)
    if not ok.any():
        raise TrialError("the static trial never shows the whole pelvis; expected a person standing in view")
    still = median(standing.positions[ok])
    floor = beginning.floor_of(standing)
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
        guess = beginning.posture(robot, seen, pelvis, robot.stance("standing").q)
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
