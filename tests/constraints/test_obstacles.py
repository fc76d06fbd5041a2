"""Bodies keep their distance from obstacles at rest and in motion."""

import numpy as np
import pinocchio
import pytest

from poise import constraints, tasks
from poise.constraints import Obstacle, ObstacleDistance
from poise.control import KinematicController
from poise.errors import TaskError
from poise.hierarchy import Hierarchy, Level
from poise.plants import IdealPlant, steps
from poise.robots import State
from poise.state import Snapshot
from robot_states import installed_robot

G1 = installed_robot("g1")
START = G1.stance("standing")
LEFT = G1.hand("left")


def obstacles() -> list[Obstacle]:
    turned = pinocchio.SE3(pinocchio.rpy.rpyToMatrix(0.3, 0.5, -0.2), np.array([0.45, 0.25, 0.9]))
    return [
        Obstacle.box((0.2, 0.1, 0.3), turned),
        Obstacle.ball(0.08, (0.3, -0.3, 0.7)),
        Obstacle.capsule(0.05, 0.4, pinocchio.SE3(turned.rotation, np.array([0.2, 0.5, 1.0]))),
    ]


def moved(state: State, v: np.ndarray, seconds: float) -> State:
    return state.replace(q=pinocchio.integrate(G1.model, state.q, seconds * v))


def test_the_distance_to_a_ball_is_that_of_its_center_to_the_nearest_capsule() -> None:
    center, radius = np.array([0.5, 0.3, 0.8]), 0.1
    constraint = ObstacleDistance(G1, [Obstacle.ball(radius, center)], rows=200)
    snapshot = Snapshot(G1).at(START)
    gaps = constraint.gaps(snapshot)
    data = G1.model.createData()
    pinocchio.forwardKinematics(G1.model, data, START.q)
    for body in constraint.bodies:
        pose = data.oMi[body.joint]
        ends = [pose.act(body.center + sign * body.half_axis) for sign in (-1, 1)]
        along = ends[1] - ends[0]
        length = along @ along
        share = np.clip((center - ends[0]) @ along / length, 0.0, 1.0) if length else 0.0
        expected = np.linalg.norm(center - ends[0] - share * along) - body.radius - radius
        assert gaps[body.name, "ball"] == pytest.approx(expected, abs=1e-6)


def test_the_rows_are_the_rates_of_the_gaps() -> None:
    random, constraint = np.random.default_rng(0), ObstacleDistance(G1, obstacles(), rows=500)
    state = moved(START, random.normal(0.0, 0.1, G1.model.nv), 1.0)
    v, step = random.normal(0.0, 0.3, G1.model.nv), 1e-5
    before, after = (constraint.value(Snapshot(G1).at(moved(state, v, sign * step))) for sign in (-1, 1))
    rates = constraint.jacobian(Snapshot(G1).at(state)) @ v
    np.testing.assert_allclose(rates, (after - before) / (2.0 * step), atol=2e-3)


def test_the_target_rate_is_what_the_motion_of_the_obstacle_takes_away() -> None:
    ball, twist, step = Obstacle.ball(0.1, (0.5, 0.2, 1.0)), np.array([-0.4, 0.2, 0.1, 0.5, -0.3, 0.8]), 1e-5
    constraint, snapshot = ObstacleDistance(G1, [ball], rows=500), Snapshot(G1).at(START)
    center = ball.pose.translation.copy()
    values = []
    for sign in (-1, 1):
        ball.move(center + sign * step * twist[:3])
        values.append(constraint.value(snapshot))
    ball.move(center, twist)
    constraint.value(snapshot)
    rate = constraint.target_rate(0.0)
    assert rate is not None
    np.testing.assert_allclose(-rate, (values[1] - values[0]) / (2.0 * step), atol=1e-4)


def test_a_hand_that_is_drawn_into_a_box_stops_in_front_of_it() -> None:
    target = START.pose(LEFT).translation + np.array([0.25, 0.0, 0.1])
    box = Obstacle.box((0.1, 0.3, 0.3), pinocchio.SE3(np.eye(3), target))
    constraint = ObstacleDistance(G1, [box], distance=0.03)
    hierarchy = Hierarchy(
        always=[constraints.JointRange(G1), constraint],
        levels=[
            Level("feet", [tasks.HoldPose(foot, at=START) for foot in G1.feet]),
            Level("hand", [tasks.Position(LEFT, target)]),
            Level("posture", [tasks.Posture(START)]),
        ],
    )
    plant, least = IdealPlant(START), np.inf
    for step in steps(KinematicController(hierarchy), plant, 2.0):
        least = min(least, *constraint.gaps(Snapshot(G1).at(step.state)).values())
    assert 0.029 < least < 0.035
    assert np.linalg.norm(plant.state().pose(LEFT).translation - target) > 0.05


@pytest.mark.parametrize("knows_velocity", [True, False])
def test_an_arm_makes_way_for_a_ball_that_moves_towards_it(knows_velocity: bool) -> None:
    speed = np.array([-0.5, 0.0, 0.0])
    begin = START.pose(LEFT).translation + np.array([0.6, 0.0, 0.05])
    ball = Obstacle.ball(0.06, begin)
    constraint = ObstacleDistance(G1, [ball], distance=0.02)
    hierarchy = Hierarchy(always=[constraint], levels=[Level("posture", [tasks.Posture(START)])])
    controller, plant, least = KinematicController(hierarchy), IdealPlant(START), np.inf
    for step in steps(controller, plant, 1.0):
        velocity = np.concatenate([speed, np.zeros(3)]) if knows_velocity else None
        ball.move(begin + step.state.time * speed, velocity)
        least = min(least, *constraint.gaps(Snapshot(G1).at(step.state)).values())
    if knows_velocity:
        assert least > 0.015  # it lags by one period
    else:
        assert least < 0.01  # without its velocity the ball is noticed only by its distance


def test_bad_obstacles_are_one_line() -> None:
    with pytest.raises(TaskError, match="three positive lengths"):
        Obstacle.box((0.1, -0.1, 0.1), (0, 0, 0))
    with pytest.raises(TaskError, match="radius"):
        Obstacle.ball(0.0, (0, 0, 0))
    with pytest.raises(TaskError, match="expected 3 numbers"):
        Obstacle.ball(0.1, (0, 0))
    with pytest.raises(TaskError, match=r"expected \[Obstacle.box"):
        ObstacleDistance(G1, [])
    with pytest.raises(TaskError, match="positive whole number"):
        ObstacleDistance(G1, [Obstacle.ball(0.1, (1, 0, 0))], rows=0)
