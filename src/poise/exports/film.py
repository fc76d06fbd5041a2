"""MP4: a film of the motion, with a camera that goes along."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from poise.exports.errors import ExportError
from poise.exports.job import Job
from poise.exports.path import followed
from poise.report.extras import Extras
from poise.report.graphics import chosen, failure

#: Pictures a second unless asked otherwise.
RATE = 30.0
#: Of the encoder: above, differences begin to be seen; below, files only grow.
QUALITY = "20"
#: Fewest and most pixels of a side; the encoder wants even numbers.
SMALLEST, LARGEST = 64, 4096


def write(job: Job, file: Path) -> None:
    """Pictures as `poise.report.picture` draws them, encoded as H.264."""
    import av

    width, height = _size(job.size)
    rate, stage = job.rate or RATE, _stage()
    states = job.states(rate)
    path, camera = followed(states, rate, width, height)
    assert camera.target is not None
    with stage(job.robot, width, height) as drawing, av.open(str(file), "w", format="mp4") as film:
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


def _stage() -> Any:
    """Where to draw, imported when it is needed: MuJoCo cannot even be imported where its OpenGL is missing."""
    chosen()
    try:
        from poise.report.stage import Stage
    except Exception as error:  # ImportError, AttributeError, RuntimeError, OSError
        raise failure(error) from error
    return Stage
