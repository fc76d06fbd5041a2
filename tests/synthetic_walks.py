"""Synthetic walks with known footprints: analytic foot trajectories with the corresponding contact forces."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio

from poise.analysis import BodyTrajectories, posture_frames
from poise.arrays import Array, Mask
from poise.recording import Channel, CoordinateLabels, Recording
from poise.robots import SIDES, Foot, Robot, Side, load_robot

BIPED = Path(__file__).parents[1] / "examples/biped.urdf"
PARTS = {
    "feet": {"frame": "{side}_foot", "sole": [-0.08, 0.14, -0.05, 0.05]},
    "hands": {"frame": "{side}_forearm"},
    "gaze": {"frame": "trunk", "axis": [1.0, 0.0, -0.5]},
    "stances": {"standing": {"joints": {"{side}_hip_pitch": -0.2, "{side}_knee": 0.4, "{side}_ankle_pitch": -0.2}}},
}
FORCE = ("fx", "fy", "fz", "mx", "my", "mz")
#: Height of the center of mass of a synthetic walk (m).
HEIGHT = 0.8


def biped() -> Robot:
    return load_robot(BIPED, **PARTS)


@dataclass(frozen=True)
class SyntheticWalk:
    """Walk given by formulas, not simulated.

    Args:
        length, width, turn: of each step: m, m, rad.
        height: of the swing, m.
        single, double: seconds of each step.
        steps: how many, the left foot first.
        heading: where it begins, rad.
        sway: amplitude of the center of mass, lateral to the path of the feet, m.
        rest: seconds before and after.
        period: s.
    """

    length: float = 0.2
    width: float = 0.2
    turn: float = 0.0
    height: float = 0.05
    single: float = 0.4
    double: float = 0.1
    steps: int = 10
    heading: float = 0.0
    sway: float = 0.03
    rest: float = 0.5
    period: float = 0.005

    @property
    def seconds(self) -> float:
        return 2 * self.rest + self.steps * (self.single + self.double)

    @property
    def time(self) -> Array:
        return np.arange(round(self.seconds / self.period), dtype=np.float64) * self.period

    def lift_off(self, step: int) -> float:
        return self.rest + step * (self.single + self.double) + self.double

    def touchdown(self, step: int) -> float:
        return self.lift_off(step) + self.single

    def footprints(self) -> list[tuple[Side, Array, float]]:
        """Return the footprints in order: side, middle of the sole, yaw."""
        aside = 0.5 * self.width * np.array([-math.sin(self.heading), math.cos(self.heading), 0.0])
        prints: list[tuple[Side, Array, float]] = [("left", aside, self.heading), ("right", -aside, self.heading)]
        for k in range(self.steps):
            _, place, yaw = prints[-1] if k else prints[1]
            side, outward = SIDES[k % 2], (1.0, -1.0)[k % 2]
            middle = yaw + 0.5 * self.turn
            c, s = math.cos(middle), math.sin(middle)
            x, y = self.length, outward * self.width
            prints.append((side, place + np.array([c * x - s * y, s * x + c * y, 0.0]), yaw + self.turn))
        return prints

    def foot(self, side: Side) -> tuple[Array, Array, Mask]:
        """Return the middle of a sole (n, 3), its yaw (n), and whether it is in stance (n)."""
        prints = self.footprints()
        _, place, yaw = prints[SIDES.index(side)]
        n = len(self.time)
        sole, angle, stands = np.tile(place, (n, 1)), np.full(n, yaw), np.ones(n, dtype=bool)
        for k, (own, to, turned) in enumerate(prints[2:]):
            if own != side:
                continue
            share = np.clip((self.time - self.lift_off(k)) / self.single, 0.0, 1.0)
            smooth = share**2 * (3.0 - 2.0 * share)
            sole += smooth[:, np.newaxis] * (to - place)
            sole[:, 2] += self.height * np.sin(math.pi * share) ** 2
            angle += smooth * (turned - yaw)
            stands &= (share <= 0.0) | (share >= 1.0)
            place, yaw = to, turned
        return sole, angle, stands


def synthetic_trajectories(
    robot: Robot, walk: SyntheticWalk, forces: str = "measured/force", changes: dict[Side, Array] | None = None
) -> BodyTrajectories:
    """Return the trajectories of a synthetic walk, with forces, "phase", "contacts" or none of these ("").

    Args:
        changes: what is added to the soles of a side, (n, 3), m.
    """
    n, h = len(walk.time), walk.period
    parts = (*robot.feet, *robot.hands, *posture_frames(robot).frames)
    feet = {side: walk.foot(side) for side in SIDES}
    heading = np.mean([feet[side][1] for side in SIDES], axis=0)
    across = np.stack([-np.sin(heading), np.cos(heading), np.zeros(n)], axis=1)
    wave = np.sin(math.pi * (walk.time - walk.rest) / (walk.single + walk.double))
    center = np.mean([feet[side][0] for side in SIDES], axis=0)
    center[:, 2] = HEIGHT
    center = _smooth_center(center, walk) + walk.sway * wave[:, np.newaxis] * across
    positions, rotations = np.empty((n, len(parts), 3)), np.empty((n, len(parts), 3, 3))
    for k, part in enumerate(parts):
        if isinstance(part, Foot):
            sole, yaw, _ = feet[part.side]
            rotations[:, k] = z_rotations(yaw)
            moved = sole if changes is None or part.side not in changes else sole + changes[part.side]
            positions[:, k] = moved - rotations[:, k] @ part.sole.center
        else:
            rotations[:, k], positions[:, k] = z_rotations(heading), center
    velocity = np.gradient(center, h, axis=0)
    momentum = np.hstack([robot.mass * velocity, np.zeros((n, 3))])
    recording = Recording(_channels(robot, walk, forces), {"robot": robot.name})
    velocities = np.gradient(positions, h, axis=0)
    return BodyTrajectories(recording, robot, parts, positions, velocities, rotations, center, momentum)  # type: ignore[arg-type]


def synthetic_recording(robot: Robot, walk: SyntheticWalk, swing: float = 0.3, torque: float = 10.0) -> Recording:
    """Return a synthetic walk as a recording of the biped, with inverse kinematics of the legs, arm swing and torques.

    Its legs cannot turn the feet, so the walk must be straight.

    Args:
        swing: amplitude of the shoulders, rad.
        torque: amplitude of all torques, N m.
    """
    assert walk.turn == walk.heading == 0.0
    body, model, h = CoordinateLabels.of(robot), robot.model, walk.period
    wave = np.sin(math.pi * (walk.time - walk.rest) / (walk.single + walk.double))
    feet = {side: walk.foot(side)[0] for side in SIDES}
    q = np.tile(robot.stance("standing").q, (len(walk.time), 1))
    q[:, 0] = _smooth_center(0.5 * (feet["left"] + feet["right"]), walk)[:, 0]
    q[:, 1] = -walk.sway * wave
    q[:, 2] -= 0.08  # knees bent enough to reach both feet
    q[:, robot.joint("left_shoulder_pitch").q] += swing * wave
    q[:, robot.joint("right_shoulder_pitch").q] -= swing * wave
    for i in range(len(q)):
        for foot in robot.feet:
            if i:
                legs = [robot.joint(name).q for name in _leg_joint_names(robot, foot)]
                q[i, legs] = q[i - 1, legs]
            _solve_leg(robot, q[i], foot, feet[foot.side][i] - foot.sole.center)
    between = [pinocchio.difference(model, a, b) / h for a, b in itertools.pairwise(q)]
    effort = np.outer(wave, np.full(len(body.joints), torque))
    return Recording(
        [
            *_channels(robot, walk, "measured/force"),
            *_channels(robot, walk, "phase")[1:],
            Channel("q", "", q, body.q_labels),
            Channel("v", "", np.array([*between, between[-1]]), body.v_labels),
            Channel("command/torque", "N m", effort, body.joints),
            Channel("contacts", "", _contacts(robot, walk)),
        ],
        {"robot": robot.name},
        robot,
    )


def _leg_joint_names(robot: Robot, foot: Foot) -> list[str]:
    chain = robot.model.supports[foot.joint].tolist()
    return [joint.name for joint in robot.joints if joint.index in chain]


def _solve_leg(robot: Robot, q: Array, foot: Foot, place: Array) -> None:
    """Set the joints of a leg so that a level foot is at a position, by Newton's method on five equations."""
    model, data = robot.model, robot.model.createData()
    joints = [robot.joint(name) for name in _leg_joint_names(robot, foot)]
    axes = pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED
    for _ in range(8):
        pinocchio.computeJointJacobians(model, data, q)
        pose = pinocchio.updateFramePlacement(model, data, foot.index)
        error = np.concatenate([place - pose.translation, -pinocchio.log3(pose.rotation)[:2]])
        J = pinocchio.getFrameJacobian(model, data, foot.index, axes)[:5, [joint.v for joint in joints]]
        q[[joint.q for joint in joints]] += np.linalg.solve(J, error)
    assert np.abs(error).max() < 1e-9


def z_rotations(yaw: Array) -> Array:
    """Return rotation matrices about z (n, 3, 3)."""
    c, s, zero, one = np.cos(yaw), np.sin(yaw), np.zeros(len(yaw)), np.ones(len(yaw))
    return np.stack([c, -s, zero, s, c, zero, zero, zero, one], axis=1).reshape(-1, 3, 3)


def _channels(robot: Robot, walk: SyntheticWalk, forces: str) -> list[Channel]:
    standing = {side: walk.foot(side)[2] for side in SIDES}
    channels = [Channel("time", "s", walk.time)]
    if forces.endswith("force"):
        for foot in robot.feet:
            other: Side = "right" if foot.side == "left" else "left"
            share = np.where(standing[foot.side], np.where(standing[other], 0.5, 1.0), 0.0)
            wrench = np.zeros((len(share), 6))
            wrench[:, 2] = 9.81 * robot.mass * share
            channels.append(Channel(f"{forces}/{foot.name}", "N", wrench, FORCE))
    if forces == "phase":
        words = [
            "double support" if left and right else "left support" if left else "right support"
            for left, right in zip(standing["left"], standing["right"], strict=True)
        ]
        channels.append(Channel("phase", "", words))
    if forces == "contacts":
        channels.append(Channel("contacts", "", _contacts(robot, walk)))
    return channels


def _contacts(robot: Robot, walk: SyntheticWalk) -> list[str]:
    standing = {foot.name: walk.foot(foot.side)[2] for foot in robot.feet}
    return [", ".join(name for name, on in standing.items() if on[i]) for i in range(len(walk.time))]


def _smooth_center(path: Array, walk: SyntheticWalk) -> Array:
    """Return a smooth path between the middles of the feet at the ends of the walk, through those of each step."""
    time = walk.time
    prints = [walk.rest, *(walk.touchdown(k) for k in range(walk.steps))]
    samples = [min(round(mark / walk.period), len(time) - 1) for mark in prints]
    return np.stack([np.interp(time, prints, path[samples, k]) for k in range(3)], axis=1)
