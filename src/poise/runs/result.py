"""Result of a run, as `poise run --json` prints it, with its measures of balance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from poise.arrays import Array
from poise.files import json_ready
from poise.geometry import margin, so3
from poise.recording import Recording
from poise.robots import Robot, State
from poise.runs.loop import Ran
from poise.runs.request import Request
from poise.state import Snapshot, zmp

#: A motor is at its limit above this share of it.
FULL = 0.999


def zmp_margin(recording: Recording, robot: Robot, seen: Sequence[State] | None = None) -> float | None:
    """Smallest distance of the ZMP from the edge of the support polygon, m; negative outside. None without contacts.

    Where forces were sensed it is the centre of pressure. Else it follows from the momentum of the whole body in the
    recorded states, by differences over one period: of a motion without physics it tells what the ground would have
    to bear.

    Args:
        seen: states of the recording to look at, where forces were sensed; None: all.
    """
    if "center_of_pressure" in recording:
        states = list(recording.states(robot)) if seen is None else list(seen)
        at = np.searchsorted(recording.time, [state.time for state in states])
        points = recording["center_of_pressure"][np.minimum(at, len(recording) - 1)]
    else:
        states = list(recording.states(robot))
        points = _zmp(recording, robot, states) if len(states) >= 3 and states[0].contacts else np.zeros((0, 2))
    if len(states) < 3 or not any(state.contacts for state in states):
        return None
    pairs = zip(states[1:-1], points[1:-1], strict=True)
    # Where the body would have to pull on the ground there is no such point; the motion is then far outside anyway.
    margins = [
        float(margin(state.support_polygon, point))
        for state, point in pairs
        if np.isfinite(point).all() and len(state.support_polygon) > 2
    ]
    return min(margins, default=None)


def _zmp(recording: Recording, robot: Robot, states: list[State]) -> Array:
    snapshot = Snapshot(robot)
    momentum = np.array([snapshot.at(state).momentum.copy() for state in states])
    center = np.array([snapshot.at(state).center_of_mass.copy() for state in states])
    rate = np.gradient(momentum, recording.period, axis=0)
    ground = float(np.mean([states[0].pose(part).translation[2] for part in states[0].contacts]))
    return zmp(center, rate[:, :3] / robot.mass, rate[:, 3:], robot.mass, ground)


def worst_tilt(states: list[State], robot: Robot) -> float:
    """Largest angle by which the trunk (chest if there is one, else base) leaves its upright, rad."""
    part = robot.chest or robot.frame("root_joint")
    up = robot.stance("standing").pose(part).rotation.T @ np.array([0.0, 0.0, 1.0])
    cosines = [float(state.pose(part).rotation[2] @ up) for state in states]
    return float(np.arccos(np.clip(min(cosines), -1.0, 1.0)))


def moved(states: list[State]) -> tuple[float, float]:
    """How far the base went over the ground from first to last (m), and how far it turned about the vertical (rad)."""
    first, last = states[0], states[-1]
    base = first.robot.frame("root_joint")
    turn = so3.log(last.pose(base).rotation @ first.pose(base).rotation.T)
    return float(np.linalg.norm((last.q - first.q)[:2])), float(turn[2])


def sole_tilt(states: list[State], robot: Robot) -> float:
    """Largest angle by which a sole that should stay leaves its first orientation, rad."""
    soles = [part for part in states[0].contacts if part in robot.feet]
    first = {foot: states[0].pose(foot).rotation[:, 2] for foot in soles}
    cosines = [float(state.pose(foot).rotation[:, 2] @ first[foot]) for state in states for foot in soles]
    return float(np.arccos(np.clip(min(cosines, default=1.0), -1.0, 1.0)))


def torque_limits(recording: Recording, robot: Robot) -> dict[str, dict[str, float]] | None:
    """Joints whose motors were at their limit: for how many seconds. None for a motion without torques."""
    if "command/torque" not in recording:
        return None
    share = np.abs(recording["command/torque"]) / robot.limits.torque
    full = np.sum(share >= FULL, axis=0) * recording.period
    return {
        joint.name: {"seconds": float(full[i]), "limit_Nm": float(robot.limits.torque[i])}
        for i, joint in enumerate(robot.joints)
        if full[i] > 0.0
    }


# -- Result: what `poise run --json` prints --------------------------------------------------------------------------


Result = dict[str, Any]


def summarised(request: Request, ran: Ran, robot: Robot) -> Result:
    """All keys of a run; those that only some behaviors know are None until they set them."""
    recording = ran.recording
    return {
        "behavior": request.behavior,
        "robot": request.robot,
        "mode": request.mode,
        "plant": request.plant,
        "seconds": ran.seconds,
        "fell": bool(ran.fall),
        "reason": ran.fall or None,
        "steps": None,
        "distance_m": None,
        "heading_rad": None,
        "worst_tilt_deg": math.degrees(worst_tilt(ran.states, robot)),
        "zmp_margin_m": zmp_margin(recording, robot, ran.states),
        "reach_errors_m": None,
        "control_ms": recording.milliseconds("control"),
        "realtime_factor": recording.duration / ran.wall if ran.wall > 0.0 else None,
        "fallbacks": recording.fallbacks(),
        "nonfinite_commands": recording.nonfinite_commands(),
        "levels": recording.levels(),
        "limits": torque_limits(recording, robot),
    }


def failed(result: Result, reasons: list[str]) -> Result:
    """The same, with more reasons why it did not succeed, if there are any."""
    given = [result["reason"]] if result["reason"] else []
    result["reason"] = "; ".join([*given, *reasons]) or None
    return json_ready(result)
