"""Video export: number of frames, size, rate, and a camera that follows the robot."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import av
import numpy as np
import pytest
from random_motions import biped, make_recording, random_recording

from poise import exports
from poise.errors import PoiseError
from poise.exports import ExportError
from poise.exports.animations import camera_path
from poise.plants import EnvironmentGeometry, Stairs
from poise.recording import Recording
from poise.rendering import Camera
from poise.rendering.opengl_context import open_context
from poise.robots import Robot, State


@pytest.fixture(scope="module", autouse=True)
def graphics() -> None:
    try:
        open_context(16, 16).free()
    except PoiseError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def robot() -> Robot:
    return biped()


def gliding_configurations(robot: Robot, samples: int = 21) -> np.ndarray:
    """Configurations that move six meters forward and sway."""
    q = np.tile(robot.stance("standing").q, (samples, 1))
    q[:, 0] += np.linspace(0.0, 6.0, samples)
    q[:, 1] += 0.05 * np.sin(np.arange(samples))
    return q


def pictures(path: Path) -> tuple[np.ndarray, float]:
    """All frames of a video, n x height x width x 3, and their rate (Hz)."""
    with av.open(str(path)) as film:
        stream = film.streams.video[0]
        assert stream.average_rate is not None
        return np.array([frame.to_ndarray(format="rgb24") for frame in film.decode(stream)]), float(stream.average_rate)


def test_a_video_has_the_given_number_of_frames_size_and_rate(robot: Robot, tmp_path: Path) -> None:
    path = exports.save(random_recording(robot, 61), tmp_path / "m.mp4", rate=20.0, size=(192, 144))
    found, rate = pictures(path)
    assert (found.shape, rate) == ((13, 144, 192, 3), 20.0)
    assert all(len(np.unique(picture.reshape(-1, 3), axis=0)) > 200 for picture in found)  # none is blank
    assert (np.abs(np.diff(found.astype(int), axis=0)).reshape(12, -1).max(axis=1) > 60).all()  # and all differ


def test_the_camera_follows_the_robot(robot: Robot, tmp_path: Path) -> None:
    moving = make_recording(robot, gliding_configurations(robot), period=0.1)
    found, _ = pictures(exports.save(moving, tmp_path / "m.mp4", rate=10.0, size=(160, 120)))
    assert len(found) == 21
    for picture in found[[0, 10, 20]]:
        middle = np.abs(picture[20:100, 60:100].astype(int) - picture[5, 5]).max(axis=2)
        assert (middle > 60).mean() > 0.08, "the robot is not in the middle"


def test_the_camera_path_is_smooth_and_near_the_robot(robot: Robot) -> None:
    q = gliding_configurations(robot, 201)
    states = [State(robot, line) for line in q]
    path, camera = camera_path(states, 50.0, 640, 480)
    assert np.abs(path[:, :2] - q[:, :2]).max() < 0.5
    assert np.abs(np.diff(path[:, 1], n=2)).max() < 0.2 * np.abs(np.diff(q[:, 1], n=2)).max()
    assert camera.distance is not None
    assert 2.0 < camera.distance < 15.0


def brightness_along(picture: np.ndarray, view: Camera, points: np.ndarray) -> np.ndarray:
    """Brightness of a picture (0 to 255) at points of the world, n x 3."""
    height, width = picture.shape[:2]
    pixels = np.round(view.project(points, width, height)).astype(int)
    assert (pixels >= 0).all()
    assert (pixels < [width, height]).all()
    return picture.mean(axis=2)[pixels[:, 1], pixels[:, 0]]


@pytest.mark.parametrize("named", [False, True], ids=["with its world", "of an old file that names its terrain"])
@pytest.mark.parametrize("rise", [0.1, -0.1])
def test_the_ground_of_a_video_on_stairs_has_stairs(robot: Robot, tmp_path: Path, rise: float, named: bool) -> None:
    stairs, still = Stairs(rise, 0.3, 2), np.tile(robot.stance("standing").q, (5, 1))
    environment = EnvironmentGeometry.of(stairs, robot.stance("standing"))
    facts = {"terrain": f"stairs:{rise},0.3,2"} if named else {"environment": environment.facts()}
    recording = make_recording(robot, still, period=0.1)
    filmed = Recording(recording.channels.values(), {**recording.provenance, **facts}, robot)
    size = (640, 480)
    film, _ = pictures(exports.save(filmed, tmp_path / "m.mp4", rate=10.0, size=size))
    path, camera = camera_path([State(robot, q) for q in still], 10.0, *size, environment)
    assert camera.target is not None
    view = replace(camera, target=tuple((np.asarray(camera.target) + path[0]).tolist()))

    def brightness(x: float, z: float) -> float:
        """Brightness of a line across the stairs, beyond the robot and its shadow."""
        line = np.array([[x, y, z] for y in np.linspace(1.1, 1.7, 25)])
        return float(np.median(brightness_along(film[2], view, line)))

    for i, edge in enumerate((0.4, 0.7)):  # the first step is 0.4 m from the origin
        above, below = (stairs.elevation(x, 0.0) for x in (edge - 0.05, edge + 0.05))
        around = (brightness(edge - 0.05, above), brightness(edge + 0.05, below))
        assert (above, below) == pytest.approx((i * rise, (i + 1) * rise))
        assert brightness(edge, max(above, below)) < min(around) - 25.0, f"no edge at {edge} m"
    tread = np.array([[x, y, rise] for x in (0.5, 0.55, 0.6) for y in np.linspace(1.1, 1.7, 25)])
    assert np.ptp(brightness_along(film[2], view, tread)) < 8.0  # of one color, not a checkerboard


@pytest.mark.parametrize("size", [(0, 100), (101, 100), (100, 33), (10000, 100)])
def test_an_invalid_video_size_is_refused(robot: Robot, tmp_path: Path, size: tuple[int, int]) -> None:
    with pytest.raises(ExportError, match="expected even numbers"):
        exports.save(random_recording(robot, 3), tmp_path / "m.mp4", size=size)
    assert list(tmp_path.iterdir()) == []


def test_progress_is_reported_up_to_the_end(robot: Robot, tmp_path: Path) -> None:
    times: list[float] = []
    exports.save(random_recording(robot, 31), tmp_path / "m.mp4", rate=10.0, size=(64, 64), progress=times.append)
    assert times == pytest.approx([0.0, 0.1, 0.2, 0.3])
