"""Environment of a recording, for pictures, films and pages: `recorded_environment`, and its surfaces and colors."""

from __future__ import annotations

import numpy as np

from poise.arrays import Array
from poise.errors import PoiseError
from poise.plants import (
    STAIRS_AND_DOOR,
    EnvironmentGeometry,
    EnvironmentObject,
    SolidBox,
    StairsAndDoor,
    Terrain,
    parse_terrain,
)
from poise.recording import Recording
from poise.rendering.camera import Camera
from poise.rendering.scene_geometry import Mesh, Surface, box, surface_with_normals
from poise.robots import Robot

#: Colors of steps and blocks, of objects, and of a box in the hands. Objects are transparent, since a wall or a door
#: may be between the camera and the robot.
GROUND_COLOR, OBJECT_COLOR = (0.74, 0.76, 0.79, 1.0), (0.72, 0.60, 0.45, 0.45)
HELD_BOX_COLOR = (0.80, 0.55, 0.25, 1.0)
#: Color of the edges of steps: from above and from ahead, treads of one color would look like a floor.
EDGE_COLOR = (0.47, 0.50, 0.54)
#: Largest number of boxes whose edges are drawn: more than a staircase has. Blocks of uneven ground are clear without.
MAX_OUTLINED_BOXES = 60
#: Direction from the robot to the camera where the ground is not flat or has objects: from the right, where the profile
#: of stairs and slopes is seen and neither a step nor a door ahead hides the robot.
SIDE_DIRECTION = (0.15, -1.0, 0.25)
#: Corner indices of the upper edges of a box, see `poise.rendering.scene_geometry.box`.
TOP_EDGES = ((1, 3), (3, 7), (7, 5), (5, 1))


def environment_camera(environment: EnvironmentGeometry) -> Camera:
    """Return the default camera: from the front right on a flat floor, else from the side."""
    return Camera() if environment.is_flat and not environment.objects else Camera(SIDE_DIRECTION)


def step_edges(environment: EnvironmentGeometry) -> Array:
    """Return the upper edges of the boxes of the ground as start and end (k, 2, 3), m; none for uneven ground."""
    if not 0 < len(environment.ground) <= MAX_OUTLINED_BOXES:
        return np.zeros((0, 2, 3))
    return np.concatenate([box_mesh(each).points[np.array(TOP_EDGES)] for each in environment.ground])


def recorded_environment(recording: Recording, robot: Robot | None = None) -> EnvironmentGeometry:
    """Return the environment stored in a recording; flat ground if it has none.

    Older recordings only name their terrain; its geometry is computed again.

    Args:
        recording: recording of a run.
        robot: its robot; without it, a box in its hands and the terrain of an old recording are left out.
    """
    facts = recording.provenance.get("environment")
    try:
        if facts is not None:
            return EnvironmentGeometry.from_facts(facts, robot)
        return _named_environment(recording, robot) if robot is not None else EnvironmentGeometry()
    except PoiseError:
        return EnvironmentGeometry()


def _named_environment(recording: Recording, robot: Robot) -> EnvironmentGeometry:
    """Return the environment that an old recording names."""
    facts = recording.provenance
    name = str(facts.get("terrain", "flat"))
    terrain: Terrain
    objects: tuple[EnvironmentObject, ...] = ()
    if facts.get("operator") == "scenario" or name == STAIRS_AND_DOOR:
        terrain = stage = StairsAndDoor.of(robot)
        objects = stage.objects
    else:
        terrain = parse_terrain(name)
    seed = facts.get("seed", 0)
    start = recording.state(0, robot)
    return EnvironmentGeometry.of(terrain, start, seed if isinstance(seed, int) else 0, objects)


def environment_surfaces(environment: EnvironmentGeometry, held_box_joint: int = 0) -> list[Surface]:
    """Return ground boxes and objects as surfaces in the world, and the held box as a surface in its own frame.

    Args:
        environment: the environment.
        held_box_joint: number of the frame of the held box, as `Surface.joint`.
    """
    colored = [
        *((each, GROUND_COLOR) for each in environment.ground),
        *((each, OBJECT_COLOR) for each in environment.objects),
    ]
    surfaces = [surface_with_normals(0, color, box_mesh(each)) for each, color in colored]
    if environment.held_box is not None:
        held = SolidBox((0.0, 0.0, 0.0), environment.held_box.size)
        surfaces.append(surface_with_normals(held_box_joint, HELD_BOX_COLOR, box_mesh(held)))
    return surfaces


def box_mesh(solid: SolidBox) -> Mesh:
    """Return a box as triangles in the world (m)."""
    x, y, z = (float(length) / 2 for length in np.asarray(solid.size, dtype=np.float64))
    points, faces = box((x, y, z))
    return Mesh(points @ np.asarray(solid.rotation).T + np.asarray(solid.position), faces)
