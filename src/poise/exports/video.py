"""MP4: a video of a motion, with a camera that follows the robot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from poise.arrays import Array
from poise.exports.formats import Job
from poise.exports.joint_trajectory import ExportError
from poise.extras import av, require, scipy
from poise.rendering import Camera, Extras, Stage, check_opengl, figure
from poise.robots import State

#: The camera follows the base as if it were smoothed over this time (s): steps sway the robot, not the picture.
SMOOTH = 0.5
#: The view is as near as shows this many postures of the motion, evenly spread.
POSTURES = 24


def followed(states: Sequence[State], rate: float, width: int, height: int) -> tuple[Array, Camera]:
    """Where the robot is on average at each state, n x 3 (m), and a camera whose target is meant from there."""
    base = np.array([state.q[:3] for state in states])
    path = scipy.ndimage.gaussian_filter1d(base, SMOOTH * rate, axis=0, mode="nearest")
    path[:, 2] = np.median(base[:, 2])
    drawn = figure(states[0].robot)
    some = np.unique(np.linspace(0, len(states) - 1, POSTURES).astype(int)).tolist()
    around = np.vstack([drawn.corners(states[i]) - path[i] for i in some])
    return path, Camera().framed(around, width, height)


# -- MP4: a film of the motion, with a camera that goes along --------------------------------------------------------


#: Pictures a second unless asked otherwise.
RATE = 30.0
#: Of the encoder: above, differences begin to be seen; below, files only grow.
QUALITY = "20"
#: Fewest and most pixels of a side; the encoder wants even numbers.
SMALLEST, LARGEST = 64, 4096


def export_mp4(job: Job, file: Path) -> None:
    """Pictures as `poise.rendering.pictures` draws them, encoded as H.264."""
    width, height = _size(job.size)
    require("av")
    check_opengl()
    rate = job.rate or RATE
    states = job.states(rate)
    path, camera = followed(states, rate, width, height)
    assert camera.target is not None
    with Stage(job.robot, width, height) as drawing, av.open(str(file), "w", format="mp4") as film:
        stream: Any = film.add_stream(
            "libx264", rate=Fraction(rate).limit_denominator(1001), options={"crf": QUALITY}
        )  # 29.97 is 30000/1001
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"  # what every player understands
        for state, point in zip(states, np.asarray(camera.target) + path, strict=True):
            view = replace(camera, target=tuple(point.tolist()))
            picture = np.ascontiguousarray(drawing.draw([state], view, Extras()))
            film.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
            job.progress(state.time - states[0].time)
        film.mux(stream.encode(None))


def _size(size: tuple[int, int]) -> tuple[int, int]:
    width, height = size
    if not all(SMALLEST <= side <= LARGEST for side in size) or width % 2 or height % 2:
        raise ExportError(
            f"a film of {width}x{height} pixels cannot be made; expected even numbers from {SMALLEST} to {LARGEST}"
        )
    return width, height
