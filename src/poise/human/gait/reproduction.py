"""Gait reproduction: variants, task hierarchy of [Boukheddimi2019], and simulation of one gait cycle.

Levels of the hierarchy, highest priority first:

    constraints   joint ranges; points under the feet not below the ground
    heels   x and y of both heels
    center of mass   x, y and z
    angular momentum   about the center of mass; not in the paper
    posture   all 42 degrees of freedom, including the base

All positions and the angular momentum are in world axes. Every task tracks its reference x* with second-order dynamics,

    ë = -2 w ė - w² e,    e = x - x*,

and the angular momentum L with ``L̇ = L̇* - w (L - L*)``; w is `TRACKING_GAIN` (1/s), for the posture that of the
variant.
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
from poise.solvers import Lexicographic
from poise.tasks import ACCELERATION

if TYPE_CHECKING:
    from poise.human.fitting.body_fit import Fit

PostureLaw = Literal["pd_per_phase", "pd", "time_to_go", "minimum_jerk", "track", "interpolation"]


@dataclass(frozen=True)
class Variant:
    """A method of reproducing a gait.

    Attributes:
        name: label in tables.
        keys: set of key postures, see `poise.human.gait.key_postures`.
        law: dynamics of the posture task:
            "pd_per_phase": to the next key, with ``w = gain / duration of the phase``;
            "pd": to the next key, with constant ``w = gain`` (1/s);
            "time_to_go": reaches the next key exactly in time; no gain;
            "minimum_jerk": along the minimum-jerk path through all keys, deviations decay with the gain (1/s);
            "track": along the reference itself, without keys, to see the effect of the tasks on a known posture;
            "interpolation": along the minimum-jerk path, without any task.
        gain: see `law`.
        order: derivatives of the reference that are known at a key. 0: none, it is passed at rest; 1: the velocity;
            2: velocity and acceleration. Used by "time_to_go" (velocity only), "minimum_jerk" and "interpolation".
        momentum: whether angular momentum is a task, between center of mass and posture.

    >>> Variant("gain 8", keys="four", law="pd_per_phase", gain=8.0)
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
        if not 0.0 < self.gain < 200.0:  # 1/s: stable at a period of 5 ms
            raise GaitError(f"{self.name}: gain {self.gain!r}; expected a number above 0 and below 200")


#: Variant of the paper: postures at the end of the four phases. The paper does not state its gains; c = 6 reduces an
#: error to 1.7 % within a phase (c = 3, 4, 6, 10 gave mean differences of 8.7, 7.6, 6.1, 5.2 degrees on 7 subjects).
PAPER = Variant("paper", keys="four", law="pd_per_phase", gain=6.0)
#: Ablation of the paper, in which the swing knee stays straight.
TWO_PHASES = Variant("two phases", keys="two", law="pd_per_phase", gain=6.0)
#: Improved variant: two more postures, passed in motion along the minimum-jerk path, and angular momentum. Selected on
#: 8 cycles of 2 subjects, with differences of range of motion up to 4.5 degrees (5.7 without accelerations at the
#: keys). On data not used for the selection, 7 cycles of 2 more subjects and 18 of synthetic subjects with 3 mm of
#: noise, it is 4.9. The largest errors are between knee peak and initial contact. Gains from 12 to 40 give the same.
BEST = Variant("best", keys="six", law="minimum_jerk", gain=25.0, order=2, momentum=True)
#: `BEST` with one more posture in that interval: up to 1.6 degrees on the 8 cycles, 1.3 on synthetic subjects.
BEST_EIGHT_KEYS = Variant("best, eight keys", keys="eight", law="minimum_jerk", gain=25.0, order=2, momentum=True)
#: Baselines without tasks, through the same keys: ranges of motion alone do not distinguish them from the others.
FOUR_KEYS = Variant("interpolation, four keys", keys="four", law="interpolation")
SIX_KEYS = Variant("interpolation, six keys", keys="six", law="interpolation", order=2)
#: Check: the whole posture is tracked, so the reproduction must be exact.
TRACK = Variant("track", law="track", gain=25.0, momentum=True)

#: Variants compared in a study.
VARIANTS = (PAPER, TWO_PHASES, BEST, BEST_EIGHT_KEYS, FOUR_KEYS, SIX_KEYS)


def find_variant(name: str) -> Variant:
    """Return the variant of `VARIANTS` with this name.

    >>> find_variant("best").keys
    'six'
    """
    for variant in VARIANTS:
        if variant.name == name:
            return variant
    raise GaitError(f"no variant '{name}'; available: {', '.join(each.name for each in VARIANTS)}")


# -- Hierarchy of [Boukheddimi2019] ----------------------------------------------------------------------------------


#: Control period, s: 200 Hz, the rate of the paper's cameras; ranges of motion are the same at 100 and 400 Hz.
PERIOD = 0.005
#: w of heels, center of mass and momentum, 1/s: errors decay in a tenth of a second. Values from 10 to 25 give the same
#: result, because the references are known with their derivatives.
TRACKING_GAIN = 25.0
#: w of points near the ground, 1/s, half of what the period allows. Measured feet descend faster than this constraint
#: allows: with w = 30 they are slowed over the last 5 cm, which costs 0.3 degrees when the whole posture is tracked,
#: with 100 over the last 5 mm and 0.03 degrees.
GROUND_GAIN = 100.0
#: Time constant of the approach to joint limits, s: four periods, which does not affect walking.
JOINT_RANGE_TIME = 0.02


class ReferenceTarget:
    """A quantity of the reference as a target: value, rate and acceleration at any time."""

    def __init__(
        self, reference: ReferenceWalk, quantity: Callable[[ReferenceSample], tuple[Array, Array, Array]]
    ) -> None:
        self.reference, self.quantity = reference, quantity

    def sample(self, time: float) -> tuple[Array, Array, Array]:
        return self.quantity(self.reference.at(time))


class AngularMomentumTarget:
    """The angular momentum of the reference, with its rate at the middle of the period and zero second derivative."""

    def __init__(self, reference: ReferenceWalk, period: float) -> None:
        self.reference, self.half = reference, 0.5 * period

    def sample(self, time: float) -> tuple[Array, Array, Array]:
        rate = self.reference.at(time + self.half).angular_momentum[1]
        return self.reference.at(time).angular_momentum[0], rate, np.zeros(3)


def gait_hierarchy(reference: ReferenceWalk, cycle: GaitCycle, variant: Variant, period: float = PERIOD) -> Hierarchy:
    """Build the hierarchy that reproduces a cycle, for a `KinematicController` at acceleration order.

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
    """Build the posture task, to the next key or along a path, by the law of the variant."""
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
    """Return the minimum-jerk path through the keys of a variant."""
    return MinimumJerkPath(find_key_postures(reference, cycle, variant.keys), variant.order)


def ground_constraints(reference: ReferenceWalk, cycle: GaitCycle) -> list[constraints.Polyhedron]:
    """Keep heels, metatarsal heads and toes above the ground: ``z̈ >= -2 w ż + w² (z_min - z)``, w = `GROUND_GAIN`.

    z_min is the lowest height (m) of each point in the cycle of the reference, not zero: the soles of a scaled model
    are some millimetres off the floor, and the tips of its toes some centimetres.
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
    """Return the lowest height of each point under the feet during a cycle of the reference (8, m)."""
    # Sampled at the period of the simulation: between frames at 60 Hz a heel is half a millimetre lower.
    time = np.arange(cycle.initial_contact, cycle.end + PERIOD, PERIOD)
    return np.asarray(
        reference.foot_positions_at(np.array([reference.sample(float(t))[0] for t in time]))[..., 2].min(axis=0)
    )


# -- Reproduction ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Reproduction:
    """A simulated gait cycle with its reference.

    Attributes:
        reference, cycle, variant: what was reproduced, and the method.
        time: n, s, on the clock of the reference, from initial contact to initial contact, every 5 ms.
        q, v, a: n x nq, n x nv, n x nv.
        recording: of the run, with the errors of all tasks and the computation time of each step.
        fallbacks: steps at which the controller had no solution; 0 in a valid reproduction.
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
        """Mean computation time of a controller step, ms; 0 for an interpolation."""
        return float(np.mean(self.recording["control/milliseconds"])) if self.variant.law != "interpolation" else 0.0


def reproduce(
    walk: ReferenceWalk | Fit, cycle: GaitCycle | None = None, variant: Variant = PAPER, period: float = PERIOD
) -> Reproduction:
    """Simulate a cycle of a walk with the tasks of a variant, from the initial state of the reference.

    Args:
        walk: the walk to reproduce.
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
        gait_hierarchy(reference, cycle, variant, period),
        Lexicographic(),  # a study has no time budget
        period=period,
        order=ACCELERATION,
        ramp=0.0,
    )
    plant = IdealPlant(State(reference.robot, q, v, cycle.initial_contact))
    recording = record(
        controller, plant, count * period, progress=lambda _: None, provenance=_provenance(reference, variant)
    )
    fallbacks = sum(recording.fallbacks().values())
    time, q, v, a = (np.array(recording[name]) for name in ("time", "q", "v", "command/acceleration"))
    return Reproduction(reference, cycle, variant, time, q, v, a, recording, fallbacks)


def _interpolate_postures(reference: ReferenceWalk, cycle: GaitCycle, variant: Variant, time: Array) -> Reproduction:
    """Return the path through the keys as a reproduction, without tasks."""
    interpolation = key_posture_path(reference, cycle, variant)
    q, v, a = (np.array(quantity) for quantity in zip(*(interpolation.sample(float(t)) for t in time), strict=True))
    body = CoordinateLabels.of(reference.robot)
    channels = [Channel("time", "s", time), Channel("q", body.q_units, q, body.q_labels)]
    provenance = {**environment_facts(reference.robot), **_provenance(reference, variant)}
    recording = Recording(channels, provenance, reference.robot)
    return Reproduction(reference, cycle, variant, time, q, v, a, recording, 0)


def _provenance(reference: ReferenceWalk, variant: Variant) -> dict[str, str]:
    return {"behavior": "gait", "walk": reference.name, "variant": repr(variant)}
