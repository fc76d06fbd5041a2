"""Bundled models are symmetric and physical, and document their sources."""

import numpy as np
import pytest

from poise.robots import Robot, capsules, library_names, load_robot
from poise.robots.catalogue import GENERATED_ROBOT, LIBRARY, is_bundled
from poise.robots.description import mirrored_name
from poise.robots.urdf import mirrored_inertia


@pytest.fixture(
    scope="module", params=[name for name in library_names() if is_bundled(name) and name != GENERATED_ROBOT]
)
def robot(request: pytest.FixtureRequest) -> Robot:
    return load_robot(request.param)


def joint_pairs(robot: Robot) -> list[tuple[int, int]]:
    """Joints with a counterpart on the other side, both by number."""
    names = list(robot.model.names)
    return [(i, names.index(other)) for i, name in enumerate(names) if (other := mirrored_name(name, names))]


def test_left_and_right_bodies_are_mirror_images(robot: Robot) -> None:
    assert joint_pairs(robot)
    for joint, other in joint_pairs(robot):
        image = mirrored_inertia(robot.model, joint)
        assert image is not None, robot.model.names[joint]
        assert image[1] == robot.model.names[other]
        body = robot.model.inertias[joint]
        assert body.mass == image[0].mass
        assert np.abs(body.lever - image[0].lever).max() < 1e-12
        assert np.abs(body.inertia - image[0].inertia).max() < 1e-12
        assert robot.model.armature[robot.model.idx_vs[joint]] == robot.model.armature[robot.model.idx_vs[other]]


def test_the_trunk_and_the_head_are_symmetric(robot: Robot) -> None:
    paired = {joint for joint, _ in joint_pairs(robot)}
    for joint in set(range(1, robot.model.njoints)) - paired:
        body = robot.model.inertias[joint]
        assert body.lever[1] == 0.0
        assert not body.inertia[[0, 1], [1, 2]].any()


def test_every_moving_body_is_drawn_and_can_be_touched(robot: Robot) -> None:
    for shapes in (robot.visual_geometry, robot.collision_geometry):
        assert {shape.parentJoint for shape in shapes.geometryObjects} == set(range(1, robot.model.njoints))


def test_the_center_of_mass_of_every_body_is_inside_its_shape(robot: Robot) -> None:
    solids = {capsule.joint: capsule for capsule in capsules(robot)}
    for joint in range(1, robot.model.njoints):
        center = robot.model.inertias[joint].lever[None]
        assert solids[joint].depth(center)[0] > 0.0, robot.model.names[joint]


def test_every_joint_has_a_rotor_inertia(robot: Robot) -> None:
    """Rotor inertias stabilize a light body, as in the real robot."""
    assert (robot.model.armature[6:] > 0.0).all()


def test_its_files_document_the_sources_of_their_numbers(robot: Robot) -> None:
    text = (LIBRARY / f"{robot.name}.urdf").read_text(encoding="utf-8")
    assert "Numbers:" in text
    assert "differs from" in text
    assert "own model" in robot.source
