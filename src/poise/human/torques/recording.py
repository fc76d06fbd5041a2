"""Recording: the torques of a person as a recording like those of robots, to be reported, exported and compared."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.human.torques.inverse import Torques
from poise.human.torques.moved import Array
from poise.recording import Channel, Recording
from poise.recording.body import Body
from poise.recording.provenance import circumstances
from poise.robots.parts import SIDES, Side

AXES = ("x", "y", "z")
#: How a recording of measured torques calls what made it.
BEHAVIOR = "human torques"
WRENCH = ("fx", "fy", "fz", "mx", "my", "mz")
UNITS = ("N", "N", "N", "N m", "N m", "N m")


def recorded(torques: Torques) -> Recording:
    """Motion, torques, ground forces and residual on one clock.

    Channels are named as in recordings of robots: ``q``, ``v``, ``center_of_mass``, ``contacts``, ``phase`` (which feet
    stand), ``command/torque``; and ``torque_per_kg``, ``residual``. Torques that are not known are NaN. Forces are
    ``sensed/force/...`` and count as all that feet carry if the plates measured every step; else ``plate/force/...``.
    Both are wrenches about the middle of the sole, NaN where no plate is loaded.

    >>> recorded(inverse_dynamics(fit(walk, static))).save("walk.poise")  # then: poise report walk.poise
    """
    robot = torques.robot
    body = Body.of(robot)
    known = np.column_stack([torques.of(joint.name) for joint in robot.joints])
    names, units = body.efforts(len(robot.joints))
    center, soles = _places(torques)
    channels = [
        Channel("time", "s", torques.time),
        Channel("q", body.q_units, torques.q, body.q_labels),
        Channel("v", body.rates("/s"), torques.v, body.v_labels),
        Channel("center_of_mass", "m", center, AXES),
        Channel("command/torque", units, known, names),
        Channel("torque_per_kg", tuple(f"{unit}/kg" for unit in units), known / torques.mass, names),
        Channel("residual", UNITS, torques.residual, WRENCH),
        *_forces(torques, soles),
        Channel("contacts", "", _words(torques, lambda on: ", ".join(robot.foot(side).name for side in on))),
        Channel("phase", "", _words(torques, _phase)),
    ]
    facts = {
        **circumstances(robot),
        "behavior": BEHAVIOR,
        "trial": Path(torques.trial.path).name,
        "rate": torques.trial.rate,
        "mass": torques.mass,
        "torques": "inverse dynamics",
        "notes": list(torques.notes),
    }
    return Recording(channels, facts, robot)


def _places(torques: Torques) -> tuple[Array, dict[Side, Array]]:
    """Center of mass and middle of each sole, n x 3, m."""
    robot = torques.robot
    model, data = robot.model, robot.model.createData()
    center = np.empty((len(torques.time), 3))
    soles: dict[Side, Array] = {side: np.empty((len(torques.time), 3)) for side in SIDES}
    for k, q in enumerate(torques.q):
        pinocchio.framesForwardKinematics(model, data, q)
        center[k] = pinocchio.centerOfMass(model, data, q, False)
        for side in SIDES:
            foot = robot.foot(side)
            soles[side][k] = data.oMf[foot.index].act(foot.sole.center)
    return center, soles


def _forces(torques: Torques, soles: dict[Side, Array]) -> list[Channel]:
    ground = torques.ground
    kind = "sensed/force" if ground.known.all() else "plate/force"
    found = []
    for side in SIDES:
        force, place = ground.force[side], soles[side]
        wrench = np.hstack([force, ground.moment[side] - np.cross(place, force)])
        off = ~ground.loaded[side][:, np.newaxis]
        name = torques.robot.foot(side).name
        found.append(Channel(f"{kind}/{name}", UNITS, np.where(off, np.nan, wrench), WRENCH))
        found.append(Channel(f"{kind}_point/{name}", "m", np.where(off, np.nan, place), AXES))
    return found


def _words(torques: Torques, said: Callable[[list[Side]], str]) -> NDArray[np.object_]:
    on = [[side for side in SIDES if torques.ground.stands[side][k]] for k in range(len(torques.time))]
    return np.array([said(each) for each in on], dtype=object)


def _phase(on: list[Side]) -> str:
    return "double support" if len(on) > 1 else f"{on[0]} support" if on else "flight"
