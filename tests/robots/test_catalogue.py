"""The robot library by name: available robots, similar names, and packages to install."""

from importlib import metadata

import pytest

from poise.errors import RobotError
from poise.robots import format_listing, library_names, listing, load_robot
from poise.robots.catalogue import is_bundled

#: Robots whose model is beside their data file.
BUNDLED = [name for name in library_names() if is_bundled(name)]


@pytest.fixture
def without_models(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> metadata.Distribution:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", missing)


def test_the_library_contains_the_documented_robots() -> None:
    assert {"g1", "talos", "romeo", "icub", "nao", "hoap3", "mighty", "human"} <= set(library_names())


def test_an_unknown_name_is_refused_with_a_similar_name() -> None:
    with pytest.raises(RobotError, match="did you mean 'talos'") as caught:
        load_robot("tallos")
    assert caught.value.near == ("talos",)
    with pytest.raises(RobotError, match="path of a URDF"):
        load_robot("r2d2")


@pytest.mark.usefixtures("without_models")
def test_without_the_models_the_error_names_the_package_to_install() -> None:
    with pytest.raises(RobotError, match=r"pip install poise\[robots\]") as caught:
        load_robot("g1")
    assert "\n" not in str(caught.value)
    assert [robot["name"] for robot in listing() if robot["available"]] == BUNDLED
    assert format_listing(listing()).count("pip install") == 1
    assert "not available: g1, icub, romeo, talos: " in format_listing(listing())


@pytest.mark.parametrize("name", BUNDLED)
@pytest.mark.usefixtures("without_models")
def test_a_bundled_robot_needs_no_other_package(name: str) -> None:
    robot = load_robot(name)
    assert robot.stance("standing").contacts == robot.feet
    assert robot.visual_geometry.ngeoms > 10


def test_the_listing_has_the_columns_of_the_command() -> None:
    robots = {robot["name"]: robot for robot in listing()}
    assert list(robots) == library_names()
    assert set(robots["g1"]) == {"name", "dof", "mass", "height", "source", "available", "message"}
    lines = format_listing(listing()).splitlines()
    assert lines[0].split() == ["robot", "joints", "mass", "height", "source"]
    assert lines[1].split()[:6] == ["g1", "29", "33.3", "kg", "1.32", "m"]
