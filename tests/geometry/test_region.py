"""approximate_region: inner and outer polygons of convex regions with known support functions."""

import doctest
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.arrays import Array
from poise.errors import GeometryError
from poise.geometry import approximate_region, polygon
from poise.geometry import polygon as region

BOX = np.array([[-9.0, -9.0], [9.0, -9.0], [9.0, 9.0], [-9.0, 9.0]])
seeds = st.integers(0, 2**32 - 1)


@given(seeds, st.integers(1, 12))
def test_a_polygon_is_found_exactly(seed: int, n: int) -> None:
    cloud = np.random.default_rng(seed).uniform(-5.0, 5.0, (n, 2))
    found = approximate_region(lambda d: cloud[(cloud @ d).argmax()], BOX)
    hull = polygon.convex_hull(cloud)
    # A vertex that protrudes by less than the tolerance may be missed; the outer polygon contains it.
    assert all(polygon.margin(found.inner, vertex) >= -10.0 * region.TOLERANCE for vertex in hull)
    assert all(polygon.margin(found.outer, vertex) >= -1e-9 for vertex in [*hull, *found.inner])
    assert all(polygon.margin(hull, vertex) >= -1e-9 for vertex in found.inner)
    assert found.gap < 100.0 * region.TOLERANCE


@given(seeds, st.integers(0, 60), st.floats(1e-4, 0.1))
def test_inner_and_outer_enclose_the_region_and_half_planes_touch_it(
    seed: int, questions: int, tolerance: float
) -> None:
    random = np.random.default_rng(seed)
    M, middle = random.normal(size=(2, 2)), random.normal(size=2)

    def ellipse(d: Array) -> Array:
        return middle + M @ (M.T @ d) / np.linalg.norm(M.T @ d)

    found = approximate_region(ellipse, BOX, tolerance, questions)
    assert found.queries <= questions
    for angle in np.linspace(0.0, 2.0 * math.pi, 40):
        d = np.array([math.cos(angle), math.sin(angle)])
        reach = d @ ellipse(d)
        assert (found.inner @ d).max(initial=-np.inf) <= reach + 1e-9
        if questions:
            assert (found.outer @ d).max() >= min(reach, (BOX @ d).max()) - 1e-9


@pytest.mark.parametrize("tolerance", [0.1, 0.01, 0.001])
def test_the_gap_follows_the_tolerance_and_the_query_count_its_root(tolerance: float) -> None:
    disc = approximate_region(lambda d: d, BOX, tolerance)
    assert disc.gap <= 1.1 * tolerance
    assert disc.queries <= 16.0 / math.sqrt(tolerance)


def test_a_limit_on_queries_shows_in_the_gap() -> None:
    disc = approximate_region(lambda d: d, BOX, 1e-3, max_queries=8)
    assert disc.queries == 8
    assert disc.gap > 1e-2


@pytest.mark.parametrize("cloud", [[[1.0, 2.0]], [[1.0, 2.0], [3.0, 5.0]], [[0.0, 0.0], [1.0, 0.0]]])
def test_a_segment_and_a_point_are_regions_as_well(cloud: list[list[float]]) -> None:
    points = np.array(cloud)
    found = approximate_region(lambda d: points[(points @ d).argmax()], BOX)
    assert np.array_equal(found.inner, polygon.convex_hull(points))
    assert len(found.outer) >= 1
    assert found.gap < 1e-9


def test_a_region_that_does_not_exist_is_empty() -> None:
    found = approximate_region(lambda d: None, BOX)
    assert (len(found.inner), len(found.outer), found.gap) == (0, 0, 0.0)


def test_a_tolerance_of_zero_is_refused() -> None:
    with pytest.raises(GeometryError, match="above zero"):
        approximate_region(lambda d: d, BOX, 0.0)


def test_the_examples_of_the_documentation_hold() -> None:
    assert doctest.testmod(region).failed == 0
