"""Configuration: the whole body follows a moving configuration, and holds a constant one."""

import numpy as np
import pinocchio
import pytest

from poise import tasks
from poise.control import KinematicController
from poise.errors import TaskError
from poise.hierarchy import Hierarchy, Level
from poise.plants import IdealPlant, steps
from poise.robots import State
from poise.state import Snapshot
from poise.tasks import ACCELERATION, VELOCITY, VariableLayout
from robot_states import installed_robot

ROBOT = installed_robot("g1")
START = ROBOT.stance("standing")
MODEL = ROBOT.model
STEP = 1e-5


class TurningConfiguration:
    """A configuration that moves with constant accelerations of base and joints."""

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        self.v, self.a = random.normal(0.0, 0.5, MODEL.nv), random.normal(0.0, 0.5, MODEL.nv)

    def sample(self, time: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        q = START.q
        for k in range(100):  # the base's velocity changes in its own axes: small steps, each by its middle
            dt = time / 100
            q = pinocchio.integrate(MODEL, q, dt * (self.v + self.a * (k + 0.5) * dt))
        return q, self.v + self.a * time, self.a


def off_target(seed: int) -> State:
    random = np.random.default_rng(seed + 10)
    q = pinocchio.integrate(MODEL, START.q, random.normal(0.0, 0.3, MODEL.nv))
    return State(ROBOT, q, random.normal(0.0, 0.5, MODEL.nv), 0.2)


def rows(task: tasks.Configuration, state: State, order: int) -> np.ndarray:
    return task.rows(Snapshot(ROBOT).at(state), VariableLayout(order, 0.005, MODEL.nv, MODEL.nv)).lower


def rate(target: TurningConfiguration, state: State) -> np.ndarray:
    """Right side of velocity rows without error feedback."""
    return rows(tasks.Configuration(target, dynamics=tasks.FeedForward()), state, VELOCITY)


@pytest.mark.parametrize("seed", range(3))
def test_a_body_that_moves_as_its_target_keeps_its_distance(seed: int) -> None:
    target, state = TurningConfiguration(seed), off_target(seed)
    r = rate(target, state)
    errors = []
    for dt in (-STEP, STEP):
        q = pinocchio.integrate(MODEL, state.q, dt * r)
        errors.append(pinocchio.difference(MODEL, target.sample(state.time + dt)[0], q))
    assert errors[0] == pytest.approx(errors[1], abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_the_acceleration_of_the_target_is_the_slope_of_its_rate_in_the_body_frame(seed: int) -> None:
    target, state = TurningConfiguration(seed), off_target(seed)
    rates = [
        rate(target, State(ROBOT, pinocchio.integrate(MODEL, state.q, dt * state.v), state.v, state.time + dt))
        for dt in (-STEP, STEP)
    ]
    acceleration = rows(tasks.Configuration(target, dynamics=tasks.FeedForward()), state, ACCELERATION)
    assert acceleration == pytest.approx((rates[1] - rates[0]) / (2 * STEP), abs=1e-5)


def test_an_error_of_the_base_decays_as_one_of_a_joint() -> None:
    task = tasks.Configuration(START, dynamics=tasks.Decay(4.0))
    start = off_target(1).replace(v=np.zeros(MODEL.nv), time=0.0)
    controller = KinematicController(Hierarchy(levels=[Level("all", [task])]), period=0.005, ramp=0.0)
    *_, last = steps(controller, IdealPlant(start), 0.505)
    before, after = (pinocchio.difference(MODEL, START.q, q) for q in (start.q, last.state.q))
    assert after == pytest.approx(before * (1.0 - 4.0 * 0.005) ** 100, abs=1e-9)


def test_an_incomplete_configuration_is_refused() -> None:
    with pytest.raises(TaskError, match="expected a State, a configuration q"):
        tasks.Configuration([0.0, 1.0])
    with pytest.raises(TaskError, match="expected a State, a configuration q"):
        tasks.Configuration("standing")
    short = tasks.Configuration(START.q[:-1])
    with pytest.raises(TaskError, match="give one for this robot"):
        short.labels(ROBOT)


class MomentumTarget:
    """An angular momentum that grows."""

    def sample(self, time: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return np.array([0.1, 2.0 * time]), np.array([0.0, 2.0]), np.zeros(2)


def test_a_momentum_may_follow_a_path() -> None:
    """A_g v̇ + Ȧ_g v = ḣ* - k (A_g v - h*)."""
    state, k = off_target(2), 7.0
    task = tasks.AngularMomentum(MomentumTarget(), axes="xz", dynamics=tasks.Decay(k))
    snapshot = Snapshot(ROBOT).at(state)
    program_rows = task.rows(snapshot, VariableLayout(ACCELERATION, 0.005, MODEL.nv, MODEL.nv))
    h, ahead, _ = MomentumTarget().sample(state.time)
    have = snapshot.momentum[[3, 5]]
    assert program_rows.lower + snapshot.momentum_drift[[3, 5]] == pytest.approx(ahead - k * (have - h))
    with pytest.raises(TaskError, match="shapes"):
        tasks.AngularMomentum(MomentumTarget(), axes="xyz")
