"""Walk: norm curves on a body, with feet that stand and a zero-moment point under them.

What the ground must do follows from the motion alone: the wrench that the equation of motion asks for at the base. Its
zero-moment point p leaves the feet by decimetres if nothing is done, since a sway of millimetres counts at the higher
harmonics: moving the whole body by δ(t) along the ground moves p by

    δ - (m c_z / F_z) d²δ/dt²

which is linear in the coefficients of δ. So δ is chosen for a p that runs from heel to toe of one foot and on to the
other, then the legs follow ([Kagami2002] corrects walks in this way), and the same once more.

[Kagami2002] S. Kagami, T. Kitagawa, K. Nishiwaki, T. Sugihara, M. Inaba, H. Inoue. *A fast dynamically equilibrated
walking trajectory generation method of humanoid robot.* Autonomous Robots, 2002.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio
from numpy.typing import ArrayLike, NDArray

from poise.human.sample.motion import ORDERS, PeriodicMotion, series
from poise.human.sample.normal import normal_motion
from poise.human.sample.treading import CONTACTS, OFF, PHASES, Footing, treading
from poise.robots import Robot

Array = NDArray[np.float64]

#: Rounds of balance and feet: after the second the zero-moment point moves by less than a millimetre.
ROUNDS = 3
#: Where on the foot the zero-moment point is when the other foot leaves and when it lands, from heel (0) to the first
#: metatarsal (1): a little behind the ankle, and before the ball.
FROM, TO = 0.25, 0.90


def sample_walk(robot: Robot) -> PeriodicMotion:
    """A steady walk along x of a human body, in which the right foot strikes at phase 0; found in a third of a second.

    Its sides must be alike: left is right half a cycle later.

    >>> q, v, a = sample_walk(robot).at(0.25)
    """
    norm = normal_motion(robot)
    walk, footing = treading(norm, norm)
    for _ in range(ROUNDS):
        walk, footing = treading(_balanced(walk, footing), norm, free=False)
    return walk


def ground_wrench(motion: PeriodicMotion, time: ArrayLike) -> tuple[Array, Array, Array]:
    """What the ground does to the body: force (n, 3) N, zero-moment point (n, 2) m, moment about it (n) N m.

    With (f, τ) the first six rows of M a + h, in world axes about the world's origin: ``p = (-τ_y, τ_x) / f_z`` and the
    moment ``τ_z - (p_x f_y - p_y f_x)`` about the vertical.
    """
    model, data = motion.robot.model, motion.robot.model.createData()
    forces, moments = [], []
    for q, v, a in zip(*motion.at(time), strict=True):
        root = pinocchio.rnea(model, data, q, v, a)[:6]
        pinocchio.forwardKinematics(model, data, q)  # rnea leaves the placements in the world as they were
        wrench = data.oMi[1].act(pinocchio.Force(root))
        forces.append(wrench.linear.copy())
        moments.append(wrench.angular.copy())
    f, m = np.array(forces), np.array(moments)
    p = np.stack([-m[:, 1], m[:, 0]], axis=1) / f[:, 2:]
    return f, p, m[:, 2] - (p[:, 0] * f[:, 1] - p[:, 1] * f[:, 0])


def _balanced(motion: PeriodicMotion, footing: Footing) -> PeriodicMotion:
    """The same motion, swaying so that its zero-moment point goes under the feet; the feet no longer stand quite."""
    time = PHASES * motion.period
    force, point, _ = ground_wrench(replace(motion, start=0.0), time)
    model, data = motion.robot.model, motion.robot.model.createData()
    height = np.array([pinocchio.centerOfMass(model, data, q)[2] for q in motion.at(time)[0]])
    lag = (motion.robot.mass * height / force[:, 2])[:, np.newaxis]
    effect = series(PHASES) - lag * series(PHASES, 2) / motion.period**2
    wanted = _under_the_feet(footing, motion.stride)
    coefficients = motion.coefficients.copy()
    for axis, mask in ((0, (ORDERS % 2 == 0) & (ORDERS > 0)), (1, ORDERS % 2 == 1)):
        coefficients[axis, mask] += np.linalg.lstsq(effect[:, mask], (wanted - point)[:, axis], rcond=None)[0]
    return replace(motion, coefficients=coefficients)


def _under_the_feet(footing: Footing, stride: float) -> Array:
    """Where the zero-moment point should be at each phase, (steps, 2): straight lines between the events."""
    heel, ball, outer = (footing.place(list(CONTACTS).index(name))[:2] for name in list(CONTACTS)[:3])
    y = (heel[1] + (ball[1] + outer[1]) / 2.0) / 2.0
    first, last = (heel[0] + share * (ball[0] - heel[0]) for share in (FROM, TO))
    # The left foot leaves, lands, the right foot leaves, lands, and the same again one stride on.
    events = [OFF - 0.5, 0.5, OFF, 1.0, OFF + 0.5]
    before = events[0] > PHASES
    phase, half = PHASES + before, stride / 2.0
    x = np.interp(phase, events, [first, last, first + half, last + half, first + stride]) - stride * before
    return np.stack([x, np.interp(phase, events, [y, y, -y, -y, y])], axis=1)
