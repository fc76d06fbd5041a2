"""The environment of [Sugihara2008], figure 9, scaled to a robot."""

from __future__ import annotations

import math

import numpy as np
import pytest

from poise.plans import Footstep, Workspace
from poise.plants import MujocoPlant, PlantError, StairsAndDoor
from robot_states import installed_robot

ROBOTS = ["mighty", "nao", pytest.param("g1", marks=pytest.mark.needs_models)]
robots = pytest.mark.parametrize("name", ROBOTS)


@robots
def test_it_is_as_large_for_every_robot(name: str) -> None:
    robot = installed_robot(name)
    stage, leg = StairsAndDoor.of(robot), Workspace.of(robot).leg
    assert (stage.count, stage.rise / leg, stage.room / leg) == (3, pytest.approx(0.078), pytest.approx(2.4))  # type: ignore[comparison-overlap]
    assert stage.run > 2.0 * (stage.sole_half_size[0] + stage.edge_clearance)


def test_its_dimensions_for_mighty_are_the_specified_ones() -> None:
    stage = StairsAndDoor.of(installed_robot("mighty"))
    assert stage.rise == pytest.approx(0.02, abs=1e-3)
    assert stage.run == pytest.approx(0.13, abs=1e-3)
    assert stage.room == pytest.approx(0.6, abs=0.02)


@robots
def test_from_the_far_end_of_a_tread_the_near_end_of_the_next_is_within_a_step(name: str) -> None:
    robot = installed_robot(name)
    stage, workspace = StairsAndDoor.of(robot), Workspace.of(robot)
    if 2.0 * stage.sole_half_size[0] > workspace.longest_step:
        pytest.skip(f"{name} steps no further than its soles are long")
    assert 2.0 * (stage.sole_half_size[0] + stage.edge_clearance) < workspace.longest_step


@robots
@pytest.mark.parametrize("yaw", [0.0, 0.2, -0.35])
def test_all_corners_of_a_footstep_are_on_one_tread(name: str, yaw: float) -> None:
    stage = StairsAndDoor.of(installed_robot(name))
    long, wide = stage.sole_half_size
    for x in np.linspace(-0.1, stage.door_x - 0.1, 200).tolist():
        foot = stage.under(Footstep("left", x, 0.1, yaw))
        turn = complex(math.cos(yaw), math.sin(yaw))
        corners = [foot.place + complex(a, b) * turn for a in (-long, long) for b in (-wide, wide)]
        if 2.0 * (long * math.cos(yaw) + wide * abs(math.sin(yaw)) + stage.edge_clearance) > stage.run:
            continue  # deeper than any tread
        assert {stage.elevation(corner.real, corner.imag) for corner in corners} == {stage.elevation(foot.x, foot.y)}
        assert foot.z == pytest.approx(stage.elevation(foot.x, foot.y))


def test_footsteps_that_are_on_one_tread_stay_where_they_are() -> None:
    stage = StairsAndDoor.of(installed_robot("mighty"))
    middle = stage.edges[0] + 0.5 * stage.run
    foot = stage.under(Footstep("right", middle, -0.05))
    assert (foot.x, foot.y, foot.z) == (middle, -0.05, pytest.approx(-stage.rise))  # type: ignore[comparison-overlap]


@robots
def test_the_boxes_have_the_height_of_the_ground(name: str) -> None:
    stage = StairsAndDoor.of(installed_robot(name))
    for box in stage.boxes(0, np.zeros((2, 2))):
        (x, y, z), (_, _, tall) = np.asarray(box.position), np.asarray(box.size)
        assert z + 0.5 * tall == pytest.approx(stage.elevation(x, y))
        assert z - 0.5 * tall == pytest.approx(stage.floor)


def test_a_robot_stands_on_it_and_does_not_touch_the_door() -> None:
    robot = installed_robot("mighty")
    stage = StairsAndDoor.of(robot)
    plant = MujocoPlant(robot, ground=stage, objects=stage.objects)
    assert {part.name for part in plant.state().contacts} == {foot.name for foot in robot.feet}
    assert not plant.fallen


@robots
def test_the_hand_target_is_just_before_the_face_of_the_door(name: str) -> None:
    stage = StairsAndDoor.of(installed_robot(name))
    door, wall = stage.objects
    away = float(np.asarray(door.position)[0] - stage.target[0])
    assert 0.01 < away < 0.02  # a hand touches with a ball of 1 cm
    assert np.asarray(wall.position)[0] > np.asarray(door.position)[0]
    low, high = (np.asarray(door.position) + sign * 0.5 * np.array([0.0, *door.size]) for sign in (-1, 1))  # type: ignore[misc]
    assert (low[1:] < stage.target[1:]).all()
    assert (stage.target[1:] < high[1:]).all()


def test_lengths_that_are_none_are_refused() -> None:
    with pytest.raises(PlantError, match=r"StairsAndDoor\.rise"):
        StairsAndDoor(0.1, -0.02, 0.13, 3, 0.6, (0.2, 0.3), (0.05, 0.04), 0.003, 0.25)
