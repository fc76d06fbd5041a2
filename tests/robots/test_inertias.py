"""Inertias of point masses are physical; others are refused or repaired."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pinocchio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.errors import RobotError
from poise.robots import load_robot
from poise.robots.urdf import is_physical, repaired_inertia, second_moments
from small_robots import BIPED, joint, link, robot, write_urdf

ORIGIN = np.zeros(3)


def body_of(points: np.ndarray, mass: float = 2.0) -> pinocchio.Inertia:
    """The inertia of equal points of mass, by its definition."""
    center = points.mean(axis=0)
    r = points - center
    tensor = sum(np.dot(p, p) * np.eye(3) - np.outer(p, p) for p in r) * mass / len(points)
    return pinocchio.Inertia(mass, center, tensor)


def any_body(mass: float, inertia: np.ndarray, lever: np.ndarray = ORIGIN) -> SimpleNamespace:
    """Any inertia that a file may contain; pinocchio itself refuses impossible ones."""
    return SimpleNamespace(mass=mass, lever=lever, inertia=inertia)


@given(st.integers(0, 10_000))
def test_any_cloud_of_points_is_physical_and_needs_no_repair(seed: int) -> None:
    points = np.random.default_rng(seed).standard_normal((20, 3)) * [0.3, 0.1, 0.02]
    body = body_of(points)
    assert is_physical(body)
    squares = np.linalg.eigvalsh(np.cov(points.T, bias=True)) * body.mass
    assert second_moments(body.inertia) == pytest.approx(squares)


@given(st.integers(0, 10_000))
def test_a_compacted_body_is_physical_and_keeps_mass_center_and_large_moments(seed: int) -> None:
    generator = np.random.default_rng(seed)
    half = generator.standard_normal((3, 3)) * 0.1
    body = any_body(1.0, half + half.T, generator.standard_normal(3))
    repaired = repaired_inertia(body)
    assert is_physical(repaired)
    assert repaired.mass == body.mass
    assert repaired.lever == pytest.approx(body.lever)
    assert (second_moments(repaired.inertia) >= second_moments(body.inertia) - 1e-12).all()


def test_flat_negative_and_massless_bodies_are_not_physical() -> None:
    for mass, moments in [(1.0, [1, 1, 2]), (1.0, [1, 1, 3]), (1.0, [-1, 1, 1]), (1.0, [0, 0, 0]), (-1.0, [1, 1, 1])]:
        assert not is_physical(any_body(mass, np.diag(np.array(moments, dtype=float))))
    assert not is_physical(any_body(1.0, np.full((3, 3), np.nan)))


def test_a_repaired_body_takes_after_its_sound_twin(tmp_path: Path) -> None:
    sound = link("right_shank", inertia="0.03 0.02 0.015")
    text = BIPED.replace(link("right_shank"), sound).replace(link("left_shank"), link("left_shank", inertia="9 1 1"))
    path = write_urdf(tmp_path, text)
    with pytest.raises(RobotError, match="which is not physical") as caught:
        load_robot(path)
    assert caught.value.element == "left_shank"
    biped = load_robot(path, repair_inertias=True)
    assert biped.notes == ("the inertia of 'left_shank' is not physical; that of 'right_shank' is used, mirrored",)
    body = biped.model.inertias[biped.joint("left_knee").index]
    assert np.diag(body.inertia) == pytest.approx([0.03, 0.02, 0.015])


def test_a_body_without_twin_becomes_compact(tmp_path: Path) -> None:
    path = write_urdf(
        tmp_path, robot(link("base"), link("bob", inertia="1e-9 1e-9 1e-8"), joint("hinge", "base", "bob"))
    )
    pendulum = load_robot(path, repair_inertias=True)
    assert pendulum.notes == ("the inertia of 'bob' is not physical; it was increased",)
    radius = (1.0 / 2700.0 * 3 / (4 * np.pi)) ** (1 / 3)
    assert pendulum.model.inertias[2].inertia == pytest.approx(np.eye(3) * 0.4 * radius**2, rel=1e-3, abs=1e-9)


def test_a_massless_body_gets_one_gram(tmp_path: Path) -> None:
    path = write_urdf(tmp_path, robot(link("base"), '<link name="bob"/>', joint("hinge", "base", "bob")))
    assert load_robot(path, repair_inertias=True).mass == pytest.approx(1.001)
