"""Balance measures are consistent with the Newton-Euler equations and with each other."""

import doctest
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from poise.arrays import Array
from poise.errors import StateError
from poise.geometry import polygon, so3
from poise.state import balance
from poise.state.balance import Patch, static_support_region

seeds = st.integers(0, 2**32 - 1)
FOOT = np.array([[-0.1, -0.05, 0.0], [0.15, -0.05, 0.0], [0.15, 0.05, 0.0], [-0.1, 0.05, 0.0]])
LEFT, RIGHT = FOOT + np.array([0.05, 0.1, 0.0]), FOOT - np.array([0.0, 0.1, 0.0])


def hull(*contacts: Array) -> Array:
    """Return the support polygon on level ground: the hull of all contact points, seen from above."""
    return polygon.convex_hull(np.concatenate(contacts)[:, :2])


def assert_same_polygon(one: Array, other: Array, tolerance: float = 1e-6) -> None:
    for a, b in ((one, other), (other, one)):
        assert len(a)
        assert all(polygon.margin(b, point) >= -tolerance for point in a)


# --- zero-moment point and center of pressure


@given(seeds)
def test_the_moment_about_the_zero_moment_point_has_no_horizontal_part(seed: int) -> None:
    random = np.random.default_rng(seed)
    c, acceleration, rate = random.normal(size=(3, 3))
    mass, ground = random.uniform(1.0, 100.0), random.normal()
    p = np.append(balance.zmp(c, acceleration, rate, mass, ground), ground)
    f = mass * (acceleration + np.array([0.0, 0.0, 9.81]))
    moment = rate + np.cross(c - p, f)
    np.testing.assert_allclose(moment[:2], 0.0, atol=1e-10 * mass)
    height = c[2] - ground
    assert p[0] == pytest.approx(c[0] - (height * f[0] + rate[1]) / f[2])
    assert p[1] == pytest.approx(c[1] - (height * f[1] - rate[0]) / f[2])


@given(seeds)
def test_for_a_body_that_satisfies_newton_and_euler_it_is_the_center_of_pressure(seed: int) -> None:
    random = np.random.default_rng(seed)
    r, forces, moments = random.normal(size=(3, 5, 3))
    forces[:, 2] = np.abs(forces[:, 2]) + 0.1
    c, mass, ground = random.normal(size=3), random.uniform(1.0, 50.0), random.normal()
    acceleration = forces.sum(axis=0) / mass - [0.0, 0.0, 9.81]
    rate = (np.cross(r - c, forces) + moments).sum(axis=0)
    pressure = balance.center_of_pressure(r, forces, moments, ground)
    np.testing.assert_allclose(pressure, balance.zmp(c, acceleration, rate, mass, ground), atol=1e-10)


def test_at_rest_the_zero_moment_point_is_below_the_center_of_mass() -> None:
    np.testing.assert_allclose(balance.zmp([0.3, -0.2, 0.9], np.zeros(3), np.zeros(3), 40.0), [0.3, -0.2])


@given(seeds)
def test_without_vertical_motion_and_spin_it_is_that_of_the_cart_on_a_table(seed: int) -> None:
    random = np.random.default_rng(seed)
    c, a = random.normal(size=(2, 3)) * [[1.0, 1.0, 0.5], [1.0, 1.0, 0.0]]
    np.testing.assert_allclose(balance.zmp(c, a, np.zeros(3), 7.0), c[:2] - c[2] / 9.81 * a[:2])


@given(seeds)
def test_the_center_of_pressure_of_points_on_the_ground_is_their_weighted_mean(seed: int) -> None:
    random = np.random.default_rng(seed)
    r, forces = random.normal(size=(2, 6, 3))
    forces[:, 2] = np.abs(forces[:, 2]) + 0.01
    ground = random.normal()
    r[:, 2] = ground
    mean = forces[:, 2] @ r[:, :2] / forces[:, 2].sum()
    np.testing.assert_allclose(balance.center_of_pressure(r, forces, ground=ground), mean, atol=1e-10)
    np.testing.assert_allclose(balance.center_of_pressure(r, forces[:, 2], ground=ground), mean, atol=1e-10)
    assert polygon.margin(hull(r), mean) >= -1e-12


@given(seeds)
def test_the_displayed_sums_of_force_and_moment_give_the_center_of_pressure(seed: int) -> None:
    random = np.random.default_rng(seed)
    r, f, n = random.normal(size=(3, 4, 3))
    f[:, 2] += 3.0
    h = random.normal()
    F, M = f.sum(axis=0), (np.cross(r, f) + n).sum(axis=0)
    if F[2] > 0.1:
        expected = [(h * F[0] - M[1]) / F[2], (h * F[1] + M[0]) / F[2]]
        np.testing.assert_allclose(balance.center_of_pressure(r, f, n, h), expected)


@given(seeds)
def test_the_center_of_pressure_of_a_sole_is_the_same_point_in_its_own_frame(seed: int) -> None:
    random = np.random.default_rng(seed)
    yaw = so3.exp([0.0, 0.0, random.normal()])
    origin = random.normal(size=3)
    wrench = random.normal(size=6)
    wrench[2] += 5.0
    local = balance.sole_center_of_pressure(wrench)
    np.testing.assert_allclose(local, np.array([-wrench[4], wrench[3]]) / wrench[2])
    world = balance.center_of_pressure([origin], [yaw @ wrench[:3]], [yaw @ wrench[3:]], ground=origin[2])
    np.testing.assert_allclose(world, (origin + yaw @ np.append(local, 0.0))[:2], atol=1e-10)


def test_whole_recordings_are_measured_at_once() -> None:
    random = np.random.default_rng(0)
    c, a, L = random.normal(size=(3, 7, 3))
    together = balance.zmp(c, a, L, 30.0)
    np.testing.assert_allclose(together, [balance.zmp(c[i], a[i], L[i], 30.0) for i in range(7)])
    r, f, n = random.normal(size=(3, 7, 4, 3))
    f[..., 2] += 5.0
    together = balance.center_of_pressure(r, f, n)
    np.testing.assert_allclose(together, [balance.center_of_pressure(r[i], f[i], n[i]) for i in range(7)])
    assert balance.center_of_pressure(r, f[..., 2]).shape == (7, 2)
    assert balance.sole_center_of_pressure(random.normal(size=(7, 6))).shape == (7, 2)
    assert balance.capture_point(c, a, np.full(7, 0.8)).shape == (7, 2)


@pytest.mark.filterwarnings("error")
def test_without_forces_the_center_of_pressure_is_undefined_without_an_error() -> None:
    fall = balance.zmp([0.0, 0.0, 1.0], [0.0, 0.0, -9.81], np.zeros(3), 30.0)
    swing = balance.sole_center_of_pressure(np.zeros(6))
    air = balance.center_of_pressure(FOOT, np.zeros((4, 3)))
    none = balance.center_of_pressure(np.empty((0, 3)), np.empty((0, 3)))
    for point in (fall, swing, air, none):
        assert np.isnan(point).all()
        assert polygon.margin(hull(FOOT), point) == -math.inf
    assert np.isnan(balance.capture_point([0.0, 0.0, -1.0], np.zeros(3), -1.0)).all()


# --- inverted pendulum


@given(seeds)
def test_the_dcm_diverges_from_the_zmp_and_attracts_the_center_of_mass(seed: int) -> None:
    random = np.random.default_rng(seed)
    c, v, p = random.normal(size=(3, 2))
    z = random.uniform(0.2, 2.0)
    rate = float(balance.natural_frequency(z))
    assert rate == pytest.approx(math.sqrt(9.81 / z))
    xi = balance.dcm(c, v, z)
    np.testing.assert_allclose(xi, c + v / rate)
    np.testing.assert_allclose(v, rate * (xi - c))
    acceleration = rate**2 * (c - p)
    np.testing.assert_allclose(v + acceleration / rate, rate * (xi - p))  # dξ/dt = ω (ξ - p)
    # The zero-moment point of that motion is p.
    lifted = np.append(c, z), np.append(acceleration, 0.0)
    np.testing.assert_allclose(balance.zmp(*lifted, np.zeros(3), 20.0), p, atol=1e-9)


@given(seeds)
def test_with_its_foot_on_the_capture_point_the_pendulum_comes_to_rest_above_it(seed: int) -> None:
    random = np.random.default_rng(seed)
    c, v = random.normal(size=(2, 3))
    z = random.uniform(0.3, 1.5)
    rate, xi = float(balance.natural_frequency(z)), balance.capture_point(c, v, z)
    position, velocity, step = c[:2].copy(), v[:2].copy(), 1e-4
    for _ in range(round(0.5 / step)):  # integrated by midpoints, half a second
        half = position + 0.5 * step * velocity, velocity + 0.5 * step * rate**2 * (position - xi)
        position, velocity = position + step * half[1], velocity + step * rate**2 * (half[0] - xi)
    np.testing.assert_allclose(position, xi + (c[:2] - xi) * math.exp(-0.5 * rate), atol=1e-5)
    np.testing.assert_allclose(velocity, rate * (xi - position), atol=1e-4)


def test_a_robot_at_rest_is_its_own_capture_point() -> None:
    assert balance.capture_point([0.1, 0.2, 0.8], np.zeros(3), 0.8).tolist() == [0.1, 0.2]
    assert balance.dcm([0.1, 0.2, 0.8], np.zeros(3), 0.8).tolist() == [0.1, 0.2, 0.8]


# --- static support on any ground


def is_static_equilibrium(patches: list[Patch], place: Array, facets: int = 16) -> bool:
    """Return whether balancing forces exist, by non-negative least squares; residuals in weights and meters."""
    columns = [
        np.concatenate([edge, np.cross(corner, edge)])
        for patch in patches
        for corner in patch.corners
        for edge in patch.edges(facets)
    ]
    load = np.array([0.0, 0.0, 1.0, place[1], -place[0], 0.0])
    return nnls(np.array(columns).T, load)[1] < 1e-6


def slope(corners: Array, angle: float, friction: float) -> Patch:
    """A patch turned about the y axis."""
    R = so3.exp([0.0, angle, 0.0])
    return Patch(corners @ R.T, R[:, 2], friction)


@pytest.mark.parametrize("friction", [0.0, 0.1, 0.7, 2.0])
def test_on_level_ground_the_static_region_is_the_support_polygon(friction: float) -> None:
    found = static_support_region([Patch(LEFT, friction=friction), Patch(RIGHT, friction=friction)], 30.0)
    assert_same_polygon(found.inner, hull(LEFT, RIGHT))
    assert_same_polygon(found.outer, hull(LEFT, RIGHT))
    assert found.gap < 1e-6


def test_it_does_not_depend_on_where_the_robot_stands() -> None:
    there = np.array([300.0, -200.0, 50.0])
    found = static_support_region([Patch(LEFT + there), Patch(RIGHT + there)], 30.0)
    assert_same_polygon(found.inner, hull(LEFT, RIGHT) + there[:2])


@pytest.mark.parametrize("angle", [0.1, 0.3, 0.5])
def test_on_one_slope_it_is_the_projected_polygon_with_enough_friction_and_else_empty(angle: float) -> None:
    enough, little = math.tan(angle) / math.cos(math.pi / 16) + 1e-3, math.tan(angle) - 1e-3
    patch = slope(LEFT, angle, enough)
    assert_same_polygon(static_support_region([patch], 30.0).inner, hull(patch.corners))
    sliding = static_support_region([slope(LEFT, angle, little)], 30.0)
    assert (len(sliding.inner), len(sliding.outer)) == (0, 0)


def test_between_two_slippery_slopes_the_center_of_mass_is_above_or_below_where_the_normals_meet() -> None:
    one, two = Patch([[0.0, 0.0, 0.0]], (1.0, 0.0, 1.0), 0.0), Patch([[1.0, 0.0, 0.2]], (-1.0, 0.0, 2.0), 0.0)
    # r1 + s n1 = r2 + t n2 gives s = 1 - t and 1 - t = 0.2 + 2 t.
    meet = 1.0 - 0.8 / 3.0
    found = static_support_region([one, two], 30.0)
    np.testing.assert_allclose(found.inner, [[meet, 0.0]], atol=1e-6)


def test_on_steep_stairs_friction_widens_the_region_and_without_it_only_the_hull_is_left() -> None:
    steps = [LEFT + np.array([0.0, 0.0, 0.4]), RIGHT]
    soles = hull(*steps)
    smooth = static_support_region([Patch(corners, friction=0.0) for corners in steps], 30.0)
    rough = static_support_region([Patch(corners, friction=0.8) for corners in steps], 30.0)
    assert_same_polygon(smooth.inner, soles)
    assert all(polygon.margin(rough.inner, vertex) >= -1e-4 for vertex in soles)
    assert max(-polygon.margin(soles, vertex) for vertex in rough.inner) > 0.01


def test_a_hand_on_a_wall_extends_the_region_according_to_its_maximum_force() -> None:
    wall = np.array([[0.6, 0.0, 1.2]])

    def front(force: float) -> float:
        hand = Patch(wall, (-1.0, 0.0, 0.0), 0.5, force)
        return float(static_support_region([Patch(FOOT), hand], 30.0).inner[:, 0].max())

    assert front(0.0) == pytest.approx(0.15, abs=1e-6)
    # Moments about the toes: the wall pushes back at a height of 1.2 m and its friction up at 0.45 m from them.
    assert front(50.0) == pytest.approx(0.15 + 50.0 * (1.2 + 0.5 * 0.45) / (30.0 * 9.81), abs=1e-4)


def test_a_foot_with_a_limited_force_keeps_the_center_of_mass_away_from_it() -> None:
    weight = 30.0 * 9.81
    feet = [Patch([[0.0, y, 0.0]], largest_force=0.75 * weight) for y in (0.1, -0.1)]
    found = static_support_region(feet, 30.0)
    np.testing.assert_allclose(found.inner, [[0.0, -0.05], [0.0, 0.05]], atol=1e-6)
    assert not len(static_support_region([Patch(FOOT, largest_force=0.9 * weight)], 30.0).inner)


def test_with_both_hands_on_walls_the_region_is_limited_by_reach_only() -> None:
    palm = np.array([[0.0, y, z] for y in (-0.1, 0.1) for z in (-0.1, 0.1)])
    walls = [Patch(palm + np.array([x, 0.0, 1.0]), (-np.sign(x), 0.0, 0.0), 1.0) for x in (-0.5, 0.5)]
    found = static_support_region(walls, 30.0, reach=0.7)
    assert_same_polygon(found.inner, np.array([[-1.2, -0.8], [1.2, -0.8], [1.2, 0.8], [-1.2, 0.8]]))


def test_without_contacts_the_support_region_is_empty() -> None:
    assert len(static_support_region([], 30.0).outer) == 0


@settings(max_examples=min(settings().max_examples, 500))  # about 0.1 s each
@given(seeds)
def test_a_place_is_in_the_region_exactly_if_forces_exist_that_hold_the_robot_there(seed: int) -> None:
    random = np.random.default_rng(seed)
    patches = []
    for _ in range(random.integers(1, 4)):
        R = so3.exp(random.normal(size=3) * [0.4, 0.4, 1.0])
        corners = FOOT @ R.T + random.uniform(-0.4, 0.4, 3)
        patches.append(Patch(corners, R[:, 2], random.uniform(0.0, 1.0)))
    found = static_support_region(patches, 30.0)
    places = np.concatenate([p.corners[:, :2] for p in patches])
    for place in [*places, *random.uniform(-0.7, 0.7, (20, 2))]:
        if polygon.margin(found.inner, place) > 1e-4:
            assert is_static_equilibrium(patches, place)
        if -math.inf < polygon.margin(found.outer, place) < -1e-3 or not len(found.outer):
            assert not is_static_equilibrium(patches, place)
    assert found.gap < 0.01


@given(seeds)
def test_the_edges_of_the_pyramid_lie_on_the_friction_cone(seed: int) -> None:
    random = np.random.default_rng(seed)
    patch = Patch(FOOT, random.normal(size=3), random.uniform(0.0, 2.0))
    for edge in patch.edges(7):
        assert edge @ patch.normal == pytest.approx(1.0)
        assert np.linalg.norm(edge - patch.normal) == pytest.approx(patch.friction)
    assert abs(patch.edges(7).mean(axis=0) - patch.normal).max() < 1e-12


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"corners": np.zeros((4, 2))}, "corners"),
        ({"corners": []}, "corners"),
        ({"corners": np.empty((0, 3))}, "corners"),
        ({"corners": [[math.nan, 0, 0]]}, "corners"),
        ({"corners": FOOT, "normal": (0, 0, 0)}, "normal"),
        ({"corners": FOOT, "normal": (0, 1)}, "normal"),
        ({"corners": FOOT, "friction": -0.1}, "friction"),
        ({"corners": FOOT, "largest_force": math.nan}, "force"),
    ],
)
def test_an_invalid_patch_is_refused(arguments: dict[str, Any], word: str) -> None:
    with pytest.raises(StateError, match=word) as caught:
        Patch(**arguments)
    assert caught.value.element == "contacts"
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("bad", [{"mass": 0.0}, {"mass": 30.0, "facets": 2}, {"mass": 30.0, "reach": -1.0}])
def test_invalid_settings_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(StateError, match=str(list(bad.values())[-1])):
        static_support_region([Patch(FOOT)], **bad)  # type: ignore[arg-type]


def test_the_examples_of_the_documentation_hold() -> None:
    assert doctest.testmod(balance).failed == 0
