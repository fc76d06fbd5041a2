"""CSV and NPZ: written trajectories are read back, at any rate."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio
import pytest
from random_motions import biped, make_recording, random_configurations, random_recording

from poise import exports
from poise.errors import PoiseError
from poise.exports import ExportError, Trajectory
from poise.recording import Channel, CoordinateLabels, Recording
from poise.robots import Robot
from robot_states import not_none


@pytest.fixture(scope="module")
def robot() -> Robot:
    return biped()


@pytest.fixture(scope="module")
def motion(robot: Robot) -> Recording:
    return random_recording(robot)


def test_arrays_come_back_bit_by_bit(motion: Recording, tmp_path: Path) -> None:
    back = exports.read_trajectory(exports.save(motion, tmp_path / "m.npz"))
    assert (back.time == motion.time).all()
    assert np.abs(back.q - motion["q"]).max() < 1e-15  # quaternions are normalized
    assert np.array_equal(not_none(back.v), motion["v"])
    assert np.array_equal(not_none(back.torque), motion["command/torque"])
    assert (back.joints, back.robot) == (motion.labels["q"][7:], "biped")


def test_a_table_comes_back_to_nine_digits(motion: Recording, tmp_path: Path) -> None:
    back = exports.read_trajectory(exports.save(motion, tmp_path / "m.csv"))
    for found, meant in ((back.q, motion["q"]), (back.v, motion["v"]), (back.torque, motion["command/torque"])):
        assert found is not None
        assert np.abs(found - meant).max() < 1e-8 * max(np.abs(meant).max(), 1.0)
    assert back.joints == motion.labels["q"][7:]


def test_a_table_is_read_by_numpy_with_names_and_units_in_its_head(motion: Recording, tmp_path: Path) -> None:
    path = exports.save(motion, tmp_path / "m.csv")
    head = path.read_text().splitlines()[0].split(",")
    assert head[:3] == ["time [s]", "q/base_x [m]", "q/base_y [m]"]
    assert {"q/base_qw", "q/left_knee [rad]", "v/left_knee [rad/s]", "torque/left_knee [N m]"} <= set(head)
    values = np.loadtxt(path, delimiter=",", skiprows=1)
    assert values.shape == (motion.samples, len(head))
    knee = values[:, head.index("q/left_knee [rad]")]
    assert np.abs(knee - motion["q/left_knee"]).max() < 1e-8


def test_the_period_of_a_recording_is_in_its_arrays(motion: Recording, tmp_path: Path) -> None:
    with np.load(exports.save(motion, tmp_path / "m.npz")) as file:
        assert float(file["period"]) == pytest.approx(0.01)
        assert file["positions"].shape == (40, len(file["joints"]))
        assert str(file["robot"]) == "biped"


def test_halfway_between_two_samples_is_halfway_of_the_motion(robot: Robot) -> None:
    q = random_configurations(robot, 2)
    middle = Trajectory.of(make_recording(robot, q)).at(np.array([0.005])).q[0]
    oracle = pinocchio.interpolate(robot.model, q[0], q[1], 0.5)
    assert np.abs(middle[7:] - oracle[7:]).max() < 1e-12
    assert np.abs(middle[:3] - (q[0] + q[1])[:3] / 2).max() < 1e-12
    assert abs(abs(middle[3:7] @ oracle[3:7]) - 1.0) < 1e-12


def test_a_base_turns_evenly_between_samples(robot: Robot) -> None:
    start, turn = robot.rest.copy(), np.zeros(robot.model.nv)
    turn[5] = 2.0
    q = np.array([start, pinocchio.integrate(robot.model, start, turn)])
    q[1, 3:7] *= -1.0  # the same orientation; a naive mean would be of length zero
    parts = Trajectory.of(make_recording(robot, q, period=1.0)).at(np.linspace(0.0, 1.0, 11)).q
    angles = [pinocchio.difference(robot.model, start, part)[5] for part in parts]
    assert np.abs(np.diff(angles) - 0.2).max() < 1e-12


def test_resampling_at_the_original_rate_changes_nothing(motion: Recording) -> None:
    whole = Trajectory.of(motion)
    again = whole.resample(100.0)
    assert len(again.time) == len(whole.time)
    assert np.abs(again.q - whole.q).max() < 1e-9


@pytest.mark.parametrize("rate", [7.0, 50.0, 333.0, 1000.0])
def test_a_rate_gives_samples_that_far_apart_up_to_the_end(motion: Recording, rate: float) -> None:
    found = Trajectory.of(motion).resample(rate)
    assert np.abs(np.diff(found.time) * rate - 1.0).max() < 1e-9
    assert 0.0 <= motion.time[-1] - found.time[-1] < 1.0 / rate


def test_the_true_motion_is_exported_if_the_controller_had_an_estimate(robot: Robot) -> None:
    q, body = random_configurations(robot, 5), CoordinateLabels.of(robot)
    recording = make_recording(
        robot, q + 0.0, truth=Channel("true/q", body.q_units, random_configurations(robot, 5, seed=9), body.q_labels)
    )
    assert (Trajectory.of(recording).q[:, 7:] == random_configurations(robot, 5, seed=9)[:, 7:]).all()


def test_torques_that_were_not_known_stay_unknown(motion: Recording, tmp_path: Path) -> None:
    torque = motion["command/torque"].copy()
    torque[3] = np.nan
    others = [channel for name, channel in motion.channels.items() if name != "command/torque"]
    known = motion.channels["command/torque"]
    partly = Recording([*others, Channel(known.key, known.units, torque, known.labels)], {}, motion.robot)
    for name in ("m.csv", "m.npz"):
        back = exports.read_trajectory(exports.save(partly, tmp_path / name)).torque
        assert back is not None
        assert (np.isnan(back) == np.isnan(torque)).all()


def test_a_single_sample_is_a_trajectory(robot: Robot, tmp_path: Path) -> None:
    for name in ("m.csv", "m.npz"):
        path = exports.save(make_recording(robot, random_configurations(robot, 1)), tmp_path / name, rate=50.0)
        assert len(exports.read_trajectory(path).time) == 1


def one_line(error: pytest.ExceptionInfo[PoiseError]) -> str:
    message = str(error.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("name", "content", "evidence"),
    [
        ("m.csv", b"", "is not a joint trajectory"),
        ("m.csv", b"a,b\n1,2\n", "no columns 'time' and 'q/...'"),
        ("m.csv", b"time [s],q/knee [rad]\n0,0.1\n", "no column 'q/base_x'"),
        ("m.csv", b"time,q/knee\n0,0.1,3\n", "line 2 has 3 columns; expected 2"),
        ("m.csv", b"time,q/knee\n0,bent\n", "not a number"),
        ("m.csv", b"\xff\xfe\x00\x00", "not a text file"),
        ("m.npz", b"no zip", "not an array file"),
        ("m.npz", b"", "not an array file"),
        ("m.txt", b"", "does not end in .csv, .npz, .poise"),
        ("m.poise", b"no recording", "is not a Poise recording"),
    ],
)
def test_a_file_that_is_no_trajectory_is_named_in_one_line(
    name: str, content: bytes, evidence: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(PoiseError) as error:
        exports.read_trajectory(tmp_path / name)
    assert evidence in one_line(error)


def test_a_file_that_is_cut_off_is_named_in_one_line(motion: Recording, tmp_path: Path) -> None:
    path = exports.save(motion, tmp_path / "m.csv")
    path.write_text(path.read_text()[:-40])
    with pytest.raises(ExportError, match=r"line 41 has .* columns") as error:
        exports.read_trajectory(path)
    one_line(error)
    whole = exports.save(motion, tmp_path / "m.npz").read_bytes()
    (tmp_path / "m.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ExportError, match="not an array file"):
        exports.read_trajectory(tmp_path / "m.npz")


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="does not exist"):
        exports.read_trajectory(tmp_path / "m.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(ExportError, match="is a folder"):
        exports.read_trajectory(tmp_path / "folder.csv")


def test_an_invalid_trajectory_is_refused(robot: Robot) -> None:
    good = Trajectory.of(random_recording(robot, 4))
    joints, units = good.joints, good.units
    wrong = good.q.copy()
    wrong[2, 8] = np.nan
    with pytest.raises(ExportError, match="q is not finite at sample 2"):
        Trajectory(good.time, wrong, joints, units)
    with pytest.raises(ExportError, match="time does not increase from sample 0 to 1"):
        Trajectory(good.time[::-1], good.q, joints, units)
    with pytest.raises(ExportError, match="q has shape"):
        Trajectory(good.time, good.q[:, :9], joints, units)
    long = good.q.copy()
    long[1, 3:7] *= 1.1
    with pytest.raises(ExportError, match=r"quaternion of sample 1 has length 1\.1"):
        Trajectory(good.time, long, joints, units)
    with pytest.raises(ExportError, match="no samples"):
        Trajectory(good.time[:0], good.q[:0], joints, units)
    with pytest.raises(ExportError, match="rate is 0 Hz"):
        good.resample(0.0)
