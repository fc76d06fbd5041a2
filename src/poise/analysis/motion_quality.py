"""Quality of a motion as a whole: balance, tilt, displacement, foot slip and torque saturation.

These numbers decide whether a run passes. They are computed from a recording and states sampled from it, for any robot
and any controller. Lengths are in m, angles in rad; z is up in the world frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from poise.analysis.body_trajectories import compute_trajectories
from poise.analysis.contact_quality import polygon_margins, sliding_distance
from poise.analysis.walk_measures import torque_shares
from poise.arrays import Array
from poise.geometry import so3
from poise.recording import Recording
from poise.robots import Robot, State
from poise.state import Snapshot, capture_point

#: Share of its torque limit above which a motor is saturated.
SATURATED = 0.999


class Displacement(NamedTuple):
    """Horizontal distance of the base (m) and rotation about the vertical (rad) from the first state to the last."""

    distance: float
    heading: float


def state_samples(recording: Recording) -> list[int]:
    """Return the indices of the samples at which measures of a run are evaluated: at 100 Hz, and the last one."""
    stride = round(max(0.01 / recording.period, 1.0)) if recording.period > 0.0 else 1
    last = recording.samples - 1
    return sorted({*range(0, last + 1, stride), last})


def zmp_margin(recording: Recording, robot: Robot, states: Sequence[State] | None = None) -> float | None:
    """Return the smallest distance of the ZMP inside the support polygon over the motion, m; negative outside.

    If forces were measured, the center of pressure is used; else the ZMP is computed from finite differences of the
    momentum of the whole body; for a purely kinematic motion this is where the ground reaction force would have to act.
    The first and the last state are excluded.

    Args:
        recording, robot: the motion and its robot.
        states: states of the recording at which the measured center of pressure is evaluated; None: all.

    Returns:
        The margin; None for fewer than three states or without contacts.
    """
    measured = "center_of_pressure" in recording
    known = list(recording.states(robot)) if states is None or not measured else list(states)
    if len(known) < 3 or not any(state.contacts for state in known):
        return None
    if measured:
        at = np.searchsorted(recording.time, [state.time for state in known])
        points = np.asarray(recording["center_of_pressure"][np.minimum(at, recording.samples - 1)])
    else:
        points = compute_trajectories(recording, robot).zmp
    # Where the ground would have to pull on the body the ZMP is undefined; the motion is then far outside anyway.
    margins = polygon_margins(points[1:-1], [state.support_polygon for state in known[1:-1]], corners=3)
    return float(np.nanmin(margins)) if np.isfinite(margins).any() else None


def largest_trunk_tilt(states: Sequence[State], robot: Robot) -> float:
    """Return the largest angle between the trunk (chest, or base without one) and its upright orientation, rad."""
    part = robot.chest or robot.frame("root_joint")
    up = robot.stance("standing").pose(part).rotation.T @ np.array([0.0, 0.0, 1.0])
    return _largest_angle([float(state.pose(part).rotation[2] @ up) for state in states])


def largest_sole_tilt(states: Sequence[State], robot: Robot) -> float:
    """Return the largest angle between the normal of a sole and its normal in the first state, rad.

    Only feet in contact in the first state are considered.
    """
    soles = [part for part in states[0].contacts if part in robot.feet]
    first = {foot: states[0].pose(foot).rotation[:, 2] for foot in soles}
    return _largest_angle([float(state.pose(foot).rotation[:, 2] @ first[foot]) for state in states for foot in soles])


def _largest_angle(cosines: list[float]) -> float:
    return float(np.arccos(np.clip(min(cosines, default=1.0), -1.0, 1.0)))


def base_displacement(states: Sequence[State]) -> Displacement:
    """Compute the displacement of the base from the first state to the last.

    >>> base_displacement([start, end]).distance
    0.42
    """
    first, last = states[0], states[-1]
    base = first.robot.frame("root_joint")
    turn = so3.log(last.pose(base).rotation @ first.pose(base).rotation.T)
    return Displacement(float(np.linalg.norm((last.q - first.q)[:2])), float(turn[2]))


def torque_saturation(recording: Recording, robot: Robot) -> dict[str, dict[str, float]] | None:
    """Return the joints with saturated motors: duration ``seconds`` and torque limit ``limit_Nm`` of each. None for a
    motion without torques.
    """
    if "command/torque" not in recording:
        return None
    names, shares = torque_shares(recording, robot)
    seconds = np.sum(np.abs(shares) >= SATURATED, axis=0) * recording.period
    return {
        name: {"seconds": float(saturated_seconds), "limit_Nm": float(robot.limits.torque[robot.joint(name).v - 6])}
        for name, saturated_seconds in zip(names, seconds, strict=True)
        if saturated_seconds > 0.0
    }


def largest_foot_slip(recording: Recording, states: Sequence[State], robot: Robot) -> float:
    """Return the largest distance that a sole slides on the ground in single support, m; 0 without single support."""
    names, first = recording["phase"], recording.time[0]
    at = [min(round((state.time - first) / recording.period), len(names) - 1) for state in states]
    slips = [0.0]
    for foot in robot.feet:
        single = np.array([str(names[i]) == f"{foot.side} support" for i in at], dtype=bool)
        if single.any():
            slips.append(sliding_distance([state.pose(foot).act(foot.sole.center) for state in states], single))
    return float(np.nanmax(slips))


def capture_point_error(last: State, place: Array) -> float:
    """Return the horizontal distance of the capture point ``c + v sqrt(c_z / g)`` from a given point, m.

    c and v are position and velocity of the center of mass; the ground is at z = 0.
    """
    snapshot = Snapshot(last.robot).at(last)
    c, v = snapshot.center_of_mass, snapshot.center_of_mass_velocity
    return float(np.linalg.norm(capture_point(c, v, max(c[2], 0.1)) - place[:2]))


def middle_of_feet(state: State) -> Array:
    """Return the mean of the sole centers of all feet, (3,), m, world frame."""
    return np.asarray(np.mean([state.pose(foot).act(foot.sole.center) for foot in state.robot.feet], axis=0))
