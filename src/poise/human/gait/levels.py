"""The hierarchy of [Boukheddimi2019], fig. 3, in the words of Poise: heels, center of mass, posture, in strict order.

    always   joints inside their ranges; points under the feet not below the ground
    heels    x and y of both heels
    center of mass   x, y and z
    angular momentum   about the center of mass; not in the paper
    posture   all 42 numbers of the configuration, the base included

Every task follows its reference x* with second-order dynamics,

    ë = -2 w ė - w² e,    e = x - x*,

and the angular momentum L with ``L̇ = L̇* - w (L - L*)``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise import constraints, tasks
from poise.analysis.gait_cycle import Cycle
from poise.hierarchy import Hierarchy, Level
from poise.human.gait.keys import keys
from poise.human.gait.laws import DecayPerPhase, TimeToGo
from poise.human.gait.paths import Ahead, ArrivingAtKey, LeastJerk, NextKey
from poise.human.gait.reference import Moment, Reference
from poise.human.gait.variants import Variant
from poise.robots.parts import SIDES, Side

Array = NDArray[np.float64]

#: 200 Hz, the rate of the paper's cameras; ranges of motion are the same at 100 and 400 Hz.
PERIOD = 0.005
#: w of heels, center of mass and momentum, 1/s: errors are gone in a tenth of a second. From 10 to 25 nothing changes,
#: since what is followed is known with its rates.
FOLLOWING = 25.0
#: w of points that come near the ground, 1/s, half of what the period allows. Measured feet come down faster than any
#: such law lets them: with w = 30 they are held back over the last 5 cm, which costs 0.3 degrees of a posture that is
#: known throughout, with 100 over the last 5 mm and 0.03 degrees.
GROUND = 100.0
#: Joints may approach the ends of their ranges with this time constant, s: four periods, which no walk ever feels.
RANGE = 0.02


class Followed:
    """A part of the reference as a target: value, rate and acceleration at any time."""

    def __init__(self, reference: Reference, part: Callable[[Moment], tuple[Array, Array, Array]]) -> None:
        self.reference, self.part = reference, part

    def sample(self, time: float) -> tuple[Array, Array, Array]:
        return self.part(self.reference.at(time))


class Spin:
    """The angular momentum of the reference, its rate in the middle of the period, and no more."""

    def __init__(self, reference: Reference, period: float) -> None:
        self.reference, self.half = reference, 0.5 * period

    def sample(self, time: float) -> tuple[Array, Array, Array]:
        rate = self.reference.at(time + self.half).spin[1]
        return self.reference.at(time).spin[0], rate, np.zeros(3)


def hierarchy(reference: Reference, cycle: Cycle, variant: Variant, period: float = PERIOD) -> Hierarchy:
    """What reproduces a cycle of a walk by a variant; for a `KinematicController` at acceleration order.

    >>> print(hierarchy(reference, reference.cycle(), PAPER))
    """
    robot, decay = reference.robot, tasks.Decay(FOLLOWING)
    heels = [
        tasks.Position(
            reference.heels[side],
            Ahead(Followed(reference, partial(_heel, side)), period),
            axes="xy",
            reference=decay,
        )
        for side in SIDES
    ]
    center = tasks.CenterOfMass(Ahead(Followed(reference, lambda moment: moment.center), period), reference=decay)
    levels = [Level("heels", heels), Level("center of mass", [center])]
    if variant.momentum:
        spin = tasks.AngularMomentum(Spin(reference, period), reference=decay)
        levels.append(Level("angular momentum", [spin]))
    levels.append(Level("posture", [posture(reference, cycle, variant, period)]))
    return Hierarchy([constraints.JointRange(robot, recovery=RANGE), *ground(reference, cycle)], levels)


def posture(reference: Reference, cycle: Cycle, variant: Variant, period: float = PERIOD) -> tasks.Configuration:
    """The last task: to the next key, or along a path, by the law of the variant."""
    law: Any = tasks.Decay(variant.gain)
    if variant.law in ("track", "minimum_jerk"):
        motion = reference if variant.law == "track" else path(reference, cycle, variant)
        return tasks.Configuration(Ahead(motion, period), reference=law, name="posture")
    moments = keys(reference, cycle, variant.keys)
    target = ArrivingAtKey(moments) if variant.law == "time_to_go" and variant.order else NextKey(moments)
    if variant.law == "pd_per_phase":
        law = DecayPerPhase(target, variant.gain)
    elif variant.law == "time_to_go":
        law = TimeToGo(target)
    return tasks.Configuration(target, reference=law, name="posture")


def path(reference: Reference, cycle: Cycle, variant: Variant) -> LeastJerk:
    """The path of least jerk through the keys of a variant."""
    return LeastJerk(keys(reference, cycle, variant.keys), variant.order)


def ground(reference: Reference, cycle: Cycle) -> list[constraints.Polyhedron]:
    """Heels, metatarsal heads and toes stay above the ground: ``z̈ >= -2 w ż + w² (z_min - z)``.

    z_min is the lowest place of each point in the cycle of the reference: soles of a fitted body stand some millimetres
    off the floor, and the tips of its toes some centimetres.
    """
    lowest = lowest_places(reference, cycle)
    return [
        constraints.Polyhedron(
            point,
            normals=[[0.0, 0.0, -1.0]],
            offsets=[-z],
            reference=tasks.Decay(GROUND),
            name=f"{point.name} above the ground",
            words=["height"],
        )
        for point, z in zip(reference.points, lowest, strict=True)
    ]


def _heel(side: Side, moment: Moment) -> tuple[Array, Array, Array]:
    return moment.heels[side]


def lowest_places(reference: Reference, cycle: Cycle) -> Array:
    """Height of the lowest place of each point under the feet during a cycle of the reference (8, m)."""
    # As fine as the motion is simulated: between frames at 60 Hz a heel comes half a millimetre lower.
    time = np.arange(cycle.strike, cycle.next_strike + PERIOD, PERIOD)
    return np.asarray(reference.places(np.array([reference.sample(float(t))[0] for t in time]))[..., 2].min(axis=0))
