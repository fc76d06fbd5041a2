"""Zero moment point of segments, and margins of the support region."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog
from segments import ROBOTS, at_rest, body_of, planner_of, points_of, step

from poise.geometry import polygon
from poise.plans import Footstep, SupportRegion, zmp_path
from poise.plans.segment.three_masses import angular_momentum_rate, zero_moment_points
from poise.plans.segment.verification import zmp_excess

HALF = (0.05, 0.03)


def test_the_ground_pushes_under_a_body_at_rest() -> None:
    center = np.array([[0.1, 0.2, 0.3]])
    zmp, lift = zero_moment_points(center, np.zeros((1, 3)), 0.0, np.zeros((1, 2)))
    assert np.allclose(zmp, center[:, :2])
    assert lift[0] == pytest.approx(9.81)


def test_about_the_zero_moment_point_no_horizontal_moment_is_left() -> None:
    """Both sides of Σ m_i (r_i - z) x (r̈_i + g) = 0 for the three masses of the model."""
    body, random = body_of("mighty"), np.random.default_rng(0)
    p, a = random.normal(size=(1, 3)) * 0.02 + [0, 0, body.height], random.normal(size=(1, 3))
    feet = [(random.normal(size=(1, 3)) * 0.05, random.normal(size=(1, 3))) for _ in range(2)]
    hips = [np.array(body.hips[side]) for side in ("left", "right")]
    zmp, _ = zero_moment_points(p, a, 0.0, angular_momentum_rate(body, hips, feet, (p, a), np.zeros((1, 2))))
    z = np.array([*zmp[0], 0.0])
    share, gravity = body.leg_mass_position, np.array([0.0, 0.0, 9.81])
    places = [p[0] + share * (f[0] - p[0]) + (1 - share) * h for (f, _), h in zip(feet, hips, strict=True)]
    faster = [a[0] + share * (f[0] - a[0]) for _, f in feet]
    trunk = body.mass - 2 * body.leg_mass
    places.append((body.mass * p[0] - body.leg_mass * (places[0] + places[1])) / trunk)
    faster.append((body.mass * a[0] - body.leg_mass * (faster[0] + faster[1])) / trunk)
    total = sum(
        m * np.cross(r - z, f + gravity)
        for m, r, f in zip((body.leg_mass, body.leg_mass, trunk), places, faster, strict=True)
    )
    assert np.allclose(total[:2], 0.0, atol=1e-12)  # type: ignore[index]


@pytest.mark.parametrize("robot", ROBOTS)
def test_the_compiled_check_agrees_with_numpy(robot: str) -> None:
    planner, initial = planner_of(robot), at_rest(robot)
    wide = 0.1 * body_of(robot).height
    for goal in (
        step(initial.points, "right", wide, -0.3 * wide),
        step(initial.points, "left", 0.5 * wide, 0.0, rise=-0.02),
    ):
        for T in (0.4, 0.9, 1.4):
            segment = planner.attempt(initial, goal, T, 0)
            times = segment.center.maps.times
            worst = zmp_excess(segment, body_of(robot), times, zmp_path(body_of(robot), segment, times)[0])
            assert segment.margin == pytest.approx(-worst, abs=1e-9)


def test_margins_on_level_ground_are_those_of_the_polygon() -> None:
    feet = (Footstep("left", 0.0, 0.05, 0.1), Footstep("right", 0.03, -0.05, -0.1))
    support, random = SupportRegion(feet, HALF, 0.005), np.random.default_rng(1)
    points = random.uniform(-0.1, 0.1, (200, 2))
    center = np.tile([0.0, 0.0, 0.3], (200, 1))
    found = support.margins(points, center)
    inside = polygon.margin(support.polygon, points)
    assert np.array_equal(found >= 0.0, np.asarray(inside) >= 0.0)
    assert np.allclose(found[found >= 0.0], np.asarray(inside)[found >= 0.0])


def test_on_two_levels_a_zmp_is_inside_if_contact_forces_can_produce_it() -> None:
    """The oracle: nonnegative forces at the corners, along lines through the center of mass, by linear programming."""
    feet = (Footstep("left", 0.0, 0.05, 0.1, 0.0), Footstep("right", 0.06, -0.05, 0.0, -0.03))
    support, random = SupportRegion(feet, HALF, 0.0), np.random.default_rng(2)
    corners = support._points
    center = np.array([0.03, 0.0, 0.25])
    count = 0
    for _ in range(150):
        zmp = random.uniform([-0.1, -0.12], [0.16, 0.12])
        margin = support.margin(zmp, center)
        if abs(margin) < 1e-3:
            continue
        down = np.array([*zmp, support.ground]) - center
        # Directions to the corners, weighted by forces that do not pull, sum to the direction of the force.
        A = np.vstack([(corners - center).T])
        borne = linprog(np.zeros(len(corners)), A_eq=A, b_eq=down).status == 0
        assert borne == (margin > 0.0)
        count += borne
    assert 10 < count < 140


def test_three_masses_predict_the_zmp_better_than_one(tmp_path: object) -> None:
    """The zero moment point of the whole body, from its momentum, along inverse kinematics of random segments."""
    import poise
    from poise.behaviors import Navigate
    from poise.devices import RandomDevice
    from poise.plants import steps
    from poise.state import Snapshot
    from poise.state import zmp as of_momentum

    robot = poise.load_robot("mighty")
    navigate = Navigate(robot, RandomDevice(3))
    controller, plant = poise.KinematicController(navigate, ramp=0.0), poise.IdealPlant(navigate.start)
    snapshot, momentum, center, plan, one, segment_ids = Snapshot(robot), [], [], [], [], []
    for tick in steps(controller, plant, 6.0):
        snapshot.at(tick.state)
        momentum.append(snapshot.momentum.copy())
        center.append(snapshot.center_of_mass.copy())
        segment, elapsed = navigate.segment, tick.state.time - navigate.segment_begin
        assert segment is not None
        plan.append(zmp_path(navigate.body, segment, np.array([elapsed]))[0][0])
        p, _, a = segment.center.at(elapsed)
        one.append(zero_moment_points(p[None], a[None], 0.0, np.zeros((1, 2)))[0][0])
        segment_ids.append(id(segment))
    rate = np.gradient(np.array(momentum), controller.period, axis=0)
    real = of_momentum(np.array(center), rate[:, :3] / robot.mass, rate[:, 3:], robot.mass, 0.0)
    mid = np.array(segment_ids)
    inner = np.r_[False, (mid[1:-1] == mid[:-2]) & (mid[1:-1] == mid[2:]), False]
    three, single = (np.linalg.norm(real - np.array(w), axis=1)[inner] for w in (plan, one))
    assert np.median(three) < 0.7 * np.median(single)
    assert np.percentile(three, 90) < 0.8 * np.percentile(single, 90)


def test_the_zmp_of_a_standing_body_is_inside() -> None:
    assert (
        SupportRegion(points_of("g1").stance_feet, body_of("g1").sole_half, 0.005).margin(
            points_of("g1").center[:2], points_of("g1").center
        )
        > 0.02
    )
