"""Planner: segments are feasible and continuous, and each can be followed by another one."""

from __future__ import annotations

import numpy as np
import pytest
from segments import ROBOTS, at_rest, body_of, legs_of, planner_of, points_of, step, workspace_of

from poise.devices import RandomDevice
from poise.plans import Footstep, InitialState, PointRates, capture_segment, guided_goal
from poise.plans.segment.planner import rectangle_gap, with_clearance
from poise.plans.segment.verification import discontinuity, faults, hold_zmp_excess, sole_gap


def pushed_state(name: str, by: float, speed: float, side: float = 0.0) -> InitialState:
    """An initial state at rest with an added velocity."""
    initial = at_rest(name)
    center = initial.points.center + np.array([by, side, 0.0])
    return InitialState(
        initial.points.replace(center=center), PointRates(np.array([speed, 0.0, 0.0])), initial.repellent
    )


@pytest.mark.parametrize("robot", ROBOTS)
def test_any_input_at_any_time_gives_a_feasible_segment_with_a_stable_end(robot: str) -> None:
    """The induction, by other code: each segment is feasible, begins at the end of the last one, and can be held."""
    planner, workspace, legs = planner_of(robot), workspace_of(robot), legs_of(robot)
    initial, device = at_rest(robot), RandomDevice(11)
    for i in range(150):
        goal = guided_goal(initial.points, device.read((i + 0.5) * device.slot), workspace, legs)
        segment = planner.plan(initial, goal)
        assert faults(segment, planner.body, initial) == [], f"segment {i}"
        initial = segment.final_state


@pytest.mark.parametrize("robot", ["mighty", "g1"])
def test_after_noise_a_feasible_start_is_followed_by_a_feasible_start(robot: str) -> None:
    planner, workspace, legs, body = planner_of(robot), workspace_of(robot), legs_of(robot), body_of(robot)
    random, device, outcomes = np.random.default_rng(3), RandomDevice(5), set()
    initial = at_rest(robot)
    for i in range(250):
        scale = 0.03 * body.height * np.array([1.0, 1.0, 0.0])
        center = initial.points.center + scale * random.standard_normal(3)
        rates = PointRates(initial.rates.center + body.omega * scale * random.standard_normal(3))
        start = InitialState(initial.points.replace(center=center), rates, initial.repellent)
        if planner.hold(start).margin < 0.0:
            initial = at_rest(robot)
            continue
        segment = planner.plan(start, guided_goal(start.points, device.read((i + 0.5) * device.slot), workspace, legs))
        assert faults(segment, body, start) == [], f"segment {i}"
        outcomes.add(segment.outcome)
        initial = segment.final_state
    assert "commanded" in outcomes
    assert outcomes & {"recentered", "stopped"}


def test_planning_twice_gives_the_same_segment() -> None:
    initial = at_rest("mighty")
    goal = step(initial.points, "right", 0.04, -0.01)
    first, other = planner_of("mighty").plan(initial, goal), planner_of("mighty")
    other.plan(initial, step(initial.points, "left", 0.06, 0.02))
    second = other.plan(initial, goal)
    assert discontinuity(first.final_state, second.final_state) == 0.0
    assert first.seconds == second.seconds


def test_a_step_ends_at_rest_over_its_feet() -> None:
    for robot in ROBOTS:
        initial = at_rest(robot)
        segment = planner_of(robot).plan(initial, step(initial.points, "left", 0.1 * body_of(robot).height, 0.0))
        p, v = segment.center.end
        assert segment.outcome == "commanded"
        assert np.linalg.norm(p - segment.goal.points.center) < 0.003
        assert np.linalg.norm(v) < 0.02
        assert segment.final_state.points.feet["left"].x == pytest.approx(segment.goal.points.feet["left"].x)


def test_a_duration_is_prolonged_until_the_zmp_is_inside() -> None:
    """A short first double support needs a ZMP outside the soles."""
    planner = planner_of("mighty", phases=(0.08, 0.7, 0.22), duration=0.4)
    initial = at_rest("mighty")
    goal = step(initial.points, "right", 0.0, -0.03, lift=0.005)
    quick = planner.attempt(initial, goal, 0.4, 0)
    found = planner.plan(initial, goal)
    assert quick.margin < 0.0
    assert found.corrections > 0
    assert found.seconds > 0.4
    assert faults(found, planner.body, initial) == []


def test_an_unreachable_goal_is_discarded_and_the_feet_stay() -> None:
    planner = planner_of("mighty", longest=0.6)
    initial = at_rest("mighty")
    goal = step(initial.points, "right", 0.0, -0.03)
    beyond = goal.points.replace(center=goal.points.center + np.array([0.3, 0.0, 0.0]))
    segment = planner.plan(initial, type(goal)(beyond, goal.step, goal.lift))
    assert segment.outcome == "recentered"
    assert segment.goal.step is None
    assert any("given up" in note for note in segment.notes)
    assert faults(segment, planner.body, initial) == []


def test_a_body_near_an_edge_goes_back_over_its_feet_instead_of_parking_there() -> None:
    body = body_of("g1")
    initial = pushed_state("g1", 0.6 * (body.sole_half[0] - body.sole_margin), 0.0)
    segment = planner_of("g1").recenter(initial)
    assert segment.outcome == "recentered"
    assert np.linalg.norm(segment.center.end[0][:2] - points_of("g1").center[:2]) < 0.01


def test_a_hold_converges_to_the_capture_point() -> None:
    initial = pushed_state("mighty", 0.01, 0.1)
    segment = planner_of("mighty").hold(initial)
    xi = initial.points.center + initial.rates.center / body_of("mighty").omega
    for time in (0.0, 0.1, 0.3):
        expected = xi + (initial.points.center - xi) * np.exp(-body_of("mighty").omega * time)
        assert np.allclose(segment.center.at(time)[0], expected, atol=1e-12)
    assert hold_zmp_excess(segment, body_of("mighty")) <= 0.0


def test_legs_that_would_not_reach_on_the_way_bend_before() -> None:
    initial = at_rest("g1")
    low = initial.points.center.copy()
    tall = initial.points.replace(center=low + np.array([0.0, 0.0, legs_of("g1").highest_com(initial.points) - low[2]]))
    start = InitialState.at_rest(tall)
    segment = planner_of("g1").plan(start, step(tall, "left", 0.25, 0.0))
    assert segment.extension_margin >= 0.0
    assert any("crouches" in note for note in segment.notes)


def test_a_slow_knee_prolongs_the_segment() -> None:
    planner, initial = planner_of("nao"), at_rest("nao")
    low, high = (
        planner.shortest_duration(initial, step(initial.points, "left", 0.02, 0.0, lift)) for lift in (0.002, 0.03)
    )
    assert high > low >= planner.default_duration


def test_a_segment_can_be_interrupted_at_any_time_and_continues_smoothly() -> None:
    """In mid-swing: the next segment begins with the foot in the air, at its speed."""
    planner, initial = planner_of("mighty"), at_rest("mighty")
    segment = planner.plan(initial, step(initial.points, "right", 0.05, 0.0))
    swing = segment.swing_phase
    assert swing is not None
    middle = segment.state_at(0.5 * (swing.begin + swing.end))
    assert middle.points.lifted == "right"
    goal = step(middle.points.replace(lifted=None), "right", 0.02, 0.0, rise=-middle.points.feet["right"].z)
    for onward in (planner.attempt(middle, goal, 0.3, 0), planner.recenter(middle), planner.hold(middle)):
        assert discontinuity(middle, onward.state_at(0.0)) < 1e-9


def test_a_small_push_is_recentered_and_a_large_push_takes_a_step() -> None:
    planner, workspace, legs = planner_of("g1"), workspace_of("g1"), legs_of("g1")
    assert capture_segment(pushed_state("g1", 0.0, 0.1), planner, workspace, legs).outcome == "recentered"
    pushed = pushed_state("g1", 0.02, 0.6)
    segment = capture_segment(pushed, planner, workspace, legs)
    assert segment.outcome == "capture step"
    assert segment.goal.step is not None
    assert segment.goal.points.feet[segment.goal.step].x > pushed.points.feet[segment.goal.step].x + 0.05
    assert np.isfinite(segment.center.u).all()


def test_soles_that_overlap_have_no_gap() -> None:
    foot = points_of("mighty").feet["left"]
    half = complex(*body_of("mighty").sole_half)
    assert rectangle_gap(foot, foot.with_place(foot.place - 0.08j), half) == pytest.approx(0.08 - 2 * half.imag)
    assert rectangle_gap(foot, foot.with_place(foot.place - 0.05j), half) < 0.0


def test_a_foot_that_turns_in_passes_the_other_one_at_a_distance() -> None:
    """From behind the other foot to before it, toes inwards: on a straight path the soles would collide."""
    planner, body, points = planner_of("mighty"), body_of("mighty"), points_of("mighty")
    stance = points.feet["left"]
    near, far = (Footstep("right", stance.x + x, stance.y - 0.074, 0.1) for x in (-0.105, 0.105))
    initial = InitialState.at_rest(points.replace(feet={"left": stance, "right": near}))
    straight = step(initial.points, "right", far.x - near.x, 0.0)
    around = with_clearance(initial, straight, complex(*body.sole_half))
    times = np.linspace(0.0, 1.0, 201)
    gaps = [sole_gap(planner.attempt(initial, goal, 1.0, 0), body, times) for goal in (straight, around)]
    assert gaps[0] < 0.0 < gaps[1]
    assert around.bulge.imag < 0.0
