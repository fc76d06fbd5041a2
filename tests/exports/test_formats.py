"""Exports are written completely or not at all; formats are selected by name or suffix."""

from __future__ import annotations

from pathlib import Path

import pytest
from random_motions import biped, make_recording, rail, random_configurations, random_recording

from poise import exports
from poise.exports import FORMATS, ExportError
from poise.exports import joint_trajectory as arrays
from poise.recording import Recording
from poise.robots import Robot


@pytest.fixture(scope="module")
def robot() -> Robot:
    return biped()


@pytest.fixture(scope="module")
def motion(robot: Robot) -> Recording:
    return random_recording(robot, 5)


def test_the_error_reports_a_full_disk(motion: Recording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def raise_disk_full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(arrays, "export_csv", raise_disk_full)
    with pytest.raises(ExportError, match=r"m\.csv cannot be written: No space left"):
        exports.save(motion, tmp_path / "m.csv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name", [name for name, each in FORMATS.items() if name not in ("mp4", "html") and not each.is_for_people]
)
def test_every_format_writes_one_file_of_its_name_and_no_other(name: str, motion: Recording, tmp_path: Path) -> None:
    path = exports.save(motion, tmp_path / f"m.{name}")
    assert list(tmp_path.iterdir()) == [path]
    assert path.stat().st_size > 1000


@pytest.mark.parametrize(
    "name", [name for name, each in FORMATS.items() if name not in ("mp4", "html") and not each.is_for_people]
)
def test_a_single_sample_can_be_exported(name: str, robot: Robot, tmp_path: Path) -> None:
    path = exports.save(make_recording(robot, random_configurations(robot, 1)), tmp_path / f"m.{name}")
    assert path.stat().st_size > 500


def test_an_unknown_format_is_refused_with_the_nearest_name(motion: Recording, tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="did you mean 'bvh'"):
        exports.save(motion, tmp_path / "m.bvh", "bhv")
    with pytest.raises(ExportError, match="there are csv, npz"):
        exports.save(motion, tmp_path / "m.doc")


def test_the_error_names_a_path_that_cannot_be_written(motion: Recording, tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="is a folder"):
        exports.save(motion, tmp_path, "csv")
    with pytest.raises(ExportError, match="there is no folder"):
        exports.save(motion, tmp_path / "none/m.csv")
    with pytest.raises(ExportError, match=r"does not end in \.csv"):
        exports.save(motion, tmp_path / "m.txt", "csv")


def test_an_invalid_rate_is_refused(motion: Recording, tmp_path: Path) -> None:
    for rate in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(ExportError, match="expected a positive number"):
            exports.save(motion, tmp_path / "m.csv", rate=rate)


def test_tables_need_no_model_and_skeletons_do(motion: Recording, tmp_path: Path) -> None:
    unknown = Recording(motion.channels.values(), {"robot": "golem"})
    exports.save(unknown, tmp_path / "m.csv")
    with pytest.raises(ExportError, match=r"unknown.*pass it with --robot"):
        exports.save(unknown, tmp_path / "m.bvh")
    exports.save(unknown, tmp_path / "m.bvh", robot=motion.robot)


def test_a_robot_with_other_joints_is_refused(motion: Recording, tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="whose joints differ from 'rail'"):
        exports.save(motion, tmp_path / "m.bvh", robot=rail(tmp_path))


def test_a_recording_without_motion_is_refused(motion: Recording, tmp_path: Path) -> None:
    nothing = Recording([motion.channels["time"]])
    for name in FORMATS:
        with pytest.raises(ExportError, match="has no motion"):
            exports.save(nothing, tmp_path / f"m{FORMATS[name].suffixes[0]}", name, size=(64, 64))
    assert list(tmp_path.iterdir()) == []


def test_a_link_stays_a_link(motion: Recording, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "m.npz").symlink_to(tmp_path / "there/m.npz")
    exports.save(motion, tmp_path / "m.npz")
    assert (tmp_path / "m.npz").is_symlink()
    assert len(arrays.read_npz(tmp_path / "there/m.npz").time) == 5
