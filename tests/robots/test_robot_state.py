"""State: checked at construction, immutable, with the poses of its robot."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pinocchio
import pytest
from scipy.spatial import ConvexHull

from poise.errors import StateError
from poise.robots import SIDES, Foot, Robot, Sole, State, contact_points, load_robot, other_side, side_sign
from small_robots import BIPED, BIPED_PARTS, write_urdf


@pytest.fixture(scope="module")
def biped(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    return load_robot(write_urdf(tmp_path_factory.mktemp("biped"), BIPED), **BIPED_PARTS)


@pytest.fixture(scope="module")
def start(biped: Robot) -> State:
    return biped.stance("standing")


def error_message(element: str, make: Callable[[], object]) -> str:
    with pytest.raises(StateError) as caught:
        make()
    assert (caught.value.element, caught.value.robot) == (element, "small")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_wrong_values_are_refused_by_name(biped: Robot, start: State) -> None:
    assert "expected 17 numbers" in error_message("q", lambda: State(biped, start.q[:-1]))
    assert "expected 16 numbers" in error_message("v", lambda: start.replace(v=np.zeros(17)))
    assert "not an array" in error_message("q", lambda: State(biped, "standing"))  # type: ignore[arg-type]
    assert "index 9" in error_message("q", lambda: start.replace(q=np.where(np.arange(17) == 9, np.nan, start.q)))
    assert "index 0" in error_message("v", lambda: start.replace(v=np.full(16, np.inf)))
    assert "length 2" in error_message(
        "q", lambda: start.replace(q=np.concatenate([start.q[:3], [0, 0, 0, 2], start.q[7:]]))
    )
    assert "seconds" in error_message("time", lambda: start.replace(time="now"))
    assert "seconds" in error_message("time", lambda: start.replace(time=np.nan))
    assert "not a part" in error_message("contacts", lambda: start.replace(contacts=("left_foot",)))
    assert "not a part" in error_message("contacts", lambda: start.replace(contacts=3))
    assert "it has robot, q" in error_message("speed", lambda: start.replace(speed=1.0))


def test_parts_of_another_robot_cannot_be_contacts(tmp_path: Path, start: State) -> None:
    other = load_robot(write_urdf(tmp_path, BIPED), **BIPED_PARTS, name="other")
    assert "belongs to other" in error_message("contacts", lambda: start.replace(contacts=other.feet))


def test_a_state_cannot_change_and_keeps_its_own_numbers(biped: Robot, start: State) -> None:
    q = start.q.copy()
    state = State(biped, q)
    q[:] = 0.0
    assert state.q == pytest.approx(start.q)
    assert (state.v == 0.0).all()
    for array in (state.q, state.v, state.center_of_mass, start.support_polygon, start.support_center):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    with pytest.raises(AttributeError):
        state.time = 1.0  # type: ignore[misc]


def test_replace_changes_the_given_fields_only(start: State) -> None:
    later = start.replace(time=2.0, contacts=start.robot.foot("left"))
    assert (later.time, later.contacts) == (2.0, (start.robot.foot("left"),))
    assert later.q == pytest.approx(start.q)
    assert start.time == 0.0
    assert later != start
    assert repr(later) == "State(small, time 2 s, on left_sole)"


def test_the_trusted_path_takes_the_arrays_as_they_are(biped: Robot, start: State) -> None:
    q, v = start.q.copy(), np.ones(16)
    state = State._unchecked(biped, q, v, 1.5, biped.feet)
    assert state.q is q
    assert state.v is v
    assert not q.flags.writeable
    assert state.pose(biped.foot("left")).isApprox(start.pose(biped.foot("left")))
    assert state.replace(time=0.0).contacts == biped.feet


def test_poses_and_center_of_mass_are_those_of_pinocchio(biped: Robot) -> None:
    model, data = biped.model, biped.model.createData()
    for _ in range(5):
        q = pinocchio.integrate(model, biped.rest, 0.3 * np.random.default_rng(7).standard_normal(model.nv))
        state = State(biped, q)
        pinocchio.framesForwardKinematics(model, data, q)
        for frame in biped.frames.values():
            assert state.pose(frame).isApprox(data.oMf[frame.index])
        weights = [model.inertias[j].mass * data.oMi[j].act(model.inertias[j].lever) for j in range(1, model.njoints)]
        assert state.center_of_mass == pytest.approx(np.sum(weights, axis=0) / biped.mass)


def test_a_pose_is_a_copy(biped: Robot, start: State) -> None:
    before = start.pose(biped.feet[0])
    copy = before.copy()
    q = start.q.copy()
    q[0] += 1.0
    assert start.replace(q=q).pose(biped.feet[0]).translation[0] == pytest.approx(copy.translation[0] + 1.0)
    assert before == copy


def test_states_can_be_read_from_many_threads(biped: Robot, start: State) -> None:
    def distance(step: int) -> float:
        q = start.q.copy()
        q[0] = step
        state = start.replace(q=q)
        return float(np.ptp([state.pose(foot).translation[0] - step for foot in biped.feet * 20]))

    with ThreadPoolExecutor(4) as pool:
        assert max(pool.map(distance, range(200))) < 1e-9


def test_support_is_the_hull_of_the_soles(biped: Robot, start: State) -> None:
    assert start.contacts == biped.feet
    assert len(start.support_polygon) == 4
    assert start.support_polygon.min(axis=0) == pytest.approx([-0.08, -0.15])
    assert start.support_polygon.max(axis=0) == pytest.approx([0.12, 0.15])
    assert start.support_center == pytest.approx([0.02, 0.0])
    left = start.replace(contacts=biped.foot("left"))
    assert left.support_center == pytest.approx([0.02, 0.105])
    hand = start.replace(contacts=biped.hands)
    assert hand.support_polygon == pytest.approx(start.pose(biped.hand("left")).translation[None, :2])


@pytest.mark.parametrize("seed", range(5))
def test_the_support_polygon_is_the_hull_of_all_contact_points_seen_from_above(
    biped: Robot, start: State, seed: int
) -> None:
    random = np.random.default_rng(seed)
    q = pinocchio.integrate(biped.model, start.q, random.normal(scale=0.3, size=biped.model.nv))
    state = start.replace(q=q, contacts=(*biped.feet, biped.hand("left")))
    corners = [state.pose(foot).act(corner) for foot in biped.feet for corner in foot.corners]
    points = np.array([*corners, state.pose(biped.hand("left")).translation])[:, :2]
    expected = points[ConvexHull(points).vertices]
    assert np.unique(state.support_polygon.round(9), axis=0) == pytest.approx(np.unique(expected.round(9), axis=0))


def test_a_foot_touches_with_the_corners_of_its_sole_and_any_other_part_with_its_origin(
    biped: Robot, start: State
) -> None:
    for part in (*biped.feet, *biped.hands):
        pose = start.pose(part)
        points = contact_points(part, pose.rotation, pose.translation)
        local = np.array([pose.actInv(point) for point in points])
        assert local == pytest.approx(part.corners if isinstance(part, Foot) else np.zeros((1, 3)), abs=1e-12)


def test_without_contacts_there_is_no_support(start: State) -> None:
    flying = start.replace(contacts=())
    assert flying.support_polygon.shape == (0, 2)
    assert "no support" in error_message("contacts", lambda: flying.support_center)


def test_the_weight_is_the_gravity_force_of_the_model(biped: Robot, start: State) -> None:
    lifting = pinocchio.computeGeneralizedGravity(biped.model, biped.model.createData(), start.q)
    assert biped.weight == pytest.approx(lifting[:3] @ start.pose(biped.frame("root_joint")).rotation[2], rel=1e-12)


def test_a_sole_reaches_from_its_center_to_its_corners_by_half_its_size() -> None:
    sole = Sole(-0.05, 0.12, -0.03, 0.02)
    assert np.ptp(sole.corners, axis=0)[:2] == pytest.approx(sole.size)
    assert np.abs(sole.corners - sole.center).max(axis=0)[:2] == pytest.approx(sole.half_size)


def test_left_is_where_y_is_positive(start: State) -> None:
    for side in SIDES:
        assert np.sign(start.pose(start.robot.foot(side)).translation[1]) == side_sign(side)
        assert {side, other_side(side)} == set(SIDES)
