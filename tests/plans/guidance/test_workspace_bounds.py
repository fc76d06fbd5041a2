"""Projections onto the bounds of the workspace: idempotent, inside, and with the distance moved."""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest
from guidance_checks import ROBOTS, corners, limits_of, outside_stand_on, separation, start_of

from poise.geometry import polygon
from poise.plans import Footstep
from poise.plans.guidance.workspace_bounds import (
    mean_yaw,
    nominal_foot,
    project_center,
    project_foot,
    project_hand,
    project_yaw,
)

each_robot = pytest.mark.parametrize("name", ROBOTS)


def random_feet(name: str, seed: int, count: int = 300):  # type: ignore[no-untyped-def]
    random, (workspace, _) = Random(seed), limits_of(name)
    for _ in range(count):
        stance = Footstep("right", random.uniform(-2, 2), random.uniform(-2, 2), random.uniform(-9, 9))
        at = stance.place + 4.0 * workspace.longest_step * complex(random.uniform(-1, 1), random.uniform(-1, 1))
        yield stance, Footstep("left", at.real, at.imag, stance.yaw + random.uniform(-1, 1))


@each_robot
def test_the_projection_of_a_foot_into_its_region_is_idempotent(name: str) -> None:
    workspace, _ = limits_of(name)
    points = start_of(name)
    for stance, target in random_feet(name, 1):
        projection = project_foot(target, stance, workspace)
        assert projection.shift == pytest.approx(abs(projection.foot.place - target.place), abs=1e-9)
        assert projection.rotation == pytest.approx(abs(projection.foot.yaw - target.yaw), abs=1e-9)
        again = project_foot(projection.foot, stance, workspace)
        assert again.shift < 1e-9
        assert again.rotation < 1e-9
        feet = points.replace(feet={"left": projection.foot, "right": stance})
        assert separation(feet, workspace.foot_half) > 0.9 * workspace.gap


@each_robot
def test_no_place_of_the_region_is_nearer_than_the_one_found(name: str) -> None:
    workspace, _ = limits_of(name)
    random = Random(5)
    for stance, target in random_feet(name, 2, 60):
        projection = project_foot(target, stance, workspace)
        narrow = workspace.least_width(projection.foot.yaw - stance.yaw)
        for _ in range(50):
            aside = random.uniform(narrow, workspace.widths[1])
            other = stance.place + stance.heading * complex(random.uniform(-1, 1) * workspace.longest_step, aside)
            assert abs(other - target.place) >= projection.shift - 1e-9


@each_robot
def test_left_and_right_are_mirrored(name: str) -> None:
    workspace, _ = limits_of(name)
    for stance, target in random_feet(name, 3, 50):
        projection = project_foot(target, stance, workspace).foot
        mirror = [Footstep("right", f.x, -f.y, -f.yaw) for f in (target, projection)]
        found = project_foot(mirror[0], Footstep("left", stance.x, -stance.y, -stance.yaw), workspace).foot
        assert abs(found.place - mirror[1].place) < 1e-9
        assert found.yaw == pytest.approx(mirror[1].yaw)


@each_robot
def test_the_nominal_place_is_inside(name: str) -> None:
    workspace, _ = limits_of(name)
    for stance, _ in random_feet(name, 4, 20):
        projection = project_foot(nominal_foot(stance, workspace), stance, workspace)
        assert projection.shift < 1e-9
        assert projection.rotation < 1e-9


@each_robot
def test_the_center_of_mass_goes_to_the_nearest_point_of_the_shrunken_support(name: str) -> None:
    workspace, _ = limits_of(name)
    random, points = Random(6), start_of(name)
    for stance, target in random_feet(name, 5, 200):
        feet = {"left": project_foot(target, stance, workspace).foot, "right": stance}
        middle = 0.5 * (feet["left"].place + feet["right"].place)
        place = middle + 3.0 * workspace.longest_step * complex(random.uniform(-1, 1), random.uniform(-1, 1))
        projection = project_center(place, feet, None, workspace)  # type: ignore[arg-type]
        shrunk = [
            middle + workspace.stand_on * (corner - middle)
            for foot in feet.values()
            for corner in corners(foot, workspace.sole_half)
        ]
        hull = polygon.convex_hull([(z.real, z.imag) for z in shrunk])
        assert projection.shift == pytest.approx(
            max(-float(polygon.margin(hull, (place.real, place.imag))), 0.0), abs=1e-9
        )
        at = np.array([projection.place.real, projection.place.imag, 0.0])
        assert outside_stand_on(points.replace(feet=feet, center=at), workspace) < 1e-9


@each_robot
def test_on_one_foot_the_center_of_mass_is_above_its_sole(name: str) -> None:
    workspace, _ = limits_of(name)
    feet = start_of(name).feet
    assert project_center(0j, feet, "left", workspace).place == feet["right"].place


@each_robot
def test_the_projection_of_a_hand_into_box_and_reach_is_idempotent(name: str) -> None:
    workspace, _ = limits_of(name)
    random = Random(8)
    for side in ("left", "right"):
        home = workspace.home_hands[side].position
        assert project_hand(tuple(home), side, workspace).shift == 0.0
        for _ in range(300):
            target = tuple(float(x) + 2.0 * workspace.arm_reach * random.uniform(-1, 1) for x in home)
            place, moved = project_hand(target, side, workspace)  # type: ignore[arg-type]
            low, high = workspace.hand_box[side]
            assert (np.array(place) >= np.array(low) - 1e-9).all()
            assert (np.array(place) <= np.array(high) + 1e-9).all()
            assert math.dist(place, workspace.shoulders[side]) <= workspace.arm_reach + 1e-9
            assert moved == pytest.approx(math.dist(place, target), abs=1e-9)
            assert project_hand(place, side, workspace).shift < 1e-9


def test_whole_turns_make_no_difference() -> None:
    workspace, _ = limits_of("g1")
    left, right = Footstep("left", 0.0, 0.1, 0.2), Footstep("right", 0.0, -0.1, 0.1 + 4.0 * math.pi)
    feet = {"left": left, "right": right}
    assert mean_yaw(feet) == pytest.approx(0.15)  # type: ignore[arg-type]
    projection = project_yaw(2.0 * math.pi + 1.0, feet, workspace)  # type: ignore[arg-type]
    assert projection.value == pytest.approx(2.0 * math.pi + 0.15 + workspace.largest_trunk_yaw)
    assert projection.shift == pytest.approx(0.15 + workspace.largest_trunk_yaw - 1.0)
    assert project_foot(left, right, workspace).foot.yaw == pytest.approx(left.yaw)


@each_robot
def test_no_place_within_box_and_reach_is_nearer_to_a_hand_than_the_one_found(name: str) -> None:
    workspace, _ = limits_of(name)
    random, (low, high) = np.random.default_rng(1), workspace.hand_box["left"]
    places = random.uniform(low, high, size=(2000, 3))
    places = places[np.linalg.norm(places - workspace.shoulders["left"], axis=1) <= workspace.arm_reach]
    for target in random.normal(workspace.shoulders["left"], 1.5 * workspace.arm_reach, size=(100, 3)):
        projection = project_hand(tuple(target.tolist()), "left", workspace)
        assert projection.shift <= np.linalg.norm(places - target, axis=1).min() + 1e-9
