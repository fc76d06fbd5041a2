"""MP4 export: a video of a motion, with a camera that follows the robot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from poise.arrays import Array
from poise.exports.formats import ExportJob
from poise.exports.joint_trajectory import ExportError
from poise.extras import av, require, scipy
from poise.rendering import Camera, OffscreenRenderer, Overlays, check_opengl, visual_model_of
from poise.robots import State

#: Standard deviation of the filter that smooths the camera path (s), so that the camera does not sway with the steps.
SMOOTHING_TIME = 0.5
#: Number of postures, evenly spread over the motion, that the view must contain.
FRAMED_POSTURES = 24


def camera_path(states: Sequence[State], rate: float, width: int, height: int) -> tuple[Array, Camera]:
    """Return a smoothed path of the base, n x 3 (m), and a camera whose target is relative to that path.

    Args:
        states: the motion.
        rate: states per second (Hz).
        width, height: size of the picture in pixels.
    """
    base = np.array([state.q[:3] for state in states])
    path = scipy.ndimage.gaussian_filter1d(base, SMOOTHING_TIME * rate, axis=0, mode="nearest")
    path[:, 2] = np.median(base[:, 2])
    model = visual_model_of(states[0].robot)
    samples = np.unique(np.linspace(0, len(states) - 1, FRAMED_POSTURES).astype(int)).tolist()
    corners = np.vstack([model.corners(states[i]) - path[i] for i in samples])
    return path, Camera().fit_to(corners, width, height)


# -- MP4 file --------------------------------------------------------------------------------------------------------


#: Default frame rate (Hz).
DEFAULT_RATE = 30.0
#: Quality of the H.264 encoder: higher values show visible artefacts, lower ones only enlarge the file.
CRF = "20"
#: Smallest and largest width or height (pixels); the encoder requires even numbers.
MIN_SIDE, MAX_SIDE = 64, 4096


def export_mp4(job: ExportJob, file: Path) -> None:
    """Write an MP4 file: frames drawn by `OffscreenRenderer`, encoded as H.264."""
    width, height = _checked_size(job.size)
    require("av")
    check_opengl()
    rate = job.rate or DEFAULT_RATE
    states = job.states(rate)
    path, camera = camera_path(states, rate, width, height)
    assert camera.target is not None
    with OffscreenRenderer(job.robot, width, height) as renderer, av.open(str(file), "w", format="mp4") as container:
        stream: Any = container.add_stream(
            "libx264", rate=Fraction(rate).limit_denominator(1001), options={"crf": CRF}
        )  # 29.97 is 30000/1001
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"  # supported by every player
        for state, point in zip(states, np.asarray(camera.target) + path, strict=True):
            view = replace(camera, target=tuple(point.tolist()))
            picture = np.ascontiguousarray(renderer.draw([state], view, Overlays()))
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
            job.progress(state.time - states[0].time)
        container.mux(stream.encode(None))


def _checked_size(size: tuple[int, int]) -> tuple[int, int]:
    width, height = size
    if not all(MIN_SIDE <= side <= MAX_SIDE for side in size) or width % 2 or height % 2:
        raise ExportError(f"video size is {width}x{height} pixels; expected even numbers from {MIN_SIDE} to {MAX_SIDE}")
    return width, height
