"""Camera: projection of points."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.errors import PoiseError
from poise.rendering import Camera

numbers = st.floats(-5.0, 5.0).map(lambda x: round(x, 3))
points = st.lists(st.tuples(numbers, numbers, numbers), min_size=1, max_size=8)
directions = st.tuples(numbers, numbers, numbers).filter(lambda d: np.linalg.norm(d) > 0.01)


@given(points=points, direction=directions, width=st.integers(50, 500), height=st.integers(50, 500))
def test_a_framed_camera_shows_every_point(
    points: list[tuple[float, float, float]], direction: tuple[float, float, float], width: int, height: int
) -> None:
    x, y = Camera(direction).fit_to(points, width, height).project(points, width, height).T
    assert (x >= 0).all()
    assert (x <= width).all()
    assert (y >= 0).all()
    assert (y <= height).all()


@given(direction=directions)
def test_the_axes_of_a_picture_are_a_rotation_with_z_up(direction: tuple[float, float, float]) -> None:
    right, up, forward = axes = Camera(direction).axes
    assert axes @ axes.T == pytest.approx(np.eye(3))
    assert np.cross(right, up) == pytest.approx(-forward)
    assert forward == pytest.approx(-np.array(direction) / np.linalg.norm(direction), abs=1e-6)
    assert right[2] == pytest.approx(0.0)
    assert up[2] >= -1e-12


def test_the_target_is_in_the_middle_and_the_left_side_appears_on_the_right() -> None:
    camera = Camera((1.0, 0.0, 0.0), target=(0.0, 0.0, 1.0), distance=2.0)
    (x, y), (left, _), (_, top) = camera.project([(0, 0, 1), (0, 0.1, 1), (0, 0, 1.1)], 200, 100)
    assert (x, y) == pytest.approx((100, 50))
    assert left > 100
    assert top < 50


def test_a_point_behind_the_camera_projects_to_nan() -> None:
    camera = Camera((1.0, 0.0, 0.0), target=(0.0, 0.0, 0.0), distance=2.0)
    assert np.isnan(camera.project([(3.0, 0.0, 0.0)], 200, 100)).all()


def test_fitting_does_not_change_a_given_target_and_distance() -> None:
    camera = Camera(target=(1.0, 2.0, 3.0), distance=4.0)
    assert camera.fit_to([(0.0, 0.0, 0.0)], 200, 100) == camera


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"direction": (0, 0, 0)}, "not all zero"),
        ({"direction": (1, 0)}, "three numbers"),
        ({"target": (0, 0, float("nan"))}, "three numbers"),
        ({"distance": -1.0}, "positive"),
        ({"distance": "far"}, "positive"),
    ],
)
def test_invalid_options_of_a_camera_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(PoiseError, match=message):
        Camera(**options)


def test_a_camera_without_a_target_cannot_project() -> None:
    with pytest.raises(PoiseError, match="fit_to"):
        Camera().project([(0, 0, 0)], 200, 100)
