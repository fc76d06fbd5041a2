"""Hierarchies of the steps after a push: swing foot, ground reaction and soles have other rows than in a walk.

Three things limit how far and how fast a foot can step, and give way here: feet that have to stay flat, although the
ankle is at the end of its range; a center of mass that may not pay for the angular momentum of the swing leg; and the
height of the center of mass.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from poise import tasks
from poise.arrays import Array
from poise.behaviors.gait_tasks import GaitTasks
from poise.geometry import so3
from poise.hierarchy import Hierarchy, Level
from poise.robots import GRAVITY, Robot, Side
from poise.state import CENTER_OF_MASS, MOMENTUM, Snapshot

#: Largest angular momentum about the horizontal axes while a foot steps after a push, in m h sqrt(g h).
MOMENTUM_TOLERANCE = 0.05
#: Deviation of the height of the center of mass that is not corrected, as a fraction of it.
HEIGHT_TOLERANCE = 0.015
#: Weight of the orientation of a swinging sole relative to its position, 1/rad²: at the end of the range of an ankle
#: the foot lands tilted rather than elsewhere.
SOLE_WEIGHT = 0.02


class GroundReaction(tasks.MotionTask):
    """Let the force of the ground act at the commanded zero moment point (ZMP), whatever the limbs do.

    The target gives the acceleration ``a = ω² (c - z)`` of a body without angular momentum. The rows are::

        c̈_x + L̇_y / (m h) = a_x        c̈_y - L̇_x / (m h) = a_y

    so that the acceleration of a leg moves the center of mass for a moment, and not the ZMP: a narrow sole could not
    bear it.

    Args:
        center: target of the center of mass with its acceleration.
        mass, height: mass m (kg) and height h (m) of the center of mass.
    """

    unit = "m"
    required_terms = CENTER_OF_MASS | MOMENTUM
    curvature = 0.0

    def __init__(self, center: tasks.FeedForwardTarget, mass: float, height: float) -> None:
        super().__init__("dcm", dimension=2, dynamics=tasks.FeedForward())
        self.center = center
        self._combination = np.zeros((2, 6))
        self._combination[0, [0, 4]] = 1.0 / mass, 1.0 / (mass * height)
        self._combination[1, [1, 3]] = 1.0 / mass, -1.0 / (mass * height)

    def labels(self, robot: Robot) -> tuple[str, ...]:
        return "x", "y"

    def value(self, snapshot: Snapshot) -> Array:
        error: Array = snapshot.center_of_mass[:2] - self.center.value[:2]
        return error

    def jacobian(self, snapshot: Snapshot) -> Array:
        return self._combination @ snapshot.momentum_matrix

    def drift(self, snapshot: Snapshot) -> Array:
        return self._combination @ snapshot.momentum_drift

    def target_rate(self, time: float) -> Array:
        return self.center.rate[:2]

    def target_acceleration(self, time: float) -> Array:
        return self.center.acceleration[:2]


class RecoveryTasks:
    """Tasks of the steps after a push, and the hierarchies that contain them.

    Attributes:
        positions, rotations: targets of the feet by side.
        hierarchies: hierarchies by the side of the swing foot, or "both", like those of the walk.
    """

    def __init__(self, gait: GaitTasks, walking: dict[str, Hierarchy], settings: Any) -> None:
        robot = gait.robot
        poses = {foot.side: target.value for foot, target in zip(robot.feet, gait.stance_poses.values(), strict=True)}
        self.positions = {side: tasks.FeedForwardTarget(pose.translation) for side, pose in poses.items()}
        self.rotations = {side: tasks.FeedForwardTarget(pose.rotation) for side, pose in poses.items()}
        lever = robot.mass * gait.height
        largest = MOMENTUM_TOLERANCE * lever * np.sqrt(GRAVITY * gait.height)
        balance = [
            GroundReaction(gait.center, robot.mass, gait.height),
            tasks.CenterOfMass(
                gait.com_height,
                axes="z",
                tolerance=HEIGHT_TOLERANCE * gait.height,
                dynamics=tasks.Decay(settings.com_height_gain),
                name="height of the center of mass",
            ),
            tasks.AngularMomentum(
                axes="xy",
                tolerance=largest,
                weight=lever**-2,
                dynamics=tasks.Decay(settings.angular_momentum_gain),
                name="angular momentum",
            ),
        ]
        swing_dynamics = tasks.Decay(settings.swing_gain)

        def soles(sides: Sequence[Side], weight: float = 1.0) -> list[tasks.Task]:
            return [
                tasks.Orientation(
                    robot.foot(side), self.rotations[side], weight=weight, dynamics=swing_dynamics, name=f"{side} sole"
                )
                for side in sides
            ]

        def recovering(name: str, walk: Hierarchy) -> Hierarchy:
            swinging: list[Side] = [] if name == "both" else [name]  # type: ignore[list-item]
            standing = [foot.side for foot in robot.feet if foot.side not in swinging]
            changed: dict[str, Sequence[tasks.Task]] = {
                "contact": gait.stance_contacts(*swinging, rotation_axes="z"),
                "balance": balance,
                "swing": [
                    *(
                        tasks.Position(
                            robot.foot(side), self.positions[side], dynamics=swing_dynamics, name="swing foot"
                        )
                        for side in swinging
                    ),
                    *soles(swinging, SOLE_WEIGHT),
                ],
                "chest": [*soles(standing), *walk.level("chest").tasks],
            }
            levels = [Level(level.name, changed.get(level.name, level.tasks), level.damping) for level in walk.levels]
            return Hierarchy(always=walk.always, levels=levels)

        self.hierarchies = {name: recovering(name, walk) for name, walk in walking.items()}

    def follow(self, side: Side, motion: tuple[Any, Any, Any]) -> None:
        """Set the motion of a swing foot: pose, twist and rate of the twist of its frame."""
        pose, twist, rate = motion
        self.positions[side].set(pose.translation, twist[:3], rate[:3])
        self.rotations[side].set(pose.rotation, twist[3:], rate[3:])

    def keep_flat(self, side: Side, yaw: float, tilt: Array) -> None:
        """Set the orientation of a stance foot: flat on the ground."""
        self.rotations[side].set(tilt @ so3.yaw_matrix(yaw))
