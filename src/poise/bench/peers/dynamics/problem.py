"""The problem of inverse dynamics that all contenders solve, in numbers.

A humanoid stands on both feet and moves: its center of mass sways, its right hand follows a point, its trunk stays
upright, the rest prefers the posture it started from. At each step a contender is given q and v, the same for all, and
answers with torques. Both feet are rigid contacts with friction; torques and joints have limits.

Standard library only, because the workers of the peers load this file by its path, in environments without Poise.
"""

from __future__ import annotations

from math import cos, pi, sin, sqrt

#: Robots of the library, and which hand moves.
ROBOTS, SIDE = ("g1", "talos"), "right"

#: Duration of a step in s: 500 Hz, as torque control of humanoids is usually run.
PERIOD = 0.002
#: Steps after which targets and states come back to where they were: 3 s.
STEPS = 1500

#: One in so many answers is judged: 75 along the motion, which leaves out no phase of it.
LOOK = 20

#: Friction between soles and ground, and the slope of the pyramid inside its cone that all are given.
FRICTION = 0.7
SLOPE = FRICTION / sqrt(2.0)
#: Largest normal force of a contact, in weights of the robot: TSID wants one; it is more than a foot ever bears.
LARGEST_FORCE = 4.0

#: How fast errors vanish, 1/s: a task asks for ``a* - 2 g (rate error) - g^2 (error)``, critically damped.
RATES = {"contact": 20.0, "balance": 10.0, "hand": 10.0, "torso": 10.0, "posture": 5.0}

#: What an error of one unit (m/s^2, rad/s^2) costs, squared, in a weighted program. With so little for the posture,
#: which would like to go elsewhere by 10 rad/s^2, the tasks above it are met to 0.01; with 0.1 they miss by 0.3. All
#: are large beside 1e-8, which TSID adds for every unknown, forces (N) too, and which would bend the posture of Talos.
WEIGHTS = {"balance": 100.0, "hand": 100.0, "torso": 100.0, "posture": 1e-3}
#: The same for forces (N) and torques (N m). Small: it only has to say which of many forces are taken.
FORCE_WEIGHT = 1e-7

#: Amplitude of the sway along x in lengths of a sole, y in distances between the feet, z in robot heights, and how
#: often it comes back within STEPS. It takes most of the weight off each foot in turn and leans to toes and heels, so
#: that limits of the contacts act in a part of the steps and yet all tasks can be met.
SWAY, SWAY_TURNS = (0.15, 0.30, 0.01), (2, 1, 3)
#: Amplitude of the hand in robot heights. The middle of both is where neither knees nor elbows come near their ends, in
#: robot heights from where the robot stands.
REACH, REACH_TURNS = (0.03, 0.03, 0.03), (2, 3, 1)
SWAY_MIDDLE, REACH_MIDDLE = (0.0, 0.0, -0.03), (0.10, -0.04, 0.08)

#: A contender does the job if its answers keep to these, at every step that is looked at. Relative to the weight of the
#: robot: what is missing in the equation of motion, and how far a contact force is outside its cone. Relative to the
#: limits: torques beyond them. In m/s^2 and rad/s^2: how far a foot accelerates, and how far tasks are from being met.
#: Constraints hold to a millionth; a task that misses by a hundredth of the gravity that it works against still counts.
ALLOWED = {**dict.fromkeys(("motion", "cone", "torque", "contact"), 1e-6), "balance": 0.1, "hand": 0.1, "torso": 0.1}


def looked_at(step: int) -> bool:
    """Whether the answer to a step is kept and judged: one in LOOK."""
    return step % LOOK == 0


def wave(step: int, amplitudes: tuple[float, float, float], turns: tuple[int, int, int]) -> tuple[list[float], ...]:
    """Value, rate and acceleration of a closed curve at a step, in the unit of the amplitudes and seconds::

        x(t) = amplitude sin(w t),   w = 2 pi turns / (STEPS PERIOD)

    >>> wave(0, SWAY, SWAY_TURNS)[0]
    [0.0, 0.0, 0.0]
    """
    t = (step % STEPS) * PERIOD
    pairs = [(a, 2.0 * pi * n / (STEPS * PERIOD)) for a, n in zip(amplitudes, turns, strict=True)]
    value = [a * sin(w * t) for a, w in pairs]
    rate = [a * w * cos(w * t) for a, w in pairs]
    acceleration = [-a * w * w * sin(w * t) for a, w in pairs]
    return value, rate, acceleration
