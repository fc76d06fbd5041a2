"""What the robot stands on, as far as the recording tells."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from poise.errors import PoiseError
from poise.exports.scene.solids import box
from poise.exports.scene.surface import Mesh, Surface, surface
from poise.plants import Flat, Ground, terrain
from poise.plants.ground import Box
from poise.plants.stage import STAIRS_AND_DOOR, Stage
from poise.recording import Recording
from poise.robots import Robot, State

Array = NDArray[np.float64]

STONE = (0.74, 0.76, 0.79, 1.0)
#: Uneven ground is level so far around the soles of the start (m), as in the plant.
LEVEL = 0.05


def ground_of(recording: Recording, robot: Robot | None = None) -> Ground:
    """The ground that a run names among its facts; flat if it names none.

    Args:
        robot: whose it is; a stage with stairs is made to its measure.
    """
    facts = recording.provenance
    if robot is not None and (facts.get("guide") == "scenario" or facts.get("world") == STAIRS_AND_DOOR):
        return Stage.of(robot)
    try:
        return terrain(str(facts.get("terrain", "flat")))
    except PoiseError:
        return Flat()


def blocks(ground: Ground, start: State, seed: object = 0) -> list[Box]:
    """Steps and blocks of a ground on which a robot starts."""
    corners = [start.pose(foot).act(corner)[:2] for foot in start.robot.feet for corner in foot.corners]
    level = np.zeros((2, 2))
    if corners:
        level = np.array([np.min(corners, axis=0) - LEVEL, np.max(corners, axis=0) + LEVEL])
    return ground.boxes(seed if isinstance(seed, int) else 0, level)


def stones(recording: Recording, start: State) -> list[Surface]:
    """Steps and blocks on the ground of a recording, to be drawn."""
    found = []
    for block in blocks(ground_of(recording, start.robot), start, recording.provenance.get("seed", 0)):
        x, y, z = np.asarray(block.size, dtype=np.float64) / 2
        points, faces = box((float(x), float(y), float(z)))
        placed = points @ np.asarray(block.rotation).T + np.asarray(block.position)
        found.append(surface(0, STONE, Mesh(placed, faces)))
    return found
