"""The environment of [Sugihara2008], figure 9: a stage, stairs that lead down from it (A), a room, and its door (B)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.plans import Footstep, Stairway, Workspace
from poise.plants.environment import BALL, Box, Thing, Wall
from poise.plants.plant_errors import positive
from poise.robots import Robot

#: How recordings and choices call this world.
STAIRS_AND_DOOR = "stairs and door"
#: Sizes as shares of the leg, so that the world is as large for every robot. A step down: 2 cm for mighty, 5 cm for G1.
RISE = 0.078
#: Depth of a tread, in lengths of a sole: 13 cm for mighty, a foot and some more.
RUN = 1.31
#: From the toes of the start to the first edge; from the last edge to the door; how far the door is to the left.
BEFORE, ROOM, ASIDE = 0.2, 2.4, 0.25
#: Length of the stage behind the start, width of all of it, height of the wall.
BEHIND, WIDTH, WALL = 2.0, 6.0, 3.2
#: The hand is led to this height above the hand of a standing robot, a little below the shoulder: an arm that is level
#: pulls the body ahead rather than down.
HIGHER = 0.5
#: A sole keeps from the edge of a tread this share of what the longest step leaves beyond a sole: half of it would be
#: the most, and leave nothing for feet that are not quite in place. At the least it is the second share of the leg.
CLEAR, LEAST = 0.3, 0.005
#: The hand is to stop this far before it touches the door (m).
BEFORE_THE_DOOR = 0.003


@dataclass(frozen=True, eq=False)
class Stage:
    """Ground that leads down in steps along x, at height zero where the robot starts, and the door of the room below.

    Args:
        begin: where the first step leads down (m).
        rise, run, count: height and depth of a step (m), and how many there are.
        room: from the last edge to the door (m).
        door: how far the place that is to be touched is to the left, and how high above the floor of the room (m).
        half: half length and half width of a sole (m).
        clear: that a sole keeps from the edge of a tread (m).
        leg: that the rest is scaled with (m).

    >>> stage = Stage.of(robot)
    >>> plant = poise.MujocoPlant(robot, ground=stage, things=stage.things)
    >>> navigate = Navigate(robot, device, ground=stage.under)
    """

    begin: float
    rise: float
    run: float
    count: int
    room: float
    door: tuple[float, float]
    half: tuple[float, float]
    clear: float
    leg: float

    def __post_init__(self) -> None:
        for name in ("rise", "run", "count", "room", "leg"):
            positive(getattr(self, name), f"Stage.{name}", "" if name == "count" else "m")

    @classmethod
    def of(cls, robot: Robot, workspace: Workspace | None = None) -> Stage:
        """The stage for a robot, as large for it as for any other."""
        space = workspace or Workspace.of(robot)
        leg, half = space.leg, (space.sole.real, space.sole.imag)
        start = robot.stance("standing")
        toes = max(float(start.pose(foot).act(foot.sole.center)[0]) for foot in robot.feet) + half[0]
        clear = max(CLEAR * (space.step - 2.0 * half[0]), LEAST * leg)
        hand = start.pose(robot.hand("left")).translation if robot.hands else np.array([0.0, 0.0, leg])
        aside, high = ASIDE * leg + float(hand[1]), float(hand[2]) + HIGHER * leg
        return cls(
            begin=toes + BEFORE * leg + clear,
            rise=RISE * leg,
            run=RUN * 2.0 * half[0],
            count=3,
            room=ROOM * leg,
            door=(aside, high),
            half=half,
            clear=clear,
            leg=leg,
        )

    # -- ground ----------------------------------------------------------------------------------------------------

    @property
    def floor(self) -> float:
        """Height of the room (m)."""
        return -self.count * self.rise

    @property
    def edges(self) -> tuple[float, ...]:
        """Where the steps lead down (m)."""
        return tuple(self.begin + k * self.run for k in range(self.count))

    @property
    def plane(self) -> pinocchio.SE3:
        """The floor of the room."""
        return pinocchio.SE3(np.eye(3), np.array([0.0, 0.0, self.floor]))

    def boxes(self, seed: int, level: Array) -> list[Box]:
        begins = (-BEHIND * self.leg, *self.edges[:-1])
        found = []
        for k, (begin, end) in enumerate(zip(begins, self.edges, strict=True)):
            top = -k * self.rise
            size = (end - begin, WIDTH * self.leg, top - self.floor)
            found.append(Box(((begin + end) / 2.0, 0.0, (top + self.floor) / 2.0), size))
        return found

    def elevation(self, x: float, y: float) -> float:
        return -self.rise * sum(x >= edge for edge in self.edges)

    def under(self, step: Footstep) -> Footstep:
        """The footstep on this ground, moved along until all four corners of its sole are on one tread."""
        long, wide = self.half
        return Stairway(self.begin, -self.rise, self.run, self.count, long, long, self.clear, wide).under(step)

    # -- door ------------------------------------------------------------------------------------------------------

    @property
    def wall(self) -> float:
        """Where the face of the door is (m, along x)."""
        return self.edges[-1] + self.room

    @property
    def target(self) -> Array:
        """B: where the left hand is to be led (m, 3), just before its ball touches the door."""
        aside, high = self.door
        return np.array([self.wall - BALL - BEFORE_THE_DOOR, aside, self.floor + high])

    @property
    def things(self) -> tuple[Thing, ...]:
        """The door, and the wall that it is in, a little behind its face."""
        aside, _ = self.door
        leaf, tall = 0.8 * self.leg, 0.85 * WALL * self.leg
        thick = 0.05 * self.leg
        normal = (-1.0, 0.0, 0.0)
        door = Wall((self.wall, aside, self.floor + 0.5 * tall), normal, (leaf, tall), thickness=thick)
        middle = self.floor + 0.5 * WALL * self.leg
        wall = Wall(
            (self.wall + 0.5 * thick, 0.0, middle), normal, (WIDTH * self.leg, WALL * self.leg), thickness=thick
        )
        return door, wall

    @property
    def drawn(self) -> dict[str, list[list[float]]]:
        """For figures: `profile`, the ground and the door from the side, as x and z (m); `edges` and `door` from above,
        as x and y at both ends of each (m); `target`, B (m)."""
        aside, _ = self.door
        wide, leaf, top = 0.5 * WIDTH * self.leg, 0.4 * self.leg, self.floor + 0.85 * WALL * self.leg
        profile = [[-BEHIND * self.leg, 0.0]]
        for k, edge in enumerate(self.edges):
            profile += [[edge, -k * self.rise], [edge, -(k + 1) * self.rise]]
        profile += [[self.wall, self.floor], [self.wall, top]]
        edges = [[edge, -wide, edge, wide] for edge in self.edges]
        door = [[self.wall, aside - leaf, self.wall, aside + leaf]]
        return {"profile": profile, "edges": edges, "door": door, "target": [self.target.tolist()]}

    def in_the_room(self, step: Footstep, within: float) -> bool:
        """Whether a foot stands on the floor of the room, its whole sole beyond the stairs, to this height (m)."""
        long, wide = self.half
        reach = long * abs(math.cos(step.yaw)) + wide * abs(math.sin(step.yaw))
        return step.x - reach > self.edges[-1] and abs(step.z - self.floor) <= within
