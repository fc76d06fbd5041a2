"""Penetration, sliding, support margins and trajectory distances of constructed motions have their known values."""

from __future__ import annotations

import math

import numpy as np
import pytest

from poise.analysis import ground_penetration, share_inside, sliding_distance, support_polygons, trajectory_distance
from poise.analysis.contact_quality import polygon_margins
from poise.errors import GaitError

SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


def test_the_hull_of_a_frame_is_around_the_points_that_touch() -> None:
    points = np.zeros((3, 5, 3))
    points[:, :4, :2] = SQUARE
    points[:, 4, :2] = [3.0, 0.5]
    touching = np.array([[True] * 4 + [False], [True] * 5, [False] * 5])
    first, second, third = support_polygons(points, touching)
    assert first == pytest.approx(SQUARE)
    assert (len(second), len(third)) == (5, 0)
    with pytest.raises(GaitError, match="touching"):
        support_polygons(points, touching[:2])


def test_the_share_of_time_inside_counts_only_frames_that_have_a_support() -> None:
    points = np.array([[0.5, 0.5], [0.5, 0.9], [1.5, 0.5], [0.5, 0.5], [np.nan, 0.5]])
    hulls = [SQUARE, SQUARE, SQUARE, np.zeros((0, 2)), SQUARE]
    assert polygon_margins(points, hulls)[:3] == pytest.approx([0.5, 0.1, -0.5])
    assert np.isnan(polygon_margins(points, hulls)[3:]).all()
    assert share_inside(points, hulls) == pytest.approx(2 / 3)
    assert share_inside(points, hulls, tolerance=0.6) == 1.0
    assert math.isnan(share_inside(points[3:4], hulls[3:4]))


def test_penetration_is_the_depth_of_the_deepest_point() -> None:
    heights = np.array([[0.1, 0.0], [-0.02, 0.05], [-0.01, -0.03], [0.2, 0.3]])
    assert ground_penetration(heights) == pytest.approx((0.03, 0.0125, 0.5))
    assert ground_penetration(heights, ground=[-0.02, -0.03]) == (0.0, 0.0, 0.0)
    assert ground_penetration(heights[:, 0]).worst == pytest.approx(0.02)
    assert math.isnan(ground_penetration(np.zeros((0, 2))).worst)


def test_sliding_is_the_largest_distance_from_the_position_at_touchdown() -> None:
    positions = np.zeros((8, 3))
    positions[:, 0] = [0.0, 0.001, 0.003, 0.5, 1.0, 1.0, 1.004, 1.002]
    positions[:, 2] = 7.0  # height does not count
    standing = np.array([True, True, True, False, True, True, True, True])
    assert sliding_distance(positions, standing) == pytest.approx(0.004)
    assert math.isnan(sliding_distance(positions, np.zeros(8, dtype=bool)))
    with pytest.raises(GaitError, match="one for each"):
        sliding_distance(positions, standing[:3])


def test_trajectory_distance_is_the_distance_of_corresponding_points() -> None:
    reference = np.zeros((4, 2))
    track = np.array([[3.0, 4.0], [0.0, 0.0], [0.0, 0.0], [np.nan, 0.0]])
    assert trajectory_distance(track, reference) == pytest.approx((math.sqrt(25.0 / 3.0), 5.0))
    with pytest.raises(GaitError, match="the same shape"):
        trajectory_distance(track, reference[:2])
