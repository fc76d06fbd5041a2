"""Gait with dynamics: a measured walk under torques and contact forces, on an ideal plant and in MuJoCo.

>>> from poise.human import dynamic_gait, gait
>>> reference = gait.ReferenceWalk.from_fit(fit)
>>> found = dynamic_gait.simulate_gait(reference, reference.cycle())
>>> print(found.text())

Priorities of the hierarchy, highest first:

    physics   equation of motion, torque limits, friction at the contact points
    constraints   joint ranges
    heels     x, y and z of both
    center of mass, angular momentum, posture: as in the reference
    effort    smallest torques relative to their limits, which distributes the weight between two feet

A contact point adds a force, but no constraint on the motion of the foot; the heel tasks, whose reference is at rest in
stance, keep the foot from sliding. The feet can therefore roll from heel to ball as measured. In a simulation with
contact dynamics a walk that is only tracked falls: errors of the divergent component of motion (DCM) ``ξ = c + ċ / ω``
of the center of mass c, with ``ω = sqrt(g / c_z)``, grow with rate ω. With `adapt_steps`, the landing position of the
swing foot is shifted by the horizontal error of ξ (actual minus reference, world axes), and the rest of the reference
follows the shift of the stance foot.
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
from poise.solvers import Lexicographic
from poise.state import FRAMES, Contact, Snapshot, natural_frequency
from poise.tasks import ForceUnknowns, Target, TaskRows, VariableLayout, Writer


class LevelGroundFrictionCone(FrictionCone, NormalForces):
    """Friction cone of a contact point on level ground, in world axes: ``|f_x|, |f_y| <= (μ/√2) f_z``.

    This implies ``f_z >= 0``. With R the rotation of the contact frame, in which the force y is unknown, the rows are
    ``C R y >= 0``, C a pyramid; they change as the foot rotates. It replaces both the friction cone and the normal
    force constraint that other contacts have in their own frames.
    """

    required_terms = FRAMES

    def unknowns(self, robot: Robot, layout: VariableLayout) -> Sequence[int] | None:
        return None  # each row has several unknowns

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


#: Share of the DCM error that a step corrects.
STEP_GAIN = 1.0
#: Time before landing in which the landing position is no longer changed (s), and largest change (m).
STEP_LOCK_TIME, MAX_STEP_SHIFT = 0.05, 0.25
#: Time constant with which the rest of the reference follows a shifted foot (s).
BODY_SHIFT_TIME = 0.15


class GaitTracking(Behavior):
    """Hierarchy that tracks a walk, for a `TorqueController`.

    Args:
        reference: the walk to track, on its own clock.
        schedule: contact schedule.
        period: of the controller, s.
        posture: target of the posture task; by default the reference, else for example the path of a variant.
        adapt_steps: whether landing positions are corrected by the DCM error, as a physics simulation requires.
    """

    #: Planned contacts never count as lost: a rolling foot does not always report contact.
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
        #: Horizontal shift of the walk from the measured one (m), of each foot and of the rest of the body.
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
    """A position of the reference (m) plus the horizontal shift of a foot, or of the body if `side` is None."""

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
    """A motion whose base position is shifted by the horizontal shift of the body."""

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


#: Sampling rate of a repeated cycle (Hz), as in gait reproduction.
SAMPLE_RATE = 200.0


def repeat_cycle(reference: ReferenceWalk, cycle: GaitCycle, repetitions: int) -> ReferenceWalk:
    """Return a walk of several identical cycles.

    A measured cycle does not end exactly as it began. The difference d = q(end) ⊖ q(begin), without the stride
    (horizontal displacement and yaw), is removed evenly: ``q(s) ⊕ (-s d)`` at the share s of the cycle. It is a few
    degrees at most. The duration of a cycle is rounded to a multiple of 1 / `SAMPLE_RATE`.

    Args:
        reference: the walk.
        cycle: a cycle of it, from initial contact to initial contact.
        repetitions: number of cycles.
    """
    model = reference.robot.model
    n = max(round(cycle.duration * SAMPLE_RATE), 8)
    share = np.arange(n + 1) / n
    times = cycle.initial_contact + share * cycle.duration
    q = np.array([reference.sample(float(time))[0] for time in times])
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
    """Return a pose projected to the floor: horizontal position and yaw, with z, roll and pitch zero."""
    position = np.array([pose.translation[0], pose.translation[1], 0.0])
    return pinocchio.SE3(so3.yaw_matrix(so3.yaw_of(pose.rotation)), position)


# -- A gait with torques and contact forces --------------------------------------------------------------------------


#: Control period on an ideal plant, as in gait reproduction, and in MuJoCo (s).
IDEAL_PERIOD, PHYSICS_PERIOD = 0.005, 0.002
#: Number of cycles attempted in MuJoCo.
PHYSICS_CYCLES = 10
#: Share of the first stride at which the simulation in MuJoCo begins: both feet are in stance.
START_SHARE = 0.03


@dataclass(frozen=True, eq=False)
class DynamicGait:
    """A gait cycle with dynamics.

    Attributes:
        reference, cycle, schedule: the walk, the cycle and its contact schedule.
        ideal_recording: one cycle on the ideal plant, with physically consistent torques and forces.
        physics_recording: recording in MuJoCo, until the fall; None if not simulated.
        fall: description of the fall in MuJoCo; "" if there was none.
        distance: distance of the pelvis in MuJoCo before the fall (m); `requested_distance`: that of the reference (m).
        strides: strides in MuJoCo before the fall.
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
        """Return plain values: angle errors, peak torques per kg, vertical force in body weights, friction used."""
        return {**self._metrics, "text": self.text()}

    def text(self) -> str:
        """Return the most important results in one line."""
        facts = self._metrics
        peaks = facts["peak_torque_per_kg"]
        knee, ankle = (max(peaks[f"{s}_{name}"] for s in SIDES) for name in ("knee_flexion", "ankle_dorsiflexion"))
        return (
            f"with dynamics: joint angle error {facts['angle_rmse_deg']:.1f} degrees rms, peak torques: knee "
            f"{knee:.2f}, ankle {ankle:.2f} N m/kg, friction used {facts['friction_used']:.2f} of {FLOOR_FRICTION:g}; "
            f"in MuJoCo {self.distance:.2f} m of {self.requested_distance:.2f}, {self.strides:.1f} strides"
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
            "angle_max_error_deg": float(np.abs(angle_error).max()),
            "fallbacks": recording.fallbacks(),
            "vertical_force_of_weight": [float(total[:, 2].min() / weight), float(total[:, 2].max() / weight)],
            "friction_used": used,
            "friction_limit": FLOOR_FRICTION,
            "peak_torque_per_kg": peaks,
            "physics_distance_m": self.distance,
            "physics_requested_m": self.requested_distance,
            "physics_strides": self.strides,
            "physics_fall": self.fall,
        }


def simulate_ideal(
    reference: ReferenceWalk, cycle: GaitCycle, period: float = IDEAL_PERIOD, follow_path: bool = True
) -> tuple[Recording, ContactSchedule]:
    """Simulate one cycle on an ideal plant with a `TorqueController`; return recording and contact schedule.

    The target of the posture task is the minimum-jerk path through the key postures of `BEST` or, without
    `follow_path`, the reference itself.
    """
    schedule = detect_contact_schedule(reference)
    posture = key_posture_path(reference, cycle, BEST) if follow_path else None
    q, v, _ = reference.sample(cycle.initial_contact)
    start = State(reference.robot, q, v, time=cycle.initial_contact)
    behavior = GaitTracking(reference, schedule, period, posture)
    controller = TorqueController(behavior, Lexicographic(), period=period)  # a study has no time budget
    return record(controller, IdealPlant(start), cycle.duration), schedule


def simulate_physics(
    reference: ReferenceWalk, cycle: GaitCycle, cycles: int = PHYSICS_CYCLES
) -> tuple[Recording, str, float, float, float]:
    """Simulate the repeated cycle in MuJoCo; return recording, fall, distance walked and requested (m), strides."""
    walk = repeat_cycle(reference, cycle, cycles)
    begin = START_SHARE * cycle.duration
    q, v, _ = walk.sample(begin)
    start = State(walk.robot, q, v, time=begin, contacts=walk.robot.feet)
    plant = MujocoPlant(start, friction=FLOOR_FRICTION, self_collision=False)
    behavior = GaitTracking(walk, detect_contact_schedule(walk), PHYSICS_PERIOD, adapt_steps=True)
    controller = TorqueController(behavior, Lexicographic(), period=PHYSICS_PERIOD)
    seconds = float(walk.time[-1]) - begin - 0.1  # stays within the splines
    standing = takewhile(lambda step: not plant.fallen, steps(controller, plant, seconds))
    recording = record_steps(standing, walk.robot, provenance=controller_facts(controller, plant))
    base_path = recording["q"][:, :2]
    distance = float(np.linalg.norm(base_path[-1] - base_path[0]))
    requested = float(np.linalg.norm(walk.sample(seconds + begin)[0][:2] - q[:2]))
    return recording, plant.fall, distance, requested, recording.duration / cycle.duration


def simulate_gait(reference: ReferenceWalk, cycle: GaitCycle, physics: bool = True) -> DynamicGait:
    """Simulate a gait with dynamics, on an ideal plant and, with `physics`, in MuJoCo."""
    ideal, schedule = simulate_ideal(reference, cycle)
    if not physics:
        return DynamicGait(reference, cycle, schedule, ideal, None, "", 0.0, 0.0, 0.0)
    recording, fall, distance, requested, strides = simulate_physics(reference, cycle)
    return DynamicGait(reference, cycle, schedule, ideal, recording, fall, distance, requested, strides)


def ground_forces(recording: Recording) -> dict[str, Array]:
    """Return the total contact force on each foot by side, over n samples (n x 3, N, world axes); zero in swing."""
    forces: dict[str, Array] = {}
    for side in SIDES:
        names = [name for name in recording.channels if name.startswith(f"force/{side}_")]
        parts = [np.nan_to_num(recording[name][:, :3]) for name in names]
        forces[side] = np.sum(parts, axis=0) if parts else np.zeros((recording.samples, 3))
    return forces
