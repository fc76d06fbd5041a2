"""Every robot of the library, found by its data file: soles, stances, mass, height, mirror symmetry."""

import numpy as np
import pinocchio
import pytest

from poise.robots import Robot, State, library_names, listing, load_robot, shape_vertices
from poise.robots.description import mirrored_name
from poise.robots.urdf import is_physical, vertical_extent

pytestmark = pytest.mark.needs_models

#: The smallest distance of a stance to the end of a joint's range (rad): three degrees.
MARGIN = 0.05
#: Left and right differ a little where the masses do (rad): the weight is shifted over the middle of the soles.
ASYMMETRY = 0.005
#: Mirrors the world left and right.
MIRROR = np.diag([1.0, -1.0, 1.0])


@pytest.fixture(scope="module", params=library_names())
def robot(request: pytest.FixtureRequest) -> Robot:
    return load_robot(request.param)


@pytest.fixture(scope="module")
def start(robot: Robot) -> State:
    return robot.stance("standing")


def straight_configuration(robot: Robot) -> np.ndarray:
    """All joints at zero, the base as in standing."""
    return np.concatenate([robot.rest[:7], np.zeros(robot.model.nq - 7)])


def mirrored_joints(robot: Robot) -> list[tuple[int, int, float]]:
    """Indices of each joint and of its mirror image in the limits, and the sign of the mirrored angle.

    The axis of a turn is mirrored to the opposite of its image: (x, y, z) becomes (-x, y, -z).
    """
    model, data = robot.model, robot.model.createData()
    pinocchio.computeJointJacobians(model, data, straight_configuration(robot))
    names = [joint.name for joint in robot.joints]
    axes = pinocchio.getJointJacobian
    table = []
    for i, joint in enumerate(robot.joints):
        k = names.index(mirrored_name(joint.name, names) or joint.name)
        axis = axes(model, data, joint.index, pinocchio.WORLD)[3:, joint.v]
        other = axes(model, data, robot.joints[k].index, pinocchio.WORLD)[3:, robot.joints[k].v]
        sign = float(other @ (-MIRROR @ axis))
        assert abs(sign) == pytest.approx(1.0, abs=1e-3), f"{joint.name} and {names[k]} are no mirror images"
        table.append((i, k, np.sign(sign)))
    return table


def mirrored_configuration(robot: Robot, q: np.ndarray) -> np.ndarray:
    """The same posture with left and right exchanged; the base stays where it is."""
    image = q.copy()
    for i, k, sign in mirrored_joints(robot):
        image[robot.joints[k].q] = sign * q[robot.joints[i].q]
    return image


def test_it_is_as_published(robot: Robot) -> None:
    facts = next(entry for entry in listing() if entry["name"] == robot.name)
    assert len(robot.joints) == facts["dof"]
    assert robot.mass == pytest.approx(facts["mass"], abs=0.01)
    assert robot.height == facts["height"]
    assert facts["available"]
    assert robot.source


def test_its_declared_height_is_that_of_its_meshes(robot: Robot) -> None:
    lowest, highest = vertical_extent(robot.model, straight_configuration(robot), robot.visual_geometry)
    assert highest - lowest == pytest.approx(robot.height, abs=0.001)


def test_limits_are_finite_and_positive(robot: Robot) -> None:
    limits = robot.limits
    for values in (limits.lower, limits.upper, limits.velocity, limits.acceleration, limits.torque):
        assert values.shape == (len(robot.joints),)
        assert np.isfinite(values).all()
    assert (limits.lower < limits.upper).all()
    for values in (limits.velocity, limits.acceleration, limits.torque):
        assert (values > 0.0).all()
    assert (limits.velocity < 50.0).all(), "an implausible joint speed"


def test_left_and_right_have_the_same_limits(robot: Robot) -> None:
    limits = robot.limits
    for i, k, sign in mirrored_joints(robot):
        low, high = sorted((sign * limits.lower[i], sign * limits.upper[i]))
        assert (limits.lower[k], limits.upper[k]) == pytest.approx((low, high), abs=2e-3), robot.joints[i].name
        for values in (limits.velocity, limits.acceleration, limits.torque):
            assert values[k] == pytest.approx(values[i])


def test_a_mirrored_posture_puts_the_hands_at_mirrored_places(robot: Robot) -> None:
    generator = np.random.default_rng(5)
    for _ in range(5):
        q = robot.rest.copy()
        q[7:] = generator.uniform(robot.limits.lower, robot.limits.upper)
        one, other = State(robot, q), State(robot, mirrored_configuration(robot, q))
        base = one.pose(robot.frame("root_joint"))
        for left, right in (robot.hands, robot.feet):
            here = base.actInv(one.pose(left).translation)
            there = base.actInv(other.pose(right).translation)
            assert there == pytest.approx(MIRROR @ here, abs=1e-3)


def test_every_body_is_physical(robot: Robot) -> None:
    for joint in range(1, robot.model.njoints):
        assert is_physical(robot.model.inertias[joint]), robot.model.names[joint]


def test_standing_is_balanced(robot: Robot, start: State) -> None:
    assert start.contacts == robot.feet
    assert start.center_of_mass[:2] == pytest.approx(start.support_center, abs=1e-3)
    assert not start.v.any()


def test_standing_is_well_inside_the_limits(robot: Robot, start: State) -> None:
    angles = start.q[7:]
    assert (angles - robot.limits.lower).min() > MARGIN
    assert (robot.limits.upper - angles).min() > MARGIN


def test_standing_is_symmetric(robot: Robot, start: State) -> None:
    image = mirrored_configuration(robot, start.q)
    assert image[7:] == pytest.approx(start.q[7:], abs=ASYMMETRY)


def test_knees_are_bent_in_standing(robot: Robot, start: State) -> None:
    """Straight legs are singular: the base must be lower than its highest position."""
    high = State(robot, straight_configuration(robot))
    base = robot.frame("root_joint")
    for foot in robot.feet:
        assert start.pose(base).translation[2] < (high.pose(base).translation - high.pose(foot).translation)[2] - 0.005


def test_soles_are_flat_on_the_ground_with_toes_forward(robot: Robot, start: State) -> None:
    assert [foot.side for foot in robot.feet] == ["left", "right"]
    for foot in robot.feet:
        pose = start.pose(foot)
        assert pose.rotation == pytest.approx(np.eye(3), abs=1e-6)
        assert pose.translation[2] == pytest.approx(0.0, abs=1e-6)
        assert foot.sole.x_max > abs(foot.sole.x_min) / 2  # there are toes
    middle = sum(start.pose(foot).translation for foot in robot.feet) / 2
    assert middle == pytest.approx(0.0, abs=1e-6)


def test_the_soles_are_where_the_feet_are_drawn(robot: Robot, start: State) -> None:
    """The lowest point of the visual meshes is on the ground, and the soles are below the links of the foot."""
    lowest, _ = vertical_extent(robot.model, start.q, robot.visual_geometry)
    assert lowest == pytest.approx(0.0, abs=2e-3)
    data = robot.model.createData()
    pinocchio.forwardKinematics(robot.model, data, start.q)
    for foot in robot.feet:
        shapes = [shape for shape in robot.visual_geometry.geometryObjects if shape.parentJoint == foot.joint]
        poses = [data.oMi[foot.joint] * shape.placement for shape in shapes]
        places = [
            shape_vertices(shape) @ pose.rotation.T + pose.translation
            for shape, pose in zip(shapes, poses, strict=True)
        ]
        points = np.vstack(places) - start.pose(foot).translation
        for axis, (low, high) in enumerate([(foot.sole.x_min, foot.sole.x_max), (foot.sole.y_min, foot.sole.y_max)]):
            assert points[:, axis].min() < low
            assert points[:, axis].max() > high


def test_hands_are_at_their_sides(robot: Robot, start: State) -> None:
    assert [hand.side for hand in robot.hands] == ["left", "right"]
    left, right = (start.pose(robot.hand(side)).translation for side in ("left", "right"))
    assert left[1] > 0.1
    assert right == pytest.approx(MIRROR @ left, abs=0.005)
    assert 0.2 * robot.height < left[2] < 0.7 * robot.height


def test_it_looks_forward_from_the_height_of_its_head(robot: Robot, start: State) -> None:
    assert robot.head is robot.gaze
    pose = start.pose(robot.gaze)
    forward, left, up = pose.rotation @ robot.gaze.axis
    assert left == pytest.approx(0.0, abs=0.02)
    assert forward > 0.6  # a camera may look down, as that of g1 does
    assert up < 0.1
    assert 0.8 * robot.height < pose.translation[2] < robot.height
    assert pose.translation[1] == pytest.approx(0.0, abs=0.01)
    assert robot.chest is not None
    assert 0.5 * robot.height < start.pose(robot.chest).translation[2] < pose.translation[2]


def test_shapes_belong_to_the_model(robot: Robot) -> None:
    for shapes in (robot.visual_geometry, robot.collision_geometry):
        assert shapes.ngeoms > 10
        for shape in shapes.geometryObjects:
            assert robot.model.frames[shape.parentFrame].parentJoint == shape.parentJoint


def test_loading_reads_no_mesh(robot: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pinocchio, "buildGeomFromUrdfString", lambda *_, **__: pytest.fail("a mesh was read"))
    load_robot(robot.name).stance("standing")
