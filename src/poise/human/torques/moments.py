"""Moments: torques as gait laboratories print them, per kg of body mass and with their signs; and against theirs.

What is printed is the internal moment, that of muscles and ligaments: extensors, abductors, external rotators and
plantarflexors are positive, which is minus the torque of the body's joints (flexion, adduction, internal rotation and
dorsiflexion are positive there). That Plug-in Gait has these signs at hip, knee and ankle was found on its own files,
where shapes agree with these signs and with no others. It stores N mm per kg, though the files say "Nmm".

>>> moments(torques)["left knee extensor"].max()
0.58
>>> [(row.title, round(row.agreement.correlation, 2)) for row in against_stored(torques)]
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from poise.analysis.agreement import Agreement, agreement
from poise.human.torques.inverse import Torques
from poise.human.torques.moved import Array
from poise.robots.parts import SIDES, Side

#: N m per kg in what Plug-in Gait stores.
STORED_UNIT = 1e-3
#: Least part of the time on plates for which the file must have moments: at its edges some have a swing that ends late.
COVERED = 0.5


class Convention(NamedTuple):
    """How a torque is printed.

    Attributes:
        joint: of the human of the library, without its side.
        title: what is positive.
        sign: from the torque of the joint to the printed moment.
        stored: channel of Plug-in Gait without its side, "" if it stores none, and which of its three numbers.
    """

    joint: str
    title: str
    sign: float
    stored: str = ""
    component: int = 0


#: Of each leg. Inversion is not compared: two markers on a foot do not show it.
LEG = (
    Convention("hip_flexion", "hip extensor", -1.0, "HipMoment", 0),
    Convention("hip_adduction", "hip abductor", -1.0, "HipMoment", 1),
    Convention("hip_rotation", "hip external rotator", -1.0, "HipMoment", 2),
    Convention("knee_flexion", "knee extensor", -1.0, "KneeMoment", 0),
    Convention("ankle_dorsiflexion", "ankle plantarflexor", -1.0, "AnkleMoment", 0),
    Convention("ankle_inversion", "ankle evertor", -1.0),
)
#: Of the back.
BACK = (
    Convention("lumbar_extension", "lumbar extensor", 1.0),
    Convention("lumbar_bending", "lumbar bender to the right", 1.0),
    Convention("lumbar_rotation", "lumbar rotator to the left", 1.0),
)


def moments(torques: Torques, everywhere: bool = False) -> dict[str, Array]:
    """Printed moments by title, n, N m per kg; NaN where not known, unless asked for `everywhere`.

    Titles are those of the conventions, after the side: ``"left hip extensor"``, ``"lumbar extensor"``.
    """
    found = {}
    for side in SIDES:
        for own in LEG:
            found[f"{side} {own.title}"] = _moment(torques, f"{side}_{own.joint}", own, everywhere)
    for own in BACK:
        found[own.title] = _moment(torques, own.joint, own, everywhere)
    return found


class Row(NamedTuple):
    """One moment against the same as the file has it, N m per kg."""

    side: Side
    title: str
    agreement: Agreement


def against_stored(torques: Torques) -> tuple[Row, ...]:
    """Moments against those that the laboratory's software stored in the file, for legs that it has.

    Compared are the frames in which a plate bears the foot, also one that bears only some of it: the software was given
    the same forces. Where it stores zeros it had none. In the air both are small, and some files hold what became of a
    plate that was given to the wrong foot.
    """
    rows = []
    for side in SIDES:
        for own in LEG:
            stored = torques.trial.moments.get(f"{side[0].upper()}{own.stored}") if own.stored else None
            if stored is None:
                continue
            there = np.isfinite(stored).all(axis=1) & (stored != 0.0).any(axis=1) & torques.ground.loaded[side]
            if there.sum() < COVERED * max(torques.ground.loaded[side].sum(), 1):
                continue
            ours = _moment(torques, f"{side}_{own.joint}", own, everywhere=True)
            theirs = STORED_UNIT * stored[:, own.component]
            rows.append(Row(side, own.title, agreement(ours[there], theirs[there])))
    return tuple(rows)


def _moment(torques: Torques, joint: str, own: Convention, everywhere: bool) -> Array:
    return np.asarray(own.sign * torques.of(joint, everywhere) / torques.mass)
