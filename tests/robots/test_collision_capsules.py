"""Capsules around the links of a robot: they contain every vertex and little else."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from poise.robots import Capsule, Robot, capsules, library_names, shape_vertices
from poise.robots.collision_capsules import fit_capsule
from robot_states import installed_robot

LIBRARY = pytest.mark.parametrize("robot", library_names(), indirect=True)


@pytest.fixture
def robot(request: pytest.FixtureRequest) -> Robot:
    return installed_robot(request.param)


@LIBRARY
def test_every_vertex_of_every_collision_shape_is_inside_a_capsule_of_its_link(robot: Robot) -> None:
    around = {link: solid for solid in capsules(robot) for link in solid.links}
    shapes = robot.collision_geometry.geometryObjects
    assert len(shapes) > 0
    for shape in shapes:
        solid = around[robot.model.frames[shape.parentFrame].name]
        points = shape_vertices(shape) @ shape.placement.rotation.T + shape.placement.translation
        assert solid.joint == shape.parentJoint
        assert solid.depth(points).min() > -1e-9


@LIBRARY
def test_capsules_have_about_the_volume_of_their_shapes(robot: Robot) -> None:
    solids = capsules(robot)
    hulls = sum(ConvexHull(solid.points).volume for solid in solids)
    assert sum(solid.volume for solid in solids) < 2.5 * hulls  # a cube's capsule is a ball, 2.7 times the cube
    for solid in solids:
        ball = np.pi / 6.0 * np.linalg.norm(np.ptp(solid.points, axis=0)) ** 3  # about its box
        assert solid.volume < 1.001 * ball


def test_the_hands_of_g1_have_capsules_though_only_drawn() -> None:
    assert {"left_rubber_hand", "right_rubber_hand"} <= {
        link for solid in capsules(installed_robot("g1")) for link in solid.links
    }


def test_a_capsule_around_points_of_a_capsule_is_that_capsule() -> None:
    random = np.random.default_rng(1)
    axis = random.normal(size=3)
    axis *= 0.2 / np.linalg.norm(axis)
    ball = random.normal(size=(4000, 3))
    ball *= 0.07 / np.linalg.norm(ball, axis=1, keepdims=True)
    points = np.array([0.1, -0.2, 0.3]) + random.choice([-1.0, 1.0], (4000, 1)) * axis + ball
    center, half_axis, radius = fit_capsule(points)
    assert center == pytest.approx((0.1, -0.2, 0.3), abs=0.005)
    assert np.abs(half_axis @ axis) == pytest.approx(0.2**2, rel=0.05)
    assert radius == pytest.approx(0.07, rel=0.05)


@pytest.mark.parametrize("points", [np.ones((1, 3)), np.eye(3)[:2], np.outer(np.arange(4.0), (1, 2, 3)), np.eye(3)])
def test_points_without_volume_are_held_too(points: np.ndarray) -> None:
    center, half_axis, radius = fit_capsule(points)
    assert np.isfinite([*center, *half_axis, radius]).all()
    assert Capsule(("points",), 1, center, half_axis, radius, points).depth(points).min() > -1e-9
