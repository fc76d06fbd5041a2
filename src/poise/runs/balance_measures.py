"""Measures of a recorded motion: balance, displacement, speed, slip, and motors at their limits."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from poise.arrays import Array
from poise.geometry import margin, so3
from poise.recording import Recording
from poise.robots import Robot, State
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


def mean_speed(recording: Recording, states: list[State], steps: float) -> tuple[float, float, float]:
    """Of the base in the axes of its heading, while it walks at its speed: without the first and last steps."""
    names = recording["phase"]
    walking = [i for i, name in enumerate(names) if name.endswith("support")]
    if len(walking) < 2:
        return 0.0, 0.0, 0.0
    low, high = recording.time[walking[0]], recording.time[walking[-1]]
    margin = min(2.0, 0.25 * (high - low))
    seen = [state for state in states if low + margin <= state.time <= high - margin]
    if len(seen) < 3:
        return 0.0, 0.0, 0.0
    yaws = np.unwrap([_yaw(state) for state in seen])
    points = np.array([state.q[:2] for state in seen])
    turned = np.exp(-1j * 0.5 * (yaws[1:] + yaws[:-1])) * np.exp(1j * _yaw(states[0]))
    went = np.sum((np.diff(points[:, 0]) + 1j * np.diff(points[:, 1])) * turned)
    seconds = seen[-1].time - seen[0].time
    return float(went.real / seconds), float(went.imag / seconds), float((yaws[-1] - yaws[0]) / seconds)


def largest_slip(recording: Recording, states: list[State], robot: Robot) -> float:
    """How far a foot that stands alone moves over the ground, at worst (m)."""
    names, period = recording["phase"], recording.period
    worst, first, name = 0.0, None, ""
    for state in states:
        now = str(names[min(round((state.time - recording.time[0]) / period), len(names) - 1)])
        if now not in ("left support", "right support"):
            first, name = None, now
            continue
        foot = robot.foot("left" if now.startswith("left") else "right")
        place = state.pose(foot).act(foot.sole.center)[:2]
        if now != name or first is None:
            first, name = place, now
        worst = max(worst, float(np.linalg.norm(place - first)))
    return worst


def _yaw(state: State) -> float:
    """Of the feet, in the middle."""
    poses = [state.pose(foot).rotation for foot in state.robot.feet]
    return float(np.angle(sum(complex(R[0, 0], R[1, 0]) for R in poses)))


def capture_point_error(last: State, place: Array) -> float:
    """Distance over the ground of the capture point c + v sqrt(h/g) from a place (m)."""
    snapshot = Snapshot(last.robot).at(last)
    c, v = snapshot.center_of_mass, snapshot.center_of_mass_velocity
    return float(np.linalg.norm((c + v * math.sqrt(max(c[2], 0.1) / 9.81) - place)[:2]))


def middle_of_feet(state: State) -> Array:
    """The point between the soles (m, 3)."""
    return np.asarray(np.mean([state.pose(foot).act(foot.sole.center) for foot in state.robot.feet], axis=0))
