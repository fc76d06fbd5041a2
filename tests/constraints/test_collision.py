"""Self-collision: gaps agree with coal, their Jacobians with finite differences; bodies stay apart in a closed loop."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import coal
import numpy as np
import pinocchio
import pytest

from poise import constraints, tasks
from poise.constraints.collision import ADJACENT_JOINTS, collision_pairs
from poise.constraints.distances import CapsulePairs, NearestPairs
from poise.control import ControlStep
from poise.errors import TaskError
from poise.hierarchy import Hierarchy, Level
from poise.robots import Capsule, Robot, State, capsules, load_robot
from poise.state import FRAMES, Snapshot
from poise.tasks import ACCELERATION, VELOCITY, Decay
from robot_states import (
    commanded_velocities,
    installed_robot,
    integrate_state,
    layout,
    not_none,
    random_state,
    run_closed_loop,
)

ORDERS = pytest.mark.parametrize("order", [VELOCITY, ACCELERATION])
ROBOTS = pytest.mark.parametrize("robot", ["g1", "talos"], indirect=True)
LIBRARY = pytest.mark.parametrize("robot", ["g1", "talos", "romeo", "icub"], indirect=True)
STEP = 1e-5  # s, of finite differences
TALOS = installed_robot("talos")


@pytest.fixture
def robot(request: pytest.FixtureRequest) -> Robot:
    return installed_robot(getattr(request, "param", "g1"))


def capsule(
    joint: int = 1, center: Any = (0.0, 0.0, 0.0), half_axis: Any = (0.0, 0.0, 0.1), radius: float = 0.05
) -> Capsule:
    return Capsule((f"link {joint}",), joint, np.array(center), np.array(half_axis), radius, np.zeros((1, 3)))


def coal_capsule(solid: Capsule, world_from_joint: pinocchio.SE3) -> tuple[coal.Capsule, coal.Transform3s]:
    length = float(np.linalg.norm(solid.half_axis))
    up = np.array([0.0, 0.0, 1.0])
    turn = pinocchio.Quaternion.FromTwoVectors(up, solid.half_axis / length if length else up).toRotationMatrix()
    pose = world_from_joint * pinocchio.SE3(turn, solid.center)
    return coal.Capsule(solid.radius, 2.0 * length), coal.Transform3s(pose.rotation, pose.translation)


# -- gaps --------------------------------------------------------------------------------------------------------------


@ROBOTS
def test_gaps_of_all_pairs_are_those_of_coal(robot: Robot) -> None:
    state, solids = random_state(robot, 1), capsules(robot)
    constraint = constraints.SelfCollision(robot, rows=1000)
    gaps = constraint.value(Snapshot(robot).at(state))
    data = robot.model.createData()
    pinocchio.forwardKinematics(robot.model, data, state.q)
    for (a, b), gap in zip(constraint.indices, gaps, strict=True):
        first, second = (coal_capsule(solids[k], data.oMi[solids[k].joint]) for k in (a, b))
        expected = coal.distance(*first, *second, coal.DistanceRequest(True), coal.DistanceResult())
        assert gap == pytest.approx(expected, abs=1e-9)


def test_no_two_points_of_segments_are_nearer_than_the_gap(robot: Robot) -> None:
    random = np.random.default_rng(0)
    along = np.linspace(-1.0, 1.0, 41)
    for trial in range(200):
        axes = random.normal(0.0, 0.2, (2, 3)) * random.choice([0.0, 1.0, 1.0, 1.0], (2, 1))
        if trial % 4 == 0:
            axes[1] = axes[0] * random.normal()  # parallel
        pair = [capsule(k, c, h, 0.0) for k, c, h in zip((2, 3), random.normal(0.0, 0.2, (2, 3)), axes, strict=True)]
        gaps = CapsulePairs(robot.model, pair, [(0, 1)])
        (d,), s, t = gaps.measure(gaps.place([np.eye(3)] * 2, [np.zeros(3)] * 2))
        p, q = (c.center + along[:, None] * c.half_axis for c in pair)
        sampled = np.linalg.norm(p[:, None] - q[None], axis=2).min()
        assert sampled - 0.03 < d < sampled + 1e-6
        assert np.abs([s, t]).max() <= 1.0


@ROBOTS
@pytest.mark.parametrize("seed", range(2))
def test_rate_and_drift_of_every_pair_are_the_slopes_of_gap_and_rate(robot: Robot, seed: int) -> None:
    state, snapshot = random_state(robot, seed), Snapshot(robot)
    constraint = constraints.SelfCollision(robot, rows=1000)
    J, drift = constraint.jacobian(snapshot.at(state)).copy(), constraint.drift(snapshot.at(state)).copy()
    sides = [constraint.value(snapshot.at(integrate_state(state, state.v, s))).copy() for s in (STEP, -STEP)]
    rates = [constraint.jacobian(snapshot.at(integrate_state(state, state.v, s))) @ state.v for s in (STEP, -STEP)]
    assert (sides[0] - sides[1]) / (2 * STEP) == pytest.approx(J @ state.v, abs=1e-6)
    assert (rates[0] - rates[1]) / (2 * STEP) == pytest.approx(drift, abs=1e-5, rel=1e-5)
    assert (J[:, :6] == 0.0).all(), "a motion of the base changes no gap"


@pytest.mark.parametrize(
    "half_axis", [(0.1, 0.0, 0.0), (0.0, 0.0, 0.1), (0.0, 0.0, 0.0)], ids=["cross", "same", "balls"]
)
@pytest.mark.parametrize("shift", [0.0, 1e-12, 0.03])
def test_bodies_inside_each_other_have_a_direction_to_part(robot: Robot, half_axis: tuple, shift: float) -> None:
    state = random_state(robot, 4)
    snapshot = Snapshot(robot).at(state)
    snapshot.compute(FRAMES)
    joints = (robot.joint("left_elbow_joint").index, robot.joint("right_elbow_joint").index)
    first, second = (snapshot.data.oMi[joint].inverse() for joint in joints)
    here, along = np.array([0.1, 0.2, 0.3]), np.array([0.0, 0.0, 0.1])
    a = capsule(joints[0], first.act(here), first.rotation @ along)
    b = capsule(joints[1], second.act(here + np.array([0.0, shift, 0.0])), second.rotation @ np.array(half_axis))
    nearest = NearestPairs(snapshot, CapsulePairs(robot.model, [a, b], [(0, 1)]), 1)
    J, drift = np.zeros((1, robot.model.nv)), np.zeros(1)
    nearest.update()
    nearest.jacobian(J)
    nearest.drift(drift)
    assert nearest.gap == pytest.approx(shift - 0.1, abs=1e-9)
    assert np.linalg.norm(nearest.normal) == pytest.approx(1.0)
    assert np.linalg.norm(J) > 0.01
    assert np.isfinite(J).all()
    assert np.abs(drift[0]) < 200.0


# -- pairs and rows ----------------------------------------------------------------------------------------------------


@LIBRARY
def test_found_pairs_are_apart_at_the_start_and_are_no_neighbours(robot: Robot) -> None:
    constraint, supports = constraints.SelfCollision(robot), robot.model.supports
    gaps = constraint.gaps(robot.stance("standing"))
    assert all(gaps[pair] > min_gap for pair, min_gap in zip(constraint.pairs, constraint.min_gaps, strict=True))
    assert constraint.min_gaps.max() == 0.02
    for pair in constraint.indices:
        first, second = (set(supports[capsules(robot)[k].joint]) for k in pair)
        assert len(first ^ second) > ADJACENT_JOINTS


def test_the_same_pairs_are_found_again() -> None:
    first, second = (constraints.SelfCollision(load_robot("romeo")) for _ in range(2))
    assert first.pairs == second.pairs
    assert (first.min_gaps == second.min_gaps).all()
    assert collision_pairs(first.robot) is collision_pairs(first.robot)


def test_pairs_that_the_srdf_disables_are_left_out(tmp_path: Path) -> None:
    romeo, file = installed_robot("romeo"), tmp_path / "other.srdf"
    beside = set(constraints.SelfCollision(romeo).pairs)
    assert ("body", "torso") not in beside  # by romeo.srdf, beside its URDF
    file.write_text(
        '<robot name="any"><disable_collisions link1="torso" link2="LElbowYawLink" reason="Never"/></robot>'
    )
    chosen = set(constraints.SelfCollision(romeo, pairs=file).pairs)
    assert beside < chosen | {("torso", "LElbowYawLink")}
    assert ("torso", "LElbowYawLink") not in chosen


def test_a_part_stands_for_its_link_and_a_joint_for_all_that_it_carries(robot: Robot) -> None:
    hand, joint = robot.hand("left"), robot.joint("left_wrist_yaw_joint")
    assert constraints.SelfCollision(robot, pairs=[(hand, robot.chest)]).pairs == (("torso_link", "left_rubber_hand"),)
    of_joint = constraints.SelfCollision(robot, pairs=[("pelvis", joint), ("pelvis", "left_wrist_yaw_joint")]).pairs
    assert set(of_joint) == {("pelvis", "left_wrist_yaw_link"), ("pelvis", "left_rubber_hand")}
    assert constraints.SelfCollision(robot, pairs=[(hand, "pelvis")]).labels(robot) == ("pelvis - left_rubber_hand",)


def test_rows_are_the_nearest_pairs_and_far_ones_are_switched_off(robot: Robot) -> None:
    state = random_state(robot, 2)
    few, all_ = constraints.SelfCollision(robot, rows=20, influence=0.1), constraints.SelfCollision(robot, rows=1000)
    snapshot = Snapshot(robot).at(state)
    assert np.sort(few.value(snapshot)) == pytest.approx(np.sort(all_.value(snapshot))[:20])
    for order in (VELOCITY, ACCELERATION):
        rows = all_.rows(snapshot, layout(robot, order))
        on = all_.value(snapshot) < all_.influence
        assert len(rows.lower) == len(all_.pairs)
        assert 0 < on.sum() < len(on)
        assert np.isfinite(rows.lower[on]).all()
        assert (rows.lower[~on] == -np.inf).all()
        assert (rows.upper == np.inf).all()


@LIBRARY
def test_a_pair_keeps_its_row_while_it_is_among_the_nearest(robot: Robot) -> None:
    rows, snapshot = 12, Snapshot(robot)
    constraint = constraints.SelfCollision(robot)
    gaps = CapsulePairs(robot.model, capsules(robot), constraint.indices)
    few, all_ = NearestPairs(snapshot, gaps, rows), NearestPairs(snapshot, gaps, len(constraint.pairs))
    before = np.full(rows, -1)
    stayed = changed = 0
    for tick in range(200):
        state = random_state(robot, tick // 50)  # occasional jumps, larger than the motion of bodies within a tick
        snapshot.at(integrate_state(state, state.v, 0.01 * (tick % 50))).compute(FRAMES)
        few.update()
        all_.update()
        assert set(few.pair) == set(np.argsort(all_.gap)[:rows])
        assert (few.gap == all_.gap[few.pair]).all()
        stays = np.isin(before, few.pair)
        assert (few.pair[stays] == before[stays]).all()
        stayed, changed = stayed + stays.sum(), changed + (~stays).sum()
        before = few.pair.copy()
    assert 2 * rows < changed < stayed


def test_a_state_that_is_not_finite_leaves_no_trace_in_the_rows(robot: Robot) -> None:
    state, constraint = random_state(robot, 5), constraints.SelfCollision(robot, rows=20)
    snapshot = Snapshot(robot)
    nearest = NearestPairs(snapshot, CapsulePairs(robot.model, capsules(robot), constraint.indices), 20)
    A, drift = np.zeros((20, robot.model.nv)), np.zeros(20)
    for q in (state.q, np.full(robot.model.nq, np.nan), state.q):
        snapshot.at(State._unchecked(robot, q, state.v, 0.0, ())).compute(FRAMES)
        nearest.update()
        nearest.jacobian(A)
        nearest.drift(drift)
    assert np.sort(nearest.gap) == pytest.approx(np.sort(constraint.value(snapshot)))
    assert np.isfinite(A).all()
    assert np.isfinite(drift).all()


def test_a_velocity_row_lets_the_gap_shrink_at_the_rate_of_the_reference(robot: Robot) -> None:
    constraint = constraints.SelfCollision(
        robot, 0.03, [(robot.hand("left"), robot.chest)], dynamics=Decay(4.0), influence=1
    )
    snapshot = Snapshot(robot).at(random_state(robot, 3))
    rows = constraint.rows(snapshot, layout(robot, VELOCITY))
    assert rows.lower == pytest.approx(-4.0 * (constraint.value(snapshot) - 0.03))


WRONG: dict[str, tuple[Callable[[Robot], object], tuple[str, ...]]] = {
    "no robot": (lambda r: constraints.SelfCollision("g1"), ("'g1'", "load_robot")),  # type: ignore[arg-type]
    "a near miss": (lambda r: constraints.SelfCollision(r, pairs=[("torso_lnk", "pelvis")]), ("mean 'torso_link'",)),
    "one body": (lambda r: constraints.SelfCollision(r, pairs=[("head_link", r.chest)]), ("one body", "drop the pair")),
    "a triple": (lambda r: constraints.SelfCollision(r, pairs=[("a", "b", "c")]), ("not a pair", "two frames")),  # type: ignore[list-item]
    "a pair of letters": (lambda r: constraints.SelfCollision(r, pairs=["ab"]), ("'ab' is not a pair",)),  # type: ignore[list-item]
    "no pairs": (lambda r: constraints.SelfCollision(r, pairs=[]), ("no pairs", "None")),
    "a number": (lambda r: constraints.SelfCollision(r, pairs=3), ("pairs is 3", "pairs of frames")),  # type: ignore[arg-type]
    "no file": (lambda r: constraints.SelfCollision(r, pairs="no.srdf"), ("no.srdf", "not an SRDF file")),
    "another robot": (lambda r: constraints.SelfCollision(r, pairs=[(TALOS.chest, "pelvis")]), ("parts of g1",)),
    "other shapes": (lambda r: constraints.SelfCollision(r, shapes="spheres"), ("'spheres'", "'capsules' or 'meshes'")),
    "no rows": (lambda r: constraints.SelfCollision(r, rows=0), ("rows is 0", "positive")),
    "a word": (lambda r: constraints.SelfCollision(r, distance="far"), ("distance is 'far'", "finite number")),  # type: ignore[arg-type]
    "short influence": (lambda r: constraints.SelfCollision(r, 0.3), ("influence is 0.2", "0.3")),
    "weights": (lambda r: constraints.SelfCollision(r, weight=[1, 2]), ("2 weights", "64 rows")),
}  # fmt: skip


@pytest.mark.parametrize(("make", "words"), WRONG.values(), ids=WRONG)
def test_invalid_arguments_are_refused_in_one_line(robot: Robot, make: Callable, words: tuple[str, ...]) -> None:
    with pytest.raises(TaskError) as error:
        make(robot)
    assert all(word in str(error.value) for word in words), str(error.value)
    assert "\n" not in str(error.value)


# -- meshes ------------------------------------------------------------------------------------------------------------


def test_hulls_are_slimmer_than_capsules_and_their_slopes_are_those_of_differences(robot: Robot) -> None:
    pairs = [(robot.hand("left"), robot.chest), ("left_knee_link", "right_knee_link"), ("left_elbow_link", "pelvis")]
    slim = constraints.SelfCollision(robot, pairs=pairs, shapes="meshes", influence=1.0)
    fat = constraints.SelfCollision(robot, pairs=pairs)
    step = 1e-3  # s, as for the drift: smaller steps would resolve the edges between the faces of a hull
    for seed in range(3):
        state, snapshot = random_state(robot, seed, speed=0.5), Snapshot(robot)
        gaps = slim.value(snapshot.at(state)).copy()
        J, drift = slim.jacobian(snapshot).copy(), slim.drift(snapshot).copy()
        assert (gaps > fat.value(snapshot)).all()
        sides = [slim.value(snapshot.at(integrate_state(state, state.v, s))).copy() for s in (STEP, -STEP)]
        rates = [slim.jacobian(snapshot.at(integrate_state(state, state.v, s))) @ state.v for s in (step, -step)]
        assert (sides[0] - sides[1]) / (2 * STEP) == pytest.approx(J @ state.v, abs=1e-5)
        assert (rates[0] - rates[1]) / (2 * step) == pytest.approx(drift, abs=0.05)


def test_hulls_that_overlap_have_a_finite_row(robot: Robot) -> None:
    constraint = constraints.SelfCollision(robot, pairs=[("torso_link", "waist_yaw_link")], shapes="meshes")
    rows = constraint.rows(Snapshot(robot).at(random_state(robot, 1)), layout(robot, ACCELERATION))
    assert np.isfinite(rows.A).all()
    assert np.isfinite(rows.lower).all()


# -- in a closed loop --------------------------------------------------------------------------------------------------


def run_reach(robot: Robot, start: State, constraint: tasks.Task | None, **settings: Any) -> list[ControlStep]:
    """Steps of a standing robot whose left hand has a target inside its chest."""
    inside = start.pose(not_none(robot.chest)).act(np.array([0.0, 0.0, 0.1]))
    limits = [constraints.JointRange(robot), constraints.JointSpeed(robot)]
    levels = [
        Level("feet", [tasks.HoldPose(foot, at=start) for foot in robot.feet]),
        Level(
            "balance",
            [tasks.CenterOfMass(start.support_center, axes="xy"), tasks.HoldPose(not_none(robot.chest), at=start)],
        ),
        Level("reach", [tasks.Position(robot.hand("left"), inside)]),
        Level("posture", [tasks.Posture(start)]),
    ]
    return run_closed_loop(Hierarchy([*limits, *([constraint] if constraint else [])], levels), start, 2.0, **settings)


def smallest_margin(constraint: constraints.SelfCollision, steps: list[ControlStep]) -> float:
    """The smallest difference between gap and minimum gap of any pair along a motion (m)."""
    min_gaps = dict(zip(constraint.pairs, constraint.min_gaps, strict=True))
    return min(gap - min_gaps[pair] for s in steps[::4] for pair, gap in constraint.gaps(s.state).items())


@ORDERS
def test_a_hand_sent_into_the_chest_stays_outside_and_goes_in_without_the_constraint(robot: Robot, order: int) -> None:
    start, constraint = robot.stance("standing"), constraints.SelfCollision(robot)
    free = run_reach(robot, start, None, order=order)
    assert min(constraint.gaps(free[-1].state).values()) < -0.1
    steps = run_reach(robot, start, constraint, order=order)
    assert smallest_margin(constraint, steps) > -0.002
    assert np.isfinite(commanded_velocities(steps)).all()
    assert {step.command.fallback for step in steps} == {""}
    chest = ("torso_link", "left_rubber_hand")
    assert constraint.gaps(steps[-1].state)[chest] < 0.03, "it goes as far as allowed"


@ORDERS
def test_bodies_that_start_inside_each_other_part(robot: Robot, order: int) -> None:
    inside = run_reach(robot, robot.stance("standing"), None)[-1].state.replace(v=np.zeros(robot.model.nv), time=0.0)
    constraint = constraints.SelfCollision(robot)
    feet = Level("feet", [tasks.HoldPose(foot, at=inside) for foot in robot.feet])
    always = [constraints.JointRange(robot), constraints.JointSpeed(robot), constraint]
    steps = run_closed_loop(Hierarchy(always, [feet, Level("rest", [tasks.LeastVelocity()])]), inside, 2.0, order=order)
    assert min(constraint.gaps(inside).values()) < -0.1
    assert smallest_margin(constraint, steps[-5:]) > -0.002
    assert np.isfinite(commanded_velocities(steps)).all()


def test_meshes_let_a_hand_come_nearer_than_capsules_do(robot: Robot) -> None:
    start, pairs = robot.stance("standing"), [(robot.hand("left"), robot.chest)]
    slim, fat = (constraints.SelfCollision(robot, pairs=pairs, shapes=s) for s in ("meshes", "capsules"))
    ends = {}
    for constraint in (slim, fat):
        steps = run_reach(robot, start, constraint)
        assert smallest_margin(constraint, steps) > -0.002
        ends[constraint] = slim.gaps(steps[-1].state)[slim.pairs[0]]
    assert ends[slim] < ends[fat]
