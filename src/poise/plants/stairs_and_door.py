"""The environment of [Sugihara2008], figure 9: a stage, stairs that lead down from it (A), a room, and its door (B)."""

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

#: How recordings and choices call this world.
STAIRS_AND_DOOR = "stairs and door"
#: Sizes as shares of the leg, so that the world is as large for every robot. A step down: 2 cm for mighty, 5 cm for G1.
STEP_RISE = 0.078
#: Depth of a tread, in lengths of a sole: 13 cm for mighty, a foot and some more.
TREAD_DEPTH = 1.31
#: From the toes of the start to the first edge; from the last edge to the door; how far the door is to the left.
DISTANCE_TO_STAIRS, ROOM_LENGTH, DOOR_OFFSET = 0.2, 2.4, 0.25
#: Length of the stage behind the start, width of all of it, height of the wall.
STAGE_LENGTH, TOTAL_WIDTH, WALL_HEIGHT = 2.0, 6.0, 3.2
#: The hand is led to this height above the hand of a standing robot, a little below the shoulder: an arm that is level
#: pulls the body ahead rather than down.
TARGET_HEIGHT_OFFSET = 0.5
#: A sole keeps from the edge of a tread this share of what the longest step leaves beyond a sole: half of it would be
#: the most, and leave nothing for feet that are not quite in place. At the least it is the second share of the leg.
EDGE_CLEARANCE, MIN_EDGE_CLEARANCE = 0.3, 0.005
#: The hand is to stop this far before it touches the door (m).
DOOR_GAP = 0.003


@dataclass(frozen=True, eq=False)
class StairsAndDoor:
    """Ground that leads down in steps along x, at height zero where the robot starts, and the door of the room below.

    Args:
        first_edge: where the first step leads down (m).
        rise, run, count: height and depth of a step (m), and how many there are.
        room: from the last edge to the door (m).
        door: how far the place that is to be touched is to the left, and how high above the floor of the room (m).
        sole_half_size: half length and half width of a sole (m).
        edge_clearance: that a sole keeps from the edge of a tread (m).
        leg_length: that the rest is scaled with (m).

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
        """The stage for a robot, as large for it as for any other."""
        space = workspace or Workspace.of(robot)
        leg, half = space.leg, (space.sole_half.real, space.sole_half.imag)
        start = robot.stance("standing")
        toes = max(float(start.pose(foot).act(foot.sole.center)[0]) for foot in robot.feet) + half[0]
        clear = max(EDGE_CLEARANCE * (space.longest_step - 2.0 * half[0]), MIN_EDGE_CLEARANCE * leg)
        hand = start.pose(robot.hand("left")).translation if robot.hands else np.array([0.0, 0.0, leg])
        aside, high = DOOR_OFFSET * leg + float(hand[1]), float(hand[2]) + TARGET_HEIGHT_OFFSET * leg
        return cls(
            first_edge=toes + DISTANCE_TO_STAIRS * leg + clear,
            rise=STEP_RISE * leg,
            run=TREAD_DEPTH * 2.0 * half[0],
            count=3,
            room=ROOM_LENGTH * leg,
            door=(aside, high),
            sole_half_size=half,
            edge_clearance=clear,
            leg_length=leg,
        )

    # -- ground ----------------------------------------------------------------------------------------------------

    @property
    def floor(self) -> float:
        """Height of the room (m)."""
        return -self.count * self.rise

    @property
    def edges(self) -> tuple[float, ...]:
        """Where the steps lead down (m)."""
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
        """The footstep on this ground, moved along until all four corners of its sole are on one tread."""
        long, wide = self.sole_half_size
        return Stairway(
            self.first_edge, -self.rise, self.run, self.count, long, long, self.edge_clearance, wide
        ).place_on_tread(step)

    # -- door ------------------------------------------------------------------------------------------------------

    @property
    def door_x(self) -> float:
        """Where the face of the door is (m, along x)."""
        return self.edges[-1] + self.room

    @property
    def target(self) -> Array:
        """B: where the left hand is to be led (m, 3), just before its ball touches the door."""
        aside, high = self.door
        return np.array([self.door_x - BALL_RADIUS - DOOR_GAP, aside, self.floor + high])

    @property
    def objects(self) -> tuple[EnvironmentObject, ...]:
        """The door, and the wall that it is in, a little behind its face."""
        aside, _ = self.door
        leaf, tall = 0.8 * self.leg_length, 0.85 * WALL_HEIGHT * self.leg_length
        thick = 0.05 * self.leg_length
        normal = (-1.0, 0.0, 0.0)
        door = Wall((self.door_x, aside, self.floor + 0.5 * tall), normal, (leaf, tall), thickness=thick)
        middle = self.floor + 0.5 * WALL_HEIGHT * self.leg_length
        wall = Wall(
            (self.door_x + 0.5 * thick, 0.0, middle),
            normal,
            (TOTAL_WIDTH * self.leg_length, WALL_HEIGHT * self.leg_length),
            thickness=thick,
        )
        return door, wall

    @property
    def outline(self) -> dict[str, list[list[float]]]:
        """For figures: `profile`, the ground and the door from the side, as x and z (m); `edges` and `door` from above,
        as x and y at both ends of each (m); `target`, B (m)."""
        aside, _ = self.door
        wide, leaf, top = (
            0.5 * TOTAL_WIDTH * self.leg_length,
            0.4 * self.leg_length,
            self.floor + 0.85 * WALL_HEIGHT * self.leg_length,
        )
        profile = [[-STAGE_LENGTH * self.leg_length, 0.0]]
        for k, edge in enumerate(self.edges):
            profile += [[edge, -k * self.rise], [edge, -(k + 1) * self.rise]]
        profile += [[self.door_x, self.floor], [self.door_x, top]]
        edges = [[edge, -wide, edge, wide] for edge in self.edges]
        door = [[self.door_x, aside - leaf, self.door_x, aside + leaf]]
        return {"profile": profile, "edges": edges, "door": door, "target": [self.target.tolist()]}

    def is_in_room(self, step: Footstep, tolerance: float) -> bool:
        """Whether a foot stands on the floor of the room, its whole sole beyond the stairs, to this height (m)."""
        long, wide = self.sole_half_size
        reach = long * abs(math.cos(step.yaw)) + wide * abs(math.sin(step.yaw))
        return step.x - reach > self.edges[-1] and abs(step.z - self.floor) <= tolerance
