"""The two problems that all contenders solve, in numbers.

Standard library only, because the workers of the peers load this file by its path, in environments without Poise.
"""

from __future__ import annotations

from math import cos, pi, sin, sqrt
from typing import ClassVar


class KinematicsProblem:
    """Inverse kinematics: one robot, one start, one moving target, the same limits.

    G1 (29 joints, free-flying base) stands with bent knees, keeps both feet and the horizontal position of its center
    of mass where they are, and follows a moving point with its left hand; what is left goes to the posture it started
    from. Ranges and speeds of the joints are hard constraints, as the robot's description states them.
    """

    #: Description of the robot, as the package example-robot-data calls the file.
    URDF = "g1_29dof_rev_1_0.urdf"
    #: Links of the robot. The hand is a point of `HAND_BODY` for libraries that merge links that cannot move.
    BASE, HAND, HAND_BODY = "pelvis", "left_rubber_hand", "left_wrist_yaw_link"
    FEET = ("left_ankle_roll_link", "right_ankle_roll_link")

    #: Duration of a step in s: 200 Hz.
    PERIOD = 0.005
    #: A limit of all joint speeds in rad/s that binds in a third of the steps, and still lets the hand follow. The
    #: robot's own limits (20 rad/s and more) are constraints too, but never bind here.
    TIGHT_SPEED = 0.4
    #: Amplitude of the target in m, and its angular frequencies in rad/s; they have no common period.
    AMPLITUDE = 0.08
    FREQUENCIES = (2.0, 1.3, 1.7)

    #: Where the base is at the start in m, upright; the feet are then flat and about on the ground.
    BASE_POSITION = (0.0, 0.0, 0.75)
    #: Angles at the start in rad, for joints whose name ends so; all others are zero.
    ANGLES: ClassVar[dict[str, float]] = {
        "hip_pitch_joint": -0.3,
        "knee_joint": 0.6,
        "ankle_pitch_joint": -0.3,
        "shoulder_pitch_joint": 0.2,
        "left_shoulder_roll_joint": 0.2,
        "right_shoulder_roll_joint": -0.2,
        "elbow_joint": 0.6,
    }

    #: What an error of one unit (m, rad) costs in a weighted program. The cost enters squared: a weight is its square.
    COSTS: ClassVar[dict[str, float]] = {"feet": 100.0, "center_of_mass": 10.0, "hand": 1.0, "posture": 0.01}

    #: A contender does the job if, at the end of every chunk of steps, its errors are below these, in m and rad.
    ALLOWED: ClassVar[dict[str, float]] = {"hand": 5e-3, "feet": 2e-3, "feet_rotation": 1e-2, "center_of_mass": 5e-3}

    @classmethod
    def start_angle(cls, joint: str) -> float:
        """Angle of a joint at the start, in rad.

        >>> KinematicsProblem.start_angle("left_knee_joint"), KinematicsProblem.start_angle("waist_yaw_joint")
        (0.6, 0.0)
        """
        return next((angle for ending, angle in cls.ANGLES.items() if joint.endswith(ending)), 0.0)

    @classmethod
    def offset(cls, step: int) -> tuple[float, float, float]:
        """Target of the hand after a step, relative to where it was at the start, in m in the world.

        Steps count from 1 and end at t = step * PERIOD::

            offset(t) = AMPLITUDE (sin 2 t,  cos 1.3 t - 1,  sin 1.7 t)

        >>> KinematicsProblem.offset(0)
        (0.0, 0.0, 0.0)
        """
        t, (x, y, z) = step * cls.PERIOD, cls.FREQUENCIES
        return cls.AMPLITUDE * sin(x * t), cls.AMPLITUDE * (cos(y * t) - 1.0), cls.AMPLITUDE * sin(z * t)


class DynamicsProblem:
    """Inverse dynamics: torques for given states of one motion.

    A humanoid stands on both feet and moves: its center of mass sways, its right hand follows a point, its trunk stays
    upright, the rest prefers the posture it started from. At each step a contender is given q and v, the same for all,
    and answers with torques. Both feet are rigid contacts with friction; torques and joints have limits.
    """

    #: Robots of the library, and which hand moves.
    ROBOTS, SIDE = ("g1", "talos"), "right"

    #: Duration of a step in s: 500 Hz, as torque control of humanoids is usually run.
    PERIOD = 0.002
    #: Steps after which targets and states come back to where they were: 3 s.
    STEPS = 1500
    #: Steps between two answers that are judged: 75 along the motion, which leaves out no phase of it.
    EVALUATED_EVERY = 20

    #: Friction between soles and ground, and the slope of the pyramid inside its cone that all are given.
    FRICTION = 0.7
    SLOPE = FRICTION / sqrt(2.0)
    #: Largest normal force of a contact, in weights of the robot: TSID needs one; it is more than a foot ever bears.
    LARGEST_FORCE = 4.0

    #: How fast errors vanish, 1/s: a task asks for ``a* - 2 g (rate error) - g^2 (error)``, critically damped.
    RATES: ClassVar[dict[str, float]] = {"contact": 20.0, "balance": 10.0, "hand": 10.0, "torso": 10.0, "posture": 5.0}

    #: What an error of one unit (m/s^2, rad/s^2) costs, squared, in a weighted program. With so little for the posture,
    #: which demands 10 rad/s^2 elsewhere, the tasks above it are met to 0.01; with 0.1 they miss by 0.3. All are large
    #: beside 1e-8, which TSID adds for every unknown, forces (N) too, and which would bend the posture of Talos.
    WEIGHTS: ClassVar[dict[str, float]] = {"balance": 100.0, "hand": 100.0, "torso": 100.0, "posture": 1e-3}
    #: The same for forces (N) and torques (N m). Small: it only has to choose among many possible forces.
    FORCE_WEIGHT = 1e-7

    #: Amplitude of the sway along x in lengths of a sole, y in distances between the feet, z in robot heights, and how
    #: often it comes back within STEPS. It takes most of the weight off each foot in turn and leans to toes and heels,
    #: so that limits of the contacts act in a part of the steps and yet all tasks can be met.
    SWAY, SWAY_TURNS = (0.15, 0.30, 0.01), (2, 1, 3)
    #: Amplitude of the hand in robot heights. The middle of both is where neither knees nor elbows come near their
    #: ends, in robot heights from where the robot stands.
    REACH, REACH_TURNS = (0.03, 0.03, 0.03), (2, 3, 1)
    SWAY_MIDDLE, REACH_MIDDLE = (0.0, 0.0, -0.03), (0.10, -0.04, 0.08)

    #: A contender does the job if its answers keep to these, at every step that is judged. Relative to the weight of
    #: the robot: what is missing in the equation of motion, and how far a contact force is outside its cone. Relative
    #: to the limits: torques beyond them. In m/s^2 and rad/s^2: how far a foot accelerates, and how far tasks are from
    #: being met. Constraints hold to a millionth; a task may miss by a hundredth of the gravity that it works against.
    ALLOWED: ClassVar[dict[str, float]] = {
        **dict.fromkeys(("motion", "cone", "torque", "contact"), 1e-6),
        **dict.fromkeys(("balance", "hand", "torso"), 0.1),
    }

    @classmethod
    def is_evaluated(cls, step: int) -> bool:
        """Whether the answer to a step is stored and judged: one in EVALUATED_EVERY."""
        return step % cls.EVALUATED_EVERY == 0

    @classmethod
    def wave(
        cls, step: int, amplitudes: tuple[float, float, float], turns: tuple[int, int, int]
    ) -> tuple[list[float], ...]:
        """Value, rate and acceleration of a closed curve at a step, in the unit of the amplitudes and seconds::

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
