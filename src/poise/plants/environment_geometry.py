"""`EnvironmentGeometry`: the visible shape of a run's environment, which its recording stores and every view draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.plants.disturbances import CarriedBox
from poise.plants.environment import EnvironmentObject, FlatTerrain, SolidBox, Terrain, box_pose
from poise.plants.plant_errors import PlantError
from poise.robots import SIDES, Robot, Side, State

#: Uneven ground is level under the soles of the start and within this distance (m): room for a foot to slip or shift.
LEVEL_MARGIN = 0.05
#: Decimal digits of lengths (m) and quaternions in a recording: a micrometer.
DIGITS = 6


@dataclass(frozen=True, eq=False)
class HeldBox:
    """A box between the hands of a robot; it moves with them.

    Attributes:
        size: lengths of its edges (m, 3).
        hand_from_box: pose of the box in the frame of each hand that holds it.
    """

    size: Array
    hand_from_box: Mapping[Side, pinocchio.SE3]

    @classmethod
    def of(cls, carried: CarriedBox, start: State) -> HeldBox:
        """Return the box as the robot holds it at the start."""
        world_from_box, size = carried.pose_and_size(start)
        hands = {hand.side: start.pose(hand).actInv(world_from_box) for hand in start.robot.hands}
        return cls(size, hands)

    def pose(self, world_from_hand: Mapping[Side, pinocchio.SE3]) -> pinocchio.SE3:
        """Return world_from_box halfway between the two poses that follow from the hands."""
        first, *others = (world_from_hand[side] * pose for side, pose in self.hand_from_box.items())
        return pinocchio.SE3.Interpolate(first, others[0], 0.5) if others else first

    def pose_in(self, state: State) -> pinocchio.SE3:
        """Return world_from_box in a state of the robot that holds it."""
        return self.pose({side: state.pose(state.robot.hand(side)) for side in self.hand_from_box})


@dataclass(frozen=True, eq=False)
class EnvironmentGeometry:
    """Ground plane, boxes on it, objects, and the box that the robot holds, in the world (m).

    Attributes:
        plane: world_from_plane of the infinite ground plane, z its normal.
        ground: boxes that belong to the ground, like steps.
        objects: walls, doors, tables and other objects.
        held_box: box between the hands of the robot; None: the hands are free.

    >>> EnvironmentGeometry.of(Stairs(0.05, 0.3, 4), robot.stance("standing")).facts()
    """

    plane: pinocchio.SE3 = field(default_factory=pinocchio.SE3.Identity)
    ground: tuple[SolidBox, ...] = ()
    objects: tuple[SolidBox, ...] = ()
    held_box: HeldBox | None = None

    @classmethod
    def of(
        cls,
        terrain: Terrain | None,
        start: State,
        seed: int = 0,
        objects: Sequence[EnvironmentObject] = (),
        carried_box: CarriedBox | None = None,
    ) -> Self:
        """Return the geometry of an environment.

        Args:
            terrain: terrain; None: flat ground.
            start: start of the robot; uneven ground is level around its soles, and its hands hold the box.
            seed: seed of uneven ground.
            objects: walls, doors, tables and boxes.
            carried_box: box that the robot holds.
        """
        terrain = terrain or FlatTerrain()
        return cls(
            terrain.plane,
            tuple(terrain.boxes(seed, sole_rectangle(start))),
            tuple(each.box for each in objects),
            None if carried_box is None else HeldBox.of(carried_box, start),
        )

    @property
    def is_flat(self) -> bool:
        """Whether the ground is the floor z = 0 without boxes; objects may stand on it."""
        return not self.ground and bool(self.plane.isApprox(pinocchio.SE3.Identity(), 1e-9))

    def transformed(self, motion: pinocchio.SE3) -> Self:
        """Return the environment after a rigid motion in the world; the held box moves with the robot."""
        ground, objects = (tuple(_move_box(box, motion) for box in boxes) for boxes in (self.ground, self.objects))
        return replace(self, plane=motion * self.plane, ground=ground, objects=objects)

    # -- facts in a recording --------------------------------------------------------------------------------------

    def facts(self) -> dict[str, Any]:
        """Return the entry "environment" of a recording's provenance; empty for flat ground without objects.

        A box has ``position``, ``size`` (m) and, unless it is the identity, ``quaternion`` (x, y, z, w).
        """
        facts: dict[str, Any] = {}
        if not self.plane.isApprox(pinocchio.SE3.Identity(), 1e-9):
            facts["plane"] = _pose_facts(self.plane)
        for name, boxes in (("ground", self.ground), ("objects", self.objects)):
            if boxes:
                facts[name] = [{**_pose_facts(box_pose(box)), "size": _round(box.size)} for box in boxes]
        if self.held_box is not None:
            hands = {side: _pose_facts(pose) for side, pose in self.held_box.hand_from_box.items()}
            facts["held_box"] = {"size": _round(self.held_box.size), "hands": hands}
        return facts

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any], robot: Robot | None = None) -> Self:
        """Return the environment described by `facts`.

        Args:
            facts: entry "environment" of a recording's provenance.
            robot: robot of the recording; a box that it holds is left out if this is None or has no such hands.

        Raises:
            PlantError: the facts are not those of an environment.
        """
        try:
            held: Mapping[str, Any] = facts.get("held_box") or {"hands": {}}
            sides = {hand.side for hand in robot.hands} if robot is not None else set()
            hands = {side: _pose(held["hands"][side]) for side in SIDES if side in held["hands"] and side in sides}
            return cls(
                _pose(facts.get("plane", {})),
                tuple(_box(each) for each in facts.get("ground", ())),
                tuple(_box(each) for each in facts.get("objects", ())),
                HeldBox(np.array(held["size"], dtype=np.float64), hands) if hands else None,
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise PlantError(f"the environment of the recording cannot be read: {error!r}", "environment") from None


def sole_rectangle(start: State) -> Array:
    """Return the rectangle around the soles of a start with a margin: lowest x and y, highest x and y (2 x 2, m)."""
    feet = start.robot.feet
    corners = np.array([start.pose(foot).act(corner)[:2] for foot in feet for corner in foot.corners]).reshape(-1, 2)
    if not len(corners):
        corners = start.q[None, :2]
    return np.array([corners.min(axis=0) - LEVEL_MARGIN, corners.max(axis=0) + LEVEL_MARGIN])


def _move_box(box: SolidBox, motion: pinocchio.SE3) -> SolidBox:
    pose = motion * box_pose(box)
    return SolidBox(pose.translation, box.size, pose.rotation, box.friction)


def _pose_facts(pose: pinocchio.SE3) -> dict[str, Any]:
    position = {"position": _round(pose.translation)}
    if np.abs(pose.rotation - np.eye(3)).max() < 1e-9:
        return position
    return {**position, "quaternion": _round(pinocchio.Quaternion(pose.rotation).coeffs())}


def _pose(facts: Mapping[str, Any]) -> pinocchio.SE3:
    position = np.array(facts.get("position", (0.0, 0.0, 0.0)), dtype=np.float64)
    x, y, z, w = (float(value) for value in facts.get("quaternion", (0.0, 0.0, 0.0, 1.0)))
    return pinocchio.SE3(pinocchio.Quaternion(w, x, y, z).normalized().matrix(), position)


def _box(facts: Mapping[str, Any]) -> SolidBox:
    pose = _pose(facts)
    return SolidBox(pose.translation, facts["size"], pose.rotation)


def _round(values: Any) -> list[float]:
    rounded: list[float] = (np.round(np.asarray(values, dtype=np.float64), DIGITS) + 0.0).tolist()
    return rounded
