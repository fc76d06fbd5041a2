"""Animations of a motion: MP4 videos, and HTML pages that play it in a browser without a network connection."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.exports.formats import ExportRequest
from poise.exports.joint_trajectory import ExportError
from poise.extras import av, require, scipy
from poise.plants import EnvironmentGeometry
from poise.rendering import (
    FIELD_OF_VIEW,
    Camera,
    OffscreenRenderer,
    Overlays,
    Surface,
    check_opengl,
    environment_camera,
    environment_surfaces,
    recorded_environment,
    shape_mesh,
    surface_with_normals,
    visual_model_of,
)
from poise.robots import State

# -- MP4: a video with a camera that follows the robot ----------------------------------------------------------------


#: Standard deviation of the filter that smooths the camera path (s), so that the camera does not sway with the steps.
SMOOTHING_TIME = 0.5
#: Number of postures, evenly spread over the motion, that the view must contain.
FRAMED_POSTURES = 24


def camera_path(
    states: Sequence[State],
    rate: float,
    width: int,
    height: int,
    environment: EnvironmentGeometry = EnvironmentGeometry(),  # noqa: B008  frozen
) -> tuple[Array, Camera]:
    """Return a smoothed path of the base, n x 3 (m), and a camera whose target is relative to that path.

    Args:
        states: the motion.
        rate: states per second (Hz).
        width, height: size of the picture in pixels.
        environment: environment of the motion; where it is not flat, the camera also follows the height of the base.
    """
    base = np.array([state.q[:3] for state in states])
    path = scipy.ndimage.gaussian_filter1d(base, SMOOTHING_TIME * rate, axis=0, mode="nearest")
    if environment.is_flat:
        path[:, 2] = np.median(base[:, 2])
    model = visual_model_of(states[0].robot)
    samples = np.unique(np.linspace(0, len(states) - 1, FRAMED_POSTURES).astype(int)).tolist()
    corners = np.vstack([model.corners(states[i]) - path[i] for i in samples])
    return path, environment_camera(environment).fit_to(corners, width, height)


# -- MP4 file --------------------------------------------------------------------------------------------------------


#: Default frame rate (Hz).
DEFAULT_RATE = 30.0
#: Quality of the H.264 encoder: higher values show visible artifacts, lower ones only enlarge the file.
CRF = "20"
#: Smallest and largest width or height (pixels); the encoder requires even numbers.
MIN_SIDE, MAX_SIDE = 64, 4096


def export_mp4(job: ExportRequest, file: Path) -> None:
    """Write an MP4 file: frames drawn by `OffscreenRenderer`, encoded as H.264."""
    width, height = _checked_size(job.size)
    require("av")
    check_opengl()
    rate = job.rate or DEFAULT_RATE
    states = job.states(rate)
    environment = recorded_environment(job.recording, job.robot)
    path, camera = camera_path(states, rate, width, height, environment)
    assert camera.target is not None
    with OffscreenRenderer(job.robot, width, height) as renderer, av.open(str(file), "w", format="mp4") as container:
        stream: Any = container.add_stream(
            "libx264", rate=Fraction(rate).limit_denominator(1001), options={"crf": CRF}
        )  # 29.97 is 30000/1001
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"  # supported by every player
        for state, point in zip(states, np.asarray(camera.target) + path, strict=True):
            view = replace(camera, target=tuple(point.tolist()))
            picture = np.ascontiguousarray(renderer.draw([state], view, Overlays(), environment))
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
            job.progress(state.time - states[0].time)
        container.mux(stream.encode(None))


def _checked_size(size: tuple[int, int]) -> tuple[int, int]:
    width, height = size
    if not all(MIN_SIDE <= side <= MAX_SIDE for side in size) or width % 2 or height % 2:
        raise ExportError(f"video size is {width}x{height} pixels; expected even numbers from {MIN_SIDE} to {MAX_SIDE}")
    return width, height


# -- HTML: a self-contained page --------------------------------------------------------------------------------------


VIEWER_FOLDER = Path(__file__).parent / "viewer"
#: Default rate of poses (Hz); the page interpolates between them.
DEFAULT_RATE = 30.0
#: Limit of the numbers in all poses, which keeps the page below 10 MB: a longer motion gets fewer poses per second.
MAX_POSE_NUMBERS = 700_000
#: Window size (pixels) for which the first view is framed: it fits wider windows; in narrower ones the camera moves
#: back.
REFERENCE_WINDOW = (720, 720)


def export_html(job: ExportRequest, file: Path) -> None:
    """Write an HTML page with meshes, poses and the viewer; the page loads no other files."""
    robot = job.robot
    rate = min(
        job.rate or DEFAULT_RATE, MAX_POSE_NUMBERS / (7 * robot.model.njoints) / max(job.full_trajectory.duration, 1e-3)
    )
    rate = max(rate, 2.0 / max(job.full_trajectory.duration, 1e-3))
    states = job.states(rate)
    environment = recorded_environment(job.recording, robot)
    path, camera = camera_path(states, rate, *REFERENCE_WINDOW, environment)
    poses = _frame_poses(environment, states, job)
    model = visual_model_of(robot)
    surfaces = [surface_with_normals(shape.joint, shape.color, shape_mesh(model, shape)) for shape in model.shapes]
    data = {
        "title": _title(job),
        "time": [float(state.time) for state in states],
        "frames": poses.shape[1],
        "poses": _base64(poses.astype("<f4")),
        "cameraPath": _base64(path.astype("<f4")),
        "ground": _column_major(environment.plane),
        "isFlat": environment.is_flat,
        "view": {
            "azimuth": camera.azimuth,
            "elevation": camera.elevation,
            "distance": camera.distance,
            "target": camera.target,
            "fieldOfView": FIELD_OF_VIEW,
            "aspect": REFERENCE_WINDOW[0] / REFERENCE_WINDOW[1],
        },
        **_pack_surfaces([*surfaces, *environment_surfaces(environment, held_box_joint=robot.model.njoints)]),
    }
    file.write_text(_fill_template(data), encoding="utf-8")


def _fill_template(data: dict[str, Any]) -> str:
    """Return the HTML page of the viewer with style sheet, scripts and data filled in."""
    page = (VIEWER_FOLDER / "page.html").read_text(encoding="utf-8")
    parts = {
        "TITLE": escape(data["title"]),
        "STYLE": (VIEWER_FOLDER / "viewer.css").read_text(encoding="utf-8"),
        "DATA": json.dumps(data, allow_nan=False).replace("<", "\\u003c"),  # so that the data cannot close the script
        "PROGRAM": "".join((VIEWER_FOLDER / name).read_text(encoding="utf-8") for name in ("drawing.js", "viewer.js")),
    }
    return re.sub(r"{{([A-Z]+)}}", lambda match: parts[match[1]], page)


def _frame_poses(environment: EnvironmentGeometry, states: Sequence[State], job: ExportRequest) -> np.ndarray:
    """Return position (m) and quaternion (x, y, z, w) in the world of every frame in every state: n x frames x 7.

    Frame 0 is the world; then follow the joints of the robot, and the box in its hands, if it holds one.
    """
    robot, held_box = job.robot, environment.held_box
    data = robot.model.createData()
    poses = np.zeros((len(states), robot.model.njoints + (held_box is not None), 7))
    for i, state in enumerate(states):
        pinocchio.forwardKinematics(robot.model, data, state.q)
        for joint in range(robot.model.njoints):
            poses[i, joint] = pinocchio.SE3ToXYZQUAT(data.oMi[joint])
        if held_box is not None:
            poses[i, -1] = pinocchio.SE3ToXYZQUAT(held_box.pose_in(state))
        job.progress(state.time - states[0].time)
    return poses


def _pack_surfaces(surfaces: Sequence[Surface]) -> dict[str, Any]:
    """Pack all surfaces in one array, opaque ones first, and encode it for the viewer.

    Each point has 12 bytes: 3 x int16 position, 2 bytes unused, 3 x int8 normal, 1 byte unused. The position value
    32767 means ``scale`` (m), a resolution of about 20 µm for a humanoid.
    """
    opaque_first = sorted(surfaces, key=lambda surface: -surface.color[3])
    scale = max(float(np.abs(surface.points).max()) for surface in opaque_first)
    vertices, indices, parts, vertex_count, index_count = [], [], [], 0, 0
    for surface in opaque_first:
        packed = np.zeros(len(surface.points), dtype=[("position", "<i2", 4), ("normal", "i1", 4)])
        packed["position"][:, :3] = np.round(surface.points / scale * 32767.0)
        packed["normal"][:, :3] = np.round(surface.normals * 127.0)
        vertices.append(packed)
        indices.append((surface.faces.ravel() + vertex_count).astype("<u4"))
        parts.append(
            {
                "frame": surface.joint,
                "color": surface.color,
                "firstIndex": index_count,
                "indexCount": surface.faces.size,
            }
        )
        vertex_count, index_count = vertex_count + len(surface.points), index_count + surface.faces.size
    return {
        "scale": scale,
        "vertices": _base64(np.concatenate(vertices)),
        "indices": _base64(np.concatenate(indices)),
        "parts": parts,
    }


def _base64(array: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()


def _column_major(pose: pinocchio.SE3) -> list[float]:
    """Return a pose as a 4 x 4 matrix in column-major order, as WebGL expects it."""
    return [float(number) for number in pose.homogeneous.T.ravel()]


def _title(job: ExportRequest) -> str:
    provenance = job.recording.provenance
    behavior = provenance.get("behavior")
    return f"{job.robot.name}: {behavior}" if isinstance(behavior, str) else job.robot.name
