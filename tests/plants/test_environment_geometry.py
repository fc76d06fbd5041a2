"""Environment geometry: stored in a recording and read back unchanged; the held box is where MuJoCo has it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio
import pytest

import poise
from poise.behaviors import Stand
from poise.plants import (
    CarriedBox,
    EnvironmentGeometry,
    IdealPlant,
    MujocoPlant,
    PlantError,
    Push,
    RoughTerrain,
    Slope,
    SolidBox,
    Stairs,
    Table,
    Wall,
    box_pose,
    steps,
)
from poise.recording import load_recording
from poise.rendering import recorded_environment
from robot_states import installed_robot

WALL = Wall(position=(0.8, 0.1, 1.0), normal=(-1.0, 0.5, 0.0), size=(1.0, 2.0))


def boxes_of(plant: MujocoPlant, word: str) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Position, rotation and size of the engine's geoms whose name is a prefix and a number."""
    model, data = plant.model, plant.data
    names = [model.geom(i).name for i in range(model.ngeom)]
    found = [i for i, name in enumerate(names) if name.startswith(f"{word} ")]
    return [(data.geom_xpos[i], data.geom_xmat[i].reshape(3, 3), 2.0 * model.geom_size[i]) for i in found]


@pytest.mark.parametrize("terrain", [Stairs(0.05, 0.3, 4), Stairs(-0.05, 0.3, 3), RoughTerrain(0.03), Slope(7.0)])
def test_a_recording_has_the_ground_and_the_objects_of_the_engine(terrain: object, tmp_path: Path) -> None:
    robot = installed_robot("nao")
    objects = [WALL, Table(position=(0.5, 0.0, 0.4)), SolidBox((1.0, 1.0, 0.1), (0.2, 0.3, 0.2))]
    plant = MujocoPlant(robot, ground=terrain, objects=objects, seed=3)  # type: ignore[arg-type]
    controller = poise.TorqueController(Stand(robot, start=plant.start))
    poise.record(controller, plant, 0.02, path=tmp_path / "world.poise")
    found = recorded_environment(load_recording(tmp_path / "world.poise"), robot)
    for boxes, word in ((found.ground, "ground"), (found.objects, "object")):
        expected = boxes_of(plant, word)
        assert len(boxes) == len(expected)
        for box, (position, rotation, size) in zip(boxes, expected, strict=True):
            # Boxes of the ground reach further down in the engine; their upper faces are the same.
            added = size - np.asarray(box.size)
            upper = 0.5 * added[2] * rotation[:, 2]
            assert np.allclose(box_pose(box).translation, position + upper, atol=1e-5)
            assert np.allclose(box_pose(box).rotation, rotation, atol=1e-5)
            assert np.allclose(added, (0.0, 0.0, 0.5 if word == "ground" else 0.0), atol=1e-5)
    ground = plant.model.geom("ground").id
    assert np.allclose(found.plane.translation, plant.data.geom_xpos[ground], atol=1e-5)
    assert np.allclose(found.plane.rotation.ravel(), plant.data.geom_xmat[ground], atol=1e-5)


def test_a_box_in_the_hands_has_the_pose_of_the_engine_while_the_robot_moves() -> None:
    robot = installed_robot("nao")
    stand = Stand(robot, start=robot.stance("carrying"))
    box, push = CarriedBox.of_mass_fraction(robot, 0.05), Push((5.0, 3.0, 0.0), 0.1, time=0.2)
    plant = MujocoPlant(stand.start, carried_box=box, pushes=[push])
    held = EnvironmentGeometry.from_facts(plant.environment.facts(), robot).held_box
    assert held is not None
    first, errors, distance = held.pose_in(plant.truth()), [], 0.0
    for _ in steps(poise.TorqueController(stand), plant, 1.0):
        x, y, z, qw, qx, qy, qz = plant.data.joint("carried").qpos
        engine = pinocchio.SE3(pinocchio.Quaternion(qw, qx, qy, qz).matrix(), np.array([x, y, z]))
        errors.append(np.abs(pinocchio.log6(engine.actInv(held.pose_in(plant.truth()))).vector).max())
        distance = max(distance, float(np.linalg.norm(first.translation - engine.translation)))
    assert not plant.fallen
    assert distance > 0.01
    assert max(errors) < 0.1 * distance  # m and rad: the grip is soft
    assert np.allclose(held.size, 2.0 * plant.model.geom("carried").size, atol=1e-6)


def test_flat_ground_takes_no_room_in_a_recording() -> None:
    robot = installed_robot("nao")
    start = robot.stance("standing")
    for plant in (IdealPlant(start), MujocoPlant(start)):
        assert plant.environment.is_flat
        assert plant.environment.facts() == {}
    recording = poise.record(poise.KinematicController(Stand(robot)), IdealPlant(start), 0.05)
    assert "environment" not in recording.provenance
    assert recorded_environment(recording, robot).is_flat


def test_a_former_recording_of_the_studio_names_the_stairs_and_the_door() -> None:
    robot = installed_robot("nao")
    recording = poise.record(
        poise.KinematicController(Stand(robot)), IdealPlant(robot.stance("standing")), 0.01,
        provenance={"behavior": "navigate", "terrain": "stairs and door"},
    )  # fmt: skip
    found = recorded_environment(recording, robot)
    assert (len(found.ground), len(found.objects)) == (3, 2)


def test_a_custom_plant_shows_its_ground() -> None:
    class PlantOnStairs(poise.plants.Plant):
        def __init__(self) -> None:
            self.robot = installed_robot("nao")
            self.start, self.ground = self.robot.stance("standing"), Stairs(0.02, 0.2, 2)

        def state(self) -> poise.State:
            return self.robot.stance("standing")

        def apply(self, command: object) -> None: ...

        def advance(self) -> None: ...

    assert len(PlantOnStairs().environment.ground) == 2


def test_a_motion_of_the_environment_moves_all_of_it() -> None:
    robot = installed_robot("nao")
    environment = EnvironmentGeometry.of(Stairs(0.02, 0.2, 2), robot.stance("standing"), objects=[WALL])
    turn = pinocchio.SE3(pinocchio.rpy.rpyToMatrix(0.0, 0.0, 0.4), np.array([1.0, 2.0, 0.0]))
    moved = environment.transformed(turn)
    for before, after in zip((*environment.ground, *environment.objects), (*moved.ground, *moved.objects), strict=True):
        assert (turn * box_pose(before)).isApprox(box_pose(after))
    assert (turn * environment.plane).isApprox(moved.plane)


@pytest.mark.parametrize(
    "facts",
    [
        {"ground": [{"position": [0, 0, 0]}]},
        {"ground": [{"position": [0, 0], "size": [1, 1, 1]}]},
        {"objects": [{"position": [0, 0, 0], "size": [1, 1, -1]}]},
        {"plane": {"quaternion": [0, 0, 1]}},
        {"held_box": {"size": "large", "hands": {"left": {}}}},
        {"ground": 7},
        ["stairs"],
    ],
)
def test_a_damaged_environment_is_refused_in_one_line_and_shown_as_flat_ground(facts: object) -> None:
    robot = installed_robot("nao")
    with pytest.raises(PlantError) as caught:
        EnvironmentGeometry.from_facts(facts, robot)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    recording = poise.record(
        poise.KinematicController(Stand(robot)), IdealPlant(robot.stance("standing")), 0.01,
        provenance={"environment": facts},
    )  # fmt: skip
    assert recorded_environment(recording, robot).is_flat
