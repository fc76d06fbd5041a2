"""Overlays of a picture: support polygon, projected center of mass (CoM), marked points and boxes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from poise.arrays import Array
from poise.robots import Foot, State

Color = tuple[float, float, float]

#: Colors safe for most kinds of color blindness: marks and boxes (used in turn), support polygon, CoM.
MARK_COLORS: tuple[Color, ...] = ((0.0, 0.45, 0.70), (0.84, 0.37, 0.0), (0.80, 0.47, 0.65), (0.90, 0.62, 0.0))
SUPPORT_COLOR: Color = (0.0, 0.62, 0.45)
CENTER_OF_MASS_COLOR: Color = (0.80, 0.10, 0.15)
#: Lengths per m of the robot's height: radius of marks and of the CoM, half-width of lines.
MARK_RADIUS, LINE_HALF_WIDTH = 0.018, 0.003


@dataclass(frozen=True)
class Overlays:
    """Named points (m) and named boxes as (lower, upper) corner (m) to draw with a robot, in the world."""

    marks: Mapping[str, Array] = field(default_factory=dict)
    boxes: Mapping[str, tuple[Array, Array]] = field(default_factory=dict)

    @property
    def points(self) -> Array:
        """All marks and box corners as points (n, 3), for framing."""
        corners = [corner for box in self.boxes.values() for corner in box]
        return np.array([*self.marks.values(), *corners]).reshape(-1, 3)


def support_outline(state: State) -> Array:
    """Return the corners (k, 3) of the support polygon in the world (m), at the height of the floor."""
    polygon = state.support_polygon
    return np.column_stack([polygon, np.full(len(polygon), floor_height(state))])


def projected_center_of_mass(state: State) -> Array:
    """Return the CoM projected vertically onto the floor, in the world (3), m."""
    return np.array([*state.center_of_mass[:2], floor_height(state)])


def floor_height(state: State) -> float:
    """Return the height of the lowest foot in contact, else of the lowest other contact (m); 0 without contacts."""
    feet = [part for part in state.contacts if isinstance(part, Foot)] or state.contacts
    return min((float(state.pose(part).translation[2]) for part in feet), default=0.0)


def palette(items: Mapping[str, object]) -> list[Color]:
    """Return one color of `MARK_COLORS` per item, repeated in turn."""
    return [MARK_COLORS[i % len(MARK_COLORS)] for i in range(len(items))]
