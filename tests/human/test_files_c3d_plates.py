"""Force plates: a known force at a known point is read back as force on the body, at the frames of the markers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ezc3d
import numpy as np
import pytest
from marker_files import standing, write_c3d

from poise import human
from poise.analysis import LOADED_FORCE
from poise.human.files.force_plates import average_to_frames, make_force_plate

#: Corners of a plate on the floor, m, in the order of C3D.
CORNERS = np.array([[0.6, 0.5, 0.0], [0.6, 0.1, 0.0], [0.0, 0.1, 0.0], [0.0, 0.5, 0.0]])
MIDDLE = CORNERS.mean(axis=0)
FORCE, CENTER, FREE = np.array([30.0, -40.0, 700.0]), np.array([0.42, 0.23, 0.0]), np.array([0.0, 0.0, 5.0])
FRAMES, EACH = 6, 10


def plate_axes() -> np.ndarray:
    """Columns: the axes of the plate in the world. Its corners are at +x +y, -x +y, -x -y and +x -y."""
    axes = [CORNERS[0] - CORNERS[1], CORNERS[0] - CORNERS[3]]
    return np.stack([axis / np.linalg.norm(axis) for axis in (*axes, np.cross(*axes))], axis=1)


def channels(force: np.ndarray, moment: np.ndarray) -> dict[str, np.ndarray]:
    names = ["Fx1", "Fy1", "Fz1", "Mx1", "My1", "Mz1"]
    return dict(zip(names, np.concatenate([force, 1000.0 * moment], axis=1).T, strict=True))


def group(kind: int) -> dict[str, Any]:
    return {
        "USED": 1,
        "TYPE": kind,
        "CORNERS": 1000.0 * CORNERS.T[:, :, None],
        "ORIGIN": np.zeros((3, 1)),
        "CHANNEL": np.arange(1, 7, dtype=np.int32)[:, None],
        **({"CAL_MATRIX": np.eye(6)[:, :, None]} if kind == 4 else {}),
    }


def write_and_read_plate(tmp_path: Path, force: np.ndarray, kind: int = 2, sign: float = 1.0) -> human.Trial:
    """A file whose plate has a force (samples x 3) at the centre, and the free moment wherever there is a force."""
    moment = np.cross(CENTER - MIDDLE, force) + FREE * (force[:, 2:] != 0.0)
    R = sign * plate_axes()
    parameters = {"FORCE_PLATFORM": group(kind), "ANALOG": {"UNITS": ["N"] * 3 + ["Nmm"] * 3}}
    values = channels(force @ R, moment @ R)
    return human.read_trial(write_c3d(tmp_path / "t.c3d", standing(FRAMES), analogs=values, parameters=parameters))


@pytest.mark.parametrize("kind", [2, 4])
@pytest.mark.parametrize("sign", [1.0, -1.0], ids=["on the body", "on the plate"])
def test_a_push_comes_back_as_force_point_and_free_moment_on_the_body(kind: int, sign: float, tmp_path: Path) -> None:
    (plate,) = write_and_read_plate(tmp_path, np.tile(FORCE, (FRAMES * EACH, 1)), kind, sign).plates
    np.testing.assert_allclose(plate.corners, CORNERS, atol=1e-6)
    np.testing.assert_allclose(plate.force, np.tile(FORCE, (FRAMES, 1)), atol=1e-3)
    np.testing.assert_allclose(plate.center_of_pressure, np.tile(CENTER, (FRAMES, 1)), atol=1e-5)
    np.testing.assert_allclose(plate.free_moment, np.tile(FREE, (FRAMES, 1)), atol=1e-3)


def test_a_frame_has_the_force_of_its_moment_when_that_grows(tmp_path: Path) -> None:
    share = np.linspace(0.5, 1.5, FRAMES * EACH)
    (plate,) = write_and_read_plate(tmp_path, FORCE * share[:, None]).plates
    # ten samples are not symmetric about a frame: the mean is half a sample early; the first frame has none before it
    meant = FORCE * (share[::EACH] - 0.5 * (share[1] - share[0]))[:, None]
    np.testing.assert_allclose(plate.force[1:], meant[1:], atol=1e-3)


def test_a_frame_has_the_mean_of_the_samples_around_it(tmp_path: Path) -> None:
    noise = np.random.default_rng(3).uniform(-1.0, 1.0, (FRAMES * EACH, 3)) * np.array([9.0, 9.0, 90.0])
    (plate,) = write_and_read_plate(tmp_path, FORCE + noise).plates
    for frame in range(1, FRAMES):
        around = slice(frame * EACH - EACH // 2, frame * EACH + EACH // 2)
        np.testing.assert_allclose(plate.force[frame], FORCE + noise[around].mean(axis=0), atol=1e-3)


def test_forces_that_are_no_numbers_leave_the_plate_out(tmp_path: Path) -> None:
    force = np.tile(FORCE, (FRAMES * EACH, 1))
    force[7] = 3e38  # near the largest number of the format: sums are infinite
    trial = write_and_read_plate(tmp_path, force)
    assert trial.plates == ()
    assert "Force plate 1 left out: forces or corners are not finite." in trial.notes


def test_forces_below_twenty_newton_are_zero_and_an_unloaded_plate_stays(tmp_path: Path) -> None:
    nearest = np.minimum((np.arange(FRAMES * EACH) + EACH // 2) // EACH, FRAMES - 1)  # frame of each sample
    steps = np.array([0.0, 0.9, 1.1, 30.0, 0.5, 0.0])[nearest, None] * np.array([0.1, 0.1, 1.0]) * LOADED_FORCE
    (plate,) = write_and_read_plate(tmp_path, steps).plates
    assert (np.abs(plate.force).max(axis=1) > 0.0).tolist() == [False, False, True, True, False, False]
    assert not plate.center_of_pressure[[0, 1, 4, 5]].any()
    assert not plate.free_moment[[0, 1, 4, 5]].any()
    (empty,) = write_and_read_plate(tmp_path, np.zeros((FRAMES * EACH, 3))).plates
    assert empty.force.shape == (FRAMES, 3)
    assert not empty.force.any()
    assert not empty.center_of_pressure.any()


def channels_of_type(kind: int, force: np.ndarray, center: np.ndarray, free: float) -> np.ndarray:
    """The signals (samples x channels) of a plate with sensors at (± a, ± b), `DEPTH` below its surface.

    Force (samples x 3, N), centre of pressure (2, m) and free moment (N m) in the axes of the plate, z down. Sensors
    share the load as under a rigid plate.
    """
    fx, fy, fz = force.T
    if kind == 1:
        point = np.broadcast_to(1000.0 * center, (len(force), 2))
        return np.column_stack([fx, fy, fz, point, np.full(len(force), 1000.0 * free)])
    # moments about the origin of the axes, DEPTH below the surface: z is down, so the surface is at -DEPTH
    arm = np.array([center[0], center[1], -DEPTH])
    moment = np.cross(arm, force) + np.array([0.0, 0.0, free])
    mx, my, mz = moment.T
    sensors = np.column_stack(
        [
            fx / 2.0 - mz / (4.0 * B), fx / 2.0 + mz / (4.0 * B), fy / 2.0 + mz / (4.0 * A), fy / 2.0 - mz / (4.0 * A),
            (fz + mx / B - my / A) / 4.0, (fz + mx / B + my / A) / 4.0,
            (fz - mx / B + my / A) / 4.0, (fz - mx / B - my / A) / 4.0,
        ]
    )  # fmt: skip
    return sensors if kind == 3 else sensors @ GAIN


A, B, DEPTH = 0.12, 0.20, 0.05
#: Volts of each channel of a plate of type 5 per newton of each sensor; its calibration undoes it.
GAIN = np.eye(8) * 0.004 + 0.0001 * np.random.default_rng(5).standard_normal((8, 8))


def calibration_of_sensors() -> np.ndarray:
    """The matrix from the volts of `GAIN` to forces (N) and moments about the origin (N mm), 6 x 8."""
    b, a = 1000.0 * B, 1000.0 * A
    sums = np.array(
        [
            [1, 1, 0, 0, 0, 0, 0, 0], [0, 0, 1, 1, 0, 0, 0, 0], [0, 0, 0, 0, 1, 1, 1, 1],
            [0, 0, 0, 0, b, b, -b, -b], [0, 0, 0, 0, -a, a, a, -a], [-b, b, a, -a, 0, 0, 0, 0],
        ]
    )  # fmt: skip
    return sums @ np.linalg.inv(GAIN).T


@pytest.mark.parametrize("height", [0.0, 0.36], ids=["on the floor", "on stairs"])
@pytest.mark.parametrize("kind", [1, 3, 5])
def test_plates_of_other_types_give_the_known_force_and_point(kind: int, height: float, tmp_path: Path) -> None:
    corners = CORNERS + np.array([0.0, 0.0, height])
    R = plate_axes()
    force = np.tile(-FORCE, (FRAMES * EACH, 1)) * np.linspace(0.8, 1.2, FRAMES * EACH)[:, None]  # on the plate
    center, free = (CENTER - MIDDLE) @ R, -FREE @ R
    signals = channels_of_type(kind, force @ R, center[:2], float(free[2]))
    count = signals.shape[1]
    length = {1: [0.0, 0.0, 0.0], 3: [A, B, -DEPTH], 5: [0.0, 0.0, -DEPTH]}[kind]
    plate = {
        **group(kind),
        "CORNERS": 1000.0 * corners.T[:, :, None],
        "ORIGIN": 1000.0 * np.array(length)[:, None],
        "CHANNEL": np.arange(1, count + 1, dtype=np.int32)[:, None],
        **({"CAL_MATRIX": calibration_of_sensors()[:, :, None]} if kind == 5 else {}),
    }
    units = {1: ["N"] * 3 + ["mm", "mm", "Nmm"], 3: ["N"] * 8, 5: ["V"] * 8}[kind]
    names = {f"ch{i + 1}": values for i, values in enumerate(signals.T)}
    parameters = {"FORCE_PLATFORM": plate, "ANALOG": {"UNITS": units}}
    trial = human.read_trial(write_c3d(tmp_path / "t.c3d", standing(FRAMES), analogs=names, parameters=parameters))
    (found,) = trial.plates
    np.testing.assert_allclose(found.corners, corners, atol=1e-6)
    point = CENTER + np.array([0.0, 0.0, height])
    np.testing.assert_allclose(found.center_of_pressure, np.tile(point, (FRAMES, 1)), atol=1e-4)
    np.testing.assert_allclose(found.force[2] / FORCE, found.force[2, 2] / FORCE[2], rtol=1e-4)
    np.testing.assert_allclose(found.free_moment, np.tile(FREE, (FRAMES, 1)), atol=2e-2)
    for frame in range(1, FRAMES):
        around = slice(frame * EACH - EACH // 2, frame * EACH + EACH // 2)
        np.testing.assert_allclose(found.force[frame], -force[around].mean(axis=0), rtol=1e-3)


@pytest.mark.parametrize("kind", [2, 3, 4])
def test_types_that_ezc3d_knows_agree_with_it(kind: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(kind)
    count = 8 if kind == 3 else 6
    signals = rng.uniform(-50.0, 50.0, (count, FRAMES * EACH)) + np.where(np.arange(count) == 2, 500.0, 0.0)[:, None]
    plate = {
        **group(kind),
        "ORIGIN": 1000.0 * np.array([[0.12], [0.2], [-0.05 if kind == 3 else 0.05]]),
        "CHANNEL": np.arange(1, count + 1, dtype=np.int32)[:, None],
        **({"CAL_MATRIX": rng.uniform(-1.0, 1.0, (6, 6, 1))} if kind == 4 else {}),
    }
    names = {f"ch{i + 1}": values for i, values in enumerate(signals)}
    parameters = {"FORCE_PLATFORM": plate, "ANALOG": {"UNITS": ["N"] * 3 + ["Nmm"] * (count - 3)}}
    path = write_c3d(tmp_path / "t.c3d", standing(FRAMES), analogs=names, parameters=parameters)
    file = ezc3d.c3d(str(path))
    raw = ezc3d.ezc3d.ForcePlatform(0, file.c3d_swig)
    force, moment = (
        np.array([vector.to_array()[:, 0] for vector in vectors]) for vectors in (raw.forces(), raw.moments())
    )
    expected = make_force_plate(
        "expected", CORNERS, average_to_frames(force, FRAMES), 1e-3 * average_to_frames(moment, FRAMES)
    )
    (found,) = human.read_trial(path).plates
    np.testing.assert_allclose(found.force, expected.force, atol=1e-3)
    np.testing.assert_allclose(found.center_of_pressure, expected.center_of_pressure, atol=1e-4)
    np.testing.assert_allclose(found.free_moment, expected.free_moment, atol=1e-3)


def test_a_plate_of_another_type_is_left_out_with_a_note(tmp_path: Path) -> None:
    trial = write_and_read_plate(tmp_path, np.tile(FORCE, (FRAMES * EACH, 1)), kind=21)
    assert trial.plates == ()
    assert any("Force plate 1 left out: type 21" in note for note in trial.notes)


def test_a_plate_without_its_matrix_is_left_out_with_the_reason(tmp_path: Path) -> None:
    trial = write_and_read_plate(tmp_path, np.tile(FORCE, (FRAMES * EACH, 1)), kind=5)
    assert trial.plates == ()
    assert any("Force plate 1 left out: CHANNEL is 6 x 1; expected 8 for a plate of type 5" in n for n in trial.notes)


def test_the_wrench_of_a_tilted_plate_is_that_of_force_point_and_free_moment() -> None:
    rng = np.random.default_rng(2)
    tilt, _ = np.linalg.qr(np.eye(3) + 0.2 * rng.standard_normal((3, 3)))
    tilt *= np.sign(np.diag(tilt))
    corners = CORNERS @ tilt.T
    force = np.array([[20.0, 30.0, 600.0], [-50.0, 10.0, 400.0]]) @ tilt.T
    moment = rng.standard_normal((2, 3)) * 20.0
    plate = make_force_plate("tilted", corners, force, moment)
    about = np.cross(plate.center_of_pressure - corners.mean(axis=0), plate.force) + plate.free_moment
    np.testing.assert_allclose(about, moment, atol=1e-9)
    normal = np.cross(corners[2] - corners[0], corners[3] - corners[1])
    np.testing.assert_allclose((plate.center_of_pressure - corners[0]) @ normal, 0.0, atol=1e-12)
    np.testing.assert_allclose(np.cross(plate.free_moment, normal), 0.0, atol=1e-9)
