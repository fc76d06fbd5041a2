"""Handles: the named parts of a robot, resolved to indices once, when the robot is loaded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from poise.arrays import Array

Side = Literal["left", "right"]

SIDES: tuple[Side, Side] = ("left", "right")


def other_side(side: Side) -> Side:
    """The opposite side of the body."""
    return "left" if side == "right" else "right"


def side_sign(side: Side) -> float:
    """Sign of y on a side: 1 to the left, -1 to the right."""
    return 1.0 if side == "left" else -1.0


@dataclass(frozen=True)
class Joint:
    """One actuated joint with a single degree of freedom.

    Args:
        name: as in the robot's description.
        index: its number among the joints of the pinocchio model.
        q: where its angle (rad, or m for a sliding joint) stands in a configuration.
        v: where its rate stands in a velocity; ``v - 6`` is its place in `Limits`.
    """

    name: str
    index: int
    q: int
    v: int


@dataclass(frozen=True)
class Frame:
    """A coordinate frame fixed to one body.

    Args:
        name: as in the robot's description, or as added by its data file.
        index: its number among the frames of the pinocchio model.
        joint: number of the joint that carries it.
        robot_name: whose frame it is.
    """

    name: str
    index: int
    joint: int
    robot_name: str


@dataclass(frozen=True)
class Sole:
    """The flat rectangle under a foot that touches the ground, in the foot's own frame (m)."""

    x_min: float
    x_max: float
    y_min: float
    y_max: float

    @property
    def corners(self) -> Array:
        """The four corners, counter-clockwise seen from above, from the front left one: 4 x 3 (m)."""
        x, X, y, Y = self.x_min, self.x_max, self.y_min, self.y_max
        return np.array([[X, Y, 0.0], [x, Y, 0.0], [x, y, 0.0], [X, y, 0.0]])

    @property
    def center(self) -> Array:
        """Middle of the rectangle (m, 3)."""
        return np.array([(self.x_min + self.x_max) / 2, (self.y_min + self.y_max) / 2, 0.0])

    @property
    def size(self) -> tuple[float, float]:
        """Length and width (m)."""
        return self.x_max - self.x_min, self.y_max - self.y_min

    @property
    def half(self) -> tuple[float, float]:
        """Half length and half width (m): from the center to the edges."""
        return 0.5 * (self.x_max - self.x_min), 0.5 * (self.y_max - self.y_min)


@dataclass(frozen=True)
class Foot(Frame):
    """A foot: the frame of its sole, with x towards the toes, y to the left, z up, origin on the ground plane."""

    side: Side
    sole: Sole

    @property
    def corners(self) -> Array:
        """Corners of the sole in this frame, counter-clockwise from the front left one: 4 x 3 (m)."""
        return self.sole.corners


@dataclass(frozen=True)
class Hand(Frame):
    """A hand: the frame that reaches."""

    side: Side


@dataclass(frozen=True)
class Gaze(Frame):
    """Where the robot looks from, and the unit vector in that frame along which it looks."""

    axis: tuple[float, float, float]
