"""HTML: one page that plays a motion in a browser, without a network."""

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

from poise.exports.formats import Job
from poise.exports.video import followed
from poise.plants import Flat
from poise.rendering import FIELD_OF_VIEW, Surface, figure, ground_of, shape_mesh, stones, surface
from poise.robots import Robot, State

HERE = Path(__file__).parent / "viewer"
#: Poses a second unless asked otherwise; the page moves evenly between them.
RATE = 30.0
#: Numbers of all poses of a page, which then stays below 10 MB: a longer motion gets fewer poses a second.
MOST = 700_000
#: Shape for which the first view is framed: it fits any window that is wider, and a narrower one steps back.
WINDOW = (720, 720)


def export_html(job: Job, file: Path) -> None:
    """Meshes, poses and the viewer in one file: nothing is fetched from anywhere."""
    robot = job.robot
    rate = min(job.rate or RATE, MOST / (7 * robot.model.njoints) / max(job.whole.duration, 1e-3))
    rate = max(rate, 2.0 / max(job.whole.duration, 1e-3))
    states = job.states(rate)
    path, camera = followed(states, rate, *WINDOW)
    poses, ground = _poses(robot, states, job), ground_of(job.recording, robot)
    drawn = figure(robot)
    surfaces = [surface(shape.joint, shape.color, shape_mesh(drawn, shape)) for shape in drawn.shapes]
    data = {
        "title": _title(job),
        "time": [float(state.time) for state in states],
        "joints": robot.model.njoints,
        "poses": _packed(poses.astype("<f4")),
        "path": _packed(path.astype("<f4")),
        "ground": _matrix(ground.plane),
        "flat": isinstance(ground, Flat),
        "view": {
            "azimuth": camera.azimuth,
            "elevation": camera.elevation,
            "distance": camera.distance,
            "target": camera.target,
            "field": FIELD_OF_VIEW,
            "aspect": WINDOW[0] / WINDOW[1],
        },
        **_geometry([*surfaces, *stones(job.recording, states[0])]),
    }
    file.write_text(_page(data), encoding="utf-8")


def _page(data: dict[str, Any]) -> str:
    """The viewer with its style, its program and its data."""
    page = (HERE / "page.html").read_text(encoding="utf-8")
    parts = {
        "TITLE": escape(data["title"]),
        "STYLE": (HERE / "viewer.css").read_text(encoding="utf-8"),
        "DATA": json.dumps(data, allow_nan=False).replace("<", "\\u003c"),  # nothing in it can end its element
        "PROGRAM": "".join((HERE / name).read_text(encoding="utf-8") for name in ("drawing.js", "viewer.js")),
    }
    return re.sub(r"{{([A-Z]+)}}", lambda found: parts[found[1]], page)


def _poses(robot: Robot, states: Sequence[State], job: Job) -> np.ndarray:
    """Position and quaternion (x, y, z, w) of every joint in every state: n x joints x 7; the world is the first."""
    data = robot.model.createData()
    poses = np.zeros((len(states), robot.model.njoints, 7))
    for i, state in enumerate(states):
        pinocchio.forwardKinematics(robot.model, data, state.q)
        for joint in range(robot.model.njoints):
            poses[i, joint] = pinocchio.SE3ToXYZQUAT(data.oMi[joint])
        job.progress(state.time - states[0].time)
    return poses


def _geometry(surfaces: Sequence[Surface]) -> dict[str, Any]:
    """All surfaces in one array, 12 bytes a point: 3 x int16 position, 2 bytes idle, 3 x int8 normal, 1 byte idle.

    A position of 32767 is `scale` (m), which is some 20 µm a step for a humanoid.
    """
    opaque_first = sorted(surfaces, key=lambda one: -one.color[3])
    scale = max(float(np.abs(one.points).max()) for one in opaque_first)
    vertices, indices, parts, first, done = [], [], [], 0, 0
    for one in opaque_first:
        packed = np.zeros(len(one.points), dtype=[("position", "<i2", 4), ("normal", "i1", 4)])
        packed["position"][:, :3] = np.round(one.points / scale * 32767.0)
        packed["normal"][:, :3] = np.round(one.normals * 127.0)
        vertices.append(packed)
        indices.append((one.faces.ravel() + first).astype("<u4"))
        parts.append({"joint": one.joint, "color": one.color, "first": done, "count": one.faces.size})
        first, done = first + len(one.points), done + one.faces.size
    return {
        "scale": scale,
        "vertices": _packed(np.concatenate(vertices)),
        "indices": _packed(np.concatenate(indices)),
        "parts": parts,
    }


def _packed(array: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()


def _matrix(pose: pinocchio.SE3) -> list[float]:
    """By columns, as graphics have it."""
    return [float(number) for number in pose.homogeneous.T.ravel()]


def _title(job: Job) -> str:
    facts = job.recording.provenance
    behavior = facts.get("behavior")
    return f"{job.robot.name}: {behavior}" if isinstance(behavior, str) else job.robot.name
