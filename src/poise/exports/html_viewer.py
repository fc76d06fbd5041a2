"""HTML export: one self-contained page that plays a motion in a browser, without a network connection."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio

from poise.exports.formats import ExportJob
from poise.exports.video import camera_path
from poise.plants import FlatTerrain
from poise.rendering import (
    FIELD_OF_VIEW,
    Surface,
    ground_surfaces,
    recorded_ground,
    shape_mesh,
    surface_with_normals,
    visual_model_of,
)
from poise.robots import Robot, State

VIEWER_FOLDER = Path(__file__).parent / "viewer"
#: Default rate of poses (Hz); the page interpolates between them.
DEFAULT_RATE = 30.0
#: Limit of the numbers in all poses, which keeps the page below 10 MB: a longer motion gets fewer poses per second.
MAX_POSE_NUMBERS = 700_000
#: Window size (pixels) for which the first view is framed: it fits wider windows; in narrower ones the camera moves
#: back.
REFERENCE_WINDOW = (720, 720)


def export_html(job: ExportJob, file: Path) -> None:
    """Write an HTML page with meshes, poses and the viewer; the page loads no other files."""
    robot = job.robot
    rate = min(
        job.rate or DEFAULT_RATE, MAX_POSE_NUMBERS / (7 * robot.model.njoints) / max(job.full_trajectory.duration, 1e-3)
    )
    rate = max(rate, 2.0 / max(job.full_trajectory.duration, 1e-3))
    states = job.states(rate)
    path, camera = camera_path(states, rate, *REFERENCE_WINDOW)
    poses, ground = _joint_poses(robot, states, job), recorded_ground(job.recording, robot)
    model = visual_model_of(robot)
    surfaces = [surface_with_normals(shape.joint, shape.color, shape_mesh(model, shape)) for shape in model.shapes]
    data = {
        "title": _title(job),
        "time": [float(state.time) for state in states],
        "joints": robot.model.njoints,
        "poses": _base64(poses.astype("<f4")),
        "path": _base64(path.astype("<f4")),
        "ground": _column_major(ground.plane),
        "flat": isinstance(ground, FlatTerrain),
        "view": {
            "azimuth": camera.azimuth,
            "elevation": camera.elevation,
            "distance": camera.distance,
            "target": camera.target,
            "field": FIELD_OF_VIEW,
            "aspect": REFERENCE_WINDOW[0] / REFERENCE_WINDOW[1],
        },
        **_pack_surfaces([*surfaces, *ground_surfaces(job.recording, states[0])]),
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


def _joint_poses(robot: Robot, states: Sequence[State], job: ExportJob) -> np.ndarray:
    """Return position (m) and quaternion (x, y, z, w) in the world of every joint in every state: n x joints x 7.

    Joint 0 is the world.
    """
    data = robot.model.createData()
    poses = np.zeros((len(states), robot.model.njoints, 7))
    for i, state in enumerate(states):
        pinocchio.forwardKinematics(robot.model, data, state.q)
        for joint in range(robot.model.njoints):
            poses[i, joint] = pinocchio.SE3ToXYZQUAT(data.oMi[joint])
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
            {"joint": surface.joint, "color": surface.color, "first": index_count, "count": surface.faces.size}
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


def _title(job: ExportJob) -> str:
    provenance = job.recording.provenance
    behavior = provenance.get("behavior")
    return f"{job.robot.name}: {behavior}" if isinstance(behavior, str) else job.robot.name
