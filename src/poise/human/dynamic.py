"""Gait with dynamics: a measured walk under torques and contact forces, on an ideal plant and in MuJoCo.

>>> from poise.human import dynamic, gait
>>> reference = gait.Reference.of(fit)
>>> found = dynamic.simulate(reference, reference.cycle())
>>> print(found.text())

The order is that of the gait from tasks, under physics:

    physics   equation of motion, torque limits, friction under the points that bear weight
    always    ranges of the joints
    heels     x, y and z of both
    center of mass, angular momentum, posture: as the reference has them
    effort    least torques, as shares of what joints can give: it divides the weight between two feet

Points that bear weight push; that they do not slide is left to the heels, whose reference stands still. So feet roll
from heel to ball as they did. On a real ground a walk that is only followed falls: errors of the divergent component
``ξ = c + ċ / ω`` of the center of mass c, with ``ω = sqrt(g / c_z)``, grow with ω. A walk that `adapts` sets each foot
down farther by the error of ξ, and goes on from where that foot is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import Any

import numpy as np
import pinocchio

from poise import constraints, tasks
from poise.analysis import GaitCycle
from poise.arrays import Array
from poise.constraints import INNER, FrictionCone, NormalForces
from poise.control import TorqueController
from poise.geometry import so3
from poise.hierarchy import Behavior, Hierarchy, Level
from poise.human.gait.contact_schedule import Bearing, bearing
from poise.human.gait.key_postures import Ahead
from poise.human.gait.reference_walk import Moment, Reference
from poise.human.gait.reproduction import BEST, FOLLOWING, Spin, path
from poise.plants import FLOOR_FRICTION, IdealPlant, MujocoPlant, steps
from poise.recording import Recording, record, record_steps, settings
from poise.robots import SIDES, Robot, Side, State
from poise.state import FRAMES, Contact, Snapshot, natural_frequency
from poise.tasks import ForceUnknowns, Layout, Memory, Target, Writer


class UprightCone(FrictionCone, NormalForces):
    """Level ground pushes on a point: ``|f_x|, |f_y| <= (μ/√2) f_z`` in world axes, which says ``f_z >= 0`` as well.

    With R the rotation of the contact's own axes, in which the force y is unknown, the rows are ``C R y >= 0``, C a
    pyramid; they change as the foot turns. It stands for both cones that other contacts have in their own axes.
    """

    needs = FRAMES

    def unknowns(self, robot: Robot, layout: Layout) -> Sequence[int] | None:
        return None  # rows of several unknowns each

    def row_unit(self, order: int) -> str:
        return "N"

    def bind_forces(
        self, snapshot: Snapshot, memory: Memory, layout: Layout, forces: ForceUnknowns
    ) -> Sequence[Writer]:
        mu, span, contact = INNER * self.contact.friction, forces.spans[self.contact], self.contact
        pyramid = forces.unit * np.array([[1.0, 0.0, mu], [-1.0, 0.0, mu], [0.0, 1.0, mu], [0.0, -1.0, mu]])
        memory.upper[:] = np.inf

        def write() -> None:
            rotation = (snapshot.pose(contact.frame) * contact.frame_from_contact).rotation
            memory.whole[:, span] = pyramid @ rotation

        return [write]


# -- Treading --------------------------------------------------------------------------------------------------------


#: How much of the error of the divergent component a step makes good.
STEP = 1.0
#: The way of a foot is not changed any more so long before it stands (s), and never by more (m).
LATE, FARTHEST = 0.05, 0.25
#: A foot that has landed elsewhere draws the rest of the reference after it within about this time (s).
DRAWN = 0.15


class Treading(Behavior):
    """The hierarchy of each moment of a walk; for a `TorqueController`.

    Args:
        reference: what is followed, on its own clock.
        bearing: which points bear when.
        period: of the controller, s.
        posture: what the posture follows; by default the reference itself, else the path of a variant.
        adapts: whether feet are set down where the fall leads to, which physics need.
    """

    #: Contacts are as planned; what the ground says to a foot that rolls is no reason to give up.
    lost_after = float("inf")
    ramp = 0.0

    def __init__(
        self,
        reference: Reference,
        bearing: Bearing,
        period: float,
        posture: Target | None = None,
        adapts: bool = False,
    ) -> None:
        self.reference, self.bearing, self.period, self.adapts = reference, bearing, period, adapts
        robot, decay = reference.robot, tasks.Decay(FOLLOWING)
        #: Where the walk is from where it was measured (m): of each foot, and of the rest.
        self.feet = {side: np.zeros(3) for side in SIDES}
        self.rest = np.zeros(3)
        heels = [
            tasks.Position(reference.heels[side], Ahead(_Shifted(self, _heel(side), side), period), reference=decay)
            for side in SIDES
        ]
        center = Ahead(_Shifted(self, lambda moment: moment.center, None), period)
        whole = Ahead(_Moved(self, posture or reference), period)
        self._always = [constraints.JointRange(robot)]
        self._levels = [
            Level("heels", heels),
            Level("center of mass", [tasks.CenterOfMass(center, reference=decay)]),
            Level("angular momentum", [tasks.AngularMomentum(Spin(reference, period), reference=decay)]),
            Level("posture", [tasks.Configuration(whole, reference=decay, name="posture")]),
            Level("effort", [tasks.JointTorque(weight=robot.limits.torque**-2)]),
        ]
        self._made = {_names(contacts): self._hierarchy(contacts) for contacts in bearing.sets()}

    def __call__(self, snapshot: Snapshot) -> Hierarchy:
        contacts = self.bearing.at(snapshot.time)
        if self.adapts:
            self._adapt(snapshot, {side for side in SIDES if any(c.name.startswith(side) for c in contacts)})
        return self._made[_names(contacts)]

    def _hierarchy(self, contacts: Sequence[Contact]) -> Hierarchy:
        return Hierarchy([*self._always, *(UprightCone(contact) for contact in contacts)], self._levels)

    def _adapt(self, snapshot: Snapshot, standing: set[Side]) -> None:
        moment = self.reference.at(snapshot.time)
        center, rate = snapshot.center_of_mass, snapshot.center_of_mass_velocity
        omega = natural_frequency(max(float(moment.center[0][2]), 0.1))
        error = (center - moment.center[0]) + (rate - moment.center[1]) / omega
        error[2] = 0.0
        soon = {c.name.split()[0] for c in self.bearing.at(snapshot.time + LATE)}
        for side in SIDES:
            if side not in standing and side not in soon:
                wanted = STEP * (error - self.rest) + self.rest
                size = float(np.linalg.norm(wanted))
                self.feet[side] = wanted * min(1.0, FARTHEST / size) if size > 0.0 else wanted
        goal = np.mean([self.feet[side] for side in (standing or SIDES)], axis=0)
        self.rest += self.period / DRAWN * (goal - self.rest)


class _Shifted:
    """A part of the reference, shifted as a foot or the rest is."""

    def __init__(
        self, treading: Treading, part: Callable[[Moment], tuple[Array, Array, Array]], side: Side | None
    ) -> None:
        self.treading, self.part, self.side = treading, part, side

    def sample(self, time: float) -> tuple[Array, Array, Array]:
        value, rate, acceleration = self.part(self.treading.reference.at(time))
        shift = self.treading.rest if self.side is None else self.treading.feet[self.side]
        return value + shift, rate, acceleration


class _Moved:
    """A configuration, shifted as the rest is."""

    def __init__(self, treading: Treading, motion: Target) -> None:
        self.treading, self.motion = treading, motion

    def sample(self, time: float) -> tuple[Array, Array, Array]:
        q, v, a = self.motion.sample(time)
        if not self.treading.rest.any():
            return q, v, a
        moved = np.array(q)
        moved[:3] += self.treading.rest
        return moved, v, a


def _names(contacts: Sequence[Contact]) -> tuple[str, ...]:
    return tuple(contact.name for contact in contacts)


def _heel(side: Side) -> Callable[[Moment], tuple[Array, Array, Array]]:
    return lambda moment: moment.heels[side]


# -- Repeated --------------------------------------------------------------------------------------------------------


#: Configurations a second (Hz), as the gait from tasks has them.
RATE = 200.0


def repeated(reference: Reference, cycle: GaitCycle, times: int) -> Reference:
    """A walk of some cycles, all the same.

    No measured cycle ends quite as it began. What is missing, d = q(end) ⊖ q(begin) without the stride (way and turn on
    the floor), is taken off evenly: at the share s of the cycle ``q(s) ⊕ (-s d)``. It is a few degrees at most.

    Args:
        reference: the walk.
        cycle: of it, from strike to strike.
        times: how many.
    """
    model = reference.robot.model
    n = max(round(cycle.duration * RATE), 8)
    share = np.arange(n + 1) / n
    moments = cycle.initial_contact + share * cycle.duration
    q = np.array([reference.sample(float(time))[0] for time in moments])
    first, last = pinocchio.XYZQUATToSE3(q[0, :7]), pinocchio.XYZQUATToSE3(q[-1, :7])
    stride = _level(last) * _level(first).inverse()
    ended = q[-1].copy()
    ended[:7] = pinocchio.SE3ToXYZQUAT(stride.inverse() * last)
    missing = pinocchio.difference(model, q[0], ended)
    closed = np.array([pinocchio.integrate(model, each, -s * missing) for each, s in zip(q, share, strict=True)])
    walk, pose = [closed[:1]], pinocchio.SE3.Identity()
    for _ in range(times):
        moved = closed[1:].copy()
        for each in moved:
            each[:7] = pinocchio.SE3ToXYZQUAT(pose * pinocchio.XYZQUATToSE3(each[:7]))
        walk.append(moved)
        pose = pose * stride
    time = np.arange(times * n + 1) / RATE
    return Reference(reference.robot, time, np.vstack(walk), reference.name)


def _level(pose: pinocchio.SE3) -> pinocchio.SE3:
    """The place on the floor and the heading of a pose."""
    place = np.array([pose.translation[0], pose.translation[1], 0.0])
    return pinocchio.SE3(so3.yaw_matrix(so3.yaw_of(pose.rotation)), place)


# -- A gait with torques and contact forces --------------------------------------------------------------------------


#: Period of the controller on an ideal plant, that of the kinematic gait, and in physics (s).
PERIOD, PHYSICS = 0.005, 0.002
#: Cycles that are tried in physics.
CYCLES = 10
#: How much of the first stride is over when physics begin: both feet stand.
BEGIN = 0.03


@dataclass(frozen=True, eq=False)
class Simulated:
    """A gait cycle with dynamics.

    Attributes:
        reference, cycle, bearing: of what.
        ideal: recording of one cycle with torques and forces that physics allow.
        physics: recording in MuJoCo, until the fall.
        fall: how it ended there; "" if it did not fall.
        distance: that the pelvis went there on its feet (m), of `asked` m.
    """

    reference: Reference
    cycle: GaitCycle
    bearing: Bearing
    ideal: Recording
    physics: Recording | None
    fall: str
    distance: float
    asked: float
    strides: float

    def __str__(self) -> str:
        return self.text()

    def summary(self) -> dict[str, Any]:
        """Plain values: errors against the reference, largest torques and forces per weight, friction used."""
        return {**self._numbers, "text": self.text()}

    def text(self) -> str:
        """The most important of the same, in one line."""
        facts = self._numbers
        peaks = facts["peak_torque_per_kg"]
        knee, ankle = (max(peaks[f"{s}_{name}"] for s in SIDES) for name in ("knee_flexion", "ankle_dorsiflexion"))
        return (
            f"with torques: angles within {facts['angle_rmse_deg']:.1f} degrees rms, knee {knee:.2f} and ankle "
            f"{ankle:.2f} N m/kg at most, friction used {facts['friction_used']:.2f} of {FLOOR_FRICTION:g}; in MuJoCo "
            f"{self.distance:.2f} m of {self.asked:.2f}, {self.strides:.1f} strides"
            + (f", then {self.fall}" if self.fall else "")
        )

    @cached_property
    def _numbers(self) -> dict[str, Any]:
        recording, robot = self.ideal, self.reference.robot
        expected = np.array([self.reference.sample(float(time))[0] for time in recording.time])
        apart = np.degrees(recording["q"][:, 7:] - expected[:, 7:])
        forces = ground_forces(recording)
        weight = robot.weight
        total = forces["left"] + forces["right"]
        torque = recording["command/torque"]
        used = max(
            float(np.max(np.hypot(f[on, 0], f[on, 1]) / f[on, 2]))
            for f in forces.values()
            if (on := f[:, 2] > 20.0).any()
        )
        peaks = {
            joint.name: float(np.abs(torque[:, joint.v - 6]).max()) / robot.mass
            for joint in robot.joints
            if any(word in joint.name for word in ("hip", "knee", "ankle", "lumbar"))
        }
        return {
            "angle_rmse_deg": float(np.sqrt(np.mean(apart**2))),
            "angle_worst_deg": float(np.abs(apart).max()),
            "fallbacks": recording.fallbacks(),
            "vertical_force_of_weight": [float(total[:, 2].min() / weight), float(total[:, 2].max() / weight)],
            "friction_used": used,
            "friction_limit": FLOOR_FRICTION,
            "peak_torque_per_kg": peaks,
            "physics_distance_m": self.distance,
            "physics_asked_m": self.asked,
            "physics_strides": self.strides,
            "physics_fall": self.fall,
        }


def with_torques(
    reference: Reference, cycle: GaitCycle, period: float = PERIOD, along: bool = True
) -> tuple[Recording, Bearing]:
    """One cycle on an ideal plant by a `TorqueController`; `along` the path of the best variant, or the reference."""
    bears = bearing(reference)
    posture = path(reference, cycle, BEST) if along else None
    q, v, _ = reference.sample(cycle.initial_contact)
    start = State(reference.robot, q, v, time=cycle.initial_contact)
    controller = TorqueController(Treading(reference, bears, period, posture), period=period)
    return record(controller, IdealPlant(start), cycle.duration), bears


def in_physics(
    reference: Reference, cycle: GaitCycle, cycles: int = CYCLES
) -> tuple[Recording, str, float, float, float]:
    """The cycle, repeated, in MuJoCo: recording, how it fell, distance on its feet and asked for (m), strides."""
    walk = repeated(reference, cycle, cycles)
    begin = BEGIN * cycle.duration
    q, v, _ = walk.sample(begin)
    start = State(walk.robot, q, v, time=begin, contacts=walk.robot.feet)
    plant = MujocoPlant(start, friction=FLOOR_FRICTION, self_collision=False)
    controller = TorqueController(Treading(walk, bearing(walk), PHYSICS, adapts=True), period=PHYSICS)
    seconds = float(walk.time[-1]) - begin - 0.1  # the splines end there
    standing = takewhile(lambda step: not plant.fallen, steps(controller, plant, seconds))
    recording = record_steps(standing, walk.robot, provenance=settings(controller, plant))
    way = recording["q"][:, :2]
    went = float(np.linalg.norm(way[-1] - way[0]))
    asked = float(np.linalg.norm(walk.sample(seconds + begin)[0][:2] - q[:2]))
    return recording, plant.fall, went, asked, recording.duration / cycle.duration


def simulate(reference: Reference, cycle: GaitCycle, physics: bool = True) -> Simulated:
    """A gait with dynamics, on both plants."""
    ideal, bears = with_torques(reference, cycle)
    if not physics:
        return Simulated(reference, cycle, bears, ideal, None, "", 0.0, 0.0, 0.0)
    recording, fall, went, asked, strides = in_physics(reference, cycle)
    return Simulated(reference, cycle, bears, ideal, recording, fall, went, asked, strides)


def ground_forces(recording: Recording) -> dict[str, Array]:
    """Sum of the forces under each foot over time (n x 3, N), of a recording with contacts named after their side."""
    found: dict[str, Array] = {}
    for side in SIDES:
        names = [name for name in recording.channels if name.startswith(f"force/{side}_")]
        parts = [np.nan_to_num(recording[name][:, :3]) for name in names]
        found[side] = np.sum(parts, axis=0) if parts else np.zeros((len(recording), 3))
    return found
