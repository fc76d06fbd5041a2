"""Response: how soon the guided point moves when it is told to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.devices import Device, RandomStick, Script
from poise.recording import Recording
from poise.robots import Foot, Robot, State

Array = NDArray[np.float64]

#: A point moves when it is this share of its planned way from where it was, or this far (m), whatever is more: a
#: millimetre is what a standing body sways by.
SHARE, SWAY = 0.05, 0.001
#: Commands that ask for less than this (m) are left out: nobody could tell.
LEAST = 0.004
#: Motion, and when the stick of a device changed, are looked for in steps of this (s).
LOOK = 0.01


def response(found: Sequence[dict[str, Any]], recording: Recording, device: Device) -> dict[str, Any] | None:
    """How soon guided points moved; None if none was told to.

    A command is read when the segment before it is over, and its own segment begins at once: so the point moves within
    one segment of the command if it moves before the segment that took it is over. Where it really is counts, not where
    noisy sensors see it.

    Returns:
        ``commands`` that were looked at, ``median`` and ``max`` of the seconds from the begin of the segment that takes
        a command until the guided point has moved, ``within_one_segment``, the share that moved before its end, and
        ``since_command``, the longest from the change of the stick, where the device can tell when that was.
    """
    stride = round(max(LOOK / recording.period, 1.0)) if recording.period > 0.0 else 1
    times, q = recording.time[::stride], _true(recording)[::stride]
    took, since, late = [], [], 0
    for before, each, after in zip([None, *found[:-1]], found, [*found[1:], None], strict=True):
        way = _way(each)
        if way < LEAST or not any(each["axes"]):
            continue
        end = each["time"] + each["seconds"] if after is None else after["time"]
        first, last = np.searchsorted(times, [each["time"] - 1e-6, end + 1e-6])
        if last >= len(times):  # the recording ends before the segment does
            continue
        seen = _places(recording.robot, q[first:last], each["mode"])
        far = np.flatnonzero(np.linalg.norm(seen - seen[0], axis=1) > max(SHARE * way, SWAY))
        if not len(far):
            late += 1
            continue
        moves = float(times[first + far[0]])
        took.append(moves - each["time"])
        changed = None if before is None else _changed(device, each["time"], before["time"])
        if changed is not None:
            since.append(moves - changed)
    if not took and not late:
        return None
    return {
        "commands": len(took) + late,
        "median": float(np.median(took)) if took else None,
        "max": max(took, default=None),
        "within_one_segment": len(took) / (len(took) + late),
        "since_command": max(since, default=None),
    }


def _way(each: dict[str, Any]) -> float:
    """How far the guided point is to go (m)."""
    name = "center" if each["mode"] == "trunk" else each["mode"]
    if name not in each["goal"]:  # a robot without hands
        return 0.0
    begin, end = each["planned"][name][0], each["goal"][name]
    return float(np.linalg.norm(np.subtract(end, begin))) if None not in (*begin, *end) else 0.0


def _true(recording: Recording) -> Array:
    """Configurations as they really were, where that was recorded."""
    q: Array = recording["q"]
    if "true/q" not in recording:
        return q
    truth = recording["true/q"]
    return np.where(np.isfinite(truth), truth, q)


def _places(robot: Robot | None, q: Array, mode: str) -> Array:
    """Where a guided point is in some configurations (m, n x 3)."""
    assert robot is not None
    states = [State(robot, each) for each in q]
    if mode == "trunk":
        return np.array([state.center_of_mass for state in states])
    part = robot.foot(mode.split()[0]) if mode.endswith("foot") else robot.hand(mode.split()[0])  # type: ignore[arg-type]
    middle = part.sole.center if isinstance(part, Foot) else np.zeros(3)
    return np.array([state.pose(part).act(middle) for state in states])


def _changed(device: Device, time: float, before: float) -> float | None:
    """When the stick became what it is at a time (s), for devices that tell the same whenever they are asked; None if
    it was so already when it was read `before`."""
    if not isinstance(device, (Script, RandomStick)) or device.read(before) == device.read(time):
        return None
    now, at = device.read(time), time
    while at - LOOK > before and device.read(at - LOOK) == now:
        at -= LOOK
    return at
