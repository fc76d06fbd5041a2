"""Every task: its Jacobian and drift against finite differences, its rows against the equations, at both orders."""

import inspect

import numpy as np
import pinocchio
import pytest

import poise.constraints
import poise.tasks
from poise.robots import Robot, State, load_robot
from poise.state import Snapshot
from poise.tasks import ACCELERATION, VELOCITY, Assembly, MotionTask, Task, VariableLayout
from task_examples import FORCE_TASKS, LIMIT_TASKS, TASKS_AT_TARGET, ValueAndJacobianTask

STEP = 1e-5  # of the finite differences: their error is about 1e-10 here, rounding another 1e-11

#: Rotations about some axes only: rotations about the others couple in, so the decay is exact only near the target.
SOME_TURNS = {"orientation y", "pose parts", "relative pose parts"}
pytestmark = pytest.mark.parametrize("name", TASKS_AT_TARGET)


@pytest.fixture(scope="module", params=["g1", "talos"])
def robot(request: pytest.FixtureRequest) -> Robot:
    return load_robot(request.param)


def random_state(robot: Robot, seed: int) -> State:
    """Some state of the robot, near standing, with the base turned and everything moving."""
    random = np.random.default_rng(seed)
    start = robot.stance("standing")
    step = np.concatenate([random.normal(0, 0.3, 6), random.normal(0, 0.2, robot.model.nv - 6)])
    q = pinocchio.integrate(robot.model, start.q, step)
    return State(robot, q, random.normal(0, 1.0, robot.model.nv), 0.7, contacts=robot.feet)


def integrate_velocity(state: State, velocity: np.ndarray, seconds: float) -> State:
    return state.replace(q=pinocchio.integrate(state.robot.model, state.q, seconds * velocity))


def layout(robot: Robot, order: int) -> VariableLayout:
    return VariableLayout(order, 0.005, robot.model.nv, robot.model.nv)


def slope(task: MotionTask, snapshot: Snapshot, state: State, velocity: np.ndarray, method: str) -> np.ndarray:
    """Central difference of a quantity of the task along a velocity."""
    ahead, behind = (
        getattr(task, method)(snapshot.at(integrate_velocity(state, velocity, s))).copy() for s in (STEP, -STEP)
    )
    return (ahead - behind) / (2 * STEP)


@pytest.mark.parametrize("seed", range(3))
def test_the_jacobian_is_the_slope_of_the_error_at_the_target(robot: Robot, name: str, seed: int) -> None:
    state = random_state(robot, seed)
    task, snapshot = TASKS_AT_TARGET[name](robot, state), Snapshot(robot)
    if task.velocity_only:
        pytest.skip("speaks of rates only")
    J = task.jacobian(snapshot.at(state)).copy()
    assert J.shape == (len(task.labels(robot)), robot.model.nv)
    velocity = np.random.default_rng(seed + 100).normal(0, 1, robot.model.nv)
    assert slope(task, snapshot, state, velocity, "value") == pytest.approx(J @ velocity, abs=2e-7)


@pytest.mark.parametrize("seed", range(3))
def test_a_rate_against_the_error_makes_it_decay_from_anywhere(robot: Robot, name: str, seed: int) -> None:
    state = random_state(robot, seed)
    task, snapshot = TASKS_AT_TARGET[name](robot, random_state(robot, seed + 50)), Snapshot(robot)
    if task.velocity_only:
        pytest.skip("speaks of rates only")
    J, e = task.jacobian(snapshot.at(state)).copy(), task.value(snapshot).copy()
    velocity = -np.linalg.pinv(J) @ e
    reached = J @ velocity  # -e, unless there are more rows than independent motions
    if name in SOME_TURNS:
        assert e @ slope(task, snapshot, state, velocity, "value") < -0.5 * e @ e
    elif np.allclose(reached, -e, atol=1e-9):
        assert slope(task, snapshot, state, velocity, "value") == pytest.approx(-e, abs=1e-6)
    else:
        assert len(e) > 3, "only regions with more sides than dimensions may fail"


@pytest.mark.parametrize("seed", range(3))
def test_the_drift_is_the_slope_of_the_rate(robot: Robot, name: str, seed: int) -> None:
    state = random_state(robot, seed)
    task, snapshot = TASKS_AT_TARGET[name](robot, random_state(robot, seed + 50)), Snapshot(robot)
    ahead, behind = (
        task.jacobian(snapshot.at(integrate_velocity(state, state.v, s))).copy() @ state.v for s in (STEP, -STEP)
    )
    expected = (ahead - behind) / (2 * STEP)
    scale = max(1.0, np.abs(expected).max())
    assert task.drift(snapshot.at(state)) / scale == pytest.approx(expected / scale, abs=1e-6)


@pytest.mark.parametrize("speed", [0.0, 1e-6, 1e-2, 1.0, 30.0])
def test_without_a_drift_of_its_own_it_has_the_same_to_rounding(robot: Robot, name: str, speed: float) -> None:
    """Against the analytic drift, which grows with the square of the speed, at rest and faster than any motor."""
    if name in ("self-collision", "obstacle distance") and speed > 1.0:
        pytest.skip("its own drift is limited there, not that of its Jacobian")
    state = random_state(robot, 4)
    state = state.replace(v=speed * state.v)
    task, snapshot = TASKS_AT_TARGET[name](robot, random_state(robot, 54)), Snapshot(robot).at(state)
    drift, expected = ValueAndJacobianTask(task).drift(snapshot), task.drift(snapshot)
    scale = max(speed**2, np.abs(expected).max())
    sums = (np.abs(task.jacobian(snapshot)) @ np.abs(state.v)).max()
    # Error of J v through a chain of ten joints, over a millisecond of a slow robot.
    rounding = 10.0 * np.finfo(float).eps * sums / 1e-3
    assert drift == pytest.approx(expected, rel=0.0, abs=1e-8 * scale + rounding)


@pytest.mark.parametrize("order", [VELOCITY, ACCELERATION])
def test_two_methods_write_the_same_rows(robot: Robot, name: str, order: int) -> None:
    task = TASKS_AT_TARGET[name](robot, random_state(robot, 9))
    snapshot = Snapshot(robot).at(random_state(robot, 2))
    whole, short = (
        Assembly(snapshot, [("level", [t])], layout(robot, order)) for t in (task, ValueAndJacobianTask(task))
    )
    for seed in (3, 4):  # bound in another state than written
        snapshot.at(random_state(robot, seed))
        assert whole.write()
        assert short.write()
        assert pytest.approx(whole.stack.program().A, abs=1e-12) == short.stack.program().A
        assert short.column("error") == pytest.approx(whole.column("error"), abs=1e-12)
        scale = max(1.0, np.abs(whole.column("drift")).max())
        assert short.column("drift") / scale == pytest.approx(whole.column("drift") / scale, abs=1e-7)


def test_the_difference_of_a_drift_disturbs_no_other_task(robot: Robot, name: str) -> None:
    """The rows of a task do not change, to the last bit, beside a task without an analytic drift."""
    make, goal = TASKS_AT_TARGET[name], random_state(robot, 9)
    task, written = make(robot, goal), []
    for beside in ([], [ValueAndJacobianTask(make(robot, goal))]):
        snapshot = Snapshot(robot).at(random_state(robot, 2))
        assembly = Assembly(snapshot, [("beside", beside), ("level", [task])], layout(robot, ACCELERATION))
        for seed in (3, 4):
            snapshot.at(random_state(robot, seed))
            assembly.write()
            rows = assembly.stack.blocks[-1].rows
            columns = [assembly.column(column)[rows].tobytes() for column in ("error", "drift")]
            A = assembly.stack.program().A[rows].tobytes()
            written.append((*columns, A, snapshot.q.tobytes(), snapshot.v.tobytes(), snapshot.time))
    assert written[:2] == written[2:]


def test_velocity_rows_demand_the_rate_of_the_reference(robot: Robot, name: str) -> None:
    task, snapshot = TASKS_AT_TARGET[name](robot, random_state(robot, 9)), Snapshot(robot).at(random_state(robot, 3))
    rows = task.rows(snapshot, layout(robot, VELOCITY))
    assert pytest.approx(task.jacobian(snapshot)) == rows.A
    if not task.velocity_only and task.tolerance is None:
        gain = task.dynamics.gains(snapshot.time)[0] * np.asarray(task.gain_factors(robot))
        if (rows.lower == rows.upper).all():
            assert rows.lower == pytest.approx(-gain * task.value(snapshot))


def test_acceleration_rows_hold_the_drift_and_damp(robot: Robot, name: str) -> None:
    state = random_state(robot, 3)
    task, snapshot = TASKS_AT_TARGET[name](robot, random_state(robot, 9)), Snapshot(robot).at(state)
    rows = task.rows(snapshot, layout(robot, ACCELERATION))
    J, d, e = task.jacobian(snapshot), task.drift(snapshot), task.value(snapshot)
    assert pytest.approx(J) == rows.A
    if not (rows.lower == rows.upper).all():
        pytest.skip("an interval")
    g, _, k = task.dynamics.gains(snapshot.time)
    rate = task.target_rate(snapshot.time) if task.target_rate(snapshot.time) is not None else 0.0
    if task.velocity_only:
        expected = -k * (J @ state.v - rate) - d
    else:
        g = g * np.asarray(task.gain_factors(robot))
        expected = -g * k * e - (g + k) * (J @ state.v) - d
    assert rows.lower == pytest.approx(expected, abs=1e-9)


def test_it_reports_its_name_and_unit(robot: Robot, name: str) -> None:
    task = TASKS_AT_TARGET[name](robot, robot.stance("standing"))
    assert task.name
    assert task.unit
    assert len(set(task.labels(robot))) == len(task.labels(robot))
    assert all(frame.robot_name == robot.name for frame in task.frames())


def test_every_public_task_has_an_example(name: str) -> None:
    if name != next(iter(TASKS_AT_TARGET)):
        pytest.skip("asked once")
    robot = load_robot("g1")
    state = robot.stance("standing")
    shown = {
        type(make(robot, state)) for make in (*TASKS_AT_TARGET.values(), *LIMIT_TASKS.values(), *FORCE_TASKS.values())
    }
    abstract = {"Task", "MotionTask", "FrameTask", "JointLimit", "ForceTask", "WrenchTask"}
    for module in (poise.tasks, poise.constraints):
        for word in set(module.__all__) - abstract:
            kind = getattr(module, word)
            if inspect.isclass(kind) and issubclass(kind, Task):
                assert kind in shown, f"{word} has no example in task_examples.py"
