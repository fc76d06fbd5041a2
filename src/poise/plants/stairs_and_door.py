"""Environment of [Sugihara2008], figure 9: a platform, stairs that lead down from it (A), a room, and its door (B)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.plans import Footstep, Stairway, Workspace
from poise.plants.environment import BALL_RADIUS, EnvironmentObject, SolidBox, Wall
from poise.plants.plant_errors import require_positive
from poise.robots import Robot

#: Name of this environment in recordings and options.
STAIRS_AND_DOOR = "stairs and door"
#: Height of a step as a fraction of the leg length: 2 cm for mighty, 5 cm for G1. Most sizes are fractions of the leg
#: length, so that the environment scales with the robot.
STEP_RISE = 0.078
#: Depth of a tread in lengths of a sole: 13 cm for mighty, a foot and some more.
TREAD_DEPTH = 1.31
#: Fractions of the leg length: from the toes of the start to the first edge; from the last edge to the door; offset of
#: the door to the left.
DISTANCE_TO_STAIRS, ROOM_LENGTH, DOOR_OFFSET = 0.2, 2.4, 0.25
#: Fractions of the leg length: platform behind the start, width of the environment, height of the wall.
STAGE_LENGTH, TOTAL_WIDTH, WALL_HEIGHT = 2.0, 6.0, 3.2
#: Height of the target above the hand of the standing robot, as a fraction of the leg length: slightly below the
#: shoulder, because a horizontal arm pulls the body forward rather than down.
TARGET_HEIGHT_OFFSET = 0.5
#: Clearance between a sole and the edge of a tread, as a fraction of longest step minus sole length: one half is the
#: maximum, and leaves nothing for inaccurate footsteps. Its minimum is the second value, a fraction of the leg length.
EDGE_CLEARANCE, MIN_EDGE_CLEARANCE = 0.3, 0.005
#: Gap between the hand's contact ball and the door at the target (m).
DOOR_GAP = 0.003


@dataclass(frozen=True, eq=False)
class StairsAndDoor:
    """Terrain with stairs that lead down along x, at height zero at the start, and the door of the room below.

    Args:
        first_edge: x of the first edge (m).
        rise, run, count: height and depth of a step (m), and number of steps.
        room: distance from the last edge to the door (m).
        door: y of the target point on the door, and its height above the floor of the room (m).
        sole_half_size: half length and half width of a sole (m).
        edge_clearance: clearance between a sole and the edge of a tread (m).
        leg_length: leg length with which the other sizes are scaled (m).

    >>> stage = StairsAndDoor.of(robot)
    >>> plant = poise.MujocoPlant(robot, ground=stage, objects=stage.objects)
    >>> navigate = Navigate(robot, device, ground=stage.under)
    """

    first_edge: float
    rise: float
    run: float
    count: int
    room: float
    door: tuple[float, float]
    sole_half_size: tuple[float, float]
    edge_clearance: float
    leg_length: float

    def __post_init__(self) -> None:
        for name in ("rise", "run", "count", "room", "leg_length"):
            require_positive(getattr(self, name), f"StairsAndDoor.{name}", "" if name == "count" else "m")

    @classmethod
    def of(cls, robot: Robot, workspace: Workspace | None = None) -> StairsAndDoor:
        """Return the environment scaled to a robot."""
        space = workspace or Workspace.of(robot)
        leg, half = space.leg, (space.sole_half.real, space.sole_half.imag)
        start = robot.stance("standing")
        toes = max(float(start.pose(foot).act(foot.sole.center)[0]) for foot in robot.feet) + half[0]
        clearance = max(EDGE_CLEARANCE * (space.longest_step - 2.0 * half[0]), MIN_EDGE_CLEARANCE * leg)
        left_hands = [start.pose(hand).translation for hand in robot.hands if hand.side == "left"]
        hand = left_hands[0] if left_hands else np.array([0.0, 0.0, leg])
        target_y, target_height = DOOR_OFFSET * leg + float(hand[1]), float(hand[2]) + TARGET_HEIGHT_OFFSET * leg
        return cls(
            first_edge=toes + DISTANCE_TO_STAIRS * leg + clearance,
            rise=STEP_RISE * leg,
            run=TREAD_DEPTH * 2.0 * half[0],
            count=3,
            room=ROOM_LENGTH * leg,
            door=(target_y, target_height),
            sole_half_size=half,
            edge_clearance=clearance,
            leg_length=leg,
        )

    # -- ground ----------------------------------------------------------------------------------------------------

    @property
    def floor(self) -> float:
        """Height of the room's floor (m)."""
        return -self.count * self.rise

    @property
    def edges(self) -> tuple[float, ...]:
        """x of the edges of the steps (m)."""
        return tuple(self.first_edge + k * self.run for k in range(self.count))

    @property
    def plane(self) -> pinocchio.SE3:
        """The floor of the room."""
        return pinocchio.SE3(np.eye(3), np.array([0.0, 0.0, self.floor]))

    def boxes(self, seed: int, flat_region: Array) -> list[SolidBox]:
        begins = (-STAGE_LENGTH * self.leg_length, *self.edges[:-1])
        boxes = []
        for k, (begin, end) in enumerate(zip(begins, self.edges, strict=True)):
            top = -k * self.rise
            size = (end - begin, TOTAL_WIDTH * self.leg_length, top - self.floor)
            boxes.append(SolidBox(((begin + end) / 2.0, 0.0, (top + self.floor) / 2.0), size))
        return boxes

    def elevation(self, x: float, y: float) -> float:
        return -self.rise * sum(x >= edge for edge in self.edges)

    def under(self, step: Footstep) -> Footstep:
        """Return the footstep on this terrain, shifted along x until all four corners of its sole are on one tread."""
        length, width = self.sole_half_size
        return Stairway(
            self.first_edge, -self.rise, self.run, self.count, length, length, self.edge_clearance, width
        ).place_on_tread(step)

    # -- door ------------------------------------------------------------------------------------------------------

    @property
    def door_x(self) -> float:
        """x of the face of the door (m)."""
        return self.edges[-1] + self.room

    @property
    def target(self) -> Array:
        """Target B of the left hand (m, 3), just before its contact ball touches the door."""
        y, height = self.door
        return np.array([self.door_x - BALL_RADIUS - DOOR_GAP, y, self.floor + height])

    @property
    def objects(self) -> tuple[EnvironmentObject, ...]:
        """The door and its wall, whose face is slightly behind that of the door."""
        y, _ = self.door
        width, height = 0.8 * self.leg_length, 0.85 * WALL_HEIGHT * self.leg_length
        thickness = 0.05 * self.leg_length
        normal = (-1.0, 0.0, 0.0)
        door = Wall((self.door_x, y, self.floor + 0.5 * height), normal, (width, height), thickness=thickness)
        middle = self.floor + 0.5 * WALL_HEIGHT * self.leg_length
        wall = Wall(
            (self.door_x + 0.5 * thickness, 0.0, middle),
            normal,
            (TOTAL_WIDTH * self.leg_length, WALL_HEIGHT * self.leg_length),
            thickness=thickness,
        )
        return door, wall

    @property
    def outline(self) -> dict[str, list[list[float]]]:
        """Lines for figures: `profile`, the ground and the door from the side, as x and z (m); `edges` and `door` from
        above, as x and y at both ends of each (m); `target`, the point B (m).
        """
        y, _ = self.door
        half_width, half_door, top = (
            0.5 * TOTAL_WIDTH * self.leg_length,
            0.4 * self.leg_length,
            self.floor + 0.85 * WALL_HEIGHT * self.leg_length,
        )
        profile = [[-STAGE_LENGTH * self.leg_length, 0.0]]
        for k, edge in enumerate(self.edges):
            profile += [[edge, -k * self.rise], [edge, -(k + 1) * self.rise]]
        profile += [[self.door_x, self.floor], [self.door_x, top]]
        edges = [[edge, -half_width, edge, half_width] for edge in self.edges]
        door = [[self.door_x, y - half_door, self.door_x, y + half_door]]
        return {"profile": profile, "edges": edges, "door": door, "target": [self.target.tolist()]}

    def is_in_room(self, step: Footstep, tolerance: float) -> bool:
        """Return whether a whole sole is beyond the stairs, on the floor of the room within a height tolerance (m)."""
        length, width = self.sole_half_size
        reach = length * abs(math.cos(step.yaw)) + width * abs(math.sin(step.yaw))
        return step.x - reach > self.edges[-1] and abs(step.z - self.floor) <= tolerance
