"""Motion of the benchmark of inverse dynamics, its files for the peers, and the evaluator of all results.

The motion is computed once, by kinematics alone, and is the same for all contenders.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np
import pinocchio

from benchmarks.peers.kinematics import urdf_without_shapes
from benchmarks.peers.problems import DynamicsProblem
from poise import constraints, tasks
from poise.arrays import Array
from poise.control import KinematicController
from poise.hierarchy import Hierarchy, Level
from poise.plants import IdealPlant
from poise.robots import Frame, Robot, State, load_robot
from poise.state import Snapshot
from poise.tasks import ACCELERATION, Decay

#: Cycles simulated before the recorded one: posture and errors are then periodic to a millimeter.
SETTLING = 2
#: Newton steps that correct the poses of the feet: the errors are micrometers, so two steps reach rounding.
CORRECTIONS = 2
#: Names of the links that are added to the URDF: soles at their middle with z up, and the hand.
SOLES, HAND = ("bench_left_sole", "bench_right_sole"), "bench_hand"
#: Standard gravity, m/s^2, for forces as shares of the weight.
GRAVITY = 9.81


class SampledTarget:
    """A target that is precomputed at every step; set the attribute `step` before `sample`, which ignores its time.

    Args:
        value, rate, acceleration: one row per step, m, m/s, m/s^2, in the world frame.
    """

    def __init__(self, value: Array, rate: Array, acceleration: Array) -> None:
        self.value, self.rate, self.acceleration = value, rate, acceleration
        self.step = 0

    def sample(self, time: float) -> tuple[Array, Array, Array]:
        step = self.step
        return self.value[step], self.rate[step], self.acceleration[step]


@dataclass(frozen=True, eq=False)
class BenchmarkMotion:
    """States and targets of one robot over one cycle.

    Attributes:
        robot: the robot.
        start: initial state, the reference of the posture task.
        sway, reach: targets of the center of mass and of the hand.
        q, v: configurations and velocities, one row per step.
        acceleration: acceleration that kinematic control with strict priorities commands in each state, one row per
            step. Where no force and no torque is at its limit, inverse dynamics with strict priorities must return the
            same acceleration.
    """

    robot: Robot
    start: State
    sway: SampledTarget
    reach: SampledTarget
    q: Array
    v: Array
    acceleration: Array

    @cached_property
    def states(self) -> list[State]:
        """States of the robot, one per step, with both feet in contact."""
        feet = self.robot.feet
        lines = zip(self.q, self.v, strict=True)
        return [State(self.robot, q, v, step * DynamicsProblem.PERIOD, feet) for step, (q, v) in enumerate(lines)]


def compute_motion(name: str) -> BenchmarkMotion:
    """Compute the motion of a robot of the library by kinematic control.

    >>> compute_motion("g1").q.shape
    (1500, 36)
    """
    robot = load_robot(name, armature={"*": 0.0})  # the peers read a URDF, which has no rotor inertia
    start = robot.stance("standing")
    sway, reach = _targets(start)
    foot_tasks = [tasks.HoldPose(foot, at=start) for foot in robot.feet]
    hierarchy = Hierarchy([constraints.JointRange(robot)], levels(start, sway, reach, Level("contact", foot_tasks)))
    plant = IdealPlant(start)
    controller = KinematicController(hierarchy, period=DynamicsProblem.PERIOD, order=ACCELERATION)
    states, snapshot = [], Snapshot(robot)
    for tick in range((SETTLING + 1) * DynamicsProblem.STEPS):
        sway.step = reach.step = tick % DynamicsProblem.STEPS
        if tick >= SETTLING * DynamicsProblem.STEPS:
            states.append(_project_to_stance(plant.state(), start, snapshot))
        plant.apply(controller.step(plant.state()))
        plant.advance()
    controller = KinematicController(hierarchy, period=DynamicsProblem.PERIOD, order=ACCELERATION, ramp=0.0)
    desired = []
    for step, state in enumerate(states):
        sway.step = reach.step = step
        desired.append(controller.step(state).acceleration)
    q, v = np.array([state.q for state in states]), np.array([state.v for state in states])
    return BenchmarkMotion(robot, start, sway, reach, q, v, np.array(desired))


def levels(start: State, sway: SampledTarget, reach: SampledTarget, contact: Level) -> list[Level]:
    """Return the levels, highest priority first: the given contact level, balance, hand, torso, posture."""
    robot, rates = start.robot, {name: Decay(rate) for name, rate in DynamicsProblem.RATES.items()}
    assert robot.chest is not None
    upright = tasks.Orientation(robot.chest, start.pose(robot.chest).rotation, dynamics=rates["torso"])
    return [
        contact,
        Level("balance", [tasks.CenterOfMass(sway, dynamics=rates["balance"])]),
        Level("hand", [tasks.Position(robot.hand(DynamicsProblem.SIDE), reach, dynamics=rates["hand"])]),
        Level("torso", [upright]),
        Level("posture", [tasks.Posture(start, dynamics=rates["posture"])]),
    ]


def _project_to_stance(state: State, start: State, snapshot: Snapshot) -> State:
    """Return the nearest state in which both feet are at their poses in `start` and at rest.

    With the Jacobian J of both feet, its pseudo-inverse J# and the pose errors e: ``q -= J# e`` until e vanishes, then
    ``v -= J# J v``.
    """
    robot = state.robot
    for _ in range(CORRECTIONS):
        snapshot.at(state)
        errors = [_pose_error(snapshot.pose(foot), start.pose(foot)) for foot in robot.feet]
        pinv = np.linalg.pinv(np.vstack([snapshot.jacobian(foot) for foot in robot.feet]))
        state = state.replace(q=pinocchio.integrate(robot.model, state.q, -pinv @ np.concatenate(errors)))
    snapshot.at(state)
    J = np.vstack([snapshot.jacobian(foot) for foot in robot.feet])
    return state.replace(v=state.v - np.linalg.pinv(J) @ (J @ state.v))


def _pose_error(pose: pinocchio.SE3, reference: pinocchio.SE3) -> Array:
    """Return the error of a pose relative to a reference: position (m) and rotation vector (rad), world axes."""
    return np.concatenate(
        [pose.translation - reference.translation, pinocchio.log3(pose.rotation @ reference.rotation.T)]
    )


def _targets(start: State) -> tuple[SampledTarget, SampledTarget]:
    """Return the targets of the center of mass and of the hand."""
    robot, height = start.robot, start.robot.height
    left, right = robot.feet
    between = float(np.linalg.norm(start.pose(left).translation - start.pose(right).translation))
    sizes = np.array([left.sole.x_max - left.sole.x_min, between, height])
    hand = start.pose(robot.hand(DynamicsProblem.SIDE)).translation + height * np.array(DynamicsProblem.REACH_MIDDLE)
    center_of_mass = start.center_of_mass + height * np.array(DynamicsProblem.SWAY_MIDDLE)
    sway = _sampled_wave(center_of_mass, sizes * DynamicsProblem.SWAY, DynamicsProblem.SWAY_TURNS)
    return sway, _sampled_wave(hand, height * np.array(DynamicsProblem.REACH), DynamicsProblem.REACH_TURNS)


def _sampled_wave(middle: Array, amplitudes: Array, turns: tuple[int, int, int]) -> SampledTarget:
    x, y, z = amplitudes
    waves = np.array([DynamicsProblem.wave(step, (x, y, z), turns) for step in range(DynamicsProblem.STEPS)])
    return SampledTarget(middle + waves[:, 0], waves[:, 1], waves[:, 2])


def write_scene(motion: BenchmarkMotion, folder: Path) -> Path:
    """Write ``NAME.urdf`` and ``NAME.json`` of a motion to a folder, and return the path of the JSON file.

    It has the path of the URDF, names of frames, limits, states and targets; arrays have one row per step.
    """
    robot, start = motion.robot, motion.start
    urdf, file = folder / f"{robot.name}.urdf", folder / f"{robot.name}.json"
    hand, chest = robot.hand(DynamicsProblem.SIDE), robot.chest
    assert chest is not None
    middles = [pinocchio.SE3(np.eye(3), foot.sole.center) for foot in robot.feet]
    added = [(name, foot, middle) for name, foot, middle in zip(SOLES, robot.feet, middles, strict=True)]
    urdf.write_text(_urdf_with_frames(robot, [*added, (HAND, hand, pinocchio.SE3.Identity())]), encoding="utf-8")
    limits = robot.limits
    scene: dict[str, Any] = {
        "urdf": str(urdf),
        "joints": [joint.name for joint in robot.joints],
        "armature": [robot.model.armature[joint.v] for joint in robot.joints],
        "limits": {
            "lower": limits.lower,
            "upper": limits.upper,
            "velocity": limits.velocity,
            "acceleration": limits.acceleration,
            "torque": limits.torque,
        },
        "soles": [
            {"frame": name, "corners": foot.corners - foot.sole.center}
            for name, foot in zip(SOLES, robot.feet, strict=True)
        ],
        "hand": {"frame": HAND, "rotation": [state.pose(hand).rotation for state in motion.states]},
        "chest": {"frame": chest.name, "rotation": start.pose(chest).rotation},
        "posture": start.q[7:],
        "q": motion.q,
        "v": motion.v,
        "sway": _target_arrays(motion.sway),
        "reach": _target_arrays(motion.reach),
    }
    file.write_text(json.dumps(scene, default=np.ndarray.tolist), encoding="utf-8")
    return file


def _target_arrays(target: SampledTarget) -> dict[str, Any]:
    return {"value": target.value, "rate": target.rate, "acceleration": target.acceleration}


def _urdf_with_frames(robot: Robot, frames: list[tuple[str, Frame, pinocchio.SE3]]) -> str:
    """Return the URDF without shapes, with frames as additional links, and with all joints fixed that are not joints of
    `robot`.
    """
    root = ElementTree.fromstring(urdf_without_shapes(robot._geometry.path))
    used = {joint.name for joint in robot.joints}
    child_of = {}
    for joint in root.iter("joint"):
        link = joint.find("child")
        assert link is not None
        child_of[joint.get("name")] = link.get("link", "")
        if joint.get("name") not in used:
            joint.set("type", "fixed")
    for name, frame, frame_from_link in frames:
        body = child_of[robot.model.names[frame.joint]]  # the frame of a link coincides with that of its joint
        pose = robot.model.frames[frame.index].placement * frame_from_link
        ElementTree.SubElement(root, "link", name=name)
        joint = ElementTree.SubElement(root, "joint", name=f"{name}_joint", type="fixed")
        ElementTree.SubElement(joint, "parent", link=body)
        ElementTree.SubElement(joint, "child", link=name)
        origin = {"xyz": pose.translation, "rpy": pinocchio.rpy.matrixToRpy(pose.rotation)}
        attributes = {key: " ".join(repr(float(x)) for x in values) for key, values in origin.items()}
        ElementTree.SubElement(joint, "origin", attributes)
    return ElementTree.tostring(root, encoding="unicode")


class DynamicsAnswer(NamedTuple):
    """Result of a contender for one step: generalized accelerations (nv) and joint torques (one per joint, N m)."""

    acceleration: Array
    torque: Array


class AnswerEvaluator:
    """Evaluator of the answers of all contenders along a motion.

    With two rigid soles, accelerations and torques determine the contact wrenches w. With the inertia matrix M, the
    nonlinear effects h, the Jacobian J of both soles and the selection S of the joints, ::

        M a + h - S^T torque = J^T w

    has nv equations for the 12 numbers w. The residual of their least-squares solution is the violation of the equation
    of motion; w must be in the friction cone, and its center of pressure in the sole.

    >>> AnswerEvaluator(compute_motion("g1")).errors(0, answer)["hand"]  # m/s^2
    """

    def __init__(self, motion: BenchmarkMotion) -> None:
        self.motion, self.robot = motion, motion.robot
        self.weight = motion.robot.mass * GRAVITY
        self._snapshot = Snapshot(motion.robot)
        self._soles = [(foot.sole.center, foot.corners.max(axis=0) - foot.sole.center) for foot in motion.robot.feet]

    def errors(self, step: int, answer: DynamicsAnswer) -> dict[str, float]:
        """Return the errors of an answer, with the keys and units of ``DynamicsProblem.ALLOWED``."""
        a, torque = answer
        if not (np.isfinite(a).all() and np.isfinite(torque).all()):
            return dict.fromkeys(DynamicsProblem.ALLOWED, np.inf)
        snapshot = self._snapshot.at(self.motion.states[step])
        J = np.vstack([snapshot.jacobian(foot) for foot in self.robot.feet])
        drift = np.concatenate([snapshot.drift(foot) for foot in self.robot.feet])
        contact_effort = snapshot.mass_matrix @ a + snapshot.nonlinear_effects
        contact_effort[6:] -= torque
        w = np.asarray(np.linalg.lstsq(J.T, contact_effort, rcond=None)[0], dtype=np.float64)
        cone_violations = [
            self._cone_violation(sole, wrench) for sole, wrench in zip(self._soles, w.reshape(-1, 6), strict=True)
        ]
        torque_excess = np.abs(torque) / self.robot.limits.torque - 1.0
        return {
            "motion": _max_abs(contact_effort - J.T @ w) / self.weight,
            "cone": max(cone_violations) / self.weight,
            "torque": max(0.0, float(torque_excess.max())),
            "contact": _max_abs(J @ a + drift),
            **{name: _max_abs(value) for name, value in self._task_errors(snapshot, step, a).items()},
        }

    def _task_errors(self, snapshot: Snapshot, step: int, a: Array) -> dict[str, Array]:
        """Return the acceleration error of each task, actual minus desired (m/s^2, rad/s^2)."""
        robot, start = self.robot, self.motion.start
        hand, chest = robot.hand(DynamicsProblem.SIDE), robot.chest
        assert chest is not None
        chest_rotation = pinocchio.log3(snapshot.rotation(chest) @ start.pose(chest).rotation.T)
        hand_velocity, chest_angular_velocity = snapshot.velocity(hand)[:3], snapshot.velocity(chest)[3:]
        sway, reach = self.motion.sway, self.motion.reach
        balance = _desired_acceleration(
            "balance", snapshot.center_of_mass, snapshot.center_of_mass_velocity, sway, step
        )
        return {
            "balance": snapshot.center_of_mass_jacobian @ a + snapshot.center_of_mass_drift - balance,
            "hand": (snapshot.jacobian(hand) @ a + snapshot.drift(hand))[:3]
            - _desired_acceleration("hand", snapshot.position(hand), hand_velocity, reach, step),
            "torso": (snapshot.jacobian(chest) @ a + snapshot.drift(chest))[3:]
            - _feedback("torso", chest_rotation, chest_angular_velocity),
        }

    @staticmethod
    def _cone_violation(sole: tuple[Array, Array], wrench: Array) -> float:
        """Return the distance of a wrench outside the friction cone and pressure limits of a sole, N; zero inside.

        The wrench is about the origin of the sole, in world axes; `sole` has the middle and the half lengths (m).
        """
        (x, y, z), (middle, half) = wrench[:3], sole
        about_x, about_y, _ = wrench[3:] - np.cross(middle, wrench[:3])  # the soles are flat, with axes of the world
        friction = [-z, abs(x) - DynamicsProblem.SLOPE * z, abs(y) - DynamicsProblem.SLOPE * z]
        pressure = [abs(about_x) / half[1] - z, abs(about_y) / half[0] - z]
        return max(0.0, *map(float, friction + pressure))


def answer_differences(
    answers: Mapping[int, DynamicsAnswer], reference: Mapping[int, DynamicsAnswer]
) -> dict[str, float] | None:
    """Return root mean square and maximum of the differences of two contenders at the steps that both have, by name.

    Accelerations in rad/s^2 (and m/s^2 for the base), torques in N m; None if there is no common step.
    """
    common = sorted(answers.keys() & reference.keys())
    if not common:
        return None
    a = np.array([answers[step].acceleration - reference[step].acceleration for step in common])
    torque = np.array([answers[step].torque - reference[step].torque for step in common])
    return {
        "acceleration": float(np.sqrt(np.mean(a**2))),
        "acceleration_max": _max_abs(a),
        "torque": float(np.sqrt(np.mean(torque**2))),
        "torque_max": _max_abs(torque),
    }


def _desired_acceleration(task: str, value: Array, rate: Array, target: SampledTarget, step: int) -> Array:
    """Return the desired acceleration of a task, ``a* - 2 g (rate - rate*) - g^2 (value - value*)``."""
    return target.acceleration[step] + _feedback(task, value - target.value[step], rate - target.rate[step])


def _feedback(task: str, error: Array, rate: Array) -> Array:
    g = DynamicsProblem.RATES[task]
    return -2.0 * g * rate - g * g * error


def _max_abs(values: Array) -> float:
    return float(np.abs(values).max())
