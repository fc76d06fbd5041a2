"""Normal: the norm curves of adults as a motion of the whole body, before its feet are looked at."""

from __future__ import annotations

import math

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.analysis.norms import norm, norm_joints
from poise.human.sample.motion import HALF, ORDERS, PeriodicMotion, fitted
from poise.robots import Robot, State
from poise.robots.parts import SIDES

Array = NDArray[np.float64]

#: The norms begin with the heel's largest lead, 40 ms of 1.1 s before the strike.
EARLY = 0.035
#: Steps of the cycle at which curves are read: enough for six harmonics and their products.
STEPS = 100
#: Stride time (s) of a leg of 0.91 m; others as the root of the length, as pendulums do.
STRIDE_TIME, LEG = 1.08, 0.91
#: First guess of the stride as a share of the leg; the feet have the last word.
STRIDE = 1.4
#: Lean of the trunk, rad: shoulders two or three centimetres before the hips.
LEAN = math.radians(3.0)
#: Arms hang a little off the body with palms turned inwards and fingers half open, rad.
HELD = {"shoulder_adduction": -0.12, "forearm_pronation": 1.40, "fingers_flexion": 0.30}


def normal_motion(robot: Robot) -> PeriodicMotion:
    """Legs, arms, pelvis and back as in the norms, the head upright; the hip centres at the height of straight legs.

    Left is right half a cycle later. The pelvis and the back are made symmetrical: what a mirror and half a cycle leave
    as it is stays, the rest is the difference between the people's sides.
    """
    c = np.zeros((robot.model.nv, len(ORDERS)))
    phi = np.arange(STEPS) / STEPS + EARLY

    def curve(joint: str, mirrored: bool) -> Array:
        own = norm(joint, cycle="right")
        return fitted((own.at(phi) + (-1.0 if mirrored else 1.0) * own.at(phi + 0.5)) / 2.0)

    tilt, up, turn = curve("pelvis_tilt", False), curve("pelvis_obliquity", True), curve("pelvis_rotation", True)
    back, bend, twist = (curve(f"lumbar_{word}", word != "extension") for word in ("extension", "bending", "rotation"))
    back[0] = tilt[0] - LEAN
    c[3], c[4], c[5] = -up, tilt, turn
    trunk = {"lumbar_extension": back, "lumbar_bending": bend, "lumbar_rotation": twist}
    head = {"neck_extension": LEAN * (ORDERS == 0), "neck_bending": up - bend, "neck_rotation": -turn - twist}
    for joint, own in {**trunk, **head}.items():
        c[robot.joint(joint).v] = own
    limbs = [name for name in norm_joints() if not name.startswith(("pelvis", "lumbar"))]
    for side in SIDES:
        later = HALF if side == "left" else 1.0
        for joint in limbs:
            c[robot.joint(f"{side}_{joint}").v] = fitted(norm(f"right_{joint}").at(phi)) * later
        for joint, angle in HELD.items():
            c[robot.joint(f"{side}_{joint}").v, 0] = angle
    leg = -float(State(robot, pinocchio.neutral(robot.model)).pose(robot.foot("right")).translation[2])
    c[2, 0] = leg
    return PeriodicMotion(robot, c, STRIDE * leg, STRIDE_TIME * math.sqrt(leg / LEG))
