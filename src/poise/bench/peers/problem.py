"""The problem that all contenders solve, in numbers: one robot, one start, one moving target, the same limits.

G1 (29 joints, free-flying base) stands with bent knees, keeps both feet and the horizontal position of its center of
mass where they are, and follows a moving point with its left hand; what is left goes to the posture it started from.
Ranges and speeds of the joints are hard constraints, as the robot's description states them.

Standard library only, because the workers of the peers load this file by its path, in environments without Poise.
"""

from __future__ import annotations

from math import cos, sin

#: Description of the robot, as the package example-robot-data calls the file.
URDF = "g1_29dof_rev_1_0.urdf"
#: Links of the robot. The hand is a point of `HAND_BODY` for those who merge links that cannot move.
BASE, HAND, HAND_BODY = "pelvis", "left_rubber_hand", "left_wrist_yaw_link"
FEET = ("left_ankle_roll_link", "right_ankle_roll_link")

#: Duration of a step in s: 200 Hz.
PERIOD = 0.005
#: A limit of all joint speeds in rad/s that binds in a third of the steps, and still lets the hand follow. The robot's
#: own limits (20 rad/s and more) are constraints too, but never bind here.
TIGHT_SPEED = 0.4
#: Amplitude of the target in m, and its angular frequencies in rad/s; they have no common period.
AMPLITUDE = 0.08
FREQUENCIES = (2.0, 1.3, 1.7)

#: Where the base is at the start in m, upright; the feet are then flat and about on the ground.
BASE_POSITION = (0.0, 0.0, 0.75)
#: Angles at the start in rad, for joints whose name ends so; all others are zero.
ANGLES = {
    "hip_pitch_joint": -0.3,
    "knee_joint": 0.6,
    "ankle_pitch_joint": -0.3,
    "shoulder_pitch_joint": 0.2,
    "left_shoulder_roll_joint": 0.2,
    "right_shoulder_roll_joint": -0.2,
    "elbow_joint": 0.6,
}

#: What an error of one unit (m, rad) costs in a weighted program. The cost enters squared: a weight is its square.
COSTS = {"feet": 100.0, "center_of_mass": 10.0, "hand": 1.0, "posture": 0.01}

#: A contender does the job if, at the end of every chunk of steps, its errors are below these, in m and rad.
ALLOWED = {"hand": 5e-3, "feet": 2e-3, "feet_rotation": 1e-2, "center_of_mass": 5e-3}


def start_angle(joint: str) -> float:
    """Angle of a joint at the start, in rad.

    >>> start_angle("left_knee_joint"), start_angle("waist_yaw_joint")
    (0.6, 0.0)
    """
    return next((angle for ending, angle in ANGLES.items() if joint.endswith(ending)), 0.0)


def offset(step: int) -> tuple[float, float, float]:
    """Where the hand should be after a step, relative to where it was at the start, in m in the world.

    Steps count from 1 and end at t = step * PERIOD::

        offset(t) = AMPLITUDE (sin 2 t,  cos 1.3 t - 1,  sin 1.7 t)

    >>> offset(0)
    (0.0, 0.0, 0.0)
    """
    t, (x, y, z) = step * PERIOD, FREQUENCIES
    return AMPLITUDE * sin(x * t), AMPLITUDE * (cos(y * t) - 1.0), AMPLITUDE * sin(z * t)
