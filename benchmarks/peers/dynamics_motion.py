"""The motion along which inverse dynamics is asked, what the peers receive of it, and the judge of all answers.

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

#: Cycles before the one that counts: posture and errors then come back to where they were to a millimetre.
SETTLING = 2
#: Newton steps that put the feet back: they are off by micrometres, so two reach rounding.
CORRECTIONS = 2
#: Names of the links that are added to the URDF: soles at their middle with z up, and the hand.
SOLES, HAND = ("bench_left_sole", "bench_right_sole"), "bench_hand"
#: Standard gravity, m/s^2, for forces as shares of the weight.
GRAVITY = 9.81


class SampledTarget:
    """A target that is known at every step beforehand; its user sets the step before it samples.

    Args:
        value, rate, acceleration: one line per step, m and s.
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
        robot: the one that moves.
        start: where it stands, and the posture it prefers.
        sway, reach: targets of the center of mass and of the hand.
        q, v: the states, one line per step.
        acceleration: what kinematics with strict priorities asked for in each, one line per step: where no force and
            no torque is at its limit, strict priorities in dynamics must ask for the same.
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
        """The states as values, one per step."""
        feet = self.robot.feet
        lines = zip(self.q, self.v, strict=True)
        return [State(self.robot, q, v, step * DynamicsProblem.PERIOD, feet) for step, (q, v) in enumerate(lines)]


def compute_motion(name: str) -> BenchmarkMotion:
    """The motion of a robot of the library.

    >>> compute_motion("g1").q.shape
    (1500, 36)
    """
    robot = load_robot(name, armature={"*": 0.0})  # a URDF, which is all that peers read, knows no rotors
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
    """Levels by priority: the given contact level, balance, hand, torso, posture."""
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
    """The nearest state in which both feet are exactly where they stand, and still.

    With the Jacobian J of both feet and their errors e, ``q -= J# e`` until e vanishes, then ``v -= J# J v``.
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


def _pose_error(now: pinocchio.SE3, then: pinocchio.SE3) -> Array:
    """How far a pose is from another: m and rad, world axes."""
    return np.concatenate([now.translation - then.translation, pinocchio.log3(now.rotation @ then.rotation.T)])


def _targets(start: State) -> tuple[SampledTarget, SampledTarget]:
    """Targets of the center of mass and of the hand."""
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
    """Writes ``NAME.urdf`` and ``NAME.json`` of a motion into a folder; returns the path of the second.

    The JSON has the path of the URDF, names of frames, limits, states and targets: lines of numbers, one per step.
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
    """The URDF without shapes, with frames as links, and with the joints fixed that the robot does not use."""
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
        body = child_of[robot.model.names[frame.joint]]  # it has its origin where its joint is
        pose = robot.model.frames[frame.index].placement * frame_from_link
        ElementTree.SubElement(root, "link", name=name)
        joint = ElementTree.SubElement(root, "joint", name=f"{name}_joint", type="fixed")
        ElementTree.SubElement(joint, "parent", link=body)
        ElementTree.SubElement(joint, "child", link=name)
        place = {"xyz": pose.translation, "rpy": pinocchio.rpy.matrixToRpy(pose.rotation)}
        words = {key: " ".join(repr(float(x)) for x in values) for key, values in place.items()}
        ElementTree.SubElement(joint, "origin", words)
    return ElementTree.tostring(root, encoding="unicode")


class DynamicsAnswer(NamedTuple):
    """Answer of a contender to one step: accelerations (nv) and torques (one per joint, N m)."""

    acceleration: Array
    torque: Array


class AnswerEvaluator:
    """Measures answers along a motion.

    Two rigid soles leave no choice of contact wrenches once accelerations and torques are known: with M and h of the
    dynamics, J the Jacobian of both soles and S the choice of the joints, ::

        M a + h - S^T torque = J^T w

    has nv equations for 12 numbers w. What they miss is how far the answer is from the equation of motion; w must then
    lie in the friction cone, its center of pressure in the sole.

    >>> AnswerEvaluator(compute_motion("g1")).errors(0, answer)["hand"]  # m/s^2
    """

    def __init__(self, motion: BenchmarkMotion) -> None:
        self.motion, self.robot = motion, motion.robot
        self.weight = motion.robot.mass * GRAVITY
        self._snapshot = Snapshot(motion.robot)
        self._soles = [(foot.sole.center, foot.corners.max(axis=0) - foot.sole.center) for foot in motion.robot.feet]

    def errors(self, step: int, answer: DynamicsAnswer) -> dict[str, float]:
        """How far an answer is from what was asked, with the keys and units of ``DynamicsProblem.ALLOWED``."""
        a, torque = answer
        if not (np.isfinite(a).all() and np.isfinite(torque).all()):
            return dict.fromkeys(DynamicsProblem.ALLOWED, np.inf)
        now = self._snapshot.at(self.motion.states[step])
        J = np.vstack([now.jacobian(foot) for foot in self.robot.feet])
        drift = np.concatenate([now.drift(foot) for foot in self.robot.feet])
        missing = now.mass_matrix @ a + now.nonlinear_effects
        missing[6:] -= torque
        w = np.asarray(np.linalg.lstsq(J.T, missing, rcond=None)[0], dtype=np.float64)
        outside = [
            self._cone_violation(sole, wrench) for sole, wrench in zip(self._soles, w.reshape(-1, 6), strict=True)
        ]
        beyond = np.abs(torque) / self.robot.limits.torque - 1.0
        return {
            "motion": _max_abs(missing - J.T @ w) / self.weight,
            "cone": max(outside) / self.weight,
            "torque": max(0.0, float(beyond.max())),
            "contact": _max_abs(J @ a + drift),
            **{name: _max_abs(value) for name, value in self._task_errors(now, step, a).items()},
        }

    def _task_errors(self, now: Snapshot, step: int, a: Array) -> dict[str, Array]:
        """What each task misses: m/s^2, rad/s^2."""
        robot, start = self.robot, self.motion.start
        hand, chest = robot.hand(DynamicsProblem.SIDE), robot.chest
        assert chest is not None
        turned = pinocchio.log3(now.rotation(chest) @ start.pose(chest).rotation.T)
        hand_motion, turning = now.velocity(hand)[:3], now.velocity(chest)[3:]
        sway, reach = self.motion.sway, self.motion.reach
        balance = _desired_acceleration("balance", now.center_of_mass, now.center_of_mass_velocity, sway, step)
        return {
            "balance": now.center_of_mass_jacobian @ a + now.center_of_mass_drift - balance,
            "hand": (now.jacobian(hand) @ a + now.drift(hand))[:3]
            - _desired_acceleration("hand", now.position(hand), hand_motion, reach, step),
            "torso": (now.jacobian(chest) @ a + now.drift(chest))[3:] - _feedback("torso", turned, turning),
        }

    @staticmethod
    def _cone_violation(sole: tuple[Array, Array], wrench: Array) -> float:
        """How far a wrench at the origin of a sole, in world axes, is outside its cone: N, zero inside."""
        (x, y, z), (middle, half) = wrench[:3], sole
        about_x, about_y, _ = wrench[3:] - np.cross(middle, wrench[:3])  # soles stand flat, their axes are the world's
        least = [-z, abs(x) - DynamicsProblem.SLOPE * z, abs(y) - DynamicsProblem.SLOPE * z]
        pressure = [abs(about_x) / half[1] - z, abs(about_y) / half[0] - z]
        return max(0.0, *map(float, least + pressure))


def answer_differences(
    own: Mapping[int, DynamicsAnswer], others: Mapping[int, DynamicsAnswer]
) -> dict[str, float] | None:
    """Difference of two contenders at the steps where both were judged: root mean square and largest.

    Accelerations in rad/s^2 (and m/s^2 for the base), torques in N m; None if there is no such step.
    """
    common = sorted(own.keys() & others.keys())
    if not common:
        return None
    a = np.array([own[step].acceleration - others[step].acceleration for step in common])
    torque = np.array([own[step].torque - others[step].torque for step in common])
    return {
        "acceleration": float(np.sqrt(np.mean(a**2))),
        "acceleration_max": _max_abs(a),
        "torque": float(np.sqrt(np.mean(torque**2))),
        "torque_max": _max_abs(torque),
    }


def _desired_acceleration(task: str, value: Array, rate: Array, target: SampledTarget, step: int) -> Array:
    """``a* - 2 g (rate - rate*) - g^2 (value - value*)``."""
    return target.acceleration[step] + _feedback(task, value - target.value[step], rate - target.rate[step])


def _feedback(task: str, error: Array, rate: Array) -> Array:
    g = DynamicsProblem.RATES[task]
    return -2.0 * g * rate - g * g * error


def _max_abs(values: Array) -> float:
    return float(np.abs(values).max())
