"""Gait with dynamics: a measured walk under torques and contact forces, on an ideal plant and in MuJoCo.

>>> from poise.human import dynamic_gait, gait
>>> reference = gait.ReferenceWalk.from_fit(fit)
>>> found = dynamic_gait.simulate_gait(reference, reference.cycle())
>>> print(found.text())

The order is that of the gait from tasks, under physics:

    physics   equation of motion, torque limits, friction under the points that bear weight
    always    ranges of the joints
    heels     x, y and z of both
    center of mass, angular momentum, posture: as the reference has them
    effort    least torques, as shares of what joints can give: it divides the weight between two feet

Points that bear weight push; that they do not slide is left to the heels, whose reference stands still. So feet roll
from heel to ball as they did. On a real ground a walk that is only followed falls: errors of the divergent component
``ξ = c + ċ / ω`` of the center of mass c, with ``ω = sqrt(g / c_z)``, grow with ω. With `adapt_steps`, each foot is set
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
from poise.constraints import INSCRIBED_PYRAMID, FrictionCone, NormalForces
from poise.control import TorqueController
from poise.geometry import so3
from poise.hierarchy import Behavior, Hierarchy, Level
from poise.human.gait.contact_schedule import ContactSchedule, detect_contact_schedule
from poise.human.gait.key_postures import MidpointTarget
from poise.human.gait.reference_walk import ReferenceSample, ReferenceWalk
from poise.human.gait.reproduction import BEST, TRACKING_GAIN, AngularMomentumTarget, key_posture_path
from poise.plants import FLOOR_FRICTION, IdealPlant, MujocoPlant, steps
from poise.recording import Recording, controller_facts, record, record_steps
from poise.robots import SIDES, Robot, Side, State
from poise.state import FRAMES, Contact, Snapshot, natural_frequency
from poise.tasks import ForceUnknowns, Target, TaskRows, VariableLayout, Writer


class LevelGroundFrictionCone(FrictionCone, NormalForces):
    """Level ground pushes on a point: ``|f_x|, |f_y| <= (μ/√2) f_z`` in world axes, which says ``f_z >= 0`` as well.

    With R the rotation of the contact's own axes, in which the force y is unknown, the rows are ``C R y >= 0``, C a
    pyramid; they change as the foot turns. It stands for both cones that other contacts have in their own axes.
    """

    required_terms = FRAMES

    def unknowns(self, robot: Robot, layout: VariableLayout) -> Sequence[int] | None:
        return None  # rows of several unknowns each

    def row_unit(self, order: int) -> str:
        return "N"

    def bind_forces(
        self, snapshot: Snapshot, task_rows: TaskRows, layout: VariableLayout, forces: ForceUnknowns
    ) -> Sequence[Writer]:
        mu, span, contact = INSCRIBED_PYRAMID * self.contact.friction, forces.slices[self.contact], self.contact
        pyramid = forces.unit * np.array([[1.0, 0.0, mu], [-1.0, 0.0, mu], [0.0, 1.0, mu], [0.0, -1.0, mu]])
        task_rows.upper[:] = np.inf

        def write() -> None:
            rotation = (snapshot.pose(contact.frame) * contact.frame_from_contact).rotation
            task_rows.A_full[:, span] = pyramid @ rotation

        return [write]


# -- Gait tracking -----------------------------------------------------------------------------------------------------


#: How much of the error of the divergent component a step makes good.
STEP_GAIN = 1.0
#: The way of a foot is not changed any more so long before it stands (s), and never by more (m).
STEP_LOCK_TIME, MAX_STEP_SHIFT = 0.05, 0.25
#: A foot that has landed elsewhere draws the rest of the reference after it within about this time (s).
BODY_SHIFT_TIME = 0.15


class GaitTracking(Behavior):
    """The hierarchy of each moment of a walk; for a `TorqueController`.

    Args:
        reference: what is followed, on its own clock.
        schedule: which points bear when.
        period: of the controller, s.
        posture: what the posture follows; by default the reference itself, else the path of a variant.
        adapt_steps: whether feet are set down where the fall leads to, which physics need.
    """

    #: Contacts are as planned; what the ground says to a foot that rolls is no reason to give up.
    lost_after = float("inf")
    ramp = 0.0

    def __init__(
        self,
        reference: ReferenceWalk,
        schedule: ContactSchedule,
        period: float,
        posture: Target | None = None,
        adapt_steps: bool = False,
    ) -> None:
        self.reference, self.schedule, self.period, self.adapt_steps = reference, schedule, period, adapt_steps
        robot, decay = reference.robot, tasks.Decay(TRACKING_GAIN)
        #: Where the walk is from where it was measured (m): of each foot, and of the rest.
        self.foot_shifts = {side: np.zeros(3) for side in SIDES}
        self.body_shift = np.zeros(3)
        heels = [
            tasks.Position(
                reference.heel_frames[side],
                MidpointTarget(_ShiftedTarget(self, _heel_of(side), side), period),
                dynamics=decay,
            )
            for side in SIDES
        ]
        center = MidpointTarget(_ShiftedTarget(self, lambda sample: sample.center_of_mass, None), period)
        posture_target = MidpointTarget(_ShiftedConfiguration(self, posture or reference), period)
        self._always = [constraints.JointRange(robot)]
        self._levels = [
            Level("heels", heels),
            Level("center of mass", [tasks.CenterOfMass(center, dynamics=decay)]),
            Level(
                "angular momentum", [tasks.AngularMomentum(AngularMomentumTarget(reference, period), dynamics=decay)]
            ),
            Level("posture", [tasks.Configuration(posture_target, dynamics=decay, name="posture")]),
            Level("effort", [tasks.JointTorque(weight=robot.limits.torque**-2)]),
        ]
        self._hierarchies = {
            _contact_names(contacts): self._hierarchy(contacts) for contacts in schedule.contact_sets()
        }

    def __call__(self, snapshot: Snapshot) -> Hierarchy:
        contacts = self.schedule.active_contacts(snapshot.time)
        if self.adapt_steps:
            self._adapt_steps(snapshot, {side for side in SIDES if any(c.name.startswith(side) for c in contacts)})
        return self._hierarchies[_contact_names(contacts)]

    def _hierarchy(self, contacts: Sequence[Contact]) -> Hierarchy:
        return Hierarchy([*self._always, *(LevelGroundFrictionCone(contact) for contact in contacts)], self._levels)

    def _adapt_steps(self, snapshot: Snapshot, standing: set[Side]) -> None:
        sample = self.reference.at(snapshot.time)
        center, rate = snapshot.center_of_mass, snapshot.center_of_mass_velocity
        omega = natural_frequency(max(float(sample.center_of_mass[0][2]), 0.1))
        error = (center - sample.center_of_mass[0]) + (rate - sample.center_of_mass[1]) / omega
        error[2] = 0.0
        landing_soon = {c.name.split()[0] for c in self.schedule.active_contacts(snapshot.time + STEP_LOCK_TIME)}
        for side in SIDES:
            if side not in standing and side not in landing_soon:
                shift = STEP_GAIN * (error - self.body_shift) + self.body_shift
                size = float(np.linalg.norm(shift))
                self.foot_shifts[side] = shift * min(1.0, MAX_STEP_SHIFT / size) if size > 0.0 else shift
        goal = np.mean([self.foot_shifts[side] for side in (standing or SIDES)], axis=0)
        self.body_shift += self.period / BODY_SHIFT_TIME * (goal - self.body_shift)


class _ShiftedTarget:
    """A part of the reference, shifted as a foot or the rest is."""

    def __init__(
        self,
        behavior: GaitTracking,
        quantity: Callable[[ReferenceSample], tuple[Array, Array, Array]],
        side: Side | None,
    ) -> None:
        self.behavior, self.quantity, self.side = behavior, quantity, side

    def sample(self, time: float) -> tuple[Array, Array, Array]:
        value, rate, acceleration = self.quantity(self.behavior.reference.at(time))
        shift = self.behavior.body_shift if self.side is None else self.behavior.foot_shifts[self.side]
        return value + shift, rate, acceleration


class _ShiftedConfiguration:
    """A configuration, shifted as the rest is."""

    def __init__(self, behavior: GaitTracking, motion: Target) -> None:
        self.behavior, self.motion = behavior, motion

    def sample(self, time: float) -> tuple[Array, Array, Array]:
        q, v, a = self.motion.sample(time)
        if not self.behavior.body_shift.any():
            return q, v, a
        shifted = np.array(q)
        shifted[:3] += self.behavior.body_shift
        return shifted, v, a


def _contact_names(contacts: Sequence[Contact]) -> tuple[str, ...]:
    return tuple(contact.name for contact in contacts)


def _heel_of(side: Side) -> Callable[[ReferenceSample], tuple[Array, Array, Array]]:
    return lambda sample: sample.heels[side]


# -- Repeated gait cycle -----------------------------------------------------------------------------------------------


#: Configurations a second (Hz), as the gait from tasks has them.
SAMPLE_RATE = 200.0


def repeat_cycle(reference: ReferenceWalk, cycle: GaitCycle, repetitions: int) -> ReferenceWalk:
    """A walk of some cycles, all the same.

    No measured cycle ends quite as it began. What is missing, d = q(end) ⊖ q(begin) without the stride (way and turn on
    the floor), is taken off evenly: at the share s of the cycle ``q(s) ⊕ (-s d)``. It is a few degrees at most.

    Args:
        reference: the walk.
        cycle: of it, from strike to strike.
        repetitions: how many.
    """
    model = reference.robot.model
    n = max(round(cycle.duration * SAMPLE_RATE), 8)
    share = np.arange(n + 1) / n
    moments = cycle.initial_contact + share * cycle.duration
    q = np.array([reference.sample(float(time))[0] for time in moments])
    first, last = pinocchio.XYZQUATToSE3(q[0, :7]), pinocchio.XYZQUATToSE3(q[-1, :7])
    stride = _floor_pose(last) * _floor_pose(first).inverse()
    final = q[-1].copy()
    final[:7] = pinocchio.SE3ToXYZQUAT(stride.inverse() * last)
    gap = pinocchio.difference(model, q[0], final)
    closed = np.array([pinocchio.integrate(model, each, -s * gap) for each, s in zip(q, share, strict=True)])
    walk, pose = [closed[:1]], pinocchio.SE3.Identity()
    for _ in range(repetitions):
        shifted = closed[1:].copy()
        for each in shifted:
            each[:7] = pinocchio.SE3ToXYZQUAT(pose * pinocchio.XYZQUATToSE3(each[:7]))
        walk.append(shifted)
        pose = pose * stride
    time = np.arange(repetitions * n + 1) / SAMPLE_RATE
    return ReferenceWalk(reference.robot, time, np.vstack(walk), reference.name)


def _floor_pose(pose: pinocchio.SE3) -> pinocchio.SE3:
    """The place on the floor and the heading of a pose."""
    place = np.array([pose.translation[0], pose.translation[1], 0.0])
    return pinocchio.SE3(so3.yaw_matrix(so3.yaw_of(pose.rotation)), place)


# -- A gait with torques and contact forces --------------------------------------------------------------------------


#: Period of the controller on an ideal plant, that of the kinematic gait, and in physics (s).
IDEAL_PERIOD, PHYSICS_PERIOD = 0.005, 0.002
#: Cycles that are tried in physics.
PHYSICS_CYCLES = 10
#: How much of the first stride is over when physics begin: both feet stand.
START_SHARE = 0.03


@dataclass(frozen=True, eq=False)
class DynamicGait:
    """A gait cycle with dynamics.

    Attributes:
        reference, cycle, schedule: of what.
        ideal_recording: recording of one cycle with torques and forces that physics allow.
        physics_recording: recording in MuJoCo, until the fall.
        fall: how it ended there; "" if it did not fall.
        distance: that the pelvis went there on its feet (m), of `requested_distance` m.
    """

    reference: ReferenceWalk
    cycle: GaitCycle
    schedule: ContactSchedule
    ideal_recording: Recording
    physics_recording: Recording | None
    fall: str
    distance: float
    requested_distance: float
    strides: float

    def __str__(self) -> str:
        return self.text()

    def summary(self) -> dict[str, Any]:
        """Plain values: errors against the reference, largest torques and forces per weight, friction used."""
        return {**self._metrics, "text": self.text()}

    def text(self) -> str:
        """The most important of the same, in one line."""
        facts = self._metrics
        peaks = facts["peak_torque_per_kg"]
        knee, ankle = (max(peaks[f"{s}_{name}"] for s in SIDES) for name in ("knee_flexion", "ankle_dorsiflexion"))
        return (
            f"with torques: angles within {facts['angle_rmse_deg']:.1f} degrees rms, knee {knee:.2f} and ankle "
            f"{ankle:.2f} N m/kg at most, friction used {facts['friction_used']:.2f} of {FLOOR_FRICTION:g}; in MuJoCo "
            f"{self.distance:.2f} m of {self.requested_distance:.2f}, {self.strides:.1f} strides"
            + (f", then {self.fall}" if self.fall else "")
        )

    @cached_property
    def _metrics(self) -> dict[str, Any]:
        recording, robot = self.ideal_recording, self.reference.robot
        expected = np.array([self.reference.sample(float(time))[0] for time in recording.time])
        angle_error = np.degrees(recording["q"][:, 7:] - expected[:, 7:])
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
            "angle_rmse_deg": float(np.sqrt(np.mean(angle_error**2))),
            "angle_worst_deg": float(np.abs(angle_error).max()),
            "fallbacks": recording.fallbacks(),
            "vertical_force_of_weight": [float(total[:, 2].min() / weight), float(total[:, 2].max() / weight)],
            "friction_used": used,
            "friction_limit": FLOOR_FRICTION,
            "peak_torque_per_kg": peaks,
            "physics_distance_m": self.distance,
            "physics_asked_m": self.requested_distance,
            "physics_strides": self.strides,
            "physics_fall": self.fall,
        }


def simulate_ideal(
    reference: ReferenceWalk, cycle: GaitCycle, period: float = IDEAL_PERIOD, follow_path: bool = True
) -> tuple[Recording, ContactSchedule]:
    """One cycle on an ideal plant by a `TorqueController`; along the path of the best
    variant (`follow_path`), or along the reference."""
    schedule = detect_contact_schedule(reference)
    posture = key_posture_path(reference, cycle, BEST) if follow_path else None
    q, v, _ = reference.sample(cycle.initial_contact)
    start = State(reference.robot, q, v, time=cycle.initial_contact)
    controller = TorqueController(GaitTracking(reference, schedule, period, posture), period=period)
    return record(controller, IdealPlant(start), cycle.duration), schedule


def simulate_physics(
    reference: ReferenceWalk, cycle: GaitCycle, cycles: int = PHYSICS_CYCLES
) -> tuple[Recording, str, float, float, float]:
    """The cycle, repeated, in MuJoCo: recording, how it fell, distance on its feet and asked for (m), strides."""
    walk = repeat_cycle(reference, cycle, cycles)
    begin = START_SHARE * cycle.duration
    q, v, _ = walk.sample(begin)
    start = State(walk.robot, q, v, time=begin, contacts=walk.robot.feet)
    plant = MujocoPlant(start, friction=FLOOR_FRICTION, self_collision=False)
    controller = TorqueController(
        GaitTracking(walk, detect_contact_schedule(walk), PHYSICS_PERIOD, adapt_steps=True), period=PHYSICS_PERIOD
    )
    seconds = float(walk.time[-1]) - begin - 0.1  # the splines end there
    standing = takewhile(lambda step: not plant.fallen, steps(controller, plant, seconds))
    recording = record_steps(standing, walk.robot, provenance=controller_facts(controller, plant))
    way = recording["q"][:, :2]
    distance = float(np.linalg.norm(way[-1] - way[0]))
    requested = float(np.linalg.norm(walk.sample(seconds + begin)[0][:2] - q[:2]))
    return recording, plant.fall, distance, requested, recording.duration / cycle.duration


def simulate_gait(reference: ReferenceWalk, cycle: GaitCycle, physics: bool = True) -> DynamicGait:
    """A gait with dynamics, on both plants."""
    ideal, schedule = simulate_ideal(reference, cycle)
    if not physics:
        return DynamicGait(reference, cycle, schedule, ideal, None, "", 0.0, 0.0, 0.0)
    recording, fall, distance, requested, strides = simulate_physics(reference, cycle)
    return DynamicGait(reference, cycle, schedule, ideal, recording, fall, distance, requested, strides)


def ground_forces(recording: Recording) -> dict[str, Array]:
    """Sum of the forces under each foot over time (n x 3, N), of a recording with contacts named after their side."""
    found: dict[str, Array] = {}
    for side in SIDES:
        names = [name for name in recording.channels if name.startswith(f"force/{side}_")]
        parts = [np.nan_to_num(recording[name][:, :3]) for name in names]
        found[side] = np.sum(parts, axis=0) if parts else np.zeros((len(recording), 3))
    return found
