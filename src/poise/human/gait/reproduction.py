"""Gait reproduction: variants, task hierarchy of [Boukheddimi2019], and simulation of one gait cycle.

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

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from poise import constraints, tasks
from poise.analysis import GaitCycle
from poise.arrays import Array
from poise.control import KinematicController
from poise.errors import GaitError
from poise.hierarchy import Hierarchy, Level
from poise.human.gait.key_postures import (
    ArrivalTarget,
    DecayPerPhase,
    KeyPostureSet,
    MidpointTarget,
    MinimumJerkPath,
    NextPostureTarget,
    TimeToGo,
    find_key_postures,
)
from poise.human.gait.reference_walk import ReferenceSample, ReferenceWalk
from poise.plants import IdealPlant
from poise.recording import Channel, CoordinateLabels, Recording, environment_facts, record
from poise.robots import SIDES, Side, State
from poise.tasks import ACCELERATION

if TYPE_CHECKING:
    from poise.human.fitting.body_fit import Fit

PostureLaw = Literal["pd_per_phase", "pd", "time_to_go", "minimum_jerk", "track", "interpolation"]


@dataclass(frozen=True)
class Variant:
    """A way to reproduce a gait.

    Attributes:
        name: for tables.
        keys: the key postures, see `poise.human.gait.key_postures`.
        law: how the posture goes from key to key:
            "pd_per_phase": to the next key, with ``w = gain / duration of the phase``;
            "pd": the same with one ``w = gain`` (1/s);
            "time_to_go": so as to be there in time; no gain;
            "minimum_jerk": along the path of least jerk through all keys, deviations decay with the gain (1/s);
            "track": along the reference itself, without keys: what the tasks do to a posture that is known throughout;
            "interpolation": along the path of least jerk, and no task at all.
        gain: see there.
        order: what is known at a key besides the posture. 0: nothing, it is passed at rest; 1: the velocity of the
            reference; 2: its acceleration as well. For laws that aim at a time: "time_to_go" (which knows no more than
            velocities), "minimum_jerk" and "interpolation".
        momentum: whether the angular momentum is a task, between center of mass and posture.

    >>> Variant("eight", keys="pose_vector", law="pd_per_phase", gain=8.0)
    """

    name: str
    keys: KeyPostureSet = "four"
    law: PostureLaw = "pd_per_phase"
    gain: float = 6.0
    order: int = 0
    momentum: bool = False

    def __post_init__(self) -> None:
        if self.keys not in get_args(KeyPostureSet):
            raise GaitError(f"{self.name}: keys {self.keys!r}; expected one of {', '.join(get_args(KeyPostureSet))}")
        if self.law not in get_args(PostureLaw):
            raise GaitError(f"{self.name}: law {self.law!r}; expected one of {', '.join(get_args(PostureLaw))}")
        if self.order not in (0, 1, 2):
            raise GaitError(f"{self.name}: order {self.order!r}; expected 0, 1 or 2")
        if not 0.0 < self.gain < 200.0:  # 1/s: what a period of 5 ms can follow
            raise GaitError(f"{self.name}: gain {self.gain!r}; expected a number above 0 and below 200")


#: The paper's: postures at the end of the four phases. It does not say its gains; c = 6 brings an error to 1.7 % of
#: itself within a phase (c = 3, 4, 6, 10 gave mean differences of 8.7, 7.6, 6.1, 5.2 degrees on 7 people).
PAPER = Variant("paper", keys="four", law="pd_per_phase", gain=6.0)
#: Its ablation, in which the swing knee stays straight.
TWO_PHASES = Variant("two phases", keys="two", law="pd_per_phase", gain=6.0)
#: Better: two postures more, passed in motion, along the smoothest path; and angular momentum. Chosen on 8 cycles of 2
#: people, where ranges of motion differ by 4.5 degrees at most (by 5.7 without the accelerations at the keys). On what
#: was not used for the choice, 7 cycles of 2 more people and 18 of sample bodies with 3 mm of noise, it is 4.9. What is
#: missed is the long way from knee peak to strike. The gain does not matter from 12 to 40.
BEST = Variant("best", keys="six", law="minimum_jerk", gain=25.0, order=2, momentum=True)
#: The same with a posture more on that way: 1.6 degrees at most on the 8 cycles, 1.3 on sample bodies.
BEST_EIGHT_KEYS = Variant("best, eight keys", keys="eight", law="minimum_jerk", gain=25.0, order=2, momentum=True)
#: Baselines without any task, through the same keys: ranges of motion alone do not tell them from the above.
FOUR_KEYS = Variant("interpolation, four keys", keys="four", law="interpolation")
SIX_KEYS = Variant("interpolation, six keys", keys="six", law="interpolation", order=2)
#: A check: nothing is left to the posture, so nothing may be lost.
TRACK = Variant("track", law="track", gain=25.0, momentum=True)

#: What a study compares.
VARIANTS = (PAPER, TWO_PHASES, BEST, BEST_EIGHT_KEYS, FOUR_KEYS, SIX_KEYS)


def find_variant(name: str) -> Variant:
    """The variant of `VARIANTS` with this name.

    >>> find_variant("best").keys
    'six'
    """
    for variant in VARIANTS:
        if variant.name == name:
            return variant
    raise GaitError(f"there is no '{name}'; there are {', '.join(each.name for each in VARIANTS)}")


# -- The hierarchy of [Boukheddimi2019], fig -------------------------------------------------------------------------


#: 200 Hz, the rate of the paper's cameras; ranges of motion are the same at 100 and 400 Hz.
PERIOD = 0.005
#: w of heels, center of mass and momentum, 1/s: errors are gone in a tenth of a second. From 10 to 25 nothing changes,
#: since what is followed is known with its rates.
TRACKING_GAIN = 25.0
#: w of points that come near the ground, 1/s, half of what the period allows. Measured feet come down faster than any
#: such law lets them: with w = 30 they are held back over the last 5 cm, which costs 0.3 degrees of a posture that is
#: known throughout, with 100 over the last 5 mm and 0.03 degrees.
GROUND_GAIN = 100.0
#: Joints may approach the ends of their ranges with this time constant, s: four periods, which no walk ever feels.
JOINT_RANGE_TIME = 0.02


class ReferenceTarget:
    """A part of the reference as a target: value, rate and acceleration at any time."""

    def __init__(
        self, reference: ReferenceWalk, quantity: Callable[[ReferenceSample], tuple[Array, Array, Array]]
    ) -> None:
        self.reference, self.quantity = reference, quantity

    def sample(self, time: float) -> tuple[Array, Array, Array]:
        return self.quantity(self.reference.at(time))


class AngularMomentumTarget:
    """The angular momentum of the reference, its rate in the middle of the period, and no more."""

    def __init__(self, reference: ReferenceWalk, period: float) -> None:
        self.reference, self.half = reference, 0.5 * period

    def sample(self, time: float) -> tuple[Array, Array, Array]:
        rate = self.reference.at(time + self.half).angular_momentum[1]
        return self.reference.at(time).angular_momentum[0], rate, np.zeros(3)


def gait_hierarchy(reference: ReferenceWalk, cycle: GaitCycle, variant: Variant, period: float = PERIOD) -> Hierarchy:
    """What reproduces a cycle of a walk by a variant; for a `KinematicController` at acceleration order.

    >>> print(gait_hierarchy(reference, reference.cycle(), PAPER))
    """
    robot, decay = reference.robot, tasks.Decay(TRACKING_GAIN)
    heels = [
        tasks.Position(
            reference.heel_frames[side],
            MidpointTarget(ReferenceTarget(reference, partial(_heel_of, side)), period),
            axes="xy",
            dynamics=decay,
        )
        for side in SIDES
    ]
    center = tasks.CenterOfMass(
        MidpointTarget(ReferenceTarget(reference, lambda sample: sample.center_of_mass), period), dynamics=decay
    )
    levels = [Level("heels", heels), Level("center of mass", [center])]
    if variant.momentum:
        angular_momentum = tasks.AngularMomentum(AngularMomentumTarget(reference, period), dynamics=decay)
        levels.append(Level("angular momentum", [angular_momentum]))
    levels.append(Level("posture", [posture_task(reference, cycle, variant, period)]))
    return Hierarchy(
        [constraints.JointRange(robot, recovery=JOINT_RANGE_TIME), *ground_constraints(reference, cycle)], levels
    )


def posture_task(
    reference: ReferenceWalk, cycle: GaitCycle, variant: Variant, period: float = PERIOD
) -> tasks.Configuration:
    """The last task: to the next key, or along a path, by the law of the variant."""
    law: Any = tasks.Decay(variant.gain)
    if variant.law in ("track", "minimum_jerk"):
        motion = reference if variant.law == "track" else key_posture_path(reference, cycle, variant)
        return tasks.Configuration(MidpointTarget(motion, period), dynamics=law, name="posture")
    postures = find_key_postures(reference, cycle, variant.keys)
    target = ArrivalTarget(postures) if variant.law == "time_to_go" and variant.order else NextPostureTarget(postures)
    if variant.law == "pd_per_phase":
        law = DecayPerPhase(target, variant.gain)
    elif variant.law == "time_to_go":
        law = TimeToGo(target)
    return tasks.Configuration(target, dynamics=law, name="posture")


def key_posture_path(reference: ReferenceWalk, cycle: GaitCycle, variant: Variant) -> MinimumJerkPath:
    """The path of least jerk through the keys of a variant."""
    return MinimumJerkPath(find_key_postures(reference, cycle, variant.keys), variant.order)


def ground_constraints(reference: ReferenceWalk, cycle: GaitCycle) -> list[constraints.Polyhedron]:
    """Heels, metatarsal heads and toes stay above the ground: ``z̈ >= -2 w ż + w² (z_min - z)``.

    z_min is the lowest place of each point in the cycle of the reference: soles of a fitted body stand some millimetres
    off the floor, and the tips of its toes some centimetres.
    """
    lowest = lowest_heights(reference, cycle)
    return [
        constraints.Polyhedron(
            point,
            normals=[[0.0, 0.0, -1.0]],
            offsets=[-z],
            dynamics=tasks.Decay(GROUND_GAIN),
            name=f"{point.name} above the ground",
            row_labels=["height"],
        )
        for point, z in zip(reference.foot_points, lowest, strict=True)
    ]


def _heel_of(side: Side, sample: ReferenceSample) -> tuple[Array, Array, Array]:
    return sample.heels[side]


def lowest_heights(reference: ReferenceWalk, cycle: GaitCycle) -> Array:
    """Height of the lowest place of each point under the feet during a cycle of the reference (8, m)."""
    # As fine as the motion is simulated: between frames at 60 Hz a heel comes half a millimetre lower.
    time = np.arange(cycle.initial_contact, cycle.end + PERIOD, PERIOD)
    return np.asarray(
        reference.foot_positions_at(np.array([reference.sample(float(t))[0] for t in time]))[..., 2].min(axis=0)
    )


# -- Reproduction ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Reproduction:
    """A simulated gait cycle beside the one that it follows.

    Attributes:
        reference, cycle, variant: of what, and how.
        time: n, s, on the clock of the reference, from strike to strike, every 5 ms.
        q, v, a: n x nq, n x nv, n x nv.
        recording: of the run, with the errors of all tasks and the time of each step.
        fallbacks: steps at which the controller had no solution; none, or something is wrong.
    """

    reference: ReferenceWalk
    cycle: GaitCycle
    variant: Variant
    time: Array
    q: Array
    v: Array
    a: Array
    recording: Recording
    fallbacks: int

    @property
    def milliseconds(self) -> float:
        """Time that a step of the controller took, on average; 0 of an interpolation."""
        return float(np.mean(self.recording["control/milliseconds"])) if self.variant.law != "interpolation" else 0.0


def reproduce(
    walk: ReferenceWalk | Fit, cycle: GaitCycle | None = None, variant: Variant = PAPER, period: float = PERIOD
) -> Reproduction:
    """Simulates a cycle of a walk from the tasks of a variant; it begins as the reference does.

    Args:
        walk: what is to be reproduced.
        cycle: by default `ReferenceWalk.cycle`.
        variant: `PAPER`, `BEST` or another.
        period: of control and simulation, s.

    >>> from poise.human import gait
    >>> best = gait.reproduce(human.fit(trial, static), variant=gait.BEST)
    >>> gait.measure_reproduction(best).worst_joint
    """
    reference = walk if isinstance(walk, ReferenceWalk) else ReferenceWalk.from_fit(walk)
    cycle = cycle or reference.cycle()
    count = math.ceil(cycle.duration / period - 1e-6) + 1
    if variant.law == "interpolation":
        return _interpolate_postures(
            reference, cycle, variant, cycle.initial_contact + period * np.arange(count, dtype=np.float64)
        )
    q, v, _ = reference.sample(cycle.initial_contact)
    controller = KinematicController(
        gait_hierarchy(reference, cycle, variant, period), period=period, order=ACCELERATION, ramp=0.0
    )
    plant = IdealPlant(State(reference.robot, q, v, cycle.initial_contact))
    recording = record(
        controller, plant, count * period, progress=lambda _: None, provenance=_provenance(reference, variant)
    )
    fallbacks = sum(recording.fallbacks().values())
    time, q, v, a = (np.array(recording[name]) for name in ("time", "q", "v", "command/acceleration"))
    return Reproduction(reference, cycle, variant, time, q, v, a, recording, fallbacks)


def _interpolate_postures(reference: ReferenceWalk, cycle: GaitCycle, variant: Variant, time: Array) -> Reproduction:
    """A path through the keys, and nothing else."""
    interpolation = key_posture_path(reference, cycle, variant)
    q, v, a = (np.array(quantity) for quantity in zip(*(interpolation.sample(float(t)) for t in time), strict=True))
    body = CoordinateLabels.of(reference.robot)
    channels = [Channel("time", "s", time), Channel("q", body.q_units, q, body.q_labels)]
    provenance = {**environment_facts(reference.robot), **_provenance(reference, variant)}
    recording = Recording(channels, provenance, reference.robot)
    return Reproduction(reference, cycle, variant, time, q, v, a, recording, 0)


def _provenance(reference: ReferenceWalk, variant: Variant) -> dict[str, str]:
    return {"behavior": "gait", "walk": reference.name, "variant": repr(variant)}
