"""Every quantity of a snapshot against other algorithms of pinocchio and finite differences."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.errors import StateError
from poise.robots import Robot, State
from poise.state import CENTER_OF_MASS, DRIFT, DYNAMICS, FRAMES, MOMENTUM, Snapshot
from robot_states import installed_robot, integrate_state, not_none, random_state

STEP = 1e-5  # of the finite differences, whose error is then some 1e-10

QUANTITIES: dict[str, Callable[[Snapshot], np.ndarray]] = {
    "pose": lambda s: s.pose(s.robot.hand("left")).homogeneous,
    "position": lambda s: s.position(s.robot.foot("right")),
    "rotation": lambda s: s.rotation(s.robot.gaze),
    "jacobian": lambda s: s.jacobian(s.robot.hand("right")),
    "drift": lambda s: s.drift(s.robot.hand("left")),
    "velocity": lambda s: s.velocity(s.robot.foot("left")),
    "center of mass": lambda s: s.center_of_mass,
    "center of mass jacobian": lambda s: s.center_of_mass_jacobian,
    "center of mass velocity": lambda s: s.center_of_mass_velocity,
    "center of mass drift": lambda s: s.center_of_mass_drift,
    "momentum matrix": lambda s: s.momentum_matrix,
    "momentum": lambda s: s.momentum,
    "momentum drift": lambda s: s.momentum_drift,
    "mass matrix": lambda s: s.mass_matrix,
    "nonlinear effects": lambda s: s.nonlinear_effects,
}


@pytest.fixture(scope="module", params=["g1", "talos"])
def robot(request: pytest.FixtureRequest) -> Robot:
    return installed_robot(request.param)


@pytest.fixture(params=range(3))
def state(robot: Robot, request: pytest.FixtureRequest) -> State:
    return random_state(robot, request.param)


@pytest.fixture
def snapshot(state: State) -> Snapshot:
    return Snapshot(state.robot).at(state)


@pytest.fixture
def data(state: State) -> pinocchio.Data:
    """Data of the oracle, independent of the snapshot."""
    return state.robot.model.createData()


def slope(state: State, function: Callable[[State], np.ndarray]) -> np.ndarray:
    """Central difference of a quantity along the velocity of the state."""
    ahead, behind = (function(integrate_state(state, state.v, s)) for s in (STEP, -STEP))
    return (ahead - behind) / (2 * STEP)


def test_poses_are_those_of_forward_kinematics(
    robot: Robot, state: State, snapshot: Snapshot, data: pinocchio.Data
) -> None:
    pinocchio.framesForwardKinematics(robot.model, data, state.q)
    for frame in (*robot.hands, *robot.feet, robot.gaze, robot.chest):
        pose = data.oMf[not_none(frame).index]
        assert snapshot.pose(not_none(frame)).isApprox(pose, 1e-12)
        assert snapshot.position(not_none(frame)) == pytest.approx(pose.translation, abs=1e-12)
        assert snapshot.rotation(not_none(frame)) == pytest.approx(pose.rotation, abs=1e-12)


def test_jacobians_are_those_of_pinocchio(robot: Robot, state: State, snapshot: Snapshot, data: pinocchio.Data) -> None:
    axes = pinocchio.LOCAL_WORLD_ALIGNED
    for frame in (*robot.hands, *robot.feet, robot.gaze):
        expected = pinocchio.computeFrameJacobian(robot.model, data, state.q, frame.index, axes)
        assert snapshot.jacobian(frame) == pytest.approx(expected, abs=1e-12)


def test_a_jacobian_is_the_slope_of_the_pose(robot: Robot, state: State, snapshot: Snapshot) -> None:
    hand = robot.hand("left")
    rate = snapshot.jacobian(hand) @ state.v
    assert rate == pytest.approx(snapshot.velocity(hand))
    assert slope(state, lambda s: s.pose(hand).translation) == pytest.approx(rate[:3], abs=1e-8)
    R_rate = slope(state, lambda s: s.pose(hand).rotation)
    assert R_rate == pytest.approx(pinocchio.skew(rate[3:]) @ state.pose(hand).rotation, abs=1e-8)


def test_the_velocity_of_a_frame_is_that_of_its_body_once_the_drift_is_computed(
    robot: Robot, state: State, snapshot: Snapshot
) -> None:
    for frame in (robot.foot("left"), *robot.hands):
        expected = snapshot.jacobian(frame) @ state.v
        for terms in (DRIFT, DYNAMICS):
            other = Snapshot(robot).at(state)
            other.compute(terms)
            assert other.velocity(frame) == pytest.approx(expected, abs=1e-9)


def test_a_drift_is_the_slope_of_the_velocity(robot: Robot, state: State, snapshot: Snapshot) -> None:
    other = Snapshot(robot)
    for frame in (robot.hand("left"), robot.foot("right"), robot.gaze):
        expected = slope(state, lambda s, frame=frame: other.at(s).velocity(frame))  # type: ignore[misc]
        assert snapshot.drift(frame) == pytest.approx(expected, abs=1e-7)


def test_a_drift_is_the_classical_acceleration_of_pinocchio(
    robot: Robot, state: State, snapshot: Snapshot, data: pinocchio.Data
) -> None:
    pinocchio.forwardKinematics(robot.model, data, state.q, state.v, np.zeros(robot.model.nv))
    for frame in (*robot.hands, *robot.feet):
        expected = pinocchio.getFrameClassicalAcceleration(
            robot.model, data, frame.index, pinocchio.LOCAL_WORLD_ALIGNED
        )
        assert snapshot.drift(frame) == pytest.approx(expected.vector, abs=1e-9)


def test_the_center_of_mass_and_its_derivatives(
    robot: Robot, state: State, snapshot: Snapshot, data: pinocchio.Data
) -> None:
    model = robot.model
    c = pinocchio.centerOfMass(model, data, state.q, state.v, np.zeros(model.nv))
    assert snapshot.center_of_mass == pytest.approx(c, abs=1e-12)
    assert snapshot.center_of_mass_velocity == pytest.approx(data.vcom[0], abs=1e-12)
    assert snapshot.center_of_mass_drift == pytest.approx(data.acom[0], abs=1e-10)
    assert slope(state, lambda s: s.center_of_mass) == pytest.approx(snapshot.center_of_mass_velocity, abs=1e-8)


def test_the_jacobian_of_the_center_of_mass_is_that_of_pinocchio(
    robot: Robot, state: State, snapshot: Snapshot, data: pinocchio.Data
) -> None:
    J = pinocchio.jacobianCenterOfMass(robot.model, data, state.q)
    assert snapshot.center_of_mass_jacobian == pytest.approx(J, abs=1e-12)
    snapshot.at(state).compute(DYNAMICS)
    assert snapshot.center_of_mass_jacobian == pytest.approx(J, abs=1e-12)
    assert snapshot.center_of_mass == pytest.approx(data.com[0], abs=1e-12)


def test_the_momentum_is_that_of_the_bodies(
    robot: Robot, state: State, snapshot: Snapshot, data: pinocchio.Data
) -> None:
    """Linear momentum is m ċ; angular momentum about the center of mass is the sum over the bodies."""
    model = robot.model
    pinocchio.forwardKinematics(model, data, state.q, state.v)
    total = pinocchio.Force.Zero()
    for i in range(1, model.njoints):
        total += data.oMi[i].act(model.inertias[i] * data.v[i])
    at_center = pinocchio.SE3(np.eye(3), snapshot.center_of_mass.copy()).actInv(total)
    assert snapshot.momentum == pytest.approx(at_center.vector, abs=1e-9)
    assert snapshot.momentum == pytest.approx(snapshot.momentum_matrix @ state.v)
    assert snapshot.momentum[:3] == pytest.approx(robot.mass * snapshot.center_of_mass_velocity, abs=1e-10)


def test_the_momentum_drift_is_the_slope_of_the_momentum(robot: Robot, state: State, snapshot: Snapshot) -> None:
    other = Snapshot(robot)
    expected = slope(state, lambda s: other.at(s).momentum)
    assert snapshot.momentum_drift == pytest.approx(expected, abs=1e-5)
    assert snapshot.momentum_drift[:3] == pytest.approx(robot.mass * snapshot.center_of_mass_drift)


def test_the_mass_matrix_is_symmetric_and_measures_the_kinetic_energy(
    robot: Robot, state: State, snapshot: Snapshot, data: pinocchio.Data
) -> None:
    M = snapshot.mass_matrix
    assert np.array_equal(M, M.T)
    assert (np.linalg.eigvalsh(M) > 0.0).all()
    pinocchio.forwardKinematics(robot.model, data, state.q, state.v)
    bodies = zip(robot.model.inertias, data.v, strict=True)
    energy = 0.5 * sum(inertia.vtiv(motion) for inertia, motion in list(bodies)[1:])
    rotors = 0.5 * state.v @ (np.asarray(robot.model.armature) * state.v)
    assert 0.5 * state.v @ M @ state.v == pytest.approx(energy + rotors, rel=1e-12)


def test_mass_matrix_and_nonlinear_effects_are_inverse_dynamics(
    robot: Robot, state: State, snapshot: Snapshot, data: pinocchio.Data
) -> None:
    h = pinocchio.rnea(robot.model, data, state.q, state.v, np.zeros(robot.model.nv))
    assert snapshot.nonlinear_effects == pytest.approx(h, abs=1e-9)
    a = np.random.default_rng(1).normal(0, 1, robot.model.nv)
    expected = pinocchio.rnea(robot.model, data, state.q, state.v, a)
    assert snapshot.mass_matrix @ a + snapshot.nonlinear_effects == pytest.approx(expected, abs=1e-8)


def test_newton_and_euler_hold(robot: Robot, state: State, snapshot: Snapshot) -> None:
    """The first six rows of M v̇ + h are the momentum's rate and the weight, in the frame of the base."""
    a = np.random.default_rng(2).normal(0, 1, robot.model.nv)
    force = (snapshot.mass_matrix @ a + snapshot.nonlinear_effects)[:3]
    rate = (snapshot.momentum_matrix @ a + snapshot.momentum_drift)[:3]
    weight = robot.mass * robot.model.gravity.linear
    R = pinocchio.XYZQUATToSE3(state.q[:7]).rotation
    assert R @ force + weight == pytest.approx(rate, abs=1e-7)


@given(order=st.permutations(list(QUANTITIES)), again=st.permutations(list(QUANTITIES)))
def test_the_order_of_queries_changes_nothing(order: list[str], again: list[str]) -> None:
    robot = installed_robot("g1")
    first, second = random_state(robot, 1), random_state(robot, 2)
    snapshot = Snapshot(robot)
    for state, query_order in ((first, order), (second, again)):
        snapshot.at(state)
        for name in query_order:
            QUANTITIES[name](snapshot)
        for name in query_order:  # later quantities must not overwrite earlier ones
            alone = QUANTITIES[name](Snapshot(robot).at(state))
            assert QUANTITIES[name](snapshot) == pytest.approx(alone, abs=1e-9), name


@given(parts=st.lists(st.sampled_from([FRAMES, CENTER_OF_MASS, MOMENTUM, DRIFT, DYNAMICS]), max_size=6))
def test_filling_part_by_part_is_filling_at_once(parts: list[int]) -> None:
    robot = installed_robot("g1")
    state = random_state(robot, 3)
    one, many = Snapshot(robot).at(state), Snapshot(robot).at(state)
    for part in parts:
        many.compute(part)
    one.compute(FRAMES | CENTER_OF_MASS | MOMENTUM | DRIFT | DYNAMICS)
    for name, quantity in QUANTITIES.items():
        assert quantity(many) == pytest.approx(quantity(one), abs=1e-9), name


def test_each_quantity_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: dict[str, int] = {}
    algorithms = (
        "computeJointJacobians",
        "ccrba",
        "computeCentroidalMomentumTimeVariation",
        "computeAllTerms",
    )
    for name in algorithms:
        original = getattr(pinocchio, name)

        def counted(*arguments: Any, name: str = name, original: Callable[..., Any] = original) -> Any:
            calls[name] = calls.get(name, 0) + 1
            return original(*arguments)

        monkeypatch.setattr(pinocchio, name, counted)
    robot = installed_robot("g1")
    snapshot = Snapshot(robot).at(random_state(robot, 0))
    assert calls == {}, "quantities are computed on first use"
    for _ in range(3):
        for quantity in QUANTITIES.values():
            quantity(snapshot)
    assert calls == dict.fromkeys(algorithms, 1)
    snapshot.at(random_state(robot, 1))
    for _ in range(2):
        QUANTITIES["mass matrix"](snapshot)
        QUANTITIES["position"](snapshot)
        QUANTITIES["center of mass"](snapshot)
        QUANTITIES["momentum"](snapshot)
    assert calls["computeAllTerms"] == 2, "the dynamics include the frames, the center of mass and the momentum"
    assert calls["computeJointJacobians"] == calls["ccrba"] == 1


def test_views_hold_the_numbers_of_the_state_that_the_snapshot_is_at(robot: Robot) -> None:
    first, second = random_state(robot, 1), random_state(robot, 2)
    snapshot = Snapshot(robot).at(first)
    everything = FRAMES | CENTER_OF_MASS | MOMENTUM | DRIFT | DYNAMICS
    views = {
        "center of mass": snapshot.center_of_mass,
        "center of mass jacobian": snapshot.center_of_mass_jacobian,
        "center of mass drift": snapshot.center_of_mass_drift,
        "momentum matrix": snapshot.momentum_matrix,
        "momentum drift": snapshot.momentum_drift,
        "mass matrix": snapshot.mass_matrix,
        "nonlinear effects": snapshot.nonlinear_effects,
    }
    snapshot.at(second).compute(everything)
    fresh = Snapshot(robot).at(second)
    for name, view in views.items():
        assert view == pytest.approx(getattr(fresh, name.replace(" ", "_"))), name


def test_a_snapshot_carries_its_state(robot: Robot) -> None:
    state = random_state(robot, 5)
    snapshot = Snapshot(robot).at(state)
    assert snapshot.state is state
    assert snapshot.time == state.time
    assert np.array_equal(snapshot.q, state.q)
    assert np.array_equal(snapshot.v, state.v)
    assert snapshot.q is not state.q


def test_the_name_of_a_frame_is_not_a_frame() -> None:
    robot = installed_robot("g1")
    snapshot = Snapshot(robot).at(robot.stance("standing"))
    with pytest.raises(StateError, match=r"'left_palm' is not a frame; give e\.g\. robot\.frame"):
        snapshot.position("left_palm")  # type: ignore[arg-type]
