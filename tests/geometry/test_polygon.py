"""Polygons against scipy, and degenerate polygons that scipy rejects."""

import doctest
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.spatial import ConvexHull, HalfspaceIntersection, QhullError

import poise.geometry
from poise.arrays import Array
from poise.errors import GeometryError
from poise.geometry import polygon

SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
coordinates = st.floats(-10.0, 10.0) | st.integers(-3, 3).map(float) | st.sampled_from([1e-17, 1.0 + 1e-15, 1e-13])
points = st.tuples(coordinates, coordinates).map(np.array)
clouds = st.lists(st.tuples(coordinates, coordinates), max_size=12).map(lambda rows: np.array(rows).reshape(-1, 2))
seeds = st.integers(0, 2**32 - 1)


def random_polygon(seed: int) -> Array:
    """Hull of random points, at a random place and of a random size."""
    random = np.random.default_rng(seed)
    cloud = random.normal(size=(random.integers(3, 12), 2)) * 10.0 ** random.uniform(-2, 1, 2)
    return polygon.convex_hull(cloud + random.normal(size=2))


def area(vertices: Array) -> float:
    vertices = vertices - vertices[:1]
    x, y = vertices.T
    return 0.5 * float(x @ np.roll(y, -1) - y @ np.roll(x, -1))


def dense_distance(vertices: Array, point: Array) -> float:
    """Distance to the boundary, by walking along it."""
    t = np.linspace(0.0, 1.0, 2001)[:, np.newaxis]
    after = np.roll(vertices, -1, axis=0)
    return min(
        float(np.linalg.norm((1 - t) * a + t * b - point, axis=1).min()) for a, b in zip(vertices, after, strict=True)
    )


# --- hull


@given(seeds, st.integers(3, 40))
def test_the_hull_has_the_vertices_that_scipy_finds(seed: int, n: int) -> None:
    cloud = np.random.default_rng(seed).normal(size=(n, 2))
    theirs = cloud[ConvexHull(cloud).vertices]
    ours = polygon.convex_hull(cloud)
    first = int(np.lexsort((theirs[:, 1], theirs[:, 0]))[0])
    assert (ours == np.roll(theirs, -first, axis=0)).all()


@given(clouds)
def test_the_hull_contains_all_points_and_consists_of_some_of_them(cloud: Array) -> None:
    hull = polygon.convex_hull(cloud)
    given_points = {tuple(row) for row in cloud.tolist()}
    assert {tuple(row) for row in hull.tolist()} <= given_points
    assert bool(len(hull)) == bool(len(cloud))
    for point in cloud:
        assert polygon.margin(hull, point) >= -1e-10


@given(clouds)
def test_a_hull_turns_left_at_every_vertex(cloud: Array) -> None:
    hull = polygon.convex_hull(cloud)
    if len(hull) > 2:
        edges = np.roll(hull, -1, axis=0) - hull
        before = np.roll(edges, 1, axis=0)
        assert (before[:, 0] * edges[:, 1] - before[:, 1] * edges[:, 0] > 0.0).all()


@given(clouds, seeds)
def test_the_hull_depends_neither_on_order_nor_on_repetition(cloud: Array, seed: int) -> None:
    shuffled = np.random.default_rng(seed).permutation(np.concatenate([cloud, cloud]))
    hull = polygon.convex_hull(cloud)
    assert np.array_equal(polygon.convex_hull(shuffled), hull)
    assert np.array_equal(polygon.convex_hull(hull), hull)


@given(points, st.floats(0.0, 2 * math.pi), st.floats(0.01, 10.0), st.integers(0, 20), seeds)
def test_points_in_line_give_the_segment_between_the_outermost(
    start: Array, heading: float, length: float, n: int, seed: int
) -> None:
    end = start + length * np.array([math.cos(heading), math.sin(heading)])
    between = np.random.default_rng(seed).uniform(size=(n, 1))
    hull = polygon.convex_hull(np.concatenate([[start, end], start + between * (end - start)]))
    assert len(hull) == 2
    ends = sorted([start.tolist(), end.tolist()])
    np.testing.assert_allclose(sorted(hull.tolist()), ends, atol=1e-11)


def test_a_spike_thinner_than_rounding_keeps_its_tip() -> None:
    hull = polygon.convex_hull([[0.0, 0.0], [1e-17, 1.0], [2e-17, 0.5]])
    assert hull.tolist() == [[0.0, 0.0], [1e-17, 1.0]]


@pytest.mark.parametrize("offset", [0.0, 1.0, 1e3, 1e6])
def test_points_on_an_edge_are_no_vertices_at_any_position_of_the_polygon(offset: float) -> None:
    turn = np.array([[math.cos(0.3), -math.sin(0.3)], [math.sin(0.3), math.cos(0.3)]])
    t = np.linspace(0.0, 1.0, 12)[:, np.newaxis]
    edges = [(1 - t) * a + t * b for a, b in zip(SQUARE, np.roll(SQUARE, -1, axis=0), strict=True)]
    assert len(polygon.convex_hull(0.2 * np.concatenate(edges) @ turn.T + offset)) == 4


def test_points_that_are_not_finite_are_ignored() -> None:
    bad = [[math.nan, 0.0], [5.0, math.inf], [-math.inf, math.nan]]
    assert np.array_equal(polygon.convex_hull([*SQUARE.tolist(), *bad]), SQUARE)
    assert polygon.convex_hull(bad).shape == (0, 2)


# --- margin and projection


@given(seeds, points)
def test_inside_the_margin_is_the_least_distance_to_a_line_and_outside_that_to_the_polygon(
    seed: int, point: Array
) -> None:
    vertices = random_polygon(seed)
    A, b = polygon.half_planes(vertices)
    margin = polygon.margin(vertices, point)
    inside = float((b - A @ point).min())
    assert abs(margin) == pytest.approx(dense_distance(vertices, point), rel=0.02, abs=0.01)
    assert (margin > 0.0) == (inside > 0.0)
    if margin > 0.0:
        assert margin == pytest.approx(inside, abs=1e-12)
    else:
        nearest = polygon.project(vertices, point)
        assert margin == pytest.approx(-math.dist(point, nearest), abs=1e-12)
        assert polygon.margin(vertices, nearest) == pytest.approx(0.0, abs=1e-12)


@given(seeds, seeds)
def test_points_inside_by_construction_have_a_positive_margin(seed: int, other: int) -> None:
    vertices = random_polygon(seed)
    weights = np.random.default_rng(other).uniform(0.01, 1.0, len(vertices))
    assert polygon.margin(vertices, weights @ vertices / weights.sum()) > 0.0


@given(clouds, points)
def test_the_projection_is_nearer_than_any_other_point_of_the_polygon(cloud: Array, point: Array) -> None:
    hull = polygon.convex_hull(cloud)
    nearest = polygon.project(hull, point)
    # The variational inequality of a projection on a convex set.
    assert ((hull - nearest) @ (point - nearest) <= 1e-9).all()
    assert polygon.margin(hull, nearest) >= -1e-9 or not len(hull)
    np.testing.assert_allclose(polygon.project(hull, nearest), nearest, atol=1e-9)


@given(clouds, points)
def test_degenerate_polygons_raise_no_error_and_give_no_nan(cloud: Array, point: Array) -> None:
    hull = polygon.convex_hull(cloud)
    A, b = polygon.half_planes(cloud)
    results = [polygon.centroid(cloud), polygon.shrink(cloud, 0.1), A, b, polygon.project(hull, point)]
    if len(cloud):
        results += [np.array([polygon.inradius(cloud), polygon.margin(hull, point)])]
    assert all(np.isfinite(result).all() for result in results)
    # Coincident and collinear vertices change nothing.
    if len(hull) > 1:
        middle = 0.5 * (hull + np.roll(hull, -1, axis=0))
        padded = np.stack([hull, hull, middle], axis=1).reshape(-1, 2)
        assert polygon.margin(padded, point) == pytest.approx(polygon.margin(hull, point), abs=1e-12)
        np.testing.assert_allclose(polygon.project(padded, point), polygon.project(hull, point), atol=1e-9)


@given(points, points, st.floats(-2.0, 3.0), st.floats(-1.0, 1.0))
def test_a_segment_and_a_point_have_no_inside(a: Array, b: Array, along: float, beside: float) -> None:
    normal = np.array([a[1] - b[1], b[0] - a[0]])
    point = a + along * (b - a) + beside * normal
    nearest = a + min(max(along, 0.0), 1.0) * (b - a)
    expected = pytest.approx(-math.dist(point, nearest), abs=1e-11)
    assert polygon.margin([a, b], point) == expected
    assert polygon.margin([a, b, b, a], point) == expected
    assert polygon.margin([a, 0.5 * (a + b), b], point) == expected
    assert polygon.margin([a], point) == pytest.approx(-math.dist(point, a))
    assert polygon.margin([a, a, a], point) == pytest.approx(-math.dist(point, a))


@given(st.floats(0.0, 2 * math.pi), st.floats(1e-18, 1e-10), st.floats(1.5, 5.0))
def test_a_point_beyond_the_end_of_a_sliver_is_outside(heading: float, width: float, along: float) -> None:
    turn = np.array([[math.cos(heading), -math.sin(heading)], [math.sin(heading), math.cos(heading)]])
    sliver = np.array([[0.0, 0.0], [0.5, -width], [1.0, 0.0], [0.5, width]]) @ turn.T
    assert polygon.margin(sliver, turn @ [along, 0.0]) == pytest.approx(1.0 - along)


def test_an_empty_polygon_has_no_inside() -> None:
    assert polygon.margin([], [1.0, 2.0]) == -math.inf
    assert polygon.inradius([]) == -math.inf
    assert polygon.project([], [1.0, 2.0]).tolist() == [1.0, 2.0]
    assert polygon.centroid([]).tolist() == [0.0, 0.0]
    assert polygon.shrink([], 0.1).shape == (0, 2)
    assert [part.shape for part in polygon.half_planes([])] == [(0, 2), (0,)]


@pytest.mark.parametrize("bad", [[math.nan, 0.5], [math.inf, 0.5], [-math.inf, math.inf]])
def test_a_point_that_is_not_finite_is_infinitely_far_outside(bad: list[float]) -> None:
    assert polygon.margin(SQUARE, bad) == -math.inf


def test_an_array_of_points_gives_the_values_of_single_points() -> None:
    points = np.random.default_rng(0).normal(size=(50, 2))
    margins, nearest = polygon.margin(SQUARE, points), polygon.project(SQUARE, points)
    assert isinstance(margins, np.ndarray)
    assert margins.tolist() == [polygon.margin(SQUARE, point) for point in points]
    assert nearest.tolist() == [polygon.project(SQUARE, point).tolist() for point in points]
    assert polygon.margin(SQUARE, []).shape == (0,)  # type: ignore[union-attr]
    assert type(polygon.margin(SQUARE, points[0])) is float


# --- half planes


@given(clouds)
def test_half_planes_have_unit_normals_that_touch_the_polygon(cloud: Array) -> None:
    hull = polygon.convex_hull(cloud)
    A, b = polygon.half_planes(cloud)
    np.testing.assert_allclose(np.linalg.norm(A, axis=1), 1.0, atol=1e-12)
    assert (b[:, np.newaxis] >= A @ hull.T).all()
    if len(hull):
        np.testing.assert_allclose((A @ hull.T).max(axis=1), b, atol=1e-14)


@given(clouds, points)
def test_a_point_satisfies_all_half_planes_exactly_where_the_margin_is_not_negative(cloud: Array, point: Array) -> None:
    hull = polygon.convex_hull(cloud)
    A, b = polygon.half_planes(cloud)
    if not len(hull):
        return
    if (A @ point <= b).all():
        assert polygon.margin(hull, point) >= -1e-9
    if polygon.margin(hull, point) >= 0.0:
        assert (A @ point <= b + 1e-9).all()


@given(clouds, st.floats(0.0, 2 * math.pi))
def test_half_planes_bound_the_set_and_reach_as_far_as_the_polygon(cloud: Array, heading: float) -> None:
    hull = polygon.convex_hull(cloud)
    if not len(hull):
        return
    direction = np.array([math.cos(heading), math.sin(heading)])
    A, b = polygon.half_planes(cloud)
    farthest = linprog(-direction, A_ub=A, b_ub=b, bounds=(None, None), method="highs")
    assert farthest.status == 0
    # Scipy's tolerance of 1e-7 on a row lets a sharp corner stick out.
    assert -farthest.fun >= (hull @ direction).max() - 1e-6
    if len(hull) < 3:
        assert -farthest.fun == pytest.approx((hull @ direction).max(), abs=1e-5)


@pytest.mark.parametrize("width", [1e-1, 1e-4, 1e-9, 1e-11])
def test_the_tip_of_a_sliver_has_a_row_that_a_solver_cannot_miss(width: float) -> None:
    A, b = polygon.half_planes([[0.0, 0.0], [1.0, 0.0], [0.0, width]])
    assert len(A) == 4
    assert A[1, 0] > 0.99
    assert b[1] == pytest.approx(A[1, 0])
    turns = np.arctan2(*np.roll(A, -1, axis=0).T[::-1]) - np.arctan2(*A.T[::-1])
    assert ((turns % (2 * math.pi)) < math.pi).all()


def test_a_segment_and_a_point_are_held_by_opposite_pairs() -> None:
    A, b = polygon.half_planes([[0.0, 0.0], [3.0, 4.0]])
    np.testing.assert_allclose(A[:2], -A[2:])
    np.testing.assert_allclose(b, [0.0, 5.0, 0.0, 0.0], atol=1e-15)
    A, b = polygon.half_planes([[1.0, 2.0], [1.0, 2.0]])
    assert (A[:2] == -A[2:]).all()
    assert (b[:2] == -b[2:]).all()


# --- centroid


@given(seeds)
def test_the_centroid_is_the_mean_of_points_spread_evenly(seed: int) -> None:
    vertices = random_polygon(seed)
    # Exact integrals by Green's theorem, about the first vertex.
    x, y = (vertices - vertices[0]).T
    cross = x * np.roll(y, -1) - np.roll(x, -1) * y
    moments = np.array([(x + np.roll(x, -1)) @ cross, (y + np.roll(y, -1)) @ cross])
    expected = moments / (6.0 * area(vertices))
    np.testing.assert_allclose(polygon.centroid(vertices) - vertices[0], expected, rtol=1e-9, atol=1e-9)


@given(clouds)
def test_the_centroid_is_inside(cloud: Array) -> None:
    if len(cloud):
        assert polygon.margin(polygon.convex_hull(cloud), polygon.centroid(cloud)) >= -1e-12


def test_the_centroid_of_a_segment_is_its_middle_and_that_of_a_point_the_point() -> None:
    assert polygon.centroid([[0, 0], [1, 1], [4, 4]]).tolist() == [2.0, 2.0]
    assert polygon.centroid([[3, 4], [3, 4]]).tolist() == [3.0, 4.0]


# --- shrinking


@given(seeds)
def test_the_depth_is_the_radius_of_the_largest_circle_inside(seed: int) -> None:
    vertices = random_polygon(seed)
    A, b = polygon.half_planes(vertices)
    chebyshev = linprog([0, 0, -1], A_ub=np.column_stack([A, np.ones(len(b))]), b_ub=b, bounds=(None, None))
    assert polygon.inradius(vertices) == pytest.approx(-chebyshev.fun, rel=1e-6, abs=1e-9)


@given(seeds, st.floats(0.0, 0.95))
def test_a_shrunk_polygon_is_the_intersection_of_the_half_planes_moved_inward(seed: int, part: float) -> None:
    vertices = random_polygon(seed)
    by = part * polygon.inradius(vertices)
    A, b = polygon.half_planes(vertices)
    deepest = polygon.centroid(polygon.shrink(vertices, math.inf))
    try:
        corners = HalfspaceIntersection(np.column_stack([A, by - b]), deepest).intersections
    except QhullError:
        return
    theirs = polygon.convex_hull(corners)
    ours = polygon.shrink(vertices, by)
    size = np.ptp(vertices, axis=0).max()
    assert area(ours) == pytest.approx(area(theirs), rel=1e-7, abs=1e-9 * size**2)
    for corner in ours:
        assert polygon.margin(theirs, corner) == pytest.approx(0.0, abs=1e-9 * size)
        assert polygon.margin(vertices, corner) == pytest.approx(by, abs=1e-9 * size)


@given(seeds, st.floats(1.0, 10.0))
def test_a_polygon_never_vanishes_when_it_shrinks(seed: int, part: float) -> None:
    vertices = random_polygon(seed)
    inradius = polygon.inradius(vertices)
    innermost = polygon.shrink(vertices, part * inradius + 1e-9)
    assert len(innermost) in (1, 2)
    for point in innermost:
        assert polygon.margin(vertices, point) == pytest.approx(inradius, abs=1e-9 * np.ptp(vertices, axis=0).max())


@given(seeds, st.floats(0.0, 0.5), st.floats(0.0, 0.5))
def test_shrinking_twice_is_shrinking_by_the_sum(seed: int, first: float, second: float) -> None:
    vertices = random_polygon(seed)
    inradius = polygon.inradius(vertices)
    twice = polygon.shrink(polygon.shrink(vertices, first * inradius), second * inradius)
    once = polygon.shrink(vertices, (first + second) * inradius)
    size = np.ptp(vertices, axis=0).max()
    for a, b in ((twice, once), (once, twice)):
        assert max(-polygon.margin(a, point) for point in b) <= 1e-7 * size


def test_a_rectangle_shrinks_to_its_middle_line_and_a_square_to_its_middle() -> None:
    assert polygon.shrink([[0, 0], [4, 0], [4, 2], [0, 2]], 1.5).tolist() == [[1.0, 1.0], [3.0, 1.0]]
    assert polygon.shrink(SQUARE, 3.0).tolist() == [[0.5, 0.5]]
    assert polygon.shrink([[0, 0], [4, 0]], 0.5).tolist() == [[0.0, 0.0], [4.0, 0.0]]
    assert np.array_equal(polygon.shrink(SQUARE, 0.0), SQUARE)


@pytest.mark.parametrize("sides", [3, 4, 5, 6, 8, 17, 100])
def test_a_regular_polygon_is_as_deep_as_its_inner_circle(sides: int) -> None:
    angles = np.linspace(0.0, 2 * math.pi, sides, endpoint=False)
    vertices = np.stack([np.cos(angles), np.sin(angles)], axis=1) + 100.0
    assert polygon.inradius(vertices) == pytest.approx(math.cos(math.pi / sides), abs=1e-9)
    np.testing.assert_allclose(polygon.shrink(vertices, 2.0).mean(axis=0), [100.0, 100.0], atol=1e-9)


@pytest.mark.parametrize("by", [-0.1, math.nan])
def test_a_polygon_shrinks_by_a_distance(by: float) -> None:
    with pytest.raises(GeometryError, match="not negative"):
        polygon.shrink(SQUARE, by)


@given(seeds, seeds)
def test_the_parts_on_both_sides_of_a_cut_make_up_the_whole(seed: int, other: int) -> None:
    vertices = random_polygon(seed)
    random = np.random.default_rng(other)
    normal = random.normal(size=2)
    bound = float(normal @ (random.dirichlet(np.ones(len(vertices))) @ vertices))
    one, rest = polygon.clip(vertices, [normal], [bound]), polygon.clip(vertices, [-normal], [-bound])
    assert area(one) + area(rest) == pytest.approx(area(vertices), rel=1e-9)
    assert (one @ normal <= bound + 1e-9).all()
    assert (rest @ normal >= bound - 1e-9).all()


@given(seeds, seeds)
def test_clipping_by_the_half_planes_of_another_polygon_gives_the_intersection(seed: int, other: int) -> None:
    one, two = random_polygon(seed), random_polygon(other)
    both = polygon.clip(one, *polygon.half_planes(two))
    np.testing.assert_allclose(area(both), area(polygon.clip(two, *polygon.half_planes(one))), rtol=1e-9, atol=1e-12)
    for point in np.random.default_rng(seed).normal(size=(20, 2)):
        inside = min(polygon.margin(one, point), polygon.margin(two, point))
        if abs(inside) > 1e-9:  # type: ignore[operator]
            assert (polygon.margin(both, point) > 0.0) == (inside > 0.0)


def test_a_segment_a_point_and_an_empty_polygon_can_be_clipped() -> None:
    assert polygon.clip([[0, 0], [4, 0]], [[1, 0]], [1]).tolist() == [[0.0, 0.0], [1.0, 0.0]]
    assert polygon.clip([[0, 0]], [[1, 0]], [1]).tolist() == [[0.0, 0.0]]
    assert polygon.clip([[0, 0]], [[1, 0]], [-1]).shape == (0, 2)
    assert polygon.clip(SQUARE, [[1, 0]], [-1]).shape == (0, 2)
    assert polygon.clip([], [[1, 0]], [1]).shape == (0, 2)
    assert np.array_equal(polygon.clip(SQUARE, [], []), SQUARE)


@pytest.mark.parametrize("shape", [(3,), (2,), (4, 3), (1, 4, 2)])
def test_points_of_another_space_are_refused_and_their_shape_is_shown(shape: tuple[int, ...]) -> None:
    for function in (polygon.convex_hull, polygon.centroid, polygon.half_planes, polygon.inradius):
        with pytest.raises(GeometryError) as caught:
            function(np.zeros(shape))
        assert str(shape) in str(caught.value)
    with pytest.raises(GeometryError):
        polygon.margin(SQUARE, np.zeros(3))


def test_the_examples_of_the_documentation_hold() -> None:
    assert doctest.testmod(polygon).failed == 0
    assert doctest.testmod(poise.geometry).failed == 0
