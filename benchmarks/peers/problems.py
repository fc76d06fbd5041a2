"""Definitions of the two benchmark problems that all contenders solve: robots, targets, gains, weights and tolerances.

Standard library only, because the workers of the peers load this file by its path, in environments without Poise.
"""

from __future__ import annotations

from math import cos, pi, sin, sqrt
from typing import ClassVar


class KinematicsProblem:
    """Inverse kinematics: one robot, one start, one moving target, the same limits.

    G1 (29 joints, free-flying base) stands with bent knees, keeps both feet and the horizontal position of its center
    of mass fixed, and tracks a moving point with its left hand; the remaining freedom tracks the initial posture.
    Ranges and speeds of the joints in the URDF are hard constraints.
    """

    #: File name of the URDF in the package example-robot-data.
    URDF = "g1_29dof_rev_1_0.urdf"
    #: Links of the robot. The hand is a point of `HAND_BODY` for libraries that merge links that cannot move.
    BASE, HAND, HAND_BODY = "pelvis", "left_rubber_hand", "left_wrist_yaw_link"
    FEET = ("left_ankle_roll_link", "right_ankle_roll_link")

    #: Duration of a step, s: 200 Hz.
    PERIOD = 0.005
    #: A limit of all joint speeds, rad/s, that is active in a third of the steps and still lets the hand track its
    #: target. The robot's own limits (20 rad/s and more) are constraints too, but never active here.
    TIGHT_SPEED = 0.4
    #: Amplitude of the target in m, and its angular frequencies in rad/s; they have no common period.
    AMPLITUDE = 0.08
    FREQUENCIES = (2.0, 1.3, 1.7)

    #: Initial position of the base in the world, m, upright; the feet are then flat and close to the ground.
    BASE_POSITION = (0.0, 0.0, 0.75)
    #: Initial angles, rad, by the ending of the joint name; all others are zero.
    ANGLES: ClassVar[dict[str, float]] = {
        "hip_pitch_joint": -0.3,
        "knee_joint": 0.6,
        "ankle_pitch_joint": -0.3,
        "shoulder_pitch_joint": 0.2,
        "left_shoulder_roll_joint": 0.2,
        "right_shoulder_roll_joint": -0.2,
        "elbow_joint": 0.6,
    }

    #: Cost of an error of one unit (m, rad) in a weighted program; the weight of a squared error is its square.
    COSTS: ClassVar[dict[str, float]] = {"feet": 100.0, "center_of_mass": 10.0, "hand": 1.0, "posture": 0.01}

    #: Tolerances of a valid contender: largest errors at the end of every round of steps, m and rad.
    ALLOWED: ClassVar[dict[str, float]] = {"hand": 5e-3, "feet": 2e-3, "feet_rotation": 1e-2, "center_of_mass": 5e-3}

    @classmethod
    def start_angle(cls, joint: str) -> float:
        """Return the initial angle of a joint, rad.

        >>> KinematicsProblem.start_angle("left_knee_joint"), KinematicsProblem.start_angle("waist_yaw_joint")
        (0.6, 0.0)
        """
        return next((angle for ending, angle in cls.ANGLES.items() if joint.endswith(ending)), 0.0)

    @classmethod
    def offset(cls, step: int) -> tuple[float, float, float]:
        """Return the target of the hand after a step, relative to its initial position, in world axes, m.

        Steps count from 1 and end at t = step * PERIOD::

            offset(t) = AMPLITUDE (sin 2 t,  cos 1.3 t - 1,  sin 1.7 t)

        >>> KinematicsProblem.offset(0)
        (0.0, 0.0, 0.0)
        """
        t, (x, y, z) = step * cls.PERIOD, cls.FREQUENCIES
        return cls.AMPLITUDE * sin(x * t), cls.AMPLITUDE * (cos(y * t) - 1.0), cls.AMPLITUDE * sin(z * t)


class DynamicsProblem:
    """Inverse dynamics: torques for given states of one motion.

    A humanoid stands on both feet and moves: its center of mass sways, its right hand tracks a moving point, its trunk
    stays upright, and the remaining freedom tracks the initial posture. At each step a contender receives q and v, the
    same for all contenders, and returns torques. Both feet are rigid contacts with friction; torques and joints have
    limits.
    """

    #: Robots of the library, and the side of the hand that moves.
    ROBOTS, SIDE = ("g1", "talos"), "right"

    #: Duration of a step, s: 500 Hz, a usual rate of torque control of humanoids.
    PERIOD = 0.002
    #: Period of targets and states in steps: 3 s.
    STEPS = 1500
    #: Steps between two answers that are evaluated: 75 per period, which covers every phase of the motion.
    EVALUATED_EVERY = 20

    #: Friction coefficient between soles and ground, and that of the pyramid inscribed in the friction cone, which all
    #: contenders use.
    FRICTION = 0.7
    SLOPE = FRICTION / sqrt(2.0)
    #: Largest normal force of a contact, in weights of the robot: TSID requires a limit; this one is never active.
    LARGEST_FORCE = 4.0

    #: Gains g of the tasks, 1/s: desired acceleration ``a* - 2 g (rate error) - g^2 (error)``, critically damped.
    RATES: ClassVar[dict[str, float]] = {"contact": 20.0, "balance": 10.0, "hand": 10.0, "torso": 10.0, "posture": 5.0}

    #: Weights of squared errors of one unit (m/s^2, rad/s^2) in a weighted program. The posture demands up to
    #: 10 rad/s^2 in conflict with the tasks above it: with its weight of 1e-3 their errors are 0.01, with 0.1 they are
    #: 0.3. All weights are large compared with 1e-8, the regularization that TSID adds for every unknown, forces (N)
    #: included, which would otherwise change the posture of Talos.
    WEIGHTS: ClassVar[dict[str, float]] = {"balance": 100.0, "hand": 100.0, "torso": 100.0, "posture": 1e-3}
    #: Weight of squared forces (N) and torques (N m). It is small, because it only selects one of many feasible force
    #: distributions.
    FORCE_WEIGHT = 1e-7

    #: Amplitude of the sway along x in sole lengths, y in distances between the feet, z in robot heights, and its
    #: number of periods within STEPS. The sway takes most of the weight off each foot in turn and leans to toes and
    #: heels, so that contact constraints are active in a part of the steps, and yet all tasks are feasible.
    SWAY, SWAY_TURNS = (0.15, 0.30, 0.01), (2, 1, 3)
    #: Amplitude of the hand in robot heights, and its numbers of periods. The middles of both motions, in robot heights
    #: relative to the initial state, keep knees and elbows away from their limits.
    REACH, REACH_TURNS = (0.03, 0.03, 0.03), (2, 3, 1)
    SWAY_MIDDLE, REACH_MIDDLE = (0.0, 0.0, -0.03), (0.10, -0.04, 0.08)

    #: Tolerances of a valid contender, at every evaluated step. "motion" and "cone": residual of the equation of
    #: motion, and distance of a contact force outside its cone, relative to the weight of the robot. "torque": excess
    #: of a torque, relative to its limit. "contact" and tasks: acceleration of a foot, and acceleration errors of the
    #: tasks (m/s^2, rad/s^2); a task may have an error of a hundredth of gravity.
    ALLOWED: ClassVar[dict[str, float]] = {
        **dict.fromkeys(("motion", "cone", "torque", "contact"), 1e-6),
        **dict.fromkeys(("balance", "hand", "torso"), 0.1),
    }

    @classmethod
    def is_evaluated(cls, step: int) -> bool:
        """Return whether the answer to a step is stored and evaluated: one in EVALUATED_EVERY."""
        return step % cls.EVALUATED_EVERY == 0

    @classmethod
    def wave(
        cls, step: int, amplitudes: tuple[float, float, float], turns: tuple[int, int, int]
    ) -> tuple[list[float], ...]:
        """Return value, rate and acceleration of a periodic curve at a step, in the unit of the amplitudes and s::

            x(t) = amplitude sin(w t),   w = 2 pi turns / (STEPS PERIOD)

        >>> DynamicsProblem.wave(0, DynamicsProblem.SWAY, DynamicsProblem.SWAY_TURNS)[0]
        [0.0, 0.0, 0.0]
        """
        t = (step % cls.STEPS) * cls.PERIOD
        pairs = [(a, 2.0 * pi * n / (cls.STEPS * cls.PERIOD)) for a, n in zip(amplitudes, turns, strict=True)]
        value = [a * sin(w * t) for a, w in pairs]
        rate = [a * w * cos(w * t) for a, w in pairs]
        acceleration = [-a * w * w * sin(w * t) for a, w in pairs]
        return value, rate, acceleration
